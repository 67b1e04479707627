"""Rows of the result: two numbers, their ratio, and whether that is what was aimed at."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PEERS = ("lmdb", "numpy", "onnx", "protobuf", "safetensors", "tensorflow-cpu", "tf2onnx")


@dataclass(frozen=True, slots=True)
class Row:
    """`ratio` is what `target` speaks of: a bound with its direction, or None for a mere fact."""

    what: str
    ours: str
    peer: str
    ratio: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"

    @property
    def target(self) -> str:
        if self.at_least is not None:
            return f">= {self.at_least:g} {self.unit}"
        return f"<= {self.at_most:g} {self.unit}" if self.at_most is not None else ""

    @property
    def verdict(self) -> str:
        if self.ratio is None or not self.target:
            return ""
        low, high = self.at_least, self.at_most
        missed = (low is not None and self.ratio < low) or (high is not None and self.ratio > high)
        return "missed" if missed else "met"

    def cells(self) -> tuple[str, ...]:
        ratio = "" if self.ratio is None else f"{self.ratio:.3g} {self.unit}"
        return self.what, self.ours, self.peer, ratio, self.target, self.verdict


HEAD = ("what", "ufkit", "peer", "ratio", "target", "")


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table, its columns aligned for a terminal."""
    lines = [HEAD, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join("| " + " | ".join(map(str.ljust, cells, widths)) + " |" for cells in lines)


def seconds(value: float) -> str:
    """A time with three digits and a unit that suits it."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.0f} us"


def mib(value: float) -> str:
    return f"{value:.1f} MiB"


def machine() -> str:
    """What the numbers were taken on."""
    model = platform.machine()
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}, {_versions()}"


def _versions() -> str:
    found = []
    for name in PEERS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
