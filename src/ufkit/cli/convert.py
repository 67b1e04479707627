"""`ufkit convert`: one kind of file into another, proven equal on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.datasets.options import OPTIONS, dataset_options, given_options
from ufkit.cli.output import Output
from ufkit.cli.shapes import shape_option
from ufkit.core import render

if TYPE_CHECKING:
    from ufkit.conversion.differences import Difference
    from ufkit.conversion.families import Family
    from ufkit.conversion.pairs import Report
    from ufkit.conversion.verify import Verification
    from ufkit.core.files import Source

TO_ONNX, PROOF, TO_TEXT = "Conversion to ONNX", "Proof (ONNX)", "Conversion to text"
MEANS = "Mean images"
_ONNX_ONLY = (
    "graph",
    "shapes",
    "opset",
    "layout",
    "allow_custom",
    "plugins",
    "verify",
    "verify_data",
    "seed",
    "tolerance",
)
_PROOF_ONLY = ("seed", "tolerance")
_MEAN_ONLY = ("mean_layout", "rgb")
_ENGINES = {"onnxruntime": "ONNX Runtime", "reference": "onnx's own evaluator"}


@click.command(
    "convert",
    cls=Verb,
    help="""Convert a UFF file of any form (binary, text, JSON) into the kind that TARGET's suffix
    names: .onnx, .uff or .pb (binary UFF), .pbtxt or .txt (text), .json. Caffe nets become
    .caffemodel, .prototxt or .json with all their weights, mean images (.binaryproto) .npy, and
    all of them back.

    Datasets become one another: LMDB of Caffe, SSD and UFW, COCO, VOC, YOLO, image lists, folders
    of images or classes, Parquet, WebDataset, .npz; or their mean image (.binaryproto, .npy).

    TARGET is written beside and put in place whole. With --verify it is put in place only if
    ONNX Runtime computes from it what the UFF file means. What cannot be converted is listed, all
    of it, and nothing is written. SOURCE may be - for stdin.""",
    examples=(
        ("ufkit convert net.uff net.onnx --verify", "ONNX, compared on random inputs"),
        ("ufkit convert net.uff net.onnx --shape input_1=N,28,28,1",
         "for a file whose Input has no shape; N stays open"),
        ("ufkit convert net.uff net.onnx --verify-data real.npz --layout nchw",
         "compared on your own inputs; inputs and outputs channels first"),
        ("ufkit convert ssd.uff ssd.onnx --plugins trt --verify",
         "for TensorRT; compared up to the plugins, which only TensorRT can run"),
        ("ufkit convert net.uff net.pbtxt --full", "text that holds the weights as well"),
        ("ufkit convert mean.binaryproto mean.npy --mean-layout chw", "for numpy.load"),
        ("ufkit convert instances.json train.lmdb --images train2017 --max-dim 600",
         "COCO into what Caffe-SSD trains with, labelmap.prototxt included"),
        ("ufkit convert train.lmdb voc --to voc", "and out again"),
        ("ufkit convert train.lmdb mean.binaryproto", "the mean image, and means by channel"),
    ),
    codes=codes(0, 2, 3, 4, 70, 130, _0="written, and equal where that was asked",
                _1="not equal: nothing written, the first node that differs is named; of a "
                "dataset: samples were left out (--on-error skip)",
                _4="something has no equivalent in ONNX: all of it is listed",
                _5="--verify-data or another option needs a library that is missing"),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.argument("target", type=click.Path())
@click.option("--force", is_flag=True, cls=Opt, help="Replace TARGET if it exists.")
@shape_option
@click.option(
    "--graph",
    metavar="ID",
    cls=Opt,
    group=TO_ONNX,
    help="The graph to take, where a file holds several.",
)
@click.option(
    "--opset",
    type=int,
    metavar="N",
    cls=Opt,
    group=TO_ONNX,
    help="Version of ONNX's operators; 17 unless given, 13 and later.",
)
@click.option(
    "--layout",
    type=click.Choice(["uff", "nchw"]),
    cls=Opt,
    group=TO_ONNX,
    help="Axes of inputs and outputs: as the UFF file has them (the default), or channels first.",
)
@click.option(
    "--allow-custom",
    is_flag=True,
    cls=Opt,
    group=TO_ONNX,
    help="Carry operations that are not known into the ONNX domain uff.custom.",
)
@click.option(
    "--plugins",
    type=click.Choice(["onnx", "trt"]),
    cls=Opt,
    group=TO_ONNX,
    help="TensorRT plugins as standard operators (the default), or as nodes under their own name "
    "and fields, of which TensorRT's ONNX parser makes the plugins again.",
)
@click.option(
    "--verify",
    is_flag=True,
    cls=Opt,
    group=PROOF,
    help="Run both models on the same inputs, compare every output.",
)
@click.option(
    "--verify-data",
    type=click.Path(),
    metavar="X.npz",
    cls=Opt,
    group=PROOF,
    help="Verify on these inputs, in UFF's layout, under Input ids or in:<id>.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    cls=Opt,
    group=PROOF,
    help="Seed of the random inputs; 0 unless given.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    metavar="F",
    cls=Opt,
    group=PROOF,
    help="Largest difference allowed, against the largest value; by element type unless given.",
)
@click.option(
    "--full",
    is_flag=True,
    cls=Opt,
    group=TO_TEXT,
    help="Write the weights too, which NVIDIA's text form leaves out.",
)
@click.option(
    "--mean-layout",
    type=click.Choice(["nchw", "chw", "c"]),
    cls=Opt,
    group=MEANS,
    help="Axes of the array: as in the file, without the first, or one number for each channel.",
)
@click.option(
    "--rgb",
    is_flag=True,
    cls=Opt,
    group=MEANS,
    help="The array has R G B; Caffe's files have B G R, and so has the array without this.",
)
@dataset_options
@common
@click.pass_context
def command(ctx: click.Context, /, source: str, target: str, **given: Any) -> int:
    from ufkit.cli.datasets import convert as datasets

    if datasets.concerns(source, target, given):
        return datasets.run(ctx, source, target, given)
    from ufkit.cli.kinds import identified
    from ufkit.conversion.families import family_of, target_form
    from ufkit.conversion.pairs import Options, convert

    file = identified(source)
    family = family_of(file.source)
    _check_options(ctx, target_form(target, family), family)
    given["verify"] = given["verify"] or given["verify_data"] is not None
    return _convert(ctx.obj, file.source, target, given, Options, convert)


def _convert(
    output: Output, source: Source, target: str, given: dict[str, Any], options: Any, convert: Any
) -> int:
    from ufkit.cli.progress import showing

    data = _verify_data(given["verify_data"])
    optional = ("opset", "seed", "plugins", "mean_layout")
    chosen = {name: given[name] for name in optional if given[name] is not None}
    request = options(
        graph=given["graph"],
        shapes=given["shapes"],
        channels_first=given["layout"] == "nchw",
        allow_custom=given["allow_custom"],
        verify=given["verify"],
        verify_data=data,
        tolerance=given["tolerance"],
        full=given["full"],
        rgb=given["rgb"],
        force=given["force"],
        **chosen,
    )
    with showing(output) as progress:
        report = convert(source, target, request, progress=progress)
    output.answer(_as_dict(report), report.diagnostics, ok=report.ok)
    output.print(_text(report, output, rgb=given["rgb"]), confirms=report.ok)
    return 0 if report.ok else 1


def _check_options(ctx: click.Context, form: str, family: Family) -> None:
    """Refuse options that would have no effect. Raises UsageError."""
    from ufkit.conversion.families import ARRAY, MEAN, ONNX, UFF
    from ufkit.uff.io import TEXT

    given = given_options(ctx)
    if odd := [name for name in OPTIONS if name in given and name not in _MEAN_ONLY]:
        ctx.fail(f"{given[odd[0]].opts[0]} concerns datasets only.")
    wrong = [given[name] for name in _ONNX_ONLY if name in given] if form != ONNX else []
    if wrong:
        named = ", ".join(param.opts[0] for param in wrong)
        ctx.fail(
            f"{named} concerns ONNX only, and {ctx.params['target']} would be {form} {family.name}."
        )
    if "full" in given and (form != TEXT or family is not UFF):
        kind = "ONNX holds" if form == ONNX else f"{form} {family.name} holds"
        ctx.fail(f"--full concerns text (.pbtxt, .txt) only; {kind} the weights anyway.")
    allowed = {MEAN: _MEAN_ONLY, ARRAY: ("rgb",)}.get(family, ())
    if odd := [given[name].opts[0] for name in _MEAN_ONLY if name in given and name not in allowed]:
        ctx.fail(f"{', '.join(odd)} concerns the arrays of mean images (.binaryproto) only.")
    if not {"verify", "verify_data"} & given.keys():
        for name in _PROOF_ONLY:
            if name in given:
                ctx.fail(f"{given[name].opts[0]} needs --verify.")
    if {"seed", "verify_data"} <= given.keys():
        ctx.fail("--seed makes random inputs, --verify-data gives others; choose one.")


def _verify_data(path: str | None) -> Mapping[str, Any] | None:
    if path is None:
        return None
    from ufkit.cli.arrays import inputs_of

    return inputs_of(path)


# -- the report ------------------------------------------------------------------------------


def _ports(report: Report) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Inputs and outputs as the ONNX model has them."""
    conversion = report.conversion
    if conversion is None:
        return [], []
    inference = conversion.inference
    inputs = [
        _port(id_, inference.inputs[id_].dtype, inference.inputs[id_].shape, order)
        for id_, order in conversion.inputs.items()
    ]
    outputs = [
        _port(id_, inference.facts[id_].dtype, inference.facts[id_].shape, order)
        for id_, order in conversion.outputs.items()
    ]
    return inputs, outputs


