"""Shapes on the command line: NAME=SIZES, and the option --shape."""

from __future__ import annotations

import re
from typing import Any

import click

from ufkit.cli.command import MAIN, F, Opt

Shapes = dict[str, list[int | str]]
_EXAMPLE = "such as --shape input_1=N,28,28,1 (a name or -1 leaves a size open)"
_SIZE = re.compile(r"\d+|-1|[^\W\d]\w*")


def parse_shape(text: str) -> tuple[str, list[int | str]]:
    """NAME=SIZES, split at the last '=', since ids may hold one. Raises BadParameter."""
    name, equals, sizes = text.rpartition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is no NAME=SIZES, {_EXAMPLE}")
    if sizes.strip() == "[]":
        return name, []  # a scalar
    words = sizes.strip().removeprefix("[").removesuffix("]").split(",")
    parsed = [word.strip() for word in words]
    for word in parsed:
        if not _SIZE.fullmatch(word):
            raise click.BadParameter(f"{word!r} in {text!r} is no size, {_EXAMPLE}")
    return name, [int(word) if word.lstrip("-").isdigit() else word for word in parsed]


def parse_shapes(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Shapes:
    """Callback of a repeatable option that takes NAME=SIZES. Raises BadParameter."""
    shapes: Shapes = {}
    for text in texts:
        name, sizes = parse_shape(text)
        if name in shapes:
            raise click.BadParameter(f"a shape for {name!r} is given twice", ctx, param)
        shapes[name] = sizes
    return shapes


def shape_option(function: F, *, group: str = MAIN) -> F:
    """`--shape NAME=SIZES`, any number of times; the verb gets `shapes`."""
    more: dict[str, Any] = {"cls": Opt, "group": group}
    return click.option(
        "--shape",
        "shapes",
        multiple=True,
        metavar="NAME=SIZES",
        callback=parse_shapes,
        help="Shape of an Input, for files that do not record it: input_1=N,28,28,1. "
        "A name or -1 leaves a size open. Repeatable.",
        **more,
    )(function)
