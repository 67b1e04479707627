"""`ufkit completion`: the script that lets a shell complete ufkit's words."""

from __future__ import annotations

import sys

import click

from ufkit.cli.command import DEBUG, QUIET, Verb, codes


@click.command(
    "completion",
    cls=Verb,
    help="""Print the script that completes ufkit's verbs, options and file names in a shell.""",
    examples=(
        ('eval "$(ufkit completion bash)"', "in ~/.bashrc"),
        ('eval "$(ufkit completion zsh)"', "in ~/.zshrc, behind compinit"),
        ("ufkit completion fish > ~/.config/fish/completions/ufkit.fish", "once"),
    ),
    codes=codes(0, 2),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@QUIET
@DEBUG
def command(shell: str) -> int:
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from ufkit.cli.app import COMPLETE
    from ufkit.cli.command import cli

    kinds = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    complete = kinds[shell](cli, {}, "ufkit", COMPLETE)
    # `source()` of bash would first run bash to ask its version; the script is the same.
    sys.stdout.write(complete.source_template % complete.source_vars() + "\n")
    return 0
