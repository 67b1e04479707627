"""SVG is well formed and shows what the scene has, whatever names are in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufkit.core.diag import RequestError
from ufkit.viewer.drawing.labels import labels
from ufkit.viewer.drawing.measure import text_width
from ufkit.viewer.drawing.svg import to_svg
from ufkit.viewer.drawing.theme import COLOURS
from ufkit.viewer.graph.look import Look
from ufkit.viewer.graph.scene import LABEL_SIZE, Scene
from ufkit.viewer.graph.showing import Showing
from ufkit.viewer.layout.compound import lay_out
from ufkit.viewer.session import Session
from viewer.drawing.scenes import scene_of

NAME = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    "</text></svg>",
    "&lt;",
    "]]>",
    '" onload="alert(1)',
    "\u202egnp.exe",
    "\x00\x1b[31m\x7f",
    "\ud800",
    "\ufffe\uffff",
    "a" * 10_000,
    "line\nbreak\ttab",
)


def drawn(scene: Scene, theme: str = "light") -> Element:
    return fromstring(to_svg(scene, theme).encode("utf-8"))


def texts(root: Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{NAME}text")]


def test_it_has_the_size_of_the_scene() -> None:
    scene = scene_of(["a", "b"], [(0, 1)])
    root = drawn(scene)
    assert float(root.attrib["width"]) == pytest.approx(scene.width, abs=0.1)
    assert root.attrib["viewBox"].split() == ["0", "0", root.attrib["width"], root.attrib["height"]]


def test_what_is_written_at_the_right_edge_is_inside() -> None:
    scene = scene_of(["a"], [(0, 0)], label="N\u00d7112\u00d7112\u00d764")
    (label,) = (item for at in labels(scene) for item in at)
    x, _, text = label
    assert x + text_width(text, LABEL_SIZE) <= float(drawn(scene).attrib["width"])


def test_titles_lines_labels_and_frames_are_written() -> None:
    scene = scene_of(
        ["Conv", "Pool"],
        [(0, 1)],
        lines=["strides [2, 2]"],
        label="N\u00d78",
        parents=[0, 0],
        frames=["block1"],
    )
    assert texts(drawn(scene)) == [
        "block1",
        "N\u00d78",
        "Conv",
        "strides [2, 2]",
        "Pool",
        "strides [2, 2]",
    ]


@pytest.mark.parametrize("theme", COLOURS)
def test_the_colours_are_those_of_the_theme(theme: str) -> None:
    text = to_svg(scene_of(["a"], [], category="pool", mark="warning", change="added"), theme)
    colours = COLOURS[theme]
    assert colours["categories"]["pool"]["head"] in text
    assert all(colours[name] in text for name in ("page", "warning", "added"))
    other = COLOURS["dark" if theme == "light" else "light"]
    assert other["page"] not in text.replace("fill:#ffffff", "")


def test_a_closed_scope_is_a_stack() -> None:
    plain, stack = (drawn(scene_of(["a"], [], closed=closed)) for closed in (False, True))
    assert len(list(stack.iter(f"{NAME}rect"))) == len(list(plain.iter(f"{NAME}rect"))) + 1


def test_an_unknown_category_is_drawn_as_other() -> None:
    assert COLOURS["light"]["categories"]["other"]["head"] in to_svg(
        scene_of(["a"], [], category="?")
    )


def test_straight_links_are_lines_and_others_are_curves() -> None:
    straight = to_svg(scene_of(["a", "b"], [(0, 1)]))
    assert "C" not in "".join(
        element.attrib.get("d", "") for element in fromstring(straight).iter()
    )
    bent = fromstring(to_svg(scene_of(["a", "b", "c"], [(0, 1), (0, 2)])))
    assert "C" in "".join(element.attrib.get("d", "") for element in bent.iter())


def test_both_ends_of_a_jump_say_where_the_other_is() -> None:
    titles = [f"node{at}" for at in range(40)]
    links = [(at, at + 1) for at in range(39)]
    written = texts(drawn(scene_of(titles, [*links, (0, 39)])))
    assert "to node39" in written
    assert "from node0" in written


def test_jumps_that_share_an_end_say_how_many_they_are() -> None:
    titles = [f"node{at}" for at in range(60)]
    links = [(at, at + 1) for at in range(59)]
    written = texts(drawn(scene_of(titles, [*links, (0, 40), (0, 59)])))
    assert written.count("to 2 boxes") == 1
    assert written.count("from node0") == 2


def test_what_the_links_of_a_box_share_is_written_once() -> None:
    written = texts(drawn(scene_of(["a", "b", "c"], [(0, 1), (0, 2)], label="N\u00d78")))
    assert written.count("N\u00d78") == 1


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_is_text(name: str) -> None:
    scene = scene_of(
        [name, name], [(0, 1)], lines=[name], label=name, parents=[0, 0], frames=[name]
    )
    root = drawn(scene)
    assert {element.tag.removeprefix(NAME) for element in root.iter()} <= {
        "svg",
        "style",
        "rect",
        "path",
        "circle",
        "text",
        "title",
    }
    assert not any(key.startswith("on") for element in root.iter() for key in element.attrib)


@given(st.text(st.characters(), max_size=40))
def test_any_name_gives_a_well_formed_file(name: str) -> None:
    root = drawn(scene_of([name], [(0, 0)], lines=[name], label=name))
    shown = "".join(texts(root))
    assert all(letter.isprintable() or letter == "\ufffd" for letter in shown)


def test_a_name_that_was_cut_is_there_in_full() -> None:
    root = drawn(scene_of(["a" * 300], []))
    (whole,) = (element.text for element in root.iter(f"{NAME}title"))
    assert whole == "a" * 300


def test_there_is_no_third_theme() -> None:
    with pytest.raises(RequestError, match=r"VWR002.*'blue'.*light, dark"):
        to_svg(scene_of(["a"], []), "blue")


def test_nothing_is_an_empty_picture() -> None:
    assert texts(drawn(Scene(0, 0))) == []


class _Straight:
    """Lays out where it is asked."""

    lay_out = staticmethod(lay_out)


def corpus_scenes(corpus: Path) -> Iterator[Scene]:
    for path in sorted(corpus.glob("uff/*.uff")):
        if path.stat().st_size < 200:
            continue  # a pointer of Git LFS
        session = Session([str(path)])
        (subject,) = session
        if subject.model is not None:
            for number, _ in enumerate(subject.model.pictures):
                for opened in (None, "flat"):
                    yield Showing(_Straight()).drawn(subject, number, Look(opened))  # type: ignore[arg-type]
        session.close()


def test_real_files_are_drawn(corpus: Path) -> None:
    scenes = list(corpus_scenes(corpus))
    assert len(scenes) > 8
    for scene in scenes:
        shown = texts(drawn(scene))
        assert len(shown) >= len(scene.boxes) > 0
