"""Pictures of quantised layers: where the weights lie, and how well each channel is met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ufkit.core.files import PathLike, need, replacing
from ufkit.ufw.histogram import by_value
from ufkit.ufw.quantize import Part, Quantised

_MEANT, _GOT, _LIMIT = "#4c72b0", "#dd8452", "#333333"


def pictures(layers: Sequence[Quantised], folder: PathLike) -> list[Path]:
    """Names of the pictures of these layers: one each, numbered in their order."""
    return [
        Path(folder, f"{number:03}-{_harmless(layer.name)}.png")
        for number, layer in enumerate(layers)
    ]


def draw(layers: Sequence[Quantised], folder: PathLike) -> Iterator[Path]:
    """Draw each layer into the folder, which must be there; its picture's name when it is done.

    Left, a histogram of the weights and of what their integers stand for, with the limits of 8
    bits; right, for each channel, signal over noise and the largest error.
    Raises MissingExtraError without matplotlib, FileError.
    """
    figures = need("matplotlib.figure", extra="plot")
    for layer, path in zip(layers, pictures(layers, folder), strict=True):
        figure = figures.Figure(figsize=(12, 5), layout="constrained")
        axes = figure.subplot_mosaic([["values", "sqnr"], ["values", "largest"]])
        weights = layer.parts["weights"]
        _histogram(axes["values"], weights)
        _channels(axes["sqnr"], axes["largest"], weights)
        title = f"{layer.name} ({layer.type}), {weights.floats.size:,} weights"
        figure.suptitle(title, parse_math=False)
        with replacing(path) as out:
            figure.savefig(out, format="png", dpi=110)
        yield path


def _harmless(name: str) -> str:
    """A part of a file's name that is one on every system."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
    return kept[:80].lstrip(".") or "layer"


def _histogram(axes: Any, part: Part) -> None:
    found = by_value(part)
    low, high = found.limits
    axes.stairs(found.meant, found.edges, fill=True, color=_MEANT, label="weights")
    axes.stairs(found.got, found.edges, color=_GOT, label="what the integers stand for")
    ends = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}, by channel"
    for limit in sorted({-high, -low, low, high}):
        line = axes.axvline(limit, color=_LIMIT, linestyle="--", linewidth=1)
    line.set_label(f"limits of 8 bits: {ends}")
    axes.set(yscale="log", xlabel="weight", ylabel="how many")
    axes.legend(fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1))


def _channels(sqnr: Any, largest: Any, part: Part) -> None:
    decibels, whole = part.errors.sqnr, float(part.errors.whole.sqnr[0])
    sqnr.plot(np.where(np.isfinite(decibels), decibels, np.nan), ".", color=_MEANT, markersize=4)
    if np.isfinite(whole):
        line = sqnr.axhline(whole, color=_LIMIT, linewidth=1)
        line.set_label(f"all together: {whole:.1f} dB")
        sqnr.legend(fontsize=8, loc="best")
    sqnr.set(ylabel="signal over noise (dB)")
    largest.plot(part.errors.max_abs, ".", color=_GOT, markersize=4)
    halves = np.broadcast_to(part.scale, part.errors.max_abs.shape) / 2
    largest.step(np.arange(len(halves)), halves, where="mid", color=_LIMIT, linewidth=1,
                 label="half of what 1 stands for")  # fmt: skip
    top = 1.3 * max(float(halves.max()), float(part.errors.max_abs.max()))
    largest.set(xlabel="channel", ylabel="largest error", ylim=(0, top))
    largest.legend(fontsize=8, loc="best")
    for axes in (sqnr, largest):
        axes.locator_params(axis="x", integer=True)
