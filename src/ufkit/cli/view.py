"""`ufkit view`: a local page that shows what is in a file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.datasets.options import NAMES
from ufkit.cli.output import Output
from ufkit.cli.shapes import shape_option
from ufkit.core.render import visible

if TYPE_CHECKING:
    from ufkit.viewer.graph.layouter import Layouter
    from ufkit.viewer.openers import Wish
    from ufkit.viewer.session import Session
    from ufkit.viewer.web.asgi import App

WHERE, DATASETS = "Where the page is", "Datasets"


@click.command(
    "view",
    cls=Verb,
    help="""Show a file in the browser: the graph of a model with its fields, weights and findings,
    sums by operation and scope. With two models, what differs between them; with a float net of
    Caffe or UFW and the same in integers, or its table of thresholds, what quantisation costs. Of a
    dataset (an LMDB, or any other that `ufkit convert` reads) its records with boxes and labels, by
    the million.

    The page is served by this machine to this machine alone, and only the files named here can be
    seen; nothing is loaded from elsewhere. It is there until the command is interrupted (Ctrl+C).

    Over ssh: `ssh -L 8080:localhost:8080 board`, there `ufkit view net.uff --port 8080
    --no-browser`, then open the address that it prints.""",
    examples=(
        ("ufkit view net.uff", "the graph, in the default browser"),
        ("ufkit view net.uff --shape input_1=N,28,28,1", "with the shapes that follow from one"),
        ("ufkit view before.uff after.uff", "side by side, with what differs"),
        ("ufkit view train.lmdb --labels labelmap.prototxt", "images, boxes, names of classes"),
        ("ufkit view deploy.prototxt --weights net.caffemodel", "a net of two files"),
        ("ufkit view net.fp32umodel net.int8umodel", "what quantisation costs, layer by layer"),
        ("ufkit view net.caffemodel table.prototxt", "what it would cost with these thresholds"),
        ("ufkit view net.uff --no-browser --port 8080", "only print the address"),
    ),
    codes=codes(0, 2, 5, 70, _3="the address is taken, or the file does not exist"),
)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE [FILE]")
@click.option(
    "--weights",
    type=click.Path(),
    metavar="FILE",
    cls=Opt,
    help="The weights of a Caffe prototxt, shown with its layers.",
)
@click.option(
    "--table",
    type=click.Path(),
    metavar="FILE",
    cls=Opt,
    help="The table of thresholds of two nets, where the one in integers does not say what they "
    "stand for, as the BM1880's do not.",
)
@shape_option
@click.option(
    "--labels",
    type=click.Path(),
    metavar="FILE",
    default="",
    cls=Opt,
    group=DATASETS,
    help="Names of the classes (.prototxt), where the dataset does not have them.",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(NAMES),
    default=None,
    cls=Opt,
    group=DATASETS,
    help="What the dataset is; found by its content unless given.",
)
@click.option(
    "--images",
    type=click.Path(),
    metavar="DIR",
    default="",
    cls=Opt,
    group=DATASETS,
    help="The folder that names in a list or a COCO file are relative to.",
)
@click.option(
    "--no-browser", is_flag=True, cls=Opt, group=WHERE, help="Print the address, open nothing."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    cls=Opt,
    group=WHERE,
    help="Port to listen on; any that is free unless given.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    cls=Opt,
    group=WHERE,
    help="Address to listen on, for others to look: 0.0.0.0 is all. The page's address then has a "
    "token, without which nothing is answered; it goes over the network unencrypted.",
)
@common
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> int:
    if len(files) > 2:
        ctx.fail("one file is shown, or two are compared.")
    return _view(ctx.obj, files, **given)


def _view(output: Output, files: tuple[str, ...], **given: Any) -> int:
    import secrets
    from functools import partial

    from ufkit.core.files import need
    from ufkit.viewer.graph.layouter import Layouter
    from ufkit.viewer.session import Session
    from ufkit.viewer.web.address import Address, listening, url
    from ufkit.viewer.web.server import serve

    for name in ("starlette", "uvicorn"):
        need(name, "viewer")
    session = Session(files, _wish(given))
    _refuse_weights(session, given)
    address = Address(given["host"], given["port"])
    if not address.local:
        address = Address(given["host"], given["port"], secrets.token_urlsafe(16))
    with listening(address) as server, contextlib.closing(session):
        place = url(address, server)
        output.print(f"{place}  (Ctrl+C ends it)")
        output.flush()
        if not given["no_browser"]:
            _browse(place)
        with contextlib.closing(Layouter()) as layouter:
            serve(partial(_opened, session, layouter, place, output, given), address, server)
    return 0


def _opened(
    session: Session, layouter: Layouter, place: str, output: Output, given: dict[str, Any]
) -> App:
    """Open the files and say what they are; gives what answers about them."""
    from ufkit.viewer.web.routes import application

    with _no_collection():
        about = session.about()
    _refuse_unused(session, given)
    output.answer({"url": place, **about})
    for subject in session:
        output.print(f"{visible(subject.name)}: {subject.contents.description}")
    output.flush()
    return application(session, layouter)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Opening makes many objects and no garbage: looking for it takes a tenth of the time."""
    import gc

    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _wish(given: dict[str, Any]) -> Wish:
    """What was said of the files, opened.

    Raises FileError, FormatError for what cannot be: a wrong map is no fault of a dataset, nor are
    wrong weights one of a text.
    """
    from ufkit.viewer.openers import Wish

    if given["labels"]:
        from ufkit.datasets.labels import read_labels

        read_labels(given["labels"])
    names = ("shapes", "labels", "images")
    wish = Wish(source=given["source"] or "", **{name: given[name] for name in names})
    if given["weights"]:
        from ufkit.ufw.io import open_net

        wish = replace(wish, weights=open_net(given["weights"]))
    if given["table"]:
        from ufkit.ufw.table import open_table

        wish = replace(wish, table=open_table(given["table"]))
    return wish


def _refuse_weights(session: Session, given: dict[str, Any]) -> None:
    """Raises RequestError (CLI001) for weights that belong to none of the files."""
    from ufkit.cli.source import bad_request

    if given["weights"] and all(subject.kind != "caffe-text" for subject in session):
        raise bad_request("--weights goes with a prototxt; none of the files is one")


def _refuse_unused(session: Session, given: dict[str, Any]) -> None:
    """Raises RequestError (CLI001) for an option that concerns none of the files, once opened."""
    from ufkit.cli.source import bad_request

    taken = {name for subject in session if subject.model for name in subject.model.inputs}
    for name in given["shapes"]:
        if name not in taken:
            known = f"; those are {', '.join(sorted(taken)[:8])}" if taken else ""
            raise bad_request(f"--shape: {name!r} is no input of what is shown{known}")
    if given["table"] and session.quantisation is None:
        raise bad_request("--table goes with a float net and the same in integers")


def _browse(place: str) -> None:
    """Open the page without waiting for the browser."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(place,), daemon=True).start()
