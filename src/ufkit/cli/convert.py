"""`ufkit convert`: one kind of file into another, proven equal on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.convert_text import as_dict, text
from ufkit.cli.datasets.options import OPTIONS, dataset_options, given_options
from ufkit.cli.output import Output
from ufkit.cli.shapes import shape_option
from ufkit.cli.tensorflow import list_nodes, parse_inputs

if TYPE_CHECKING:
    from ufkit.conversion.families import Family
    from ufkit.core.files import Source

TO_ONNX, PROOF, TO_TEXT = "Conversion to ONNX", "Proof (ONNX)", "Conversion to text"
MEANS, GRAPHS, FOREIGN = "Mean images", "TensorFlow graphs", "TensorFlow graphs, ONNX models"
_TO_ONNX_ONLY = ("graph", "opset", "layout", "allow_custom", "plugins")
_ONNX_ONLY = (*_TO_ONNX_ONLY, "shapes", "verify", "verify_data", "seed", "tolerance")
_PROOF_ONLY = ("seed", "tolerance")
_MEAN_ONLY = ("mean_layout", "rgb")
_GRAPH_ONLY = ("inputs", "strict", "list_nodes")
_FOREIGN_ONLY = ("outputs",)


@click.command(
    "convert",
    cls=Verb,
    help="""Convert a UFF file of any form (binary, text, JSON) into the kind that TARGET's suffix
    names: .onnx, .uff or .pb (binary UFF), .pbtxt or .txt (text), .json. TensorFlow graphs,
    frozen (.pb, .pbtxt, a SavedModel folder of constants), become UFF of each form, and ONNX. ONNX
    models become UFF of each form. Caffe nets become .caffemodel, .prototxt or .json with all their
    weights, mean images (.binaryproto) .npy, and all of them back.

    Datasets become one another: LMDB of Caffe, SSD and UFW, COCO, VOC, YOLO, image lists, folders
    of images or classes, Parquet, WebDataset, .npz; or their mean image (.binaryproto, .npy).

    TARGET is written beside and put in place whole. With --verify it is put in place only if
    ONNX Runtime computes from the ONNX model, made or given, what the UFF file means. What cannot
    be converted is listed, all of it, and nothing is written. SOURCE may be - for stdin.""",
    examples=(
        ("ufkit convert net.uff net.onnx --verify", "ONNX, compared on random inputs"),
        ("ufkit convert net.uff net.onnx --shape input_1=N,28,28,1",
         "for a file whose Input has no shape; N stays open"),
        ("ufkit convert net.uff net.onnx --verify-data real.npz --layout nchw",
         "compared on your own inputs; inputs and outputs channels first"),
        ("ufkit convert ssd.uff ssd.onnx --plugins trt --verify",
         "for TensorRT; compared up to the plugins, which only TensorRT can run"),
        ("ufkit convert net.uff net.pbtxt --full", "text that holds the weights as well"),
        ("ufkit convert frozen.pb net.uff -O logits", "from TensorFlow, without it"),
        ("ufkit convert frozen.pb net.uff --strict -I img,input,float32,1,28,28,1",
         "as NVIDIA's converter wrote it; an input in the place of the node img"),
        ("ufkit convert model.onnx net.uff --shape image=N,3,224,224 --verify",
         "from ONNX, compared with it; the batch stays open, other sizes must be known"),
        ("ufkit convert mean.binaryproto mean.npy --mean-layout chw", "for numpy.load"),
        ("ufkit convert instances.json train.lmdb --images train2017 --max-dim 600",
         "COCO into what Caffe-SSD trains with, labelmap.prototxt included"),
        ("ufkit convert train.lmdb voc --to voc", "and out again"),
        ("ufkit convert train.lmdb mean.binaryproto", "the mean image, and means by channel"),
    ),
    codes=codes(0, 2, 3, 4, 70, 130, _0="written, and equal where that was asked",
                _1="not equal: nothing written, the first node that differs is named; of a "
                "dataset: samples were left out (--on-error skip)",
                _4="something has no equivalent in the target: all of it is listed",
                _5="--verify-data or another option needs a library that is missing"),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.argument("target", type=click.Path(), required=False)
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
    "-O",
    "--output-node",
    "outputs",
    multiple=True,
    metavar="NODE",
    cls=Opt,
    group=FOREIGN,
    help="A node that is an output; unless given the model's own, or those that no other takes. "
    "Repeatable.",
)
@click.option(
    "-I",
    "--input-node",
    "inputs",
    multiple=True,
    metavar="NODE,NAME,TYPE,SIZES",
    callback=parse_inputs,
    cls=Opt,
    group=GRAPHS,
    help="Put an Input of that name, type and shape in the place of a node; -1 leaves a size open. "
    "Repeatable.",
)
@click.option(
    "--strict/--modern",
    "strict",
    default=False,
    cls=Opt,
    group=GRAPHS,
    help="Write what NVIDIA's converter wrote, its losses included; or (the default) keep every "
    "constant, follow newer names, take out what only training needs.",
)
@click.option(
    "-l",
    "--list-nodes",
    is_flag=True,
    cls=Opt,
    group=GRAPHS,
    help="List the nodes of the graph, and convert nothing; there is no TARGET then.",
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
def command(ctx: click.Context, /, source: str, target: str | None, **given: Any) -> int:
    from ufkit.cli.datasets import convert as datasets

    if target is not None and datasets.concerns(source, target, given):
        return datasets.run(ctx, source, target, given)
    from ufkit.cli.source import path_of
    from ufkit.conversion.families import family_of, target_form
    from ufkit.conversion.pairs import Options, convert
    from ufkit.conversion.tf_files import open_file

    opened = open_file(path_of(source))
    family = family_of(opened)
    if given["list_nodes"]:
        _check_listing(ctx, family, target)
        return list_nodes(ctx.obj, opened)
    if target is None:
        ctx.fail("missing argument 'TARGET'.")
    _check_options(ctx, target_form(target, family), family)
    given["verify"] = given["verify"] or given["verify_data"] is not None
    return _convert(ctx.obj, opened, target, given, Options, convert)


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
        outputs=given["outputs"],
        inputs=given["inputs"],
        strict=given["strict"],
        force=given["force"],
        **chosen,
    )
    with showing(output) as progress:
        report = convert(source, target, request, progress=progress)
    output.answer(as_dict(report), report.diagnostics, ok=report.ok)
    output.print(text(report, output, rgb=given["rgb"]), confirms=report.ok)
    return 0 if report.ok else 1


def _given(ctx: click.Context) -> dict[str, str]:
    """The options on the command line, by name, as they are spelt."""
    return {name: param.opts[-1] for name, param in given_options(ctx).items()}


def _check_listing(ctx: click.Context, family: Family, target: str | None) -> None:
    """Refuse what has no effect on a list. Raises UsageError."""
    from ufkit.conversion.families import TENSORFLOW

    if family is not TENSORFLOW:
        ctx.fail("--list-nodes concerns TensorFlow graphs only; ufkit dump lists a UFF's nodes.")
    odd = [
        name
        for name in (*_ONNX_ONLY, *_MEAN_ONLY, *_GRAPH_ONLY, *_FOREIGN_ONLY, "full", "force")
        if name in _given(ctx) and name != "list_nodes"
    ]
    if target is not None or odd:
        what = f"TARGET {target!r}" if target is not None else _given(ctx)[odd[0]]
        ctx.fail(f"--list-nodes converts nothing; {what} would have no effect.")


def _check_options(ctx: click.Context, form: str, family: Family) -> None:
    """Refuse options that would have no effect. Raises UsageError."""
    from ufkit.conversion.families import ARRAY, MEAN, ONNX, ONNX_MODEL, TENSORFLOW, UFF
    from ufkit.uff.io import TEXT

    given = _given(ctx)
    if odd := [name for name in OPTIONS if name in given and name not in _MEAN_ONLY]:
        ctx.fail(f"{given[odd[0]]} concerns datasets only.")
    made = family.made or family.name
    needless = _TO_ONNX_ONLY if family is ONNX_MODEL else () if form == ONNX else _ONNX_ONLY
    if wrong := [given[name] for name in needless if name in given]:
        named = ", ".join(wrong)
        ctx.fail(f"{named} concerns ONNX only, and {ctx.params['target']} would be {form} {made}.")
    if "full" in given and (form != TEXT or family not in (UFF, TENSORFLOW, ONNX_MODEL)):
        kind = "ONNX holds" if form == ONNX else f"{form} {made} holds"
        ctx.fail(f"--full concerns text (.pbtxt, .txt) only; {kind} the weights anyway.")
    allowed = {MEAN: _MEAN_ONLY, ARRAY: ("rgb",)}.get(family, ())
    if odd := [given[name] for name in _MEAN_ONLY if name in given and name not in allowed]:
        ctx.fail(f"{', '.join(odd)} concerns the arrays of mean images (.binaryproto) only.")
    for names, families in (
        (_GRAPH_ONLY, (TENSORFLOW,)),
        (_FOREIGN_ONLY, (TENSORFLOW, ONNX_MODEL)),
    ):
        if family not in families and (odd := [given[name] for name in names if name in given]):
            kinds = " and ".join(f"{each.name}s" for each in families)
            ctx.fail(f"{', '.join(odd)} concerns {kinds} only, and this is {family.one}.")
    if not {"verify", "verify_data"} & given.keys():
        for name in _PROOF_ONLY:
            if name in given:
                ctx.fail(f"{given[name]} needs --verify.")
    if {"seed", "verify_data"} <= given.keys():
        ctx.fail("--seed makes random inputs, --verify-data gives others; choose one.")


def _verify_data(path: str | None) -> Mapping[str, Any] | None:
    if path is None:
        return None
    from ufkit.cli.arrays import inputs_of

    return inputs_of(path)
