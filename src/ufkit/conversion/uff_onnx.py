"""UFF to ONNX: walks a graph and lets each operation's entry write itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

from ufkit.conversion import custom, plugins
from ufkit.conversion.emitter import NodeEmitter, OnnxNode, Refusal, Value, Writer
from ufkit.conversion.families import DEFAULT_OPSET
from ufkit.conversion.joined import joined
from ufkit.conversion.onnx_model import Constant, OnnxModel, Weights
from ufkit.conversion.rules import BAD_OPSET, CANNOT_CONVERT, REFUSED
from ufkit.conversion.twin import watch
from ufkit.core.diag import (
    Diagnostic,
    FormatError,
    NotSupportedError,
    RequestError,
    Severity,
    Where,
)
from ufkit.core.dtypes import DTYPES, DType
from ufkit.core.files import PathLike
from ufkit.core.tensor import Tensor
from ufkit.uff.const import constant
from ufkit.uff.dims import Shape
from ufkit.uff.fold import Folding
from ufkit.uff.infer import Inference, infer
from ufkit.uff.inputs import GivenShapes, InputSpec
from ufkit.uff.model import Graph, Node
from ufkit.uff.ops import entry_of
from ufkit.uff.ops.spec import UnknownShape
from ufkit.uff.orders import Order, identity, inverse
from ufkit.uff.unknown import unknown

MIN_OPSET = 13
FOREIGN_VERSION = 1  # of the domains that carry operations over

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Conversion:
    """A graph as an ONNX model.

    inputs, outputs   by UFF id: the order in which ONNX has the axes of the fed array and of
                      the value; identity unless channels come first on request
    forms             by UFF id: an ONNX value and the order it is in, for every node that has
                      one, so that results can be compared node by node
    foreign           ids of the nodes carried over as they are, which nothing here can run
    names             by UFF id: the ONNX output, where it is not called by the id
    """

    model: OnnxModel
    inference: Inference
    opset: int
    inputs: dict[str, Order] = field(default_factory=dict)
    outputs: dict[str, Order] = field(default_factory=dict)
    forms: dict[str, tuple[str, Order]] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """How ambiguities were read."""
        return self.inference.diagnostics

    def write_watched(self, path: PathLike, names: Collection[str]) -> set[str]:
        """Write the model with these values as outputs too; give those that it computes."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model.proto)
        made = watch(model.graph, names)
        OnnxModel(model, self.model.weights).save(path)
        return made

    def count(self, op_type: str = "") -> int:
        """How many ONNX nodes there are, of one type or in all."""
        nodes = self.model.proto.graph.node
        return sum(not op_type or node.op_type == op_type for node in nodes)


def to_onnx(
    graph: Graph,
    *,
    shapes: GivenShapes | None = None,
    opset: int = DEFAULT_OPSET,
    channels_first: bool = False,
    allow_custom: bool = False,
    trt_plugins: bool = False,
    progress: Progress = lambda done, total: None,
) -> Conversion:
    """The ONNX model of a graph, checked by `onnx`; its weights stay where they are.

    Inputs carry the ids of the Input nodes, outputs those of the nodes that MarkOutput names,
    in UFF's layout or, with `channels_first`, NCHW. Open sizes stay symbolic. With `allow_custom`
    an operation that is not known becomes a node of the domain `uff.custom`; with `trt_plugins`
    one of a TensorRT plugin becomes a node that TensorRT makes the plugin of.
    Raises RequestError for missing shapes or an opset that is not available, NotSupportedError
    with all obstacles at once, FormatError for a damaged graph.
    """
    newest = onnx.defs.onnx_opset_version()
    if not MIN_OPSET <= opset <= newest:
        message = f"opset {opset} is not available; {MIN_OPSET} to {newest} are"
        raise RequestError(BAD_OPSET.at(Where(), message))
    inference = infer(graph, shapes)
    inference.require_shapes()
    exporter = _Exporter(inference, opset, channels_first, progress)
    exporter.allow_custom, exporter.trt_plugins = allow_custom, trt_plugins
    conversion = exporter.run()
    try:
        conversion.model.check()
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        message = f"onnx refuses the model: {str(error).strip()}"
        raise NotSupportedError(REFUSED.at(graph.where(), message)) from error
    return conversion