def _port(id_: str, dtype: Any, shape: Any, order: Any) -> dict[str, Any]:
    sizes = None if shape is None else [shape[axis] for axis in order]
    shown = None if sizes is None else [s if isinstance(s, int) else str(s) for s in sizes]
    return {"id": id_, "dtype": str(dtype), "shape": shown}


def _as_dict(report: Report) -> dict[str, Any]:
    data = report.as_dict()
    if report.conversion:
        data["inputs"], data["outputs"] = _ports(report)
    return data


def _text(report: Report, output: Output, *, rgb: bool) -> str:
    parts = []
    if report.written:
        parts.append(_written(report, output, rgb=rgb))
    else:
        parts.append(f"{render.visible(report.target)} was not written")
    if report.verification:
        parts.append(_verified(report.verification, output))
    if report.diagnostics:
        parts.append(output.findings(report.diagnostics))
    return "\n".join(parts)


def _written(report: Report, output: Output, *, rgb: bool) -> str:
    target = output.paint(render.visible(report.target), "bold")
    facts = [render.size(report.bytes)]
    if report.conversion:
        transposes = report.conversion.count("Transpose")
        facts += [
            f"opset {report.conversion.opset}",
            render.plural(report.conversion.count(), "node"),
            render.plural(transposes, "Transpose"),
        ]
    else:
        facts.append(f"{report.form} {report.family.name}")
    if report.channels == 3:
        facts.append(
            "turned round: B G R in Caffe, R G B in the array" if rgb else "channels B G R"
        )
    inputs, outputs = _ports(report)
    rows = [
        (kind, render.visible(port["id"]), _shown(port))
        for kind, ports in (("input", inputs), ("output", outputs))
        for port in ports
    ]
    lines = [f"wrote {target}: {', '.join(facts)}", *([render.columns(rows)] if rows else [])]
    return "\n".join(lines)


