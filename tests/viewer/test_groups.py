"""Name scopes: what is a box, what is a frame, which links are seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ufkit.viewer.content import Picture
from ufkit.viewer.graph.groups import READABLE, Scopes, View, flat, kinds, view
from viewer.pictures import picture

BLOCKS = {
    "in": [],
    "block/conv/Conv": ["in"],
    "block/conv/Add": ["block/conv/Conv"],
    "block/relu": ["block/conv/Add"],
    "head/a": ["block/relu"],
    "head/b": ["head/a", "block/relu"],
}


def scope(scopes: Scopes, name: str) -> int:
    return next(at for at, found in enumerate(scopes.tree) if found.name == name and found.count)


def names(shown: Picture, scopes: Scopes, seen: View) -> list[str]:
    """What each box shows."""
    return [
        scopes.tree[box.scope].name + "/" if box.scope >= 0 else shown.items[box.item].key
        for box in seen.boxes
    ]


def test_a_closed_scope_is_one_box_with_the_links_of_all_that_is_in_it() -> None:
    shown = picture(BLOCKS)
    scopes = Scopes(shown)
    seen = view(shown, scopes, [])
    assert sorted(names(shown, scopes, seen)) == ["block/", "head/", "in"]
    links = {
        (names(shown, scopes, seen)[j.source], names(shown, scopes, seen)[j.target])
        for j in seen.links
    }
    assert links == {("in", "block/"), ("block/", "head/")}
    assert max(len(joined.links) for joined in seen.links) == 2  # block/relu is taken twice


def test_an_open_scope_is_a_frame_and_one_in_it_stays_closed() -> None:
    shown = picture(BLOCKS)
    scopes = Scopes(shown)
    seen = view(shown, scopes, [scope(scopes, "block")])
    assert sorted(names(shown, scopes, seen)) == ["block/conv/", "block/relu", "head/", "in"]
    assert seen.frames == [(scope(scopes, "block"), -1)]


def test_a_scope_in_a_closed_one_is_not_seen_though_it_is_open() -> None:
    shown = picture(BLOCKS)
    scopes = Scopes(shown)
    assert view(shown, scopes, [scope(scopes, "block/conv")]).frames == []


def test_a_scope_of_one_item_is_none() -> None:
    shown = picture({"a/b/c/x": [], "a/b/c/y": ["a/b/c/x"], "lonely/z": ["a/b/c/y"]})
    scopes = Scopes(shown)
    assert [found.name for found in scopes.tree if found.count and found.name] == ["a/b/c"]


def test_a_large_picture_opens_with_no_more_boxes_than_can_be_read() -> None:
    shown = picture(
        {f"net/block{i}/layer{j}/op{k}": [] for i in range(20) for j in range(10) for k in range(9)}
    )
    scopes = Scopes(shown)
    seen = view(shown, scopes, scopes.opened())
    assert 20 <= len(seen.boxes) <= READABLE


def test_a_small_picture_opens_whole() -> None:
    shown = picture(BLOCKS)
    scopes = Scopes(shown)
    assert len(view(shown, scopes, scopes.opened()).boxes) == len(BLOCKS)


def test_a_scope_says_what_is_in_it() -> None:
    shown = picture(BLOCKS)
    scopes = Scopes(shown)
    assert kinds(shown, scopes, scope(scopes, "block")) == [("Unary", 3)]


paths = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=5).map("/".join)


@given(st.lists(paths, unique=True, max_size=20), st.data())
def test_every_item_is_in_exactly_one_box_whatever_is_open(
    keys: list[str], data: st.DataObject
) -> None:
    shown = picture({key: keys[:number][-2:] for number, key in enumerate(keys)})
    scopes = Scopes(shown)
    opened = data.draw(st.sets(st.sampled_from(range(len(scopes.tree)))))
    seen = view(shown, scopes, opened)
    assert sorted(seen.box_of) == list(range(len(keys)))
    counts = [0] * len(seen.boxes)
    for box in seen.box_of.values():
        counts[box] += 1
    for box, count in zip(seen.boxes, counts, strict=True):
        assert count == (scopes.tree[box.scope].count if box.scope >= 0 else 1)
    for joined in seen.links:
        assert all(0 <= end < len(seen.boxes) for end in (joined.source, joined.target))
    everything = view(shown, scopes, scopes.all())
    assert len(everything.boxes) == len(flat(shown).boxes) == len(keys)
    assert sum(len(j.links) for j in everything.links) == sum(len(i.takes) for i in shown.items)
