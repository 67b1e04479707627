"""What boxes say, and what of it can be left out."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from ufkit.viewer.content import FIELDS, NAMES, SAID, WEIGHTS, Item, Picture
from ufkit.viewer.graph.groups import Scopes, View, flat, view
from ufkit.viewer.graph.texts import BoxText, box_text

ITEM = Item(
    "block/conv/Conv",
    "Conv",
    "layer",
    field_lines=[f"field{at} 1" for at in range(4)],
    weight_lines=["kernel ⟨3×3⟩", "bias ⟨3⟩"],
)
OTHER = Item("block/relu", "Activation", "activation", title="Activation relu")
ENDS = [
    Item("block/in", "Input", "input", ["N×8"], title="block/in"),
    Item("block/out", "Output", "output", title="out"),
]
PICTURE = Picture("", [ITEM, OTHER, *ENDS])
EVERY = [frozenset(chosen) for size in range(4) for chosen in combinations(sorted(SAID), size)]


def said(item: int, what: frozenset[str], seen: View | None = None) -> BoxText:
    seen = seen or flat(PICTURE)
    box = seen.boxes[seen.box_of[item]]
    return box_text(PICTURE, Scopes(PICTURE), seen, box, what)


@pytest.mark.parametrize("what", EVERY, ids=lambda what: "+".join(sorted(what)) or "nothing")
def test_a_box_says_what_it_is_to_say_and_no_more(what: frozenset[str]) -> None:
    parts = {NAMES: [ITEM.key], FIELDS: ITEM.field_lines, WEIGHTS: ITEM.weight_lines}
    expected = [*chain.from_iterable(parts[part] for part in parts if part in what)]
    found = said(0, what)
    assert found.title == "Conv"
    assert found.lines == expected[: 5 + (NAMES in what)]


def test_a_name_is_without_that_of_the_frame_around_it_only() -> None:
    scopes = Scopes(PICTURE)
    framed = view(PICTURE, scopes, scopes.all())
    assert said(0, frozenset({NAMES}), framed).lines == ["conv/Conv"]
    assert said(0, frozenset({NAMES})).lines == ["block/conv/Conv"]


def test_inputs_and_outputs_are_headed_by_their_names_and_say_them_once() -> None:
    assert said(2, SAID).lines == ["N×8"]
    assert said(3, SAID).lines == []


def test_a_box_that_says_less_is_smaller() -> None:
    sizes = [said(0, what).size for what in (frozenset[str](), frozenset({WEIGHTS}), SAID)]
    assert sizes == sorted(sizes)
    assert sizes[0][1] == 24
