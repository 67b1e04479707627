"""Maps of field values held against each other, references followed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from math import isnan
from typing import Any

from ufkit.core.comparison import Change
from ufkit.core.files import Span
from ufkit.uff.const import skipped_bytes
from ufkit.uff.data import DataMap, kind_of, plain, value_of

_BLOCK = 1 << 16
_PRINTED = "%.12g"  # what Python 2 made of a double, and so NVIDIA's text twin


class FieldComparer:
    """Compares field values of two files.

    With `printed`, one of them being a text, doubles that are equal in the 12 digits of old
    converters count as equal; `rounded` counts them. A blob that was left out is equal to any of
    its size.
    """

    def __init__(self, *, printed: bool) -> None:
        self._printed = printed
        self.rounded = 0

    def changes(
        self, a: DataMap, b: DataMap, *, prefix: str = "", without: frozenset[str] = frozenset()
    ) -> Iterator[Change]:
        """The fields that differ, those of a first. Raises FormatError (UFF202)."""
        for name in [*a, *(name for name in b if name not in a)]:
            if name in without:
                continue
            label = prefix + name
            if name not in b:
                yield Change(label, a=plain(a[name]))
            elif name not in a:
                yield Change(label, b=plain(b[name]))
            else:
                yield from self._change(label, a, b, name)

    def _change(self, label: str, a: DataMap, b: DataMap, name: str) -> Iterator[Change]:
        left, right = a.resolved(name), b.resolved(name)
        kinds = kind_of(left), kind_of(right)
        x, y = value_of(left, kinds[0]), value_of(right, kinds[1])
        if kinds[0] == kinds[1] and self._equal(x, y):
            return
        shown = plain(x), plain(y)
        if str(shown[0]) != str(shown[1]):
            yield Change(label, *shown)
        elif kinds[0] != kinds[1]:
            yield Change(f"{label} (kind)", *kinds)
        else:
            yield Change(label, *(f"{text}, not the same" for text in shown))

    def _equal(self, x: Any, y: Any) -> bool:
        if isinstance(x, list):
            return len(x) == len(y) and all(map(self._equal, x, y))
        if isinstance(x, Span):
            return self._equal_blobs(x, y)
        if x == y:
            return True
        if not isinstance(x, float):
            return False
        if isnan(x) and isnan(y):
            return True
        equal = self._printed and _PRINTED % x == _PRINTED % y
        self.rounded += equal
        return equal

    def _equal_blobs(self, x: Span, y: Span) -> bool:
        sizes = skipped_bytes(x), skipped_bytes(y)
        if sizes == (None, None):
            return equal_bytes(x, y)
        left, right = (
            span.nbytes if size is None else size for span, size in zip((x, y), sizes, strict=True)
        )
        return left == right


def equal_bytes(x: Span, y: Span) -> bool:
    """Whether two spans hold the same bytes."""
    if x.nbytes != y.nbytes:
        return False
    pairs = zip_longest(x.chunks(_BLOCK), y.chunks(_BLOCK), fillvalue=b"")
    return all(bytes(left) == bytes(right) for left, right in pairs)
