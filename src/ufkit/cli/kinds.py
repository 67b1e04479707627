"""Who does a verb's work, by the kind of the file it is given."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ufkit.core.files import Source
    from ufkit.wire.sniff import Kind

# The modules that have a function for each verb they know. What is of no kind named here goes to
# the verb's own module, to its function `uff`: the reader of UFF files says what else it is.
_HOMES = {
    "caffe-net": "net",
    "caffe-json": "net",
    "caffe-text": "prototxt",
    "caffe-table": "table",
    "caffe-labels": "labels",
    "caffe-blob": "blob",
    "lmdb": "dataset",
}


@dataclass(frozen=True, slots=True)
class File:
    """What a verb was given: the bytes, and what they are."""

    source: Source
    kind: Kind


def identified(argument: str) -> File:
    """The file that an argument names; - is stdin, and a database's folder stands for what is in
    it. Raises FileError."""
    from ufkit.cli.source import path_of
    from ufkit.core.files import Source
    from ufkit.ufw.store import data_file
    from ufkit.wire.sniff import LMDB, identify, identify_folder

    path = path_of(argument)
    source = Source.open(data_file(path) if identify_folder(path) is LMDB else path)
    return File(source, identify(source))


def do(ctx: click.Context, argument: str, **given: Any) -> int:
    """Do the work of the verb on the file that an argument names.

    The function that does it takes the Output, the File and, by name, the options that concern
    files of its kind. Raises UsageError for other options, and for a verb that does not.
    """
    file = identified(argument)
    work = _work(ctx, file)
    takes = inspect.signature(work).parameters
    for param in ctx.command.params:
        name = str(param.name)
        if name in given and name not in takes and _was_given(ctx, name):
            ctx.fail(f"{param.opts[0]} does not concern this file: it is {file.kind.description}.")
    return work(ctx.obj, file, **{name: given[name] for name in given if name in takes})


def _work(ctx: click.Context, file: File) -> Callable[..., int]:
    verb = str(ctx.info_name)
    home = _HOMES.get(file.kind.name)
    if home is None:
        work = importlib.import_module(f"ufkit.cli.{verb}").uff
    else:
        work = getattr(importlib.import_module(f"ufkit.cli.caffe.{home}"), verb, None)
        if work is None:
            ctx.fail(f"{verb} can do nothing with this file: it is {file.kind.description}.")
    return work  # type: ignore[no-any-return]


def _was_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
