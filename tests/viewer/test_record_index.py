"""The index of a dataset: what it lets through, how far it reads, what it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufkit.core.diag import FormatError, Where
from ufkit.ufw.rules import DAMAGED_DATABASE
from ufkit.viewer.records.collection import Outline
from ufkit.viewer.records.index import NO_LABEL, Index, Wanted


class Listed:
    """A collection of outlines; `breaks` is where its file is damaged."""

    def __init__(self, rows: list[Outline], total: int | None = None, breaks: int = -1) -> None:
        self.rows = rows
        self.total = len(rows) if total is None else total
        self.breaks = breaks

    def __len__(self) -> int:
        return self.total

    def outlines(self, start: int) -> Iterator[Outline]:
        for at, row in enumerate(self.rows[start:], start):
            if at == self.breaks:
                raise FormatError(DAMAGED_DATABASE.at(Where("x"), "page 7 is no page"))
            yield row


def index_of(rows: list[Outline], **more: Any) -> Index:
    collection: Any = Listed(rows, **more)
    return Index(collection)


def whole(rows: list[Outline]) -> Index:
    index = index_of(rows)
    while not index.complete:
        index.grow(0.2)
    return index


_labels = st.one_of(st.none(), st.integers(-1, 3), st.just(1 << 40))
_sizes = st.one_of(st.integers(0, 5), st.just(1 << 40))
_rows = st.lists(
    st.builds(
        Outline,
        st.text("abAB.é\0", max_size=5).map(str.encode),
        _labels,
        st.sets(st.integers(-1, 3), max_size=3),
        _sizes,
        _sizes,
        st.booleans(),
    ).map(
        lambda row: row._replace(label=None, classes=(), width=0, height=0) if row.damaged else row
    ),
    max_size=40,
)
_range = st.one_of(st.none(), st.tuples(st.integers(0, 5), st.integers(0, 5)))
_wanted = st.builds(
    Wanted,
    st.one_of(st.none(), st.integers(-1, 4), st.just(NO_LABEL)),
    st.text("abAB.é", max_size=2),
    _range,
    _range,
    st.booleans(),
)


def lets_through(wanted: Wanted, row: Outline) -> bool:
    """The same, said otherwise: one record at a time."""
    label = {NO_LABEL: row.label is None and not row.classes and not row.damaged, None: True}.get(
        wanted.label, wanted.label == row.label or wanted.label in row.classes
    )
    sizes = ((row.width, wanted.widths), (row.height, wanted.heights))
    return (
        label
        and all(b is None or (not row.damaged and b[0] <= a <= b[1]) for a, b in sizes)
        and wanted.key.encode().lower() in row.key.lower()
        and (row.damaged or not wanted.damaged)
    )


@given(rows=_rows, wanted=_wanted)
def test_a_filter_lets_through_what_it_says(rows: list[Outline], wanted: Wanted) -> None:
    found = whole(rows).matching(wanted).tolist()
    assert found == [at for at, row in enumerate(rows) if lets_through(wanted, row)]


@given(rows=_rows)
def test_the_counts_are_those_of_the_records(rows: list[Outline]) -> None:
    counts = whole(rows).counts()
    well = [row for row in rows if not row.damaged]
    assert counts.damaged == len(rows) - len(well)
    assert counts.labels == Counter(NO_LABEL if row.label is None else row.label for row in well)
    assert counts.classes == Counter(label for row in well for label in row.classes)
    assert counts.sizes.total() == len(well)


def test_labels_beyond_all_numbers_do_no_harm() -> None:
    rows = [Outline(b"k", label, {label}, 1, 1, False) for label in (10**30, -(10**30), 5)]
    assert whole(rows).matching(Wanted(label=5)).tolist() == [2]


def test_it_reads_no_further_than_it_is_let() -> None:
    """What was read can be used before the rest is, and matches only come behind others."""
    rows = [Outline(b"%d" % n, n % 3, (), 4, 4, False) for n in range(10_000)]
    index = index_of(rows)
    assert (index.read, index.complete) == (0, False)
    index.grow(0)
    assert index.read == 0
    before: list[int] = []
    while not index.complete:
        index.grow(1e-4)
        now = index.matching(Wanted(label=1)).tolist()
        assert now[: len(before)] == before
        assert now == [at for at in range(index.read) if at % 3 == 1]
        before = now
    assert index.read == 10_000


@pytest.mark.parametrize("breaks", [0, 5, 3000])
def test_damage_of_the_file_ends_it_and_what_came_before_counts(breaks: int) -> None:
    rows = [Outline(b"k", 0, (), 4, 4, False) for _ in range(4000)]
    index = index_of(rows, breaks=breaks)
    for _ in range(100):
        index.grow(1)
    assert index.complete
    assert [item.code for item in index.broken] == ["UFW305"]
    assert len(index.matching(Wanted(label=0))) == breaks


def test_a_dataset_that_has_fewer_than_it_tells_of_is_read_to_its_end() -> None:
    index = index_of([Outline(b"k", 0, (), 4, 4, False)] * 3, total=10)
    for _ in range(3):
        index.grow(1)
    assert (index.complete, index.read, index.total) == (True, 3, 3)
