"""What differs between two models of any kind: one call, which goes by what the files are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from ufkit.conversion.rules import NOT_ALIKE
from ufkit.core.comparison import Comparison
from ufkit.core.diag import FormatError, NotSupportedError, RequestError, Where
from ufkit.core.files import PathLike, Source
from ufkit.uff.compare import compare
from ufkit.uff.io import open as open_uff
from ufkit.uff.model import Graph, MetaGraph
from ufkit.ufw.compare import AnySide, compare_nets
from ufkit.ufw.io import open_net, open_prototxt
from ufkit.ufw.net import Net
from ufkit.ufw.prototxt import Prototxt
from ufkit.wire.sniff import CAFFE_JSON, CAFFE_NET, CAFFE_TEXT, ONNX, identify

if TYPE_CHECKING:
    from ufkit.conversion.onnx_view import OnnxView

Progress = Callable[[int, int], None]


def diff(
    a: PathLike | MetaGraph | Net | Prototxt,
    b: PathLike | MetaGraph | Net | Prototxt,
    *,
    tolerance: float = 0.0,
    weights: bool = True,
    progress: Progress = lambda done, total: None,
) -> Comparison:
    """What differs between two models: files told by their content, or models that are open.

    Each may be a UFF file of any form or an ONNX file, or both Caffe or UFW nets, with weights or
    as text, which is a matter of `ufkit.ufw.compare`. A UFF is compared with an ONNX model that
    ufkit made by converting it again, node by node; with one that another program made by the
    names of inputs, outputs and weights, which is noted (CNV203).
    Weights whose largest difference, against the largest value of b, is within `tolerance` count
    as the same; without `weights` their values do not count. `progress` is told bytes.
    Raises FileError; FormatError that says what a file is when it is none of these; RequestError
    (CNV205) for a net and a model of another kind.
    """
    with ExitStack() as stack:
        left, right = (_opened(side, stack) for side in (a, b))
        if isinstance(left, AnySide) and isinstance(right, AnySide):
            return compare_nets(
                left, right, tolerance=tolerance, weights=weights, progress=progress
            )
        if isinstance(left, AnySide) or isinstance(right, AnySide):
            raise _not_alike(left, right)
        result = Comparison(_name(left), _name(right), tolerance)
        if isinstance(left, MetaGraph):
            if isinstance(right, MetaGraph):
                return compare(left, right, tolerance=tolerance, weights=weights, progress=progress)
            _across(left, right, result, weights, progress, swapped=False)
        elif isinstance(right, MetaGraph):
            _across(right, left, result, weights, progress, swapped=True)
        else:
            from ufkit.conversion.compare_onnx import compare_onnx

            compare_onnx(left, right, result, weights=weights, progress=progress)
        return result


def _opened(
    side: PathLike | MetaGraph | AnySide, stack: ExitStack
) -> MetaGraph | OnnxView | AnySide:
    if isinstance(side, MetaGraph | AnySide):
        return side
    source = stack.enter_context(closing(Source.open(side)))
    kind = identify(source)
    if kind in (CAFFE_NET, CAFFE_JSON):
        return open_net(source)
    if kind is CAFFE_TEXT:
        return open_prototxt(source)
    if kind is not ONNX:
        return open_uff(source)
    from ufkit.conversion.onnx_view import view_of

    return view_of(source)


def _name(side: MetaGraph | OnnxView | AnySide) -> str:
    return side.source.name if isinstance(side, MetaGraph | AnySide) else side.file


def _not_alike(*sides: MetaGraph | OnnxView | AnySide) -> RequestError:
    kinds = [_KINDS.get(type(side).__name__, "an ONNX model") for side in sides]
    message = "; ".join(f"{_name(side)} is {kind}" for side, kind in zip(sides, kinds, strict=True))
    return RequestError(NOT_ALIKE.at(Where(_name(sides[0])), message))


_KINDS = {"MetaGraph": "a UFF", "Net": "a Caffe net", "Prototxt": "a Caffe net"}


def _across(
    meta: MetaGraph,
    view: OnnxView,
    result: Comparison,
    weights: bool,
    progress: Progress,
    *,
    swapped: bool,
) -> None:
    """Compare a UFF file and an ONNX model; `swapped` when the model is the result's a."""
    from ufkit.conversion.compare_lowered import lowered
    from ufkit.conversion.compare_names import NameComparer
    from ufkit.conversion.compare_onnx import compare_onnx
    from ufkit.conversion.rules import AS_CONVERTED

    graph = _graph(meta, view)
    made = None
    try:
        made = lowered(graph, view)
    except (NotSupportedError, FormatError) as error:
        sides = f"not possible: {error.diagnostic.message}", "done"
        result.hold("conversion", *(sides[::-1] if swapped else sides))
    if made is None:
        names = NameComparer(graph, view, result, swapped=swapped)
        names.compare(weights=weights, progress=progress)
        return
    left, right = (view, made) if swapped else (made, view)
    compare_onnx(left, right, result, weights=weights, progress=progress)
    if not result.same:
        message = f"the ONNX model is held against what {graph.id!r} would become"
        result.diagnostics.append(AS_CONVERTED.at(graph.where(), message))


def _graph(meta: MetaGraph, view: OnnxView) -> Graph:
    """The graph that a model was made of: the one of its name, else the one `select` takes."""
    try:
        return meta.select(view.graph)
    except RequestError:
        return meta.select()
