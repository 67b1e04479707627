"""Two UFF files of any forms held against each other: graphs, nodes, fields, weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from ufkit.core.comparison import ABSENT, Change, Comparison, NodeChange, NodeRef, Renamed
from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.core.elements import tensor_distance
from ufkit.core.render import plural
from ufkit.core.tensor import Tensor
from ufkit.uff.compare_fields import FieldComparer, equal_bytes
from ufkit.uff.const import constant
from ufkit.uff.data import DataMap
from ufkit.uff.model import Descriptor, Graph, MetaGraph, Node
from ufkit.uff.renames import renames
from ufkit.uff.rules import BAD_VALUES_SIZE
from ufkit.uff.schema import DATA
from ufkit.uff.work_rules import NOT_COMPARED, PRINTED_DOUBLES
from ufkit.wire.reader import LEN
from ufkit.wire.sniff import UFF_TEXT, identify
from ufkit.wire.values import encode_varint

Progress = Callable[[int, int], None]
Named = TypeVar("Named", Node, Graph)

_GLANCE = 4096
_REFERENCE = encode_varint(DATA.fields["ref"].number << 3 | LEN)  # of extra_fields as well
_WEIGHTS = frozenset({"values", "shape", "dtype"})


def compare(
    a: MetaGraph,
    b: MetaGraph,
    *,
    tolerance: float = 0.0,
    weights: bool = True,
    progress: Progress = lambda done, total: None,
) -> Comparison:
    """What differs between two files.

    Nodes go together by id, whatever their order in the file; references are followed, whatever
    their keys; entries of `referenced_data` that nothing refers to are left aside. Weights are
    read block by block, with little memory; without `weights` only their types and shapes count.
    Raises FormatError where a file is damaged.
    """
    result = Comparison(a.source.name, b.source.name, tolerance)
    texts = [meta for meta in (a, b) if identify(meta.source) is UFF_TEXT]
    comparer = _Comparer(result, bool(texts), weights)
    comparer.files(a, b)
    comparer.weights(progress)
    result.diagnostics += left_out_note(comparer.absent)
    if count := comparer.fields.rounded:
        message = f"{plural(count, 'double')}: equal in the first 12 digits, not in all"
        result.diagnostics.append(PRINTED_DOUBLES.at(texts[0].where(), message))
    return result


class _Comparer:
    def __init__(self, result: Comparison, printed: bool, read: bool) -> None:
        self.result = result
        self.fields = FieldComparer(printed=printed)
        self.read = read
        self.waiting: list[tuple[str, Tensor, Tensor]] = []  # weights yet to be read
        self.absent: list[Tensor] = []  # weights that one side does not hold

    def files(self, a: MetaGraph, b: MetaGraph) -> None:
        for name in ("version", "descriptor_core_version"):
            self.result.hold(name, getattr(a, name), getattr(b, name))
        left, right = ({d.id: _descriptor(d) for d in meta.descriptors} for meta in (a, b))
        for id_ in left | right:
            self.result.hold(f"descriptor {id_}", left.get(id_, ABSENT), right.get(id_, ABSENT))
        self.extra_fields(a.extra_fields, b.extra_fields)
        if len(a.graphs) == len(b.graphs) == 1:
            self.result.hold("graph", a.graph.id, b.graph.id)
            self.graphs(a.graph, b.graph, "")
            return
        graphs, others = _numbered(a.graphs), _numbered(b.graphs)
        for key in graphs | others:
            if key in graphs and key in others:
                self.graphs(graphs[key], others[key], f"{key[0]}/")
            else:
                sides = [_size(side.get(key)) for side in (graphs, others)]
                self.result.hold(f"graph {key[0]}", *sides)

    def extra_fields(self, a: DataMap, b: DataMap, prefix: str = "") -> None:
        self.result.changes += self.fields.changes(a, b, prefix=f"{prefix}extra_fields.")

    def graphs(self, a: Graph, b: Graph, prefix: str) -> None:
        """Everything of two graphs; `prefix` tells them from others of their files."""
        self.extra_fields(a.extra_fields, b.extra_fields, prefix)
        nodes, others = _numbered(a.nodes), _numbered(b.nodes)
        removed = [node for key, node in nodes.items() if key not in others]
        added = [node for key, node in others.items() if key not in nodes]
        renamed = renames(a, removed, added)
        for node in removed:
            if node.id in renamed:
                names = prefix + node.id, prefix + renamed[node.id]
                self.result.renamed.append(Renamed(*names, node.operation))
            else:
                self.result.removed.append(_ref(node, prefix))
        found = set(renamed.values())
        self.result.added += [_ref(node, prefix) for node in added if node.id not in found]
        for key, node in nodes.items():
            if key in others:
                self.nodes(node, others[key], prefix + node.id, renamed)

    def nodes(self, a: Node, b: Node, id_: str, renamed: dict[str, str]) -> None:
        self.result.nodes += 1
        if a.operation != "Const" and _same_bytes(a, b) and renamed.keys().isdisjoint(a.inputs):
            return
        changes = []
        if a.operation != b.operation:
            changes.append(Change("operation", a.operation, b.operation))
        if tuple(renamed.get(name, name) for name in a.inputs) != b.inputs:
            changes.append(Change("inputs", list(a.inputs), list(b.inputs)))
        without = _WEIGHTS if self.constants(a, b, id_) else frozenset[str]()
        changes += self.fields.changes(a.fields, b.fields, without=without)
        changes += self.fields.changes(a.extra_fields, b.extra_fields, prefix="extra_fields.")
        if changes:
            self.result.changed.append(NodeChange(id_, a.operation, tuple(changes)))

    # -- weights -----------------------------------------------------------------------------

    def constants(self, a: Node, b: Node, id_: str) -> bool:
        """Compare two constants, or keep them for later; False where they are not both one."""
        if not a.operation == b.operation == "Const":
            return False
        try:
            tensors = constant(a), constant(b)
        except FormatError:  # a field is missing or of another kind: they are compared as fields
            return False
        left, right = map(_label, tensors)
        problems = [tensor.problem[0] for tensor in tensors if tensor.problem]
        if tensors[0].shape != tensors[1].shape or (left != right and (problems or not self.read)):
            self.result.weigh(id_, left, right, None)
        elif BAD_VALUES_SIZE in problems:
            self.damaged(id_, *tensors)
        elif problems:
            self.result.left_out.append(id_)
            self.absent += [tensor for tensor in tensors if tensor.problem][:1]
        elif self.read:
            self.waiting.append((id_, *tensors))
        return True

    def damaged(self, id_: str, a: Tensor, b: Tensor) -> None:
        """Weights of the wrong size, which are the same only byte by byte."""
        if equal_bytes(a.span, b.span):
            self.result.compared += 1
            return
        left, right = (f"{_label(tensor)} in {tensor.span.nbytes} bytes" for tensor in (a, b))
        self.result.weigh(id_, left, right, None)

    def weights(self, progress: Progress) -> None:
        """Read and compare what `constants` kept."""
        total = sum(a.nbytes for _, a, _ in self.waiting)
        done = 0
        for id_, a, b in self.waiting:
            self.result.weigh(id_, _label(a), _label(b), tensor_distance(a, b))
            done += a.nbytes
            progress(done, total)


def left_out_note(absent: Sequence[Tensor]) -> Iterator[Diagnostic]:
    """The note on weights whose values are not in their file, if there are any."""
    if absent:
        size = sum(tensor.nbytes for tensor in absent)
        message = (
            f"it leaves out the values of {plural(len(absent), 'weight')}, "
            f"{plural(size, 'byte')}; their types and shapes are equal"
        )
        yield NOT_COMPARED.at(Where(absent[0].where.file), message)


def _numbered(items: Iterable[Named]) -> dict[tuple[str, int], Named]:
    """Nodes or graphs by id, and by how often it was there before: damaged files repeat ids."""
    seen: Counter[str] = Counter()
    found = {}
    for item in items:
        found[item.id, seen[item.id]] = item
        seen[item.id] += 1
    return found


def _same_bytes(a: Node, b: Node) -> bool:
    """Whether two nodes are the same at a glance: equal bytes, which refer to nothing else."""
    left, right = a.message.original, b.message.original
    if left is None or right is None or not left.nbytes == right.nbytes <= _GLANCE:
        return False
    data = bytes(left.peek())
    return _REFERENCE not in data and data == bytes(right.peek())


def _descriptor(descriptor: Descriptor) -> str:
    return f"version {descriptor.version}{', optional' if descriptor.optional else ''}"


def _size(graph: Graph | None) -> Any:
    return ABSENT if graph is None else f"{len(graph)} nodes"


def _ref(node: Node, prefix: str) -> NodeRef:
    return NodeRef(prefix + node.id, node.operation, node.inputs)


def _label(tensor: Tensor) -> str:
    return f"{tensor.type}{list(tensor.shape)}"
