"""How long graphs take to be laid out for the viewer, and how many links cross."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from files import Files
from measure import Action, Side, interleave
from report import Row, seconds

from ufkit.viewer.layout.compound import lay_out
from ufkit.viewer.layout.crossings import count_crossings, crossings
from ufkit.viewer.layout.diagram import Diagram

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from viewer.layout.nets import HARD, mixed  # noqa: E402

_SIZES = (300, 3000, 5000)


def laying_out(name: str) -> Action:
    """A net of so many nodes, or a hard graph by its name."""
    diagram = _diagram(name)
    return lambda: lay_out(diagram)


def _diagram(name: str) -> Diagram:
    made: Diagram = mixed(int(name)).diagram() if name.isdecimal() else HARD[name]()
    return made


def run(files: Files, rounds: int) -> Iterator[Row]:
    """Nets of all kinds in a row, and graphs that are hard on a layout, against fixed times.

    elkjs is asked once for each net, where Node finds it (NODE_PATH), as it takes its time.
    """
    names = [*map(str, _SIZES), *HARD]
    sides = [Side(name, (name,), "graph_layout:laying_out") for name in names]
    samples = interleave(sides, rounds)
    for size in _SIZES:
        yield from _net(size, samples[str(size)].seconds, files.folder)
    for name in HARD:
        taken = samples[name].seconds
        yield Row(name, seconds(taken), "2.4 s", taken / 2.4, at_most=1, unit="x the time")


def _net(size: int, taken: float, folder: Path) -> Iterator[Row]:
    diagram = mixed(size).diagram()
    what = f"net of {len(diagram.widths):,} nodes"
    limit = 0.3 * size / 3000
    yield Row(what, seconds(taken), seconds(limit), taken / limit, at_most=1, unit="x the time")
    crossed = crossings(lay_out(diagram).routes)
    peer = _elk(diagram, folder)
    if peer is None:
        yield Row(f"{what}, crossings", str(crossed), "skipped: no elkjs for Node")
        return
    times = peer["seconds"] / taken
    yield Row(f"{what}, against elkjs", seconds(taken), seconds(peer["seconds"]), times)
    theirs = count_crossings(peer["lines"])
    ratio = crossed / max(theirs, 1)
    yield Row(f"{what}, crossings", str(crossed), str(theirs), ratio, at_most=1)


def _elk(diagram: Diagram, folder: Path) -> dict[str, Any] | None:
    node = shutil.which("node")
    if node is None:
        return None
    path = folder / "graph.json"
    parts = {"widths": diagram.widths, "heights": diagram.heights, "links": diagram.links}
    path.write_text(json.dumps(parts))
    done = subprocess.run([node, HERE / "elk.js", path], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None
