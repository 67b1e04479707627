"""What the verbs are made of: click commands whose help teaches, and the options all share."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from gettext import gettext
from typing import Any, TypeVar

import click

from ufkit import __version__
from ufkit.cli.output import Output
from ufkit.cli.verbs import CODES, INTRO, VERBS, plain_help

F = TypeVar("F", bound=Callable[..., Any])

MAIN, COMMON = "Main options", "Common options"
_NAMES = {"help_option_names": ["-h", "--help"]}


class Opt(click.Option):
    """An option that belongs to a named group of the help."""

    def __init__(self, *args: Any, group: str = MAIN, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class Verb(click.Command):
    """A command whose help has a purpose, its options in groups, examples and exit codes."""

    def __init__(
        self,
        *args: Any,
        examples: Sequence[tuple[str, str]] = (),
        codes: Sequence[tuple[int, str]] = (),
        **kwargs: Any,
    ) -> None:
        kwargs["context_settings"] = _NAMES
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.codes = codes

    def get_help(self, ctx: click.Context) -> str:
        if sys.stdout.isatty():
            from ufkit.cli.rich_help import verb_help

            return verb_help(self, ctx)
        return super().get_help(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, options in self.grouped(ctx).items():
            records = [r for option in options if (r := option.get_help_record(ctx))]
            with formatter.section(gettext(title)):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for command, text in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{command}\n")
                formatter.write(f"{'':{formatter.current_indent + 4}}{text}\n")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), text) for code, text in self.codes])

    def grouped(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Options by the name of their group, the verb's own first."""
        groups: dict[str, list[click.Option]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option):
                title = param.group if isinstance(param, Opt) else COMMON
                groups.setdefault(title, []).append(param)
        groups[COMMON] = groups.pop(COMMON)
        return groups


class Cli(click.Group):
    """The group of verbs; each is imported when it is used."""

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"ufkit.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            ctx.fail(f"There is no verb {name!r}.{_guess(name)}")
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        if sys.stdout.isatty():
            from ufkit.cli.rich_help import group_help

            return group_help(self, ctx)
        return plain_help().rstrip("\n")


def _guess(name: str) -> str:
    from difflib import get_close_matches
    from pathlib import Path

    close = get_close_matches(name.lower(), VERBS, 1, 0.5)
    if close:
        return f" Did you mean {close[0]!r}?"
    if Path(name).exists():
        return f" To see what that file is: ufkit info {name}"
    return f" There are {', '.join(VERBS)}."


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        sys.stdout.write(f"ufkit {__version__}\n")
        ctx.exit()


def _common(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        output = ctx.obj
        if value and isinstance(output, Output):
            setattr(output, name, True)

    return remember


def flag(*names: str, about: str, **more: Any) -> Callable[[F], F]:
    """An option of every verb that is kept in the Output."""
    callback = _common(names[-1].lstrip("-"))
    return click.option(
        *names, is_flag=True, expose_value=False, callback=callback, help=about, cls=Opt,
        **{"group": COMMON, **more},
    )  # fmt: skip


JSON = flag("--json", about="Print one JSON object instead of text, errors included.")
QUIET = flag("-q", "--quiet", about="Only results and errors: no progress, no notes.")
VERBOSE = flag("-v", "--verbose", about="List alike findings one by one.")
DEBUG = flag("--debug", about="Show where in ufkit an error comes from.")


def common(function: F) -> F:
    """The options that every verb has."""
    for option in (DEBUG, VERBOSE, QUIET, JSON):
        function = option(function)
    return function


def codes(*numbers: int, **instead: str) -> list[tuple[int, str]]:
    """Rows of the exit codes a verb can end with; `_1="..."` says it in the verb's own words."""
    wanted = {*numbers, 0, 2, 3, 70, 130, *(int(name[1:]) for name in instead)}
    return [(code, instead.get(f"_{code}", text)) for code, text in CODES if code in wanted]


@click.group(
    cls=Cli, help=INTRO, context_settings=_NAMES, invoke_without_command=True, no_args_is_help=False
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              help="Show the version.")  # fmt: skip
@JSON
@QUIET
@VERBOSE
@DEBUG
@click.pass_context
def cli(ctx: click.Context) -> int:
    if ctx.invoked_subcommand is None:
        sys.stderr.write(cli.get_help(ctx) + "\n")
        return 2
    return 0
