"""Which inputs of TensorRT's NMS plugin are boxes, scores and anchors, and whether they fit.

All three come as long rows of numbers and are told by their places only; what does not fit is
often the trace of a number in a configuration that was copied from another detector.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from ufkit.core.diag import FormatError
from ufkit.uff.dims import Dim, product, show
from ufkit.uff.model import INPUT_OPERATION, Node
from ufkit.uff.ops.maps import order_of
from ufkit.uff.ops.spec import Call
from ufkit.uff.ops.trt_anchors import GRID_ANCHOR, GRID_ANCHOR_RECT, boxes_a_cell, layer_sizes
from ufkit.uff.ops.trt_nms import SHARED, boxes_each, classes, fixed
from ufkit.uff.orders import inverse
from ufkit.uff.rules import DETECTION_COUNTS, DETECTION_ORDER, INPUT_COUNT, STRAY_INPUT

ORDER = "inputOrder_u_ilist"
_PARTS = ("boxes", "scores", "anchors")
_MAPS = "featureMapShapes_u_ilist"
# What is passed on the way from a map to the detection, elements unchanged.
_SHAPING = frozenset({"Reshape", "Squeeze", "ExpandDims", "Flatten", "Identity", "Concat"})


class Roles(NamedTuple):
    """Places of the three among the inputs."""

    boxes: int
    scores: int
    anchors: int


def three(call: Call) -> list[int]:
    """The inputs without a stray Input. Raises FormatError (UFF106) where they are not three."""
    ids = call.node.inputs
    found = list(range(len(ids)))
    if len(found) > len(_PARTS):
        found = [i for i in found if not _is_input(call, i)]
    if len(found) != len(_PARTS):
        message = f"{len(ids)} inputs: {', '.join(ids)}; {', '.join(_PARTS)} are needed"
        call.fail(INPUT_COUNT, message)
    return found


def note_stray(call: Call) -> None:
    """Note (UFF323) each Input that `three` leaves out."""
    for i in sorted(set(range(len(call.inputs))) - set(three(call))):
        call.note(STRAY_INPUT, f"input {i}, {call.node.inputs[i]!r}, is an {INPUT_OPERATION}")


def _is_input(call: Call, i: int) -> bool:
    graph, id_ = call.node.graph, call.node.inputs[i]
    return id_ in graph and graph[id_].operation == INPUT_OPERATION


def roles(call: Call) -> Roles:
    """The places of boxes, scores and anchors. Raises FormatError (UFF322, UFF321).

    The order counts the three; where a stray Input stands among them it may count that too.
    """
    inputs, order = three(call), tuple(call[ORDER])
    known = [Roles(*choice) for choice in itertools.permutations(inputs)]
    given = [
        Roles(*(places[n] for n in order))
        for places in (inputs, range(len(call.inputs)))
        if len(order) == len(_PARTS) and all(0 <= n < len(places) for n in order)
    ]
    given = [choice for choice in given if choice in known]
    if not given:
        numbers = "0, 1 and 2, each once"
        call.fail(DETECTION_ORDER, f"{ORDER} is {list(order)}; it must have {numbers}", ORDER)
    fitting = [choice for choice in known if _fit(call, choice)]
    if found := next((choice for choice in given if choice in fitting), None):
        return found
    return _explain(call, given[0], fitting, inputs)


def numbers(call: Call, i: int) -> int:
    """How many elements of a sample input i has. Raises FormatError (UFF302) if not known."""
    return fixed(call, product(call.shape(i)[1:]), f"elements of input {i}")


def anchor_count(call: Call, i: int) -> int | None:
    """How many anchors input i holds; None where it is no [N, 2, P * 4, 1]."""
    shape = call.shape(i)
    if len(shape) < 3 or shape[1] != 2 or isinstance(product(shape[2:]), Dim):
        return None
    count, rest = divmod(numbers(call, i), 2 * 4)
    return count if count and not rest else None


def _fit(call: Call, choice: Roles) -> bool:
    count = anchor_count(call, choice.anchors)
    return (
        count is not None
        and numbers(call, choice.boxes) == count * 4 * boxes_each(call)
        and numbers(call, choice.scores) == count * classes(call)
    )


# -- what is wrong -----------------------------------------------------------------------------


def _explain(call: Call, given: Roles, fitting: list[Roles], inputs: list[int]) -> NoReturn:
    """Raise what is to be said of inputs that do not fit."""
    ids = call.node.inputs
    taken = ", ".join(
        f"{part} from {ids[i]!r} {show(call.shape(i))}"
        for part, i in zip(_PARTS, given, strict=True)
    )
    said = f"{ORDER} {[inputs.index(i) for i in given]} takes {taken}"
    like = [i for i in inputs if anchor_count(call, i) is not None]
    if not fitting and like and given.anchors not in like:
        call.fail(DETECTION_ORDER, f"{said}; {ids[like[0]]!r} has the shape of anchors", ORDER)
    if not like:
        call.conflict(f"{said}; anchors are [N, 2, P * 4, 1]")
    if fitting:
        fits = " or ".join(str([inputs.index(i) for i in choice]) for choice in fitting)
        call.fail(DETECTION_ORDER, f"{said}; {fits} fits", ORDER)
    call.fail(DETECTION_COUNTS, _counts(call, given))


def _counts(call: Call, given: Roles) -> str:
    anchors = anchor_count(call, given.anchors) or 0
    each, count = boxes_each(call), classes(call)
    found = [numbers(call, given.boxes), numbers(call, given.scores)]
    boxes, scores = found[0] / (4 * each), found[1] / count
    said = (
        f"there are {anchors} anchors, {found[0]} numbers of boxes for 4 * {each} * {anchors} and "
        f"{found[1]} scores for {count} * {anchors}"
    )
    hints = []
    if boxes == anchors and found[1] % anchors == 0:
        hints.append(f"numClasses_u_int {found[1] // anchors} would fit")
    elif scores == anchors and found[0] == anchors * 4 * (count if each == 1 else 1):
        hints.append(f"{SHARED} {int(each > 1)} would fit")
    elif boxes.is_integer():
        if boxes != scores and boxes and found[1] % int(boxes) == 0:
            hints.append(f"numClasses_u_int {found[1] // int(boxes)} fits the boxes")
        hints += _maps(call, given, int(boxes))
    return "; ".join([said, *hints])


def _maps(call: Call, given: Roles, boxes: int) -> Iterator[str]:
    """What the maps that the boxes come from say of the anchors."""
    joined = _behind(call, given.boxes, ("_FlattenConcat_TRT",))
    grid = _behind(call, given.anchors, (GRID_ANCHOR.name, GRID_ANCHOR_RECT.name))
    sizes = [_map(call, id_) for id_ in joined.inputs] if joined else []
    known = [size for size in sizes if size]
    if not joined or not grid or not known or len(known) < len(sizes):
        return
    named = ", ".join(f"{height} x {width}" for height, width in known)
    of_grid = Call(grid, GRID_ANCHOR, [])
    try:
        now, cells = layer_sizes(of_grid), boxes_a_cell(of_grid)
    except FormatError:
        return  # what is wrong is said of that node
    if now == known:
        here = [
            _numbers_of(call, id_) // (4 * boxes_each(call) * height * width)
            for id_, (height, width) in zip(joined.inputs, known, strict=True)
        ]
        ratios = f"aspectRatios_u_flist of {grid.id!r}"
        yield f"the maps have {here} boxes a cell, {ratios} makes {cells}"
        return
    yield f"the maps are {named}"
    if len(known) == len(cells) and _total(known, cells) == boxes:
        square = all(height == width for height, width in known)
        shapes = [size[0] for size in known] if square else [n for size in known for n in size]
        operation = GRID_ANCHOR if square else GRID_ANCHOR_RECT
        yield f"{operation.name} with {_MAPS} {shapes} fits them at {grid.id!r}"


def _total(sizes: Sequence[tuple[int, int]], cells: Sequence[int]) -> int:
    return sum(h * w * n for (h, w), n in zip(sizes, cells, strict=True))


def _numbers_of(call: Call, id_: str) -> int:
    """How many elements of a sample a value before has; 0 where that is not known."""
    shape = call.before[id_].shape if id_ in call.before else None
    count = product(shape[1:]) if shape else 0
    return count if isinstance(count, int) else 0


def _behind(call: Call, i: int, operations: Sequence[str]) -> Node | None:
    """The operation that input i was made by, reshaped since."""
    for node in _path(call, call.node.inputs[i]):
        if node.operation in operations:
            return node
    return None


def _path(call: Call, id_: str) -> Iterator[Node]:
    """The nodes from a value backwards, up to the first that computes something."""
    graph, seen = call.node.graph, set[str]()
    while id_ in graph and id_ not in seen:
        seen.add(id_)
        yield graph[id_]
        if graph[id_].operation not in _SHAPING or not graph[id_].inputs:
            return
        id_ = graph[id_].inputs[0]


def _map(call: Call, id_: str) -> tuple[int, int] | None:
    """Height and width of the map that a value was reshaped from."""
    for node in _path(call, id_):
        facts = call.before.get(node.id)
        if node.operation in _SHAPING or facts is None or facts.shape is None:
            continue
        order = order_of(node.graph, node.id, len(facts.shape))
        sizes = [facts.shape[axis] for axis in inverse(order)[2:]]
        if len(sizes) == 2 and isinstance(sizes[0], int) and isinstance(sizes[1], int):
            return sizes[0], sizes[1]
    return None
