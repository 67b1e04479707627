"""Which kind of file becomes which, and one call for all of them.

What only some conversions need, `onnx` above all, is imported where one of them is done.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ufkit.conversion.families import (
    DEFAULT_OPSET,
    MEAN,
    NET,
    ONNX,
    ONNX_MODEL,
    TENSORFLOW,
    UFF,
    Family,
    family_of,
    target_form,
)
from ufkit.conversion.proofs import Progress, provable, prove_onnx, prove_uff, rest
from ufkit.conversion.rules import WRONG_PAIR
from ufkit.conversion.tf_files import open_file, open_tensorflow
from ufkit.conversion.tf_uff import GivenInput, Written, to_uff
from ufkit.core.diag import Diagnostic, FileError, RequestError, Where
from ufkit.core.files import PathLike, Source, staging
from ufkit.core.rules import EXISTS
from ufkit.uff.io import TEXT, save
from ufkit.uff.io import open as open_uff
from ufkit.uff.model import MetaGraph
from ufkit.uff.rules import SEVERAL_GRAPHS

if TYPE_CHECKING:
    from ufkit.conversion.onnx_uff import FromOnnx
    from ufkit.conversion.uff_onnx import Conversion
    from ufkit.conversion.verify import Verification
    from ufkit.uff.inputs import GivenShapes

TRT = "trt"
PLUGINS = (ONNX, TRT)


@dataclass(frozen=True, slots=True)
class Options:
    """How to convert; each option says which targets it concerns.

    graph           id of the graph to take, where a file holds several (ONNX)
    shapes          shapes of Inputs by id; a str is a size left open under that name (ONNX, from
                    UFF or to it)
    opset           version of ONNX's operators (ONNX)
    channels_first  NCHW graph inputs and outputs (ONNX)
    allow_custom    carry operations that are not known into a domain of their own (ONNX)
    plugins         what becomes of TensorRT plugins: "onnx" for standard operators, "trt" for nodes
                    that TensorRT makes the plugins of (ONNX)
    verify          compare both models before anything is put in place (ONNX, from UFF or to it)
    verify_data     arrays by Input id to verify on; random ones otherwise
    seed            of the random inputs
    tolerance       largest difference allowed, against the largest value; by type if None
    full            write blobs into text, where NVIDIA's twin leaves them out (text of UFF)
    mean_layout     nchw, chw, or c: one number for each channel (mean images to .npy)
    rgb             turn round the channels of a mean image, which Caffe keeps as B G R
    outputs         names of the nodes that are outputs; if empty those that no other takes
                    (TensorFlow graphs), or the model's own (ONNX models; values too)
    inputs          nodes in whose place inputs come (TensorFlow graphs)
    strict          write what NVIDIA's converter wrote, its losses included (TensorFlow graphs)
    force           replace a file that exists
    """

    graph: str | None = None
    shapes: GivenShapes = field(default_factory=dict)
    opset: int = DEFAULT_OPSET
    channels_first: bool = False
    allow_custom: bool = False
    plugins: str = "onnx"
    verify: bool = False
    verify_data: Mapping[str, Any] | None = None
    seed: int = 0
    tolerance: float | None = None
    full: bool = False
    mean_layout: str = "nchw"
    rgb: bool = False
    outputs: Sequence[str] = ()
    inputs: Sequence[GivenInput] = ()
    strict: bool = False
    force: bool = False


@dataclass(slots=True)
class Report:
    """What a conversion made.

    written       False when verification failed: nothing was put in place then
    bytes         of the file written, and of the data file beside it if there is one
    conversion    the ONNX side, for targets that are ONNX
    verification  what was compared, when it was asked for
    uff           the UFF side, for sources that are TensorFlow graphs or ONNX models
    channels      of a mean image
    """

    source: str
    target: str
    form: str
    family: Family = UFF
    written: bool = True
    bytes: int = 0
    conversion: Conversion | None = None
    verification: Verification | None = None
    uff: Written | FromOnnx | None = None
    channels: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the target is there, and equal where that was asked."""
        return self.written

    def as_dict(self) -> dict[str, Any]:
        """For JSON; diagnostics are left to the caller."""
        result: dict[str, Any] = {
            "source": self.source,
            "target": self.target,
            "form": self.form,
            "written": self.written,
            "bytes": self.bytes,
        }
        if self.uff:
            result["uff_nodes"] = sum(map(len, self.uff.meta.graphs))
            result["uff_outputs"] = self.uff.outputs
        if self.conversion:
            result["opset"] = self.conversion.opset
            result["nodes"] = self.conversion.count()
            result["transposes"] = self.conversion.count("Transpose")
        if self.verification:
            result["verification"] = self.verification.as_dict()
        return result


