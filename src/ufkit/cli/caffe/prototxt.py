"""Texts of nets (.prototxt)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ufkit.cli.caffe.tables import form_of, heading, layer_table, summary_text
from ufkit.cli.check import report
from ufkit.cli.dump import dumping
from ufkit.cli.kinds import File
from ufkit.cli.output import Output
from ufkit.cli.shapes import Shapes
from ufkit.cli.source import bad_request
from ufkit.ufw.io import open_net, open_prototxt

if TYPE_CHECKING:
    from ufkit.ufw.prototxt import Prototxt
    from ufkit.wire.tree import Tree


def info(output: Output, file: File, *, weights: str | None, shapes: Shapes) -> int:
    from ufkit.ufw.pair import pair_findings, paired
    from ufkit.ufw.summary import summarize_net

    text = open_prototxt(file.source)
    if weights is None:
        summary, findings = summarize_net(text, shapes=shapes), []
    else:
        with open_net(weights) as net:
            found = {layer.name: other for layer, other in paired(text, net) if other is not None}
            summary = summarize_net(text, found, shapes)
            findings = list(pair_findings(text, net, shapes))
    facts = {"model_type": text.model_type or None, "int8_scale": text.int8_scale}
    output.answer({"form": file.kind.name, **facts, **summary.as_dict()}, findings)
    parts = [form_of(file.kind.name), *_facts(text)]
    output.print(heading(output, summary.file, parts, summary.bytes))
    output.print("\n" + summary_text(summary, output))
    output.print("\n" + layer_table(summary))
    if findings:
        output.print("\n" + output.findings(findings), confirms=True)
    return 0


def _facts(text: Prototxt) -> list[str]:
    facts = [f"model type {text.model_type}"] if text.model_type else []
    return facts if text.int8_scale is None else [*facts, f"INT8, scale {text.int8_scale:g}"]


def check(output: Output, file: File, *, strict: bool, weights: str | None, shapes: Shapes) -> int:
    from ufkit.ufw.check import check_net, check_prototxt
    from ufkit.ufw.pair import pair_findings

    text = open_prototxt(file.source)
    findings = list(check_prototxt(text, shapes))
    if weights is not None:
        with open_net(weights) as net:
            findings += [*check_net(net), *pair_findings(text, net, shapes)]
    return report(output, file.source.name, findings, strict=strict)


def dump(
    output: Output, file: File, *, nodes: tuple[str, ...], form: str, target: str | None
) -> int:
    from ufkit.core.render import to_json
    from ufkit.ufw.io import JSON
    from ufkit.wire.pieces import write
    from ufkit.wire.schema import did_you_mean
    from ufkit.wire.tree import parse_tree

    tree = parse_tree(file.source)
    known = [layer.text("name") for layer in [*tree.trees("layer"), *tree.trees("layers")]]
    for name in nodes:
        if name not in known:
            raise bad_request(f"there is no layer {name!r}", did_you_mean(name, known) or "")
    chosen = [entry for entry in tree if not nodes or _is_one(entry.value, nodes)]
    with dumping(output, target) as out:
        if form == JSON:
            out.write(to_json(_plain(chosen)).encode() + b"\n")
        elif not nodes:
            write(tree.pieces(), out)
        else:
            for entry in chosen:
                out.write(entry.name.encode() + b" {")
                write(entry.pieces(), out)
                out.write(b"}\n")
    return 0


def _is_one(value: Any, names: tuple[str, ...]) -> bool:
    """Whether a field is a layer of one of these names."""
    return not isinstance(value, str) and value.text("name") in names


def _plain(fields: Any) -> dict[str, Any]:
    """Fields by name: a value, or a list where the name comes more than once."""
    found: dict[str, list[Any]] = {}
    for entry in fields:
        value = entry.plain()
        found.setdefault(entry.name, []).append(value if _is_leaf(value) else _plain(value))
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _is_leaf(value: Tree | str | float) -> bool:
    return isinstance(value, (str, int, float))
