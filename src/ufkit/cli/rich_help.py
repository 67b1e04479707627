"""Help on a terminal: the same words as in plain text, laid out by rich-click."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import rich_click
from rich_click import (
    RichCommand,
    RichCommandPanel,
    RichContext,
    RichGroup,
    RichHelpConfiguration,
    RichOptionPanel,
)

from ufkit.cli.verbs import CODES, EXAMPLES, VERBS

if TYPE_CHECKING:
    from ufkit.cli.command import Verb

_WIDTH = 100


def _config() -> RichHelpConfiguration:
    return RichHelpConfiguration(
        max_width=_WIDTH,
        text_markup="rich",
        padding_helptext_first_line=(0, 0, 1, 0),
        text_paragraph_linebreaks="\n\n",
        style_options_panel_border="dim",
        style_commands_panel_border="dim",
        style_helptext="",
        style_helptext_first_line="",
    )


def _epilog(examples: Sequence[tuple[str, str]], codes: Sequence[tuple[int, str]]) -> str:
    from rich.markup import escape

    lines = [" [bold]Examples[/]"]
    for command, text in examples:
        lines += [f"   [cyan]{escape(command)}[/]", f"       {escape(text)}"]
    lines += ["", " [bold]Exit codes[/]"]
    lines += [f"   [cyan]{code:<4}[/] {escape(text)}" for code, text in codes]
    return "\n".join(lines)


def verb_help(verb: Verb, ctx: click.Context) -> str:
    """The help of one verb."""
    params = verb.get_params(ctx)
    panels = [
        RichOptionPanel(title, options=[option.opts[0] for option in options])
        for title, options in verb.grouped(ctx).items()
    ]
    twin = RichCommand(
        name=verb.name,
        params=params,
        help=verb.help,
        add_help_option=False,
        panels=list(panels),
    )
    return _help(twin, ctx) + _printed(_epilog(verb.examples, verb.codes))


def group_help(group: click.Group, ctx: click.Context) -> str:
    """The help of `ufkit` itself."""
    names = dict.fromkeys(entry.group for entry in VERBS.values())
    panels = [
        RichCommandPanel(name, commands=[e.name for e in VERBS.values() if e.group == name])
        for name in names
    ]
    twin = RichGroup(
        name="ufkit",
        params=group.get_params(ctx),
        help=group.help,
        add_help_option=False,
        panels=list(panels),
        commands=[rich_click.Command(e.name, short_help=e.summary) for e in VERBS.values()],
    )
    return _help(twin, ctx) + _printed(_epilog(EXAMPLES, CODES))


def _help(twin: RichCommand, ctx: click.Context) -> str:
    context = RichContext(
        twin, info_name=ctx.info_name, parent=ctx.parent, rich_help_config=_config()
    )
    return str(twin.get_help(context)).rstrip("\n") + "\n"


def _printed(markup: str) -> str:
    from rich.console import Console

    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(markup, soft_wrap=True)
    return capture.get().rstrip("\n")
