"""Proof that a conversion changed nothing: both models run on the same inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.conversion.blame import judge
from ufkit.conversion.differences import Difference, difference
from ufkit.conversion.engines import REFERENCE, best_engine, open_onnx
from ufkit.conversion.rules import DIFFERS, NOT_FINITE, VERIFIED_BY_ONNX
from ufkit.conversion.twin import Twin
from ufkit.core.diag import Diagnostic, FormatError, RequestError
from ufkit.core.files import PathLike
from ufkit.uff.evaluate import evaluate
from ufkit.uff.infer import Inference
from ufkit.uff.inputs import InputSpec
from ufkit.uff.model import Node
from ufkit.uff.ops.spec import MAX_BYTES
from ufkit.uff.orders import inverse
from ufkit.uff.rules import TOO_LARGE

Array = NDArray[Any]
Progress = Callable[[int, int], None]

_OPEN_SIZE = 64


@dataclass(slots=True)
class Verification:
    """What was compared, and how it came out.

    inputs   what was fed: "random, seed 0" or the user's file
    first    the first node in order of computation whose value differs, when one does
    not_run  ids of nodes that nothing here can run, up to which was compared
    """

    engine: str
    inputs: str
    outputs: list[Difference] = field(default_factory=list)
    first: Difference | None = None
    not_run: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(output.ok for output in self.outputs)

    def as_dict(self) -> dict[str, Any]:
        outputs = [{**asdict(output), "ok": output.ok} for output in self.outputs]
        return {
            "ok": self.ok,
            "engine": self.engine,
            "inputs": self.inputs,
            "outputs": outputs,
            "first_different": asdict(self.first) if self.first else None,
            "not_run": self.not_run,
        }


def verify(
    twin: Twin,
    path: PathLike,
    *,
    data: Mapping[str, Any] | None = None,
    seed: int = 0,
    tolerance: float | None = None,
    progress: Progress = lambda done, total: None,
) -> Verification:
    """Compare a graph, run by the reference evaluator, with the ONNX model at `path`.

    `data` holds an array for each Input, in UFF's layout; else they are random. On a difference
    the first node to blame is sought. Raises RequestError for data that does not fit.
    """
    graph = twin.inference.graph
    feeds, expected = _computed(twin.inference, data, seed, progress)
    engine = best_engine()
    fed = {id_: feeds[id_].transpose(order) for id_, order in twin.inputs.items()}
    got = open_onnx(path, engine=engine).run(fed)
    result = Verification(engine, "the data given" if data else f"random, seed {seed}")
    if engine == REFERENCE:
        result.diagnostics.append(VERIFIED_BY_ONNX.at(graph.where(), "ONNX Runtime is not here"))
    for id_, order in twin.outputs.items():
        value = got[twin.names.get(id_, id_)].transpose(inverse(order))
        result.outputs.append(difference(graph, id_, value, expected[id_], tolerance))
    if not all(np.isfinite(array).all() for array in expected.values()):
        message = "the reference gives values that are not finite on these inputs"
        result.diagnostics.append(NOT_FINITE.at(graph.where(), message))
    if not result.ok:
        judgement = judge(twin, feeds, fed, tolerance)
        result.outputs = [judgement.outputs.get(item.id, item) for item in result.outputs]
        result.diagnostics += judgement.chosen
    if not result.ok:
        result.first = judgement.first
        blamed = result.first or next(output for output in result.outputs if not output.ok)
        message = (
            f"{blamed.operation} gives values {blamed.error:.2g} apart (largest difference "
            f"against largest value), {blamed.tolerance:g} is allowed"
        )
        result.diagnostics.append(DIFFERS.at(graph[blamed.id].where(), message))
    return result


def _computed(
    inference: Inference,
    data: Mapping[str, Any] | None,
    seed: int,
    progress: Progress,
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The inputs fed and what the reference makes of them."""
    if data is not None:
        feeds = {id_: np.asarray(array) for id_, array in data.items()}
        return _typed(feeds, inference), evaluate(inference, feeds, progress=progress)
    # A batch of 2 shows mistakes that 1 hides; some graphs have the 1 written into a Reshape.
    # Where a normal distribution leads to NaN (logarithms, roots), numbers in (0, 1) may not.
    failure: FormatError | None = None
    feeds, result = {}, {}
    for batch, positive in ((2, False), (2, True), (1, False), (1, True)):
        feeds = random_inputs(inference, seed, batch=batch, positive=positive)
        try:
            result = evaluate(inference, feeds, progress=progress)
        except FormatError as error:
            failure = error
            continue
        if all(np.isfinite(array).all() for array in result.values()):
            return feeds, result
    if not result and failure:
        raise failure
    return feeds, result


def _typed(feeds: Mapping[str, Array], inference: Inference) -> dict[str, Array]:
    types = {id_: spec.dtype.numpy for id_, spec in inference.inputs.items()}
    return {id_: array.astype(types.get(id_, array.dtype)) for id_, array in feeds.items()}


def random_inputs(
    inference: Inference, seed: int, *, batch: int = 1, positive: bool = False
) -> dict[str, Array]:
    """An array for each Input, the same for the same seed.

    Floats are normal, or uniform in (0, 1) when `positive`; integers count from 0 to what the
    Gather they index allows, else to 9. Open sizes are `batch` in front, 64 elsewhere.
    """
    random = np.random.default_rng(seed)
    consumers = inference.graph.consumers()
    return {
        id_: _random(
            inference.graph[id_],
            random,
            spec,
            batch,
            positive,
            _limit(inference, consumers[id_], id_),
        )
        for id_, spec in inference.inputs.items()
    }


def _random(
    node: Node,
    random: np.random.Generator,
    spec: InputSpec,
    batch: int,
    positive: bool,
    limit: int,
) -> Array:
    shape = [
        size if isinstance(size, int) else (_OPEN_SIZE if at else batch)
        for at, size in enumerate(spec.shape)
    ]
    if (size := 8 * prod(shape)) > MAX_BYTES:
        message = f"random numbers for Input {spec} take {size} bytes; {MAX_BYTES} are the most"
        raise RequestError(TOO_LARGE.at(node.where(), message))
    dtype = spec.dtype.numpy
    if dtype.kind == "f":
        floats = random.uniform(0.05, 0.95, shape) if positive else random.standard_normal(shape)
        return np.asarray(floats, dtype)
    return np.asarray(random.integers(0, 2 if dtype.kind == "b" else limit, shape), dtype)


def _limit(inference: Inference, takers: Sequence[Node], id_: str) -> int:
    """One more than the largest index that every Gather fed by this Input allows."""
    limits = []
    for node in takers:
        if node.operation in ("Gather", "GatherV2") and node.inputs[1] == id_:
            call = inference.calls.get(node.id)
            shape = inference.facts[node.inputs[0]].shape
            axis = call["axis"] if call and call.has_field("axis") else 0
            if shape and isinstance(size := shape[axis], int):
                limits.append(size)
    return max(min(limits, default=10), 1)