def convert(
    source: PathLike | Source,
    target: PathLike,
    options: Options | None = None,
    *,
    progress: Progress = lambda what, done, total: None,
) -> Report:
    """Convert a file into the kind that `target`'s suffix names.

    UFF of any form: .onnx, .uff (binary), .pbtxt or .txt (text), .json; the same of frozen
    TensorFlow graphs, SavedModel folders among them; all but .onnx of ONNX models. Caffe nets of
    any form: .caffemodel, .fp32umodel, .int8umodel (binary), .prototxt (text), .json. Mean images:
    .npy and back.
    Written beside and put in place whole; a model that fails verification is not put in place.
    Raises FileError, FormatError, RequestError, NotSupportedError.
    """
    options = options or Options()
    opened = source if isinstance(source, Source) else open_file(source)
    family = family_of(opened)
    form = target_form(target, family)
    if os.path.exists(target) and not options.force:
        message = f"{os.fspath(target)} exists already"
        raise FileError(EXISTS.at(Where(os.fspath(target)), message))
    report = Report(opened.name, os.fspath(target), form, family)
    if family is UFF:
        with open_uff(opened) as meta:
            _write(meta, target, options, report, progress)
    elif family is TENSORFLOW:
        graph = open_tensorflow(opened)
        report.uff = to_uff(
            graph, outputs=options.outputs, inputs=options.inputs, strict=options.strict
        )
        report.diagnostics += report.uff.diagnostics
        _write(report.uff.meta, target, options, report, progress)
    elif family is ONNX_MODEL:
        _convert_onnx(opened, target, options, report, progress)
    else:
        _convert_ufw(opened, target, options, report)
    if report.written:
        beside = os.fspath(target) + ".data"
        report.bytes = os.path.getsize(target)
        if form == ONNX and os.path.exists(beside):
            report.bytes += os.path.getsize(beside)
    return report


def _convert_ufw(source: Source, target: PathLike, options: Options, report: Report) -> None:
    """Convert a file of Caffe or UFW, or an array for one."""
    from ufkit.conversion.ufw_files import convert_array, convert_mean, convert_net

    if report.family is NET:
        convert_net(source, target, report.form)
    elif report.family is MEAN:
        report.channels = convert_mean(source, target, options.mean_layout, rgb=options.rgb)
    else:
        report.channels = convert_array(source, target, rgb=options.rgb)


def _write(
    meta: MetaGraph, target: PathLike, options: Options, report: Report, progress: Progress
) -> None:
    """Write a UFF in the form of the report."""
    if report.form == ONNX:
        _write_onnx(meta, target, options, report, progress)
    else:
        save(meta, target, form=report.form, full=options.full)


def _write_onnx(
    meta: MetaGraph, target: PathLike, options: Options, report: Report, progress: Progress
) -> None:
    from ufkit.conversion.uff_onnx import to_onnx

    graph = meta.select(options.graph)
    if options.graph is None and len(meta.graphs) > 1:
        message = f"graph {graph.id!r} is taken, of {len(meta.graphs)}"
        report.diagnostics.append(SEVERAL_GRAPHS.at(graph.where(), message))
    conversion = to_onnx(
        graph,
        shapes=options.shapes,
        opset=options.opset,
        channels_first=options.channels_first,
        allow_custom=options.allow_custom,
        trt_plugins=_to_tensorrt(options),
        progress=lambda done, total: progress("converting", done, total),
    )
    report.conversion = conversion
    report.diagnostics += conversion.diagnostics
    proven = provable(conversion) if options.verify else conversion
    with _if_equal(target, report) as staged:
        conversion.model.save(staged)
        if options.verify:
            report.verification = prove_onnx(proven, staged, options, progress)
            report.verification.not_run = conversion.foreign
            if report.verification.ok and conversion.foreign:
                report.verification.diagnostics.append(rest(graph, conversion))


def _convert_onnx(
    source: Source, target: PathLike, options: Options, report: Report, progress: Progress
) -> None:
    """Write a UFF of an ONNX model."""
    from ufkit.conversion.onnx_graph import open_graph
    from ufkit.conversion.onnx_uff import from_onnx

    found = from_onnx(open_graph(source), outputs=options.outputs, shapes=options.shapes)
    report.uff = found
    report.diagnostics += found.diagnostics
    if not options.verify:
        save(found.meta, target, form=report.form, full=options.full)
        return
    with _if_equal(target, report) as staged:
        save(found.meta, staged, form=report.form, full=options.full)
        whole = report.form != TEXT or options.full  # else the text lacks its weights
        with open_uff(staged) if whole else nullcontext(found.meta) as written:
            report.verification = prove_uff(found, written.graph, source, options, progress)


@contextmanager
def _if_equal(target: PathLike, report: Report) -> Iterator[str]:
    """A name to write under; what is there is put in place unless it was found to differ."""
    try:
        with staging(target) as staged:
            yield staged
            if report.verification:
                report.diagnostics += report.verification.diagnostics
                if not report.verification.ok:
                    raise _NotEqual
    except _NotEqual:
        report.written = False


class _NotEqual(Exception):
    """Ends the staging of a model that failed verification."""


def _to_tensorrt(options: Options) -> bool:
    """Whether plugins are for TensorRT. Raises RequestError (CNV002)."""
    if options.plugins not in PLUGINS:
        message = f"plugins cannot become {options.plugins!r}; {' or '.join(PLUGINS)} are possible"
        raise RequestError(WRONG_PAIR.at(Where(), message))
    return options.plugins == TRT
