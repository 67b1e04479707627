"""Contact sheets: many samples on one picture, with their boxes, labels and sizes."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ufkit.core.diag import RequestError, UfkitError, Where
from ufkit.datasets.engine import order
from ufkit.datasets.labels import Classes
from ufkit.datasets.pictures import decoded, encoded, file_of, opencv, where
from ufkit.datasets.planes import planes, viewable
from ufkit.datasets.rules import NO_SAMPLES
from ufkit.datasets.sample import Array, Box, Listing, Sample
from ufkit.ufw.keys import name_of

_BACK, _INK, _FADED = 250, (40, 40, 40), (130, 130, 130)
_GAP, _LINE = 10, 16  # pixels around a cell, and of a line of text
_FONT_SCALE = 0.4
_ALARM = (40, 40, 200)
_GOLDEN = 0.61803398875  # a turn of it leads away from all colours before
_LARGEST = 60_000  # pixels of a side; what encoders of images take


def chosen(
    listing: Listing, keys: Sequence[str] = (), *, count: int = 24, seed: int | None = None
) -> Iterator[Sample | UfkitError]:
    """The samples of those keys, in their order, or else the first ones, or some by a seed.

    A key may leave out the number that Caffe or ufwio put before the name. A sample that cannot be
    read comes as the error. Raises RequestError (DAT002) for keys that are not there.
    """
    if keys:
        yield from _by_key(listing, keys)
        return
    for at in islice(order(len(listing.samples), seed), count):
        try:
            yield listing.samples[at]
        except UfkitError as error:
            yield error


def _by_key(listing: Listing, keys: Sequence[str]) -> list[Sample]:
    found: dict[str, Sample] = {}
    for key in keys if listing.find else ():
        assert listing.find is not None
        if (sample := listing.find(key)) is not None:
            found[key] = sample
    missing = set(keys) - found.keys()
    for at in range(len(listing.samples) if missing else 0):
        try:
            sample = listing.samples[at]
        except UfkitError:
            continue  # nothing tells its key
        for key in {sample.key, name_of(sample.key)} & missing:
            found[key] = sample
            missing.discard(key)
        if not missing:
            break
    if missing:
        shown = ", ".join(map(repr, sorted(missing)))
        raise RequestError(NO_SAMPLES.at(Where(), f"there is no sample {shown}", hint=""))
    return [found[key] for key in keys]


def contact_sheet(
    samples: Iterable[Sample | UfkitError],
    classes: Classes,
    *,
    columns: int = 6,
    side: int = 220,
) -> bytes:
    """A PNG of the samples, each within a square of `side` pixels, boxes drawn and named.

    Below it: the key, and the size with the label, or the number of boxes. Floats of one or three
    channels are stretched from their least value to their greatest. What cannot be shown says so.
    Raises RequestError (DAT002) for no sample, and for more than fit on a picture.
    """
    cells = [_cell(sample, classes, side) for sample in samples]
    rows = -(-len(cells) // columns)
    columns = min(columns, len(cells))
    height, width = cells[0].shape[:2] if cells else (0, 0)
    size = rows * (height + _GAP) + _GAP, columns * (width + _GAP) + _GAP
    if not cells or max(size) > _LARGEST:
        message = f"{len(cells)} samples make a picture of {size[1]} x {size[0]} pixels"
        raise RequestError(NO_SAMPLES.at(Where(), message, hint="ask for fewer"))
    sheet = np.full((*size, 3), _BACK, np.uint8)
    for at, cell in enumerate(cells):
        top = _GAP + at // columns * (height + _GAP)
        left = _GAP + at % columns * (width + _GAP)
        sheet[top : top + height, left : left + width] = cell
    return encoded(sheet, "png", Where())


def _cell(sample: Sample | UfkitError, classes: Classes, side: int) -> Array:
    """One sample: a square for the image, two lines for what is said of it."""
    cell = np.full((side + 2 * _LINE + 4, side, 3), _BACK, np.uint8)
    if isinstance(sample, UfkitError):
        finding = sample.diagnostic
        _write(cell, (0, side // 2), finding.message, side, _ALARM)
        place = finding.where.node or finding.where.file.rpartition("/")[2]
        _write(cell, (0, side + _LINE), place, side, _INK)
        return cell
    try:
        pixels, size = _pixels(sample)
    except UfkitError as error:
        pixels, size = np.full((side, side, 3), 225, np.uint8), "cannot be shown"
        _write(pixels, (4, side // 2), error.diagnostic.message, side - 8, _ALARM)
    image = _fitted(pixels, side)
    for box in sample.boxes or ():
        _draw(image, box, classes)
    top, left = (side - image.shape[0]) // 2, (side - image.shape[1]) // 2
    cell[top : top + image.shape[0], left : left + image.shape[1]] = image
    _write(cell, (0, side + _LINE), sample.key, side, _INK)
    _write(cell, (0, side + 2 * _LINE), f"{size}{_said(sample, classes)}", side, _FADED)
    return cell


def _pixels(sample: Sample) -> tuple[Array, str]:
    """Pixels to show, B G R, and the size in words. Raises as `decoded`."""
    data = file_of(sample)
    array = sample.array if data is None else None
    if data is not None:
        pixels = decoded(data, where(sample))
    elif array is None:
        pixels = np.asarray(sample.image)
    else:
        pixels = viewable(planes(array), where(sample))
    size = f"{pixels.shape[1]} x {pixels.shape[0]}"
    if array is not None and (array.dtype != np.uint8 or array.ndim != 3):
        size = f"{array.dtype}{list(array.shape)}"
    return (np.repeat(pixels[..., None], 3, 2) if pixels.ndim == 2 else pixels), size


def _fitted(pixels: Array, side: int) -> Array:
    """The image within a square, its proportions kept; small ones are enlarged, pixel by pixel."""
    cv2 = opencv()
    factor = side / max(pixels.shape[:2])
    size = [max(1, min(side, round(length * factor))) for length in pixels.shape[1::-1]]
    how = cv2.INTER_NEAREST if factor > 1 else cv2.INTER_AREA
    return np.array(cv2.resize(np.ascontiguousarray(pixels), size, interpolation=how))


def _said(sample: Sample, classes: Classes) -> str:
    if sample.boxes is not None:
        return f", {len(sample.boxes)} box{'' if len(sample.boxes) == 1 else 'es'}"
    if sample.label is None:
        return ""
    name = classes.name(sample.label)
    return f", {sample.label}" + (f" {name}" if name != str(sample.label) else "")


def _colour(label: int) -> tuple[int, int, int]:
    """One for each label, the same on every sheet, dark enough for white text."""
    red, green, blue = colorsys.hsv_to_rgb(label * _GOLDEN % 1, 0.85, 0.75)
    return round(255 * blue), round(255 * green), round(255 * red)


def _draw(image: Array, box: Box, classes: Classes) -> None:
    """A box and its class; thin where it is difficult."""
    cv2 = opencv()
    height, width = image.shape[:2]
    label = box.label or 0
    try:
        left, right = (round(x * (width - 1)) for x in (box.xmin, box.xmax))
        top, bottom = (round(y * (height - 1)) for y in (box.ymin, box.ymax))
    except (ValueError, OverflowError):
        return  # not a number
    far = 1 << 15
    corners = [min(max(value, -far), far) for value in (left, top, right, bottom)]
    colour = _colour(label)
    cv2.rectangle(image, corners[:2], corners[2:], colour, 1 if box.difficult else 2)
    name = classes.name(label) + ("" if box.score is None else f" {box.score:.2f}")
    text = _ascii(name)
    (wide, high), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, _FONT_SCALE, 1)
    x = min(max(corners[0], 0), max(width - wide - 4, 0))
    y = min(max(corners[1], high + 4), height)
    cv2.rectangle(image, (x, y - high - 4), (x + wide + 4, y), colour, cv2.FILLED)
    at = (x + 2, y - 3)
    cv2.putText(
        image, text, at, cv2.FONT_HERSHEY_SIMPLEX, _FONT_SCALE, (255, 255, 255), 1, cv2.LINE_AA
    )


def _ascii(text: str) -> str:
    """Text in the characters that OpenCV can draw."""
    return "".join(char if " " <= char <= "~" else "?" for char in text)


def _write(image: Array, at: tuple[int, int], text: str, width: int, colour: Any) -> None:
    """A line of text; of one that is too long the end is what tells names apart."""
    cv2 = opencv()
    text = _ascii(text)
    font = cv2.FONT_HERSHEY_SIMPLEX

    def long(shown: str) -> bool:
        return bool(cv2.getTextSize(shown, font, _FONT_SCALE, 1)[0][0] > width)

    shown = text[-200:]
    while shown and long(shown if shown == text else f"..{shown}"):
        shown = shown[1:]
    line = shown if shown == text else f"..{shown}"
    cv2.putText(image, line, at, font, _FONT_SCALE, colour, 1, cv2.LINE_AA)
