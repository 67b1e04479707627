"""How long a big ONNX model takes to become a UFF, next to `cp`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from files import Files
from measure import Side, interleave
from report import Row, seconds


def run(files: Files, rounds: int) -> Iterator[Row]:
    """Whole processes."""
    out, copied = files.folder / "out.uff", files.folder / "copied.onnx"

    def clean() -> None:
        out.unlink(missing_ok=True)
        copied.unlink(missing_ok=True)
        os.sync()

    command = (sys.executable, "-m", "ufkit", "convert", str(files.model), str(out))
    ours = Side("ufkit", command, before=clean)
    copying = f"cp {files.model} {copied} && sync {copied}"
    cp = Side("cp", ("sh", "-c", copying), before=clean)
    samples = interleave([ours, cp], rounds)
    mine, theirs = samples[ours.name].seconds, samples[cp.name].seconds
    yield Row(
        "dense model to UFF, whole process, fsync",
        seconds(mine),
        seconds(theirs),
        mine / theirs,
        at_most=1.5,
        unit="x the time",
    )
    clean()
