"""How long frozen TensorFlow graphs take to become UFF: a small one, and a big one next to `cp`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from files import Files
from measure import Side, interleave
from report import Row, seconds


def run(files: Files, rounds: int) -> Iterator[Row]:
    """Whole processes. NVIDIA's converter needs TensorFlow 1, which nothing here can install."""
    out, copied = files.folder / "out.uff", files.folder / "copied.pb"

    def clean() -> None:
        out.unlink(missing_ok=True)
        copied.unlink(missing_ok=True)
        os.sync()

    def converting(graph: object, *more: str) -> Side:
        command = (sys.executable, "-m", "ufkit", "convert", str(graph), str(out), *more)
        return Side(f"ufkit {' '.join(more)}", command, before=clean)

    if files.netvlad is None:
        yield Row("NetVLAD to UFF, whole process", "skipped: no graph (--netvlad)", "")
    else:
        for more in ((), ("--strict",)):
            side = converting(files.netvlad, *more)
            taken = interleave([side], rounds)[side.name].seconds
            what = f"NetVLAD to UFF{' as NVIDIA wrote it' if more else ''}, whole process"
            yield Row(what, seconds(taken), "0.3 s", taken / 0.3, at_most=1, unit="x the time")
    ours = converting(files.frozen)
    copying = f"cp {files.frozen} {copied} && sync {copied}"
    cp = Side("cp", ("sh", "-c", copying), before=clean)
    samples = interleave([ours, cp], rounds)
    mine, theirs = samples[ours.name].seconds, samples["cp"].seconds
    yield Row(
        "dense graph to UFF, whole process, fsync",
        seconds(mine),
        seconds(theirs),
        mine / theirs,
        at_most=1.5,
        unit="x the time",
    )
    clean()