class _Exporter:
    def __init__(
        self,
        inference: Inference,
        opset: int,
        channels_first: bool,
        progress: Progress,
    ) -> None:
        self.graph = inference.graph
        self.inference = inference
        self.writer = Writer(opset)
        self.channels_first = channels_first
        self.allow_custom = False
        self.trt_plugins = False
        self.progress = progress
        self.joined = joined(inference)
        self.values: dict[str, Value] = {}
        self.graph_inputs: list[onnx.ValueInfoProto] = []
        self.graph_outputs: list[onnx.ValueInfoProto] = []
        self.input_orders: dict[str, Order] = {}
        self.output_orders: dict[str, Order] = {}
        self.declared: set[str] = set()  # values that are outputs
        self.foreign: list[str] = []
        self.folding = Folding(self.graph.meta)

    def run(self) -> Conversion:
        inner = {id_ for found in self.joined.values() for id_ in found.inner}
        nodes = [node for node in self.graph.needed() if node.id not in inner]
        obstacles = [d for d in self.inference.diagnostics if d.severity is Severity.ERROR]
        for spec in self.inference.inputs.values():
            if spec.dtype in DTYPES:
                self.input(spec)
            else:
                node = self.graph[spec.id]
                obstacles.append(self.obstacle(node, _no_type(spec.dtype)))
        for done, node in enumerate(nodes, 1):
            if node.id not in self.values:
                try:
                    self.values[node.id] = self.value(node)
                except Refusal as refusal:
                    if str(refusal):
                        obstacles.append(self.obstacle(node, str(refusal), refusal.hint))
                except FormatError as error:
                    obstacles += error.diagnostics
            self.progress(done, len(nodes))
        if not obstacles:
            for id_ in self.graph.outputs:
                try:
                    self.output(id_)
                except Refusal as refusal:
                    node = self.graph[id_]
                    obstacles.append(self.obstacle(node, str(refusal), refusal.hint))
        if obstacles:
            raise NotSupportedError(*dict.fromkeys(obstacles))
        model = OnnxModel(*self.proto())
        forms = {
            id_: (self.writer.final(next(iter(value.forms.values()))), next(iter(value.forms)))
            for id_, value in self.values.items()
            if value.forms and value.constant is None
        }
        return Conversion(
            model,
            self.inference,
            self.writer.opset,
            self.input_orders,
            self.output_orders,
            forms,
            self.foreign,
        )

    def obstacle(self, node: Node, reason: str, hint: str = "") -> Diagnostic:
        return CANNOT_CONVERT.at(node.where(), f"{node.operation}: {reason}", hint=hint)

    # -- the graph's ends --------------------------------------------------------------------

    def input(self, spec: InputSpec) -> None:
        """Declare a graph input; the array fed is the value turned back."""
        turn = spec.order if self.channels_first and len(spec.shape) > 2 else spec.turn
        fed = inverse(turn)
        inner = spec.inner_shape
        self.values[spec.id] = Value(
            self.inference.facts[spec.id], {fed: self.writer.name(spec.id)}
        )
        # what the user feeds is inner.transpose(fed); where nothing turns, that is the shape given
        self.input_orders[spec.id] = tuple(spec.turn[axis] for axis in fed)
        shape = tuple(inner[axis] for axis in fed)
        self.graph_inputs.append(_info(spec.id, spec.dtype.numpy, shape))

    def output(self, id_: str) -> None:
        """Declare a graph output under the node's own id."""
        value = self.values[id_]
        shape = value.facts.shape
        order = identity(len(shape or ()))
        if self.channels_first and len(order) > 2 and value.constant is None:
            order = next(iter(value.forms))
        emitter = NodeEmitter(self.writer, self.graph[id_], [(id_, value)], value.facts)
        name = emitter.value(0, None if shape is None else order)
        if name != id_ and id_ in self.input_orders:
            raise Refusal("it is an output too, with its axes in another order than they are fed")
        if name in self.declared or (name != id_ and name not in self.writer.made):
            name = self.writer.node(f"{id_}/Identity", "Identity", [name])
        if name in self.writer.made:
            self.writer.claim(name, id_)
        self.declared.add(name)
        self.output_orders[id_] = order
        if shape is not None:
            shape = tuple(shape[axis] for axis in order)
        self.graph_outputs.append(_info(id_, value.facts.dtype.numpy, shape))

    # -- nodes -------------------------------------------------------------------------------

    def value(self, node: Node) -> Value:
        facts = self.inference.facts[node.id]
        domain = self.carrying(node)
        if not domain and (known := self.known(node)) is not None:
            return Value(facts, constant=known)
        call, ids = self.inference.calls.get(node.id), node.inputs
        if node.id in self.joined:
            call, ids = self.joined[node.id].call, self.joined[node.id].inputs
        if entry_of(node) is None and not domain:
            raise FormatError(unknown(node))
        if (call is None and not domain) or any(id_ not in self.values for id_ in ids):
            raise Refusal("")  # the reason is known: a finding of the inference, or an input's
        inputs = [(id_, self.values[id_]) for id_ in ids]
        emitter = NodeEmitter(self.writer, node, inputs, facts)
        if domain:
            self.foreign.append(node.id)
        if call is None:
            emitter.result(emitter.carried(domain))
            return emitter.made
        lower = call.spec.to_onnx if call.spec.plugin is None or not domain else call.spec.plugin
        try:
            lower(call, emitter)
        except UnknownShape:
            emitter.refuse("the shape of its input is not known", "give it: --shape NAME=...")
        return emitter.made

    def carrying(self, node: Node) -> str:
        """The domain of the ONNX node that carries an operation over as it is; "" for none."""
        if self.trt_plugins and plugins.is_plugin(node):
            return plugins.DOMAIN
        return custom.DOMAIN if self.allow_custom and entry_of(node) is None else ""

    def known(self, node: Node) -> Constant | None:
        """The node's elements when they can be had at export: constants and what follows."""
        facts = self.inference.facts[node.id]
        if node.operation == "Const":
            tensor = constant(node)
            if tensor.problem:
                tensor.numpy()  # raises what is wrong with it
            if tensor.type not in DTYPES:
                raise Refusal(_no_type(tensor.type))
            return tensor
        if facts.value is not None and facts.value.dtype != object:
            return facts.value
        sources = [self.values[id_].constant for id_ in node.inputs if id_ in self.values]
        if not sources or len(sources) < len(node.inputs) or any(s is None for s in sources):
            return None
        return self.folding.value(node, facts, [*map(_array, sources)])

    # -- the model ---------------------------------------------------------------------------

    def proto(self) -> tuple[onnx.ModelProto, dict[str, Weights]]:
        final = self.writer.final
        nodes, used = _alive(self.writer.nodes, self.declared)
        kept = {final(n): item for n, item in self.writer.initializers.items() if n in used}
        graph = onnx.helper.make_graph(
            [_node(node, final) for node in nodes],
            self.graph.id or "main",
            self.graph_inputs,
            self.graph_outputs,
            [_initializer(name, item) for name, item in kept.items()],
        )
        opsets = [onnx.helper.make_opsetid("", self.writer.opset)]
        ir_version = onnx.helper.find_min_ir_version_for(opsets)
        domains = sorted({node.domain for node in nodes} - {""})
        opsets += [onnx.helper.make_opsetid(domain, FOREIGN_VERSION) for domain in domains]
        model = onnx.helper.make_model(
            graph, opset_imports=opsets, producer_name="ufkit", ir_version=ir_version
        )
        return model, {n: item for n, item in kept.items() if isinstance(item, Weights)}


