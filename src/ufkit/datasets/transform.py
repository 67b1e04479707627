"""What is done to each sample on its way: the options of convert_imageset and convert_annoset."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.datasets.pictures import (
    decoded,
    encoded,
    file_of,
    opencv,
    picture_of,
    planar,
    resized,
    suffix_of,
    where,
)
from ufkit.datasets.rules import BOX_EMPTY, BOX_OUTSIDE, SIZES_DIFFER, WRONG_SIZE
from ufkit.datasets.sample import Array, Box, Sample

KEEP, CLIP, DROP = "keep", "clip", "drop"
OUTSIDE = (KEEP, CLIP, DROP)
_SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class Transform:
    """How a sample is changed. Steps come in the order of the fields.

    gray        one channel, as OpenCV decodes or computes it
    height      rows, and
    width       columns that images are resized to, with OpenCV's default; 0 keeps
    min_side    smaller images are enlarged until their shorter side has it, and
    max_side    larger ones made smaller until their longer side has it; as convert_annoset does
    rgb         R G B in arrays, which have B G R otherwise
    dtype       uint8 or float32, of arrays
    mean        subtracted: one number, or one for each channel in the order written
    scale       multiplied with, after that
    batch       1 x C x H x W in place of C x H x W
    encode      suffix of the image files made; "" keeps files that are not changed, and else
                makes PNG
    arrays      C x H x W arrays rather than image files, unless `encode`
    outside     boxes that reach out of the image: keep, clip, drop; the latter two also drop
                boxes that enclose nothing; those of infinite size are always dropped
    """

    gray: bool = False
    height: int = 0
    width: int = 0
    min_side: int = 0
    max_side: int = 0
    rgb: bool = False
    dtype: str = "uint8"
    mean: tuple[float, ...] = ()
    scale: float = 1.0
    batch: bool = False
    encode: str = ""
    arrays: bool = False
    outside: str = KEEP

    def __call__(self, sample: Sample) -> tuple[Sample, list[Diagnostic]]:
        """The sample as it is written: with an array or the bytes of an image file; and findings.

        Raises FormatError (DAT101, DAT102), NotSupportedError (DAT103).
        """
        findings: list[Diagnostic] = []
        if sample.boxes:
            sample = replace(sample, boxes=tuple(self._boxes(sample, findings)))
        if sample.array is not None and not self.decodes:
            return replace(sample, array=self._numbers(sample, sample.array)), findings
        data = file_of(sample)
        pixels = self._pixels(sample, data)
        height, width = pixels.shape[:2]
        if sample.width and (sample.width, sample.height) != (width, height):
            said = f"the annotation says {sample.width} x {sample.height}"
            findings.append(
                WRONG_SIZE.at(where(sample), f"{said}, the image has {width} x {height}")
            )
        pixels = self._resized(pixels, where(sample))
        height, width = pixels.shape[:2]
        sample = replace(sample, image=None, array=None, width=width, height=height)
        if self.arrays and not self.encode:
            array = planar(pixels)
            array = np.ascontiguousarray(array[::-1]) if self.rgb else array
            return replace(sample, array=self._numbers(sample, array)), findings
        suffix = suffix_of(data) if data is not None else ""
        same = data is not None and not self._changes_pixels
        wanted = "jpg" if self.encode == "jpeg" else self.encode
        if same and wanted in ("", suffix):
            return replace(sample, image=data), findings
        return replace(sample, image=encoded(pixels, wanted or "png", where(sample))), findings

    @property
    def decodes(self) -> bool:
        """Whether arrays, too, are taken as pictures; else they are copied."""
        return not self.arrays or bool(self.encode) or self.rgb or self._changes_pixels

    @property
    def _changes_pixels(self) -> bool:
        return bool(self.gray or self.height or self.width or self.min_side or self.max_side)

    def _pixels(self, sample: Sample, data: bytes | None) -> Array:
        if data is not None:
            return decoded(data, where(sample), gray=self.gray)
        if isinstance(sample.image, np.ndarray):
            pixels = sample.image
        else:
            assert sample.array is not None
            pixels = picture_of(sample, sample.array)
        if self.gray and pixels.ndim == 3:
            cv2 = opencv()
            pixels = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_BGR2GRAY)
        return pixels

    def _resized(self, pixels: Array, at: Where) -> Array:
        """As convert_annoset: by the sides where those are given, else to height and width."""
        height, width = pixels.shape[:2]
        if self.min_side or self.max_side:
            factor = np.float32(1)  # single precision, as there: it decides the last column
            if min(height, width) < self.min_side:
                factor = np.float32(self.min_side) / np.float32(min(height, width))
            if self.max_side and int(factor * np.float32(max(height, width))) > self.max_side:
                factor = np.float32(self.max_side) / np.float32(max(height, width))
            if factor == 1:
                return pixels
            by = float(factor)
            return resized(pixels, (0, 0), at, fx=by, fy=by)
        size = self.width or width, self.height or height
        if size == (width, height):
            return pixels
        return resized(pixels, size, at)

    def _numbers(self, sample: Sample, array: Array) -> Array:
        """The array in the type asked for."""
        if self.dtype == "float32" and (array.dtype != np.float32 or self.mean or self.scale != 1):
            array = array.astype(np.float32)
            if self.mean:
                channels = array.shape[-3] if array.ndim >= 3 else 0
                if len(self.mean) not in (1, channels):
                    message = f"{len(self.mean)} means for {channels} channels"
                    raise FormatError(SIZES_DIFFER.at(where(sample), message))
                array -= np.array(self.mean, np.float32).reshape(-1, 1, 1)
            if self.scale != 1:
                array *= np.float32(self.scale)
        return array[None] if self.batch and array.ndim == 3 else array

    def _boxes(self, sample: Sample, findings: list[Diagnostic]) -> Iterator[Box]:
        at = where(sample)
        for number, box in enumerate(sample.boxes or ()):
            corners = (
                f"box {number + 1}: {box.xmin:.4g} {box.ymin:.4g} {box.xmax:.4g} {box.ymax:.4g}"
            )
            if _empty(box):
                drops = self.outside != KEEP or not _finite(box)
                findings.append(BOX_EMPTY.at(at, f"{corners}{', dropped' if drops else ''}"))
                if drops:
                    continue
            elif _outside(box):
                done = {KEEP: "", CLIP: ", clipped", DROP: ", dropped"}[self.outside]
                findings.append(BOX_OUTSIDE.at(at, corners + done))
                if self.outside == DROP:
                    continue
                if self.outside == CLIP:
                    box = _clipped(box)
                    if _empty(box):  # it lay outside altogether
                        findings.append(BOX_EMPTY.at(at, f"{corners}, outside altogether, dropped"))
                        continue
            yield box


def _empty(box: Box) -> bool:
    """Whether the corners enclose nothing, or are no numbers."""
    return not (box.xmin < box.xmax and box.ymin < box.ymax and _finite(box))


def _finite(box: Box) -> bool:
    return all(map(math.isfinite, (box.xmin, box.ymin, box.xmax, box.ymax)))


def _outside(box: Box) -> bool:
    """Whether a part lies outside the image, by more than single precision makes."""
    low, high = -_SLACK, 1 + _SLACK
    return box.xmin < low or box.ymin < low or box.xmax > high or box.ymax > high


def _clipped(box: Box) -> Box:
    def inside(value: float) -> float:
        return min(max(value, 0.0), 1.0)

    return replace(
        box,
        xmin=inside(box.xmin),
        ymin=inside(box.ymin),
        xmax=inside(box.xmax),
        ymax=inside(box.ymax),
    )
