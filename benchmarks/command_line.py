"""How long the command line takes, next to a Python that does nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec

from files import Files
from measure import Side, interleave
from report import Row, seconds

START = "import sys; from ufkit.cli import main; sys.exit(main())"  # what the installed script does


def run(files: Files, rounds: int) -> Iterator[Row]:
    if find_spec("ufkit.cli") is None:
        yield Row("start", "skipped: no ufkit.cli", "")
        return
    commands = {
        "ufkit --help": ("--help",),
        "ufkit --version": ("--version",),
        f"ufkit info, {files.mobile.stat().st_size / 1e6:.1f} MB": ("info", str(files.mobile)),
        f"ufkit info, {files.size} MiB": ("info", str(files.dense)),
    }
    nothing = Side("nothing", (sys.executable, "-c", "pass"))
    taken = interleave(
        [
            nothing,
            *(Side(n, (sys.executable, "-c", START, *line)) for n, line in commands.items()),
        ],
        rounds,
    )
    base = taken.pop("nothing").seconds
    for name, sample in taken.items():
        bound = {"at_most": 5.0} if name.endswith("--help") else {}
        ratio = sample.seconds / base
        yield Row(name, seconds(sample.seconds), seconds(base), ratio, **bound, unit="x the time")
