"""What comes before and behind an item, and the shortest way between two."""

from __future__ import annotations

from ufkit.viewer.graph.paths import related, shortest
from viewer.pictures import picture

NET = picture(
    {
        "in": [],
        "a": ["in"],
        "b": ["a"],
        "c": ["a"],
        "long": ["b"],
        "out": ["long", "c"],
        "other": [],
    }
)
KEYS = [item.key for item in NET.items]


def named(items: list[int]) -> list[str]:
    return [KEYS[at] for at in items]


def test_before_and_behind() -> None:
    before, behind = related(NET, KEYS.index("b"))
    assert (named(before), named(behind)) == (["in", "a"], ["long", "out"])


def test_the_shortest_way_has_both_ends() -> None:
    assert named(shortest(NET, KEYS.index("in"), KEYS.index("out"))) == ["in", "a", "c", "out"]


def test_a_way_runs_with_the_flow_whichever_end_comes_first() -> None:
    assert named(shortest(NET, KEYS.index("out"), KEYS.index("in"))) == ["in", "a", "c", "out"]


def test_what_does_not_hang_together_has_no_way() -> None:
    assert shortest(NET, KEYS.index("in"), KEYS.index("other")) == []


def test_a_circle_ends() -> None:
    circle = picture({"a": ["b"], "b": ["a"]})
    assert related(circle, 0) == ([1], [1])
    assert shortest(circle, 0, 0) == [0]
