"""`ufkit dump`: a file, or some of its nodes, as text or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import click

from ufkit.cli.command import DEBUG, QUIET, Opt, Verb, codes
from ufkit.cli.output import Output
from ufkit.core import render

if TYPE_CHECKING:
    from ufkit.cli.kinds import File
    from ufkit.uff.data import DataMap
    from ufkit.uff.model import MetaGraph
    from ufkit.wire.message import Message


@click.command(
    "dump",
    cls=Verb,
    help="""Print a file as text: Protocol Buffers' text form, as NVIDIA's converter writes it
    beside a .uff. Blobs of more than 32 bytes are left out of it unless --full.

    With --json it is the JSON form of UFF, which holds everything; both forms can be opened by
    every verb. With --node it is a file of just those nodes and the data they refer to.

    Caffe and UFW nets come as their text, long rows of numbers left out unless --full; --node takes
    the name of a layer. So do the records of a dataset (LMDB); --node takes a key. SOURCE may be -
    for stdin.""",
    examples=(
        ("ufkit dump net.uff | less", "read it"),
        ("ufkit dump net.uff --node conv1/Conv2D", "one node, its axis orders and weights' names"),
        ("ufkit dump net.uff --full -o net.pbtxt", "all of it, into a file"),
        ("ufkit dump net.uff --json | jq '.graphs[0].nodes[].id'", "for scripts"),
    ),
    codes=codes(0, 2, 3),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.option(
    "--node", "nodes", multiple=True, metavar="ID", cls=Opt, help="Only this node; repeatable."
)
@click.option(
    "--text", "as_text", is_flag=True, cls=Opt, help="The text form, which is the default."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    cls=Opt,
    help="The JSON form of the file. An error is one JSON object, as for every verb.",
)
@click.option("--full", is_flag=True, cls=Opt, help="Leave no blob out of the text form.")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    cls=Opt,
    help="Write to this file.",
)
@click.option("--force", is_flag=True, cls=Opt, help="Replace FILE if it exists.")
@QUIET
@DEBUG
@click.pass_context
def command(
    ctx: click.Context,
    /,
    source: str,
    nodes: tuple[str, ...],
    as_text: bool,
    as_json: bool,
    full: bool,
    target: str | None,
    force: bool,
) -> int:
    from ufkit.cli.kinds import do
    from ufkit.cli.source import refuse_existing
    from ufkit.uff.io import JSON, TEXT

    if as_text and as_json:
        ctx.fail("--text and --json are two forms; choose one.")
    if as_json and full:
        ctx.fail("--full concerns the text form; JSON holds everything anyway.")
    if target not in (None, "-"):
        refuse_existing(str(target), force=force)
    form = JSON if as_json else TEXT
    return do(ctx, source, nodes=nodes, form=form, full=full, target=target)


@contextmanager
def dumping(output: Output, target: str | None) -> Iterator[IO[bytes]]:
    """Where the dump goes: the file, or stdout without one and for -."""
    from ufkit.core.files import replacing

    if target is None or target == "-":
        sys.stdout.flush()
        output.answered = True
        # A file object of its own: one that failed midway is closed with all around it.
        with open(sys.stdout.fileno(), "wb", closefd=False) as out:
            yield out
        return
    with replacing(target) as file:
        yield file
    output.json = False
    output.say(f"wrote {render.visible(target)}")


def uff(
    output: Output,
    file: File,
    *,
    nodes: tuple[str, ...],
    form: str,
    full: bool,
    target: str | None,
) -> int:
    from ufkit.uff.io import open as open_uff
    from ufkit.uff.io import write_to

    with open_uff(file.source) as meta:
        chosen = only(meta, nodes) if nodes else meta
        with dumping(output, target) as out:
            write_to(chosen, out, form=form, full=full)
    return 0


def only(meta: MetaGraph, ids: tuple[str, ...]) -> MetaGraph:
    """A file of some nodes and the data they refer to. Raises RequestError (CLI001)."""
    from ufkit.uff.model import MetaGraph

    _known(meta, ids)
    part = MetaGraph.new()
    names: set[str] = set()
    for graph in meta.graphs:
        chosen = [node for node in graph if node.id in ids]
        if not chosen:
            continue
        target = part.add_graph(graph.id)
        for node in chosen:
            target.message.append("nodes", node.message)
            names |= _references(node.fields) | _references(node.extra_fields)
    waiting = list(names)
    for name in waiting:  # references may lead to references
        if name in meta.referenced_data:
            further = _reference(meta.referenced_data.data(name))
            waiting += {further} - names - {""}
            names.add(further)
    for entry in meta.referenced_data.entries():
        if entry.get("key") in names:
            part.message.append("referenced_data", entry)
    return part


def _known(meta: MetaGraph, ids: tuple[str, ...]) -> None:
    from ufkit.cli.source import bad_request
    from ufkit.wire.schema import did_you_mean

    known = [node.id for graph in meta.graphs for node in graph]
    for id_ in ids:
        if id_ not in known:
            raise bad_request(f"there is no node {id_!r}", did_you_mean(id_, known) or "")


def _references(fields: DataMap) -> set[str]:
    return {_reference(fields.data(name)) for name in fields} - {""}


def _reference(data: Message) -> str:
    return str(data.get("ref")) if data.which("type") == "ref" else ""
