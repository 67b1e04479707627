"""Which kind of file becomes which, and one call for all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ufkit.conversion.rules import CANNOT_CONVERT, WRONG_PAIR
from ufkit.conversion.uff_onnx import DEFAULT_OPSET, Conversion, to_onnx
from ufkit.conversion.ufw_files import convert_array, convert_mean, convert_net
from ufkit.conversion.verify import Verification, verify
from ufkit.core.diag import Diagnostic, FileError, NotSupportedError, RequestError, Where
from ufkit.core.files import PathLike, Source, staging
from ufkit.core.rules import EXISTS
from ufkit.uff.inputs import GivenShapes
from ufkit.uff.io import BINARY, JSON, TEXT, save
from ufkit.uff.io import open as open_uff
from ufkit.uff.model import MetaGraph
from ufkit.uff.rules import SEVERAL_GRAPHS
from ufkit.wire.sniff import identify

ONNX, NPY = "onnx", "npy"


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Files that become the same kinds of files. `forms` are those by the target's suffix."""

    name: str
    forms: Mapping[str, str]


UFF = Family(
    "UFF",
    {
        ".onnx": ONNX,
        ".uff": BINARY,
        ".pb": BINARY,
        ".pbtxt": TEXT,
        ".txt": TEXT,
        ".json": JSON,
    },
)
NET = Family(
    "Caffe net",
    {
        ".caffemodel": BINARY,
        ".fp32umodel": BINARY,
        ".int8umodel": BINARY,
        ".prototxt": TEXT,
        ".txt": TEXT,
        ".json": JSON,
    },
)
MEAN = Family("mean image", {".npy": NPY})
ARRAY = Family("mean image", {".binaryproto": BINARY})
_FAMILIES = {
    "caffe-net": NET,
    "caffe-text": NET,
    "caffe-json": NET,
    "caffe-blob": MEAN,
    "npy": ARRAY,
}
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to convert; each option says which targets it concerns.

    graph           id of the graph to take, where a file holds several (ONNX)
    shapes          shapes of Inputs by id; a str is a size left open under that name (ONNX)
    opset           version of ONNX's operators (ONNX)
    channels_first  NCHW graph inputs and outputs (ONNX)
    allow_custom    carry operations that are not known into a domain of their own (ONNX)
    verify          compare both models before anything is put in place (ONNX)
    verify_data     arrays by Input id to verify on; random ones otherwise
    seed            of the random inputs
    tolerance       largest difference allowed, against the largest value; by type if None
    full            write blobs into text, where NVIDIA's twin leaves them out (text of UFF)
    mean_layout     nchw, chw, or c: one number for each channel (mean images to .npy)
    rgb             turn round the channels of a mean image, which Caffe keeps as B G R
    force           replace a file that exists
    """

    graph: str | None = None
    shapes: GivenShapes = field(default_factory=dict)
    opset: int = DEFAULT_OPSET
    channels_first: bool = False
    allow_custom: bool = False
    verify: bool = False
    verify_data: Mapping[str, Any] | None = None
    seed: int = 0
    tolerance: float | None = None
    full: bool = False
    mean_layout: str = "nchw"
    rgb: bool = False
    force: bool = False


@dataclass(slots=True)
class Report:
    """What a conversion made.

    written       False when verification failed: nothing was put in place then
    bytes         of the file written, and of the data file beside it if there is one
    conversion    the ONNX side, for targets that are ONNX
    verification  what was compared, when it was asked for
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

    UFF of any form: .onnx, .uff (binary), .pbtxt or .txt (text), .json. Caffe nets of any form:
    .caffemodel, .fp32umodel, .int8umodel (binary), .prototxt (text), .json. Mean images: .npy and
    back. Written beside and put in place whole; a model that fails verification is not put in
    place.
    Raises FileError, FormatError, RequestError, NotSupportedError.
    """
    options = options or Options()
    opened = source if isinstance(source, Source) else Source.open(source)
    family = family_of(opened)
    form = target_form(target, family)
    if os.path.exists(target) and not options.force:
        message = f"{os.fspath(target)} exists already"
        raise FileError(EXISTS.at(Where(os.fspath(target)), message))
    report = Report(opened.name, os.fspath(target), form, family)
    if family is UFF:
        with open_uff(opened) as meta:
            if form == ONNX:
                _write_onnx(meta, target, options, report, progress)
            else:
                save(meta, target, form=form, full=options.full)
    elif family is NET:
        convert_net(opened, target, form)
    elif family is MEAN:
        report.channels = convert_mean(opened, target, options.mean_layout, rgb=options.rgb)
    else:
        report.channels = convert_array(opened, target, rgb=options.rgb)
    if report.written:
        beside = os.fspath(target) + ".data"
        report.bytes = os.path.getsize(target)
        if form == ONNX and os.path.exists(beside):
            report.bytes += os.path.getsize(beside)
    return report


def family_of(source: Source) -> Family:
    """What a file is a member of; UFF where nothing tells, whose reader then says what it is."""
    return _FAMILIES.get(identify(source).name, UFF)


def target_form(target: PathLike, family: Family) -> str:
    """The form that a name asks for. Raises RequestError (CNV002)."""
    suffix = os.path.splitext(os.fspath(target))[1].lower()
    if suffix not in family.forms:
        message = f"{os.fspath(target)!r} names no kind of file that a {family.name} becomes"
        hint = f"end the name in one of {', '.join(family.forms)}"
        raise RequestError(WRONG_PAIR.at(Where(os.fspath(target)), message, hint=hint))
    return family.forms[suffix]


def _write_onnx(
    meta: MetaGraph, target: PathLike, options: Options, report: Report, progress: Progress
) -> None:
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
        progress=lambda done, total: progress("converting", done, total),
    )
    report.conversion = conversion
    report.diagnostics += conversion.diagnostics
    if options.verify and conversion.foreign:
        message = f"nothing here can run {conversion.foreign[0]!r}, so nothing can be verified"
        where = graph[conversion.foreign[0]].where()
        raise NotSupportedError(CANNOT_CONVERT.at(where, message, hint="leave out --verify"))
    try:
        with staging(target) as staged:
            conversion.model.save(staged)
            if options.verify:
                report.verification = verify(
                    conversion,
                    staged,
                    data=options.verify_data,
                    seed=options.seed,
                    tolerance=options.tolerance,
                    progress=lambda done, total: progress("verifying", done, total),
                )
                report.diagnostics += report.verification.diagnostics
                if not report.verification.ok:
                    raise _NotEqual
    except _NotEqual:
        report.written = False


class _NotEqual(Exception):
    """Ends the staging of a model that failed verification."""