def _shown(port: dict[str, Any]) -> str:
    sizes = "?" if port["shape"] is None else ", ".join(map(str, port["shape"]))
    return f"{port['dtype']}[{sizes}]"


def _verified(result: Verification, output: Output) -> str:
    engine = _ENGINES[result.engine]
    head = "value" if result.not_run else "output"
    rows: list[tuple[str, ...]] = [(head, "", "largest difference", "relative", "allowed", "")]
    rows += [_row(item, output) for item in result.outputs]
    table = render.columns(rows, right=(2, 3, 4))
    inputs = result.inputs.replace("random, seed", "random inputs, seed")
    return f"verified with {engine} on {inputs}:\n{table}\n{_sentence(result, output)}"


def _row(item: Difference, output: Output) -> tuple[str, ...]:
    verdict = output.paint("equal", "green") if item.ok else output.paint("NOT EQUAL", "red")
    shape = f"{item.dtype}[{', '.join(map(str, item.shape))}]"
    numbers = (f"{item.max_abs:.1e}", f"{item.error:.1e}", f"{item.tolerance:g}")
    return (render.visible(item.id), shape, *numbers, verdict)


def _sentence(result: Verification, output: Output) -> str:
    engine, count = _ENGINES[result.engine], len(result.outputs)
    what = "value" if result.not_run else "output"
    if result.ok:
        largest = max((item.max_abs for item in result.outputs), default=0.0)
        allowed = max((item.tolerance for item in result.outputs), default=0.0)
        return (
            f"{output.paint('equal', 'green')}: {engine} and the reference agree on "
            f"{render.plural(count, what)} within {allowed:g} "
            f"(largest difference {largest:.1e})"
        )
    wrong = [item for item in result.outputs if not item.ok]
    head = output.paint("not equal", "red")
    sentence = f"{head}: {engine} and the reference differ on {len(wrong)} of "
    sentence += render.plural(count, what)
    if result.first:
        id_ = render.visible(result.first.id)
        sentence += f"; the first node that differs is {id_} ({result.first.operation})"
    return sentence
