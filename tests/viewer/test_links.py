"""What a link of the drawing stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ufkit.core.diag import RequestError
from ufkit.uff.build import Builder
from ufkit.uff.io import save
from ufkit.viewer.graph.links import between
from ufkit.viewer.session import Session
from ufkit.viewer.subject import Subject


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[Subject]:
    builder = Builder()
    image = builder.input("image", [1, 4])
    ends = [builder.op(f"scope/{name}", "Unary", [image], func=name) for name in ("exp", "abs")]
    builder.output(builder.op("add", "Binary", [*ends], func="add"))
    save(builder.meta, tmp_path / "net.uff")
    session = Session([str(tmp_path / "net.uff")])
    yield session.subjects[0]
    session.close()


@pytest.fixture
def item(subject: Subject) -> Callable[[str], str]:
    assert subject.model is not None
    keys = [found.key for found in subject.model.pictures[0].items]
    return lambda key: str(keys.index(key))


def test_a_link_between_nodes_is_one_value(subject: Subject, item: Callable[[str], str]) -> None:
    (row,) = between(subject, 0, item("scope/abs"), item("add"))["rows"]
    assert (row["value"], row["label"], row["slot"]) == ("scope/abs", "1×4", 1)
    assert (row["from"]["key"], row["to"]["key"]) == ("scope/abs", "add")


def test_a_link_of_a_closed_scope_is_all_of_its_links(
    subject: Subject, item: Callable[[str], str]
) -> None:
    scope = next(at for at, found in enumerate(subject.scopes[0].tree) if found.name == "scope")
    found = between(subject, 0, f"s{scope}", item("add"))
    assert [row["value"] for row in found["rows"]] == ["scope/exp", "scope/abs"]
    assert between(subject, 0, item("image"), f"s{scope}")["total"] == 2


@pytest.mark.parametrize("end", ["", "s", "s99", "99", "x", "-1", "s-1", "1.5"])
def test_ends_that_are_none_are_refused(subject: Subject, end: str) -> None:
    with pytest.raises(RequestError, match="VWR002"):
        between(subject, 0, end, "0")
