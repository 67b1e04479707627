"""Nets with weights: .caffemodel, .fp32umodel, .int8umodel, and their JSON form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ufkit.cli.caffe.tables import form_of, heading, layer_table, summary_text
from ufkit.cli.check import report
from ufkit.cli.dump import dumping
from ufkit.cli.kinds import File
from ufkit.cli.output import Output
from ufkit.cli.shapes import Shapes
from ufkit.cli.source import bad_request, refuse_existing
from ufkit.cli.weights import show_arrays, write_arrays
from ufkit.core import render
from ufkit.ufw.io import open_net

if TYPE_CHECKING:
    from ufkit.ufw.net import Net


def info(output: Output, file: File, *, shapes: Shapes) -> int:
    from ufkit.ufw.summary import summarize_net

    with open_net(file.source) as net:
        summary = summarize_net(net, shapes=shapes)
    output.answer({"form": file.kind.name, **summary.as_dict()})
    output.print(heading(output, summary.file, [form_of(file.kind.name)], summary.bytes))
    output.print("\n" + summary_text(summary, output))
    output.print("\n" + layer_table(summary))
    return 0


def check(output: Output, file: File, *, strict: bool, shapes: Shapes) -> int:
    from ufkit.ufw.check import check_net

    with open_net(file.source) as net:
        return report(output, file.source.name, check_net(net, shapes), strict=strict)


def dump(
    output: Output,
    file: File,
    *,
    nodes: tuple[str, ...],
    form: str,
    full: bool,
    target: str | None,
) -> int:
    from ufkit.ufw.io import JSON, unknown_fields, write_net

    with open_net(file.source) as net:
        chosen = only(net, nodes) if nodes else net
        if form == JSON and (lost := unknown_fields(chosen)):
            output.say(render.text(lost))
        with dumping(output, target) as out:
            write_net(chosen, out, form=form, full=full)
    return 0


def only(net: Net, names: Iterable[str]) -> Net:
    """A net of some of the layers. Raises RequestError (CLI001)."""
    from ufkit.ufw.net import Net
    from ufkit.wire.schema import did_you_mean

    known = [layer.name for layer in net.layers]
    for name in names:
        if name not in known:
            raise bad_request(f"there is no layer {name!r}", did_you_mean(name, known) or "")
    part = Net.new(net.name)
    for layer in net.layers:
        if layer.name in names:
            part.message.append(layer.style, layer.message)
    return part


def weights(
    output: Output, file: File, *, target: str | None, given: str | None, stats: bool, force: bool
) -> int:
    from ufkit.conversion.weights import writer_for
    from ufkit.ufw.weights import net_weights

    if given is None and target is not None:
        writer_for(target)
    if target is not None:
        refuse_existing(target, force=force)
    with open_net(file.source) as net:
        if given is not None:
            return _put(output, net, given, target)
        if target is None:
            return show_arrays(
                output, file.source.name, net_weights(net), stats=stats, noun="array"
            )
        return write_arrays(output, net_weights(net), target, noun="array")


def _put(output: Output, net: Net, given: str, target: str | None) -> int:
    """Put the arrays of a file into the net, and write that."""
    from ufkit.cli.arrays import load
    from ufkit.ufw.io import save_net
    from ufkit.ufw.weights import put_weights

    if target is None:
        raise bad_request("--from makes a net with new weights; name the file to write as TARGET")
    arrays = load(given)
    changed = put_weights(net, arrays)
    save_net(net, target)
    output.answer({"file": target, "tensors": len(arrays), "changed": changed})
    name = output.paint(render.visible(target), "bold")
    count = render.plural(len(arrays), "array")
    output.print(f"wrote {name}: {count} put in, {changed} of them new", confirms=True)
    return 0
