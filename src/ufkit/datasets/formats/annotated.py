"""What formats with one annotation file for each image share: the two found by one stem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.datasets.formats.folders import images_in
from ufkit.datasets.pictures import decoded, file_of, picture_of, where
from ufkit.datasets.rules import BAD_ANNOTATION, MISSING_IMAGE, NO_ANNOTATION
from ufkit.datasets.sample import Box, Sample


@dataclass(frozen=True, slots=True)
class Pair:
    """An image and its annotation; either may be missing, but not both."""

    stem: str
    name: str
    image: Path | None
    annotation: Path | None

    def picture(self) -> Path:
        """The image. Raises FormatError (DAT101)."""
        if self.image is None:
            message = f"there is an annotation and no image {self.stem}.*"
            raise FormatError(MISSING_IMAGE.at(Where(str(self.annotation)), message))
        return self.image


def pairs(images: Path, annotations: Path, suffix: str, skip: frozenset[str]) -> list[Pair]:
    """Images and annotations below two folders, by the stem of their names."""
    found = {_stem(name): name for name in images_in(images)}
    texts = {
        _stem(inside): path
        for path in sorted(annotations.rglob(f"*{suffix}"))
        if path.name not in skip and (inside := path.relative_to(annotations).as_posix())
    }
    rows = []
    for stem in sorted(found.keys() | texts.keys()):
        name = found.get(stem, "")
        rows.append(Pair(stem, name, images / name if name else None, texts.get(stem)))
    return rows


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def unannotated(rows: list[Pair]) -> Iterator[Diagnostic]:
    """Images that nothing is said of."""
    for row in rows:
        if row.annotation is None:
            yield NO_ANNOTATION.at(Where(str(row.image)), "it has no annotation file")


def number(text: object, where_: Where, what: str) -> float:
    """A finite number out of an annotation. Raises FormatError (DAT202)."""
    try:
        value = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value) or isinstance(text, bool):
        raise FormatError(BAD_ANNOTATION.at(where_, f"{what} is {text!r}, which is no number"))
    return value


def box_of(row: Mapping[str, Any]) -> Box:
    """A box out of the facts that Parquet and WebDataset have of it.

    Raises KeyError, TypeError, ValueError for what is none.
    """
    xmin, ymin, xmax, ymax = (float(row[name]) for name in ("xmin", "ymin", "xmax", "ymax"))
    flag, score = row.get("difficult"), row.get("score")
    return Box(
        xmin,
        ymin,
        xmax,
        ymax,
        label=int(row["label"]),
        difficult=None if flag is None else bool(flag),
        score=None if score is None else float(score),
    )


def size_of(sample: Sample) -> tuple[int, int]:
    """Width and height of a sample's image; of its file only where nothing else tells.

    Raises FormatError (DAT101, DAT102).
    """
    if sample.width > 0 and sample.height > 0:
        return sample.width, sample.height
    data = file_of(sample)
    if data is not None:
        pixels = decoded(data, where(sample))
    else:
        assert sample.array is not None
        pixels = picture_of(sample, sample.array)
    return pixels.shape[1], pixels.shape[0]
