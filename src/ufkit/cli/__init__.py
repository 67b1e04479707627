"""The command line: a thin skin on the Python API. One module per verb.

Not here: anything a program could want; that is in the packages below.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line on `sys.argv`; gives the exit code."""
    args = sys.argv[1:]
    if args in (["--help"], ["-h"], ["help"]) and not sys.stdout.isatty():
        from ufkit.cli.verbs import plain_help

        sys.stdout.write(plain_help())
        return 0
    if args == ["--version"]:
        from ufkit import __version__

        sys.stdout.write(f"ufkit {__version__}\n")
        return 0
    try:
        from ufkit.cli.app import run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    return run(args)
