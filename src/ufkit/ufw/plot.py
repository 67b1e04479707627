"""Pictures of quantised layers: where the weights lie, and how well each channel is met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ufkit.core.files import PathLike, need, replacing
from ufkit.ufw.quant import INT8
from ufkit.ufw.quantize import Part, Quantised

_BINS = 200
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
    bits; right, signal over noise of each channel. Raises MissingExtraError without matplotlib,
    FileError.
    """
    figures = need("matplotlib.figure", extra="plot")
    for layer, path in zip(layers, pictures(layers, folder), strict=True):
        figure = figures.Figure(figsize=(11, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        weights = layer.parts["weights"]
        _histogram(left, weights)
        _channels(right, layer)
        figure.suptitle(f"{layer.name} ({layer.type}), {weights.floats.size:,} weights",
                        parse_math=False)  # fmt: skip
        with replacing(path) as out:
            figure.savefig(out, format="png", dpi=110)
        yield path


def _harmless(name: str) -> str:
    """A part of a file's name that is one on every system."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
    return kept[:80].lstrip(".") or "layer"


def _histogram(axes: Any, part: Part) -> None:
    limits = np.atleast_1d(part.scale) * INT8.high
    reach = max(float(np.abs(part.floats).max()), float(limits.max())) * 1.02
    edges = np.linspace(-reach, reach, _BINS + 1)
    scale = np.broadcast_to(part.scale, part.integers.shape[:1])
    got = part.integers * scale.reshape(-1, *[1] * (part.integers.ndim - 1))
    axes.hist(part.floats.ravel(), edges, color=_MEANT, label="weights")
    axes.hist(got.ravel(), edges, histtype="step", color=_GOT, label="what the integers stand for")
    label = f"limits of 8 bits: {limits.max():.3g}"
    if limits.size > 1:
        label = f"limits of 8 bits: {limits.min():.3g} to {limits.max():.3g} by channel"
    for limit in sorted({float(limits.min()), float(limits.max())}):
        for sign in (-1, 1):
            axes.axvline(sign * limit, color=_LIMIT, linestyle="--", linewidth=1, label=label)
            label = "_"  # one line in the legend is enough
    axes.set(yscale="log", xlabel="weight", ylabel="how many")
    axes.legend(fontsize=8, loc="lower center")


def _channels(axes: Any, layer: Quantised) -> None:
    for (name, part), colour in zip(layer.parts.items(), (_MEANT, _GOT), strict=False):
        sqnr = part.errors.sqnr
        shown = np.where(np.isfinite(sqnr), sqnr, np.nan)
        axes.plot(shown, ".", color=colour, markersize=4, label=name)
    whole = float(layer.parts["weights"].errors.whole.sqnr[0])
    if np.isfinite(whole):
        axes.axhline(whole, color=_LIMIT, linewidth=1, label=f"all weights: {whole:.1f} dB")
    axes.set(xlabel="output channel", ylabel="signal over noise (dB)")
    axes.margins(x=0.02)
    axes.legend(fontsize=8)
