"""What `ufkit convert` says of what it made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ufkit.cli.output import Output
from ufkit.core import render

if TYPE_CHECKING:
    from ufkit.conversion.differences import Difference
    from ufkit.conversion.pairs import Report
    from ufkit.conversion.verify import Verification

_ENGINES = {"onnxruntime": "ONNX Runtime", "reference": "onnx's own evaluator"}


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


def as_dict(report: Report) -> dict[str, Any]:
    data = report.as_dict()
    if report.conversion:
        data["inputs"], data["outputs"] = _ports(report)
    return data


def text(report: Report, output: Output, *, rgb: bool) -> str:
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
        facts.append(f"{report.form} {report.family.made or report.family.name}")
        if report.uff:
            facts.append(render.plural(len(report.uff.meta.graph), "node"))
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
