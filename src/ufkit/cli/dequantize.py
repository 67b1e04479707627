"""`ufkit dequantize`: a net from integers back to floats."""

from __future__ import annotations

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.core import render


@click.command(
    "dequantize",
    cls=Verb,
    help="""Put floats in place of a net's integers, so that tools for float nets can read it:
    INT8 coefficients, integers with scales, and with the table a net was quantised with integers
    that have a shift only.

    The floats are what the integers stand for; what quantising lost does not come back. NET may
    be - for stdin.""",
    examples=(
        ("ufkit dequantize net.int8umodel net.caffemodel", "scales lie in the net"),
        ("ufkit dequantize net.int8umodel net.caffemodel --table net.json",
         "integers with a shift only: the thresholds say the rest"),
        ("ufkit dequantize int8.caffemodel net.caffemodel --table shifts.prototxt --profile bm1880",
         "BM1880: thresholds and shifts are in its table"),
    ),
    codes=codes(0, 2, 3, _0="written",
                _2="integers stand for nothing known, or there are none"),
)  # fmt: skip
@click.argument("net", type=click.Path(allow_dash=True))
@click.argument("out", type=click.Path())
@click.option("--force", is_flag=True, cls=Opt, help="Replace OUT if it exists.")
@click.option(
    "--table",
    type=click.Path(),
    metavar="T",
    cls=Opt,
    help="The table that the net was quantised with.",
)
@click.option(
    "--profile",
    type=click.Choice(["ufw", "bm1880"]),
    default="ufw",
    cls=Opt,
    help="Whose integers: UFW's (the default) or the BM1880's.",
)
@common
@click.pass_context
def command(
    ctx: click.Context,
    /,
    net: str,
    out: str,
    force: bool,
    table: str | None,
    profile: str,
) -> int:
    if profile == "bm1880" and table is None:
        ctx.fail("--profile bm1880 needs --table, since the net does not hold the shifts.")
    from ufkit.cli.source import path_of, refuse_existing
    from ufkit.ufw.dequantize import dequantize
    from ufkit.ufw.io import open_net, save_net
    from ufkit.ufw.quant import PROFILES
    from ufkit.ufw.table import open_table

    output: Output = ctx.obj
    refuse_existing(out, force=force)
    read = None if table is None else open_table(table)
    with open_net(path_of(net)) as opened:
        layers = dequantize(opened, read, PROFILES[profile])
        save_net(opened, out)
    output.answer({"file": out, "profile": profile, "layers": layers})
    name = output.paint(render.visible(out), "bold")
    output.print(f"wrote {name}: {render.plural(len(layers), 'layer')} in floats", confirms=True)
    return 0
