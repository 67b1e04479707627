"""Diagrams of any kind, for properties of layouts."""

from __future__ import annotations

from hypothesis import strategies as st

from ufkit.viewer.layout.diagram import Diagram


@st.composite
def diagrams(draw: st.DrawFn) -> Diagram:
    """Multigraphs with cycles and loops, in groups in groups."""
    count = draw(st.integers(0, 24))
    sizes = st.floats(1, 300)
    widths = draw(st.lists(sizes, min_size=count, max_size=count))
    heights = draw(st.lists(sizes, min_size=count, max_size=count))
    ends = st.integers(0, max(count - 1, 0))
    links = draw(st.lists(st.tuples(ends, ends), max_size=40)) if count else []
    groups = draw(st.integers(0, 6))
    numbers = draw(st.permutations(range(groups)))  # a group may come before the one around it
    above = [-1] * groups
    for at in range(1, groups):
        above[numbers[at]] = draw(st.sampled_from([-1, *numbers[:at]]))
    inside = draw(st.lists(st.integers(-1, groups - 1), min_size=count, max_size=count))
    within = st.lists(st.tuples(*[st.floats(0, 400)] * 2), min_size=groups, max_size=groups)
    return Diagram(widths, heights, links, inside, above, draw(within))