def _no_type(dtype: DType) -> str:
    return f"its element type {dtype} has no equivalent"


def _alive(nodes: Sequence[OnnxNode], wanted: set[str]) -> tuple[list[OnnxNode], set[str]]:
    """The nodes that the outputs need, and every name in use."""
    used = set(wanted)
    alive = []
    for node in reversed(nodes):
        if used.intersection(node.outputs):
            used.update(node.inputs)
            alive.append(node)
    return alive[::-1], used


def _node(node: OnnxNode, final: Callable[[str], str]) -> onnx.NodeProto:
    inputs, outputs = [*map(final, node.inputs)], [*map(final, node.outputs)]
    made = onnx.helper.make_node(node.op_type, inputs, outputs, node.name, domain=node.domain)
    for name, value in sorted(node.attributes.items()):
        made.attribute.append(onnx.helper.make_attribute(name, value))
    return made


def _info(name: str, dtype: np.dtype[Any], shape: Shape | None) -> onnx.ValueInfoProto:
    sizes = (
        None
        if shape is None
        else [
            size
            if isinstance(size, int)
            else str(size)
            if size.known and size.factor == 1
            else None
            for size in shape
        ]
    )
    return onnx.helper.make_tensor_value_info(
        name, onnx.helper.np_dtype_to_tensor_dtype(dtype), sizes
    )


def _initializer(name: str, item: np.ndarray[Any, Any] | Weights) -> onnx.TensorProto:
    dims = item.dims if isinstance(item, Weights) else item.shape
    kind = onnx.helper.np_dtype_to_tensor_dtype(item.dtype)
    tensor = onnx.TensorProto(name=name, dims=dims, data_type=kind)
    if not isinstance(item, Weights):
        tensor.raw_data = item.tobytes()
    return tensor


def _array(source: Constant | None) -> np.ndarray[Any, Any]:
    assert source is not None
    return source.numpy() if isinstance(source, Tensor) else source
