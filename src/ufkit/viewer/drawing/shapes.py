"""A scene as plain shapes, from the back to the front, for painters that know nothing of graphs.

What they show is what the canvas of the page shows (`static/canvas.js`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ufkit.core.diag import RequestError, Where
from ufkit.viewer.drawing.labels import Label
from ufkit.viewer.drawing.measure import shortened
from ufkit.viewer.drawing.theme import COLOURS
from ufkit.viewer.drawing.ways import Piece, curve, head
from ufkit.viewer.graph.direction import Direction
from ufkit.viewer.graph.scene import (
    CORNER,
    FRAME_SIZE,
    FRAME_TITLE,
    LABEL_SIZE,
    LINE,
    LINE_SIZE,
    PAD,
    SIDE,
    STACK,
    TITLE,
    TITLE_SIZE,
    Scene,
    SceneBox,
    SceneFrame,
    SceneLink,
)
from ufkit.viewer.layout.diagram import Point
from ufkit.viewer.rules import BAD_REQUEST

_FRAME_CORNER = 8.0
_MARK = 6.0  # radius
HALO = 2.0  # CSS pixels around letters


@dataclass(frozen=True, slots=True)
class Style:
    """Colours as `#rrggbb`, "" for none; `width` of the edge in CSS pixels."""

    fill: str = ""
    edge: str = ""
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Rectangle:
    """`top` and `bottom`: radius of the corners there."""

    x: float
    y: float
    width: float
    height: float
    top: float
    bottom: float
    style: Style


@dataclass(frozen=True, slots=True)
class Disc:
    x: float
    y: float
    radius: float
    style: Style


@dataclass(frozen=True, slots=True)
class Triangle:
    corners: tuple[Point, Point, Point]
    style: Style


@dataclass(frozen=True, slots=True)
class Way:
    """A line. Each piece is the end of a straight one, or both handles and the end of an S."""

    start: Point
    pieces: Sequence[Piece]
    style: Style


@dataclass(frozen=True, slots=True)
class Letters:
    """A line of text; x is its left end, or its middle; y that of the middle of the letters.

    whole   the text before it was cut to fit
    halo    colour around the letters, over what is below them
    """

    x: float
    y: float
    text: str
    whole: str
    size: float
    bold: bool
    centred: bool
    colour: str
    halo: str = ""


Shape = Rectangle | Disc | Triangle | Way | Letters


def colours_of(theme: str) -> dict[str, Any]:
    """The colours of a theme. Raises RequestError (VWR002) for one that there is not."""
    if theme not in COLOURS:
        message = f"there is no theme {theme!r}; there are {', '.join(COLOURS)}"
        raise RequestError(BAD_REQUEST.at(Where(), message, hint=""))
    return COLOURS[theme]


def shapes(
    scene: Scene, written: Sequence[Sequence[Label]], colours: dict[str, Any]
) -> Iterator[Shape]:
    """All shapes of a scene and of the labels of its links.

    Nothing in their texts steers how they are written.
    """
    for frame in scene.frames:
        yield from _frame(frame, colours)
    for link in scene.links:
        yield from _link(link, scene.direction, colours)
    for frame in scene.frames:
        yield from _title(frame, colours)
    for texts in written:
        for label in texts:
            yield from _label(scene, label, colours)
    for box in scene.boxes:
        yield from _box(box, colours)


def _frame(frame: SceneFrame, colours: dict[str, Any]) -> Iterator[Shape]:
    style = Style(colours["frame"], colours["frameEdge"])
    corner = _FRAME_CORNER
    yield Rectangle(frame.x, frame.y, frame.width, frame.height, corner, corner, style)


def _title(frame: SceneFrame, colours: dict[str, Any]) -> Iterator[Shape]:
    """Over the links that come in at the top."""
    ink, ground, middle = colours["frameText"], colours["frame"], frame.y + FRAME_TITLE / 2
    text = Letters(frame.x + 12, middle, "", "", FRAME_SIZE, True, False, ink, ground)
    yield from _written(text, frame.title, frame.width - 24)


def _link(link: SceneLink, direction: Direction, colours: dict[str, Any]) -> Iterator[Shape]:
    line = Style(edge=colours["link"])
    for points in (link.route.points, link.route.landing):
        if len(points) > 1:
            yield Way(points[0], [*curve(points, direction)], line)
    arriving = link.route.landing or link.route.points
    yield Triangle(head(arriving, direction), Style(colours["link"]))


def _label(scene: Scene, label: Label, colours: dict[str, Any]) -> Iterator[Shape]:
    x, y, _ = label
    framed = any(
        frame.x <= x <= frame.x + frame.width and frame.y <= y <= frame.y + frame.height
        for frame in scene.frames
    )
    text, ground = visible(label[2]), colours["frame" if framed else "page"]
    yield Letters(x, y, text, text, LABEL_SIZE, False, False, colours["linkText"], ground)


def _box(box: SceneBox, colours: dict[str, Any]) -> Iterator[Shape]:
    x, y, width, height = box.x, box.y, box.width, box.height
    fill = colours["categories"].get(box.category, colours["categories"]["other"])
    whole = Rectangle(
        x, y, width, height, CORNER, CORNER, Style(colours["box"], colours["boxEdge"])
    )
    if box.closed:
        yield replace(whole, x=x + STACK, y=y + STACK)
    yield replace(whole, style=Style(colours["box"] if box.lines else fill["head"]))
    if box.lines:
        yield Rectangle(x, y, width, TITLE, CORNER, 0, Style(fill["head"]))
    edge = Style("", colours[box.change], 3) if box.change else Style("", colours["boxEdge"])
    yield replace(whole, style=edge)
    if box.mark:
        disc = Style(colours[box.mark], colours["page"], 1.5)
        yield Disc(x + width, y, _MARK, disc)
    middle = y + (TITLE if box.lines else height) / 2
    title = Letters(x + width / 2, middle, "", "", TITLE_SIZE, True, True, fill["text"])
    yield from _written(title, box.title, width - 12)
    for at, line in enumerate(box.lines):
        middle = y + TITLE + PAD + LINE * (at + 0.5)
        text = Letters(x + SIDE, middle, "", "", LINE_SIZE, False, False, colours["text"])
        yield from _written(text, line, width - SIDE - 6)


def _written(blank: Letters, text: str, most: float) -> Iterator[Letters]:
    whole = visible(text)
    if short := shortened(whole, most, blank.size, blank.bold):
        yield replace(blank, text=short, whole=whole)


def visible(text: str) -> str:
    """The text with a sign for each character that would not show, or steer how others do.

    Control characters become their pictures (U+2400 on), those that turn the direction of writing,
    and what XML cannot hold, U+FFFD.
    """
    if text.isprintable() and text.isascii():
        return text
    return "".join([letter if letter.isprintable() else _sign(letter) for letter in text])


def _sign(letter: str) -> str:
    code = ord(letter)
    if code < 0x20:
        return chr(0x2400 + code)
    if unicodedata.category(letter) == "Zs":
        return " "
    return "\u2421" if code == 0x7F else "\ufffd"
