"""A scene as PNG, painted in strips."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from ufkit.core.diag import RequestError, Where
from ufkit.core.files import need
from ufkit.viewer.drawing.labels import labels, width_of
from ufkit.viewer.drawing.shapes import (
    HALO,
    Disc,
    Letters,
    Rectangle,
    Shape,
    Style,
    Triangle,
    Way,
    colours_of,
    shapes,
)
from ufkit.viewer.drawing.ways import Piece
from ufkit.viewer.graph.scene import Scene
from ufkit.viewer.layout.diagram import Point
from ufkit.viewer.rules import TOO_LARGE

_MOST = 32_000_000  # pixels of a picture: 96 MB while it is made
_LONGEST = 60_000  # pixels of a side; what readers of PNG take
_LEAST = 0.05  # scale below which nothing can be told from anything
_FINER = 2  # shapes are painted so much larger, and shrunk: smooth edges
_STRIP = 256  # rows painted at once
_PIECES = 12  # straight pieces of an S
_DROP = 0.36  # of the size of letters: from their middle down to the baseline
_FONTS = (  # regular and bold, as systems name them; the first is the one that was measured
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    ("Arial Unicode.ttf", "Arial Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
)


def to_png(scene: Scene, theme: str = "light", scale: float | None = None) -> bytes:
    """The scene as PNG, `scale` pixels for each CSS pixel. `theme` is "light" or "dark".

    Without a scale it is 2, or what keeps the picture within 32 million pixels and 60,000 a side.
    Raises RequestError (VWR005) where a given scale makes a larger picture, or the scale had to be
    below 0.05; VWR002 for another theme; MissingExtraError (UFK004) without Pillow.
    """
    colours = colours_of(theme)
    written = labels(scene)
    size = max(width_of(scene, written), 1.0), max(scene.height, 1.0)
    fitting = min((_MOST / (size[0] * size[1])) ** 0.5, _LONGEST / max(size))
    if scale is None:
        scale = min(2.0, fitting)
    if not _LEAST <= scale <= fitting:
        message = f"a graph of {size[0]:.0f} x {size[1]:.0f} at scale {scale:.2g}: a picture has"
        message += f" {_MOST:,} pixels at most, {_LONGEST:,} a side, at a scale of {_LEAST} or more"
        raise RequestError(TOO_LARGE.at(Where(), message))
    painter = _Painter(scale)
    for shape in shapes(scene, written, colours):
        painter.add(shape)
    return painter.picture(*size, colours["page"])


class _Painter:
    """Shapes sorted into strips, so that each strip looks at its own only."""

    def __init__(self, scale: float) -> None:
        self._image = need("PIL.Image", extra="viewer")
        self._draw = need("PIL.ImageDraw", extra="viewer")
        self._font = need("PIL.ImageFont", extra="viewer")
        self._scale = scale
        self._strips: dict[int, list[Shape]] = {}
        self._fonts: dict[tuple[float, bool], Any] = {}

    def add(self, shape: Shape) -> None:
        """Paint this above all before it."""
        top, bottom = _extent(shape)
        first, last = (int(y * self._scale // _STRIP) for y in (top - 2, bottom + 2))
        for strip in range(max(first, 0), last + 1):
            self._strips.setdefault(strip, []).append(shape)

    def picture(self, width: float, height: float, page: str) -> bytes:
        """The PNG."""
        wide, high = (max(1, round(side * self._scale)) for side in (width, height))
        whole = self._image.new("RGB", (wide, high), page)
        for strip, members in sorted(self._strips.items()):
            top = strip * _STRIP
            rows = min(_STRIP, high - top)
            if rows > 0:
                whole.paste(self._strip(members, wide, rows, top, page), (0, top))
        out = io.BytesIO()
        whole.save(out, "PNG", compress_level=4)
        return out.getvalue()

    def _strip(self, members: list[Shape], wide: int, rows: int, top: int, page: str) -> Any:
        """Shapes first, finer, then letters, which have smooth edges of their own.

        No shape covers letters of another: boxes lie apart, and labels come with their ground.
        """
        fine = self._image.new("RGB", (wide * _FINER, rows * _FINER), page)
        draw = self._draw.Draw(fine)
        for shape in members:
            if not isinstance(shape, Letters):
                self._shape(draw, shape, top)
        strip = fine.reduce(_FINER)
        draw = self._draw.Draw(strip)
        for shape in members:
            if isinstance(shape, Letters):
                self._letters(draw, shape, top)
        return strip

    def _shape(self, draw: Any, shape: Shape, top: int) -> None:
        scale = self._scale * _FINER
        down = top * _FINER

        def at(x: float, y: float) -> Point:
            return x * scale, y * scale - down

        match shape:
            case Rectangle(x, y, width, height, upper, lower, style):
                half = style.width / 2 if style.edge else 0.0  # the edge lies on the outline
                first, last = at(x - half, y - half), at(x + width + half, y + height + half)
                radius = (max(upper, lower) + half) * scale
                corners = (upper > 0, upper > 0, lower > 0, lower > 0)
                last = last[0] - 1, last[1] - 1
                draw.rounded_rectangle([first, last], radius, corners=corners, **self._paint(style))
            case Disc(x, y, radius, style):
                around = radius + (style.width / 2 if style.edge else 0)
                draw.ellipse(
                    [at(x - around, y - around), at(x + around, y + around)], **self._paint(style)
                )
            case Triangle(corners, style):
                draw.polygon([at(*corner) for corner in corners], fill=style.fill)
            case Way(start, pieces, style):
                line = [at(x, y) for x, y in _flattened(start, pieces)]
                draw.line(line, style.edge, max(1, round(style.width * scale)), "curve")

    def _paint(self, style: Style) -> dict[str, Any]:
        width = max(1, round(style.width * self._scale * _FINER)) if style.edge else 0
        return {"fill": style.fill or None, "outline": style.edge or None, "width": width}

    def _letters(self, draw: Any, text: Letters, top: int) -> None:
        scale = self._scale
        size = text.size * scale
        if size < 2:
            return
        place = text.x * scale, (text.y + _DROP * text.size) * scale - top
        anchor = "ms" if text.centred else "ls"
        font = self._of(size, text.bold)
        if text.halo:
            around = {"stroke_width": HALO * scale, "stroke_fill": text.halo}
            draw.text(place, text.text, text.halo, font, anchor, **around)
        draw.text(place, text.text, text.colour, font, anchor)

    def _of(self, size: float, bold: bool) -> Any:
        key = size, bold
        if key not in self._fonts:
            self._fonts[key] = self._loaded(size, bold)
        return self._fonts[key]

    def _loaded(self, size: float, bold: bool) -> Any:
        for names in _FONTS:
            try:
                return self._font.truetype(names[bold], size)
            except OSError:
                continue
        return self._font.load_default(size)  # Pillow's own: Latin letters only


def _extent(shape: Shape) -> tuple[float, float]:
    """Top and bottom."""
    match shape:
        case Rectangle(y=y, height=height):
            return y, y + height
        case Disc(y=y, radius=radius):
            return y - radius, y + radius
        case Triangle(corners=corners):
            return min(y for _, y in corners), max(y for _, y in corners)
        case Way((_, top), pieces):
            heights = [top, *(y for piece in pieces for _, y in piece)]
            return min(heights), max(heights)
        case Letters(y=y, size=size):
            return y - size, y + size


def _flattened(before: Point, pieces: Sequence[Piece]) -> Iterator[Point]:
    """A way of straight pieces only."""
    yield before
    for piece in pieces:
        if len(piece) == 3:
            (x0, y0), (x1, y1), (x2, y2), (x3, y3) = before, *piece
            for step in range(1, _PIECES):
                t = step / _PIECES
                a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                yield a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3
        before = piece[-1]
        yield before
