"""`ufkit recover`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import ufkit


@pytest.fixture
def damaged(net: Path) -> Path:
    """The net with one node overwritten, and its last bytes missing."""
    data = net.read_bytes()
    at = data.index(b"\x0a\x04relu") - 2
    path = net.with_name("damaged.uff")
    path.write_bytes(data[:at] + b"\xff" * 8 + data[at + 8 : -10])
    return path


def test_nothing_lost(run: Any, net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.uff"
    result = run("recover", net, target)
    assert result.code == 0
    assert target.read_bytes() == net.read_bytes()
    assert result.out.splitlines()[-1] == "nothing was lost"
    assert run("recover", net, target, "--force", "--quiet").out == ""


def test_something_lost(run: Any, damaged: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.uff"
    result = run("recover", damaged, target)
    assert result.code == 1
    assert result.err == ""
    assert "error[UFF511]" in result.out
    assert "node 'relu' is named by 'pool' and is not there" in result.out
    assert result.out.splitlines()[-1].endswith(f"next: ufkit check {target}")
    assert run("info", target).code == 0
    check = run("check", target)
    assert check.code == 1
    assert "input 'relu' is no node" in check.out


def test_json(
    run: Any,
    damaged: Path,
    tmp_path: Path,
    masked: Callable[[Any], Any],
    snapshot: SnapshotAssertion,
) -> None:
    result = run("recover", damaged, tmp_path / "out.uff", "--json")
    assert result.code == 1
    assert masked(result.json) == snapshot


def test_over_itself(run: Any, damaged: Path) -> None:
    assert run("recover", damaged, damaged).code == 3
    assert run("recover", damaged, damaged, "--force").code == 1
    with ufkit.open(damaged) as meta:
        assert "relu" not in meta.graph


def test_an_empty_file(run: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "empty.uff", tmp_path / "out.uff"
    source.touch()
    assert run("recover", source, target).code == 1
    assert run("info", target).code == 0


def test_no_uff(run: Any, onnx_net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.uff"
    result = run("recover", onnx_net, target)
    assert result.code == 3
    assert "it is an ONNX model" in result.err
    assert not target.exists()


def test_text_without_its_weights_stays_text(run: Any, net: Path, tmp_path: Path) -> None:
    twin = tmp_path / "net.pbtxt"
    ufkit.save(ufkit.open(net), twin)
    twin.write_text(twin.read_text()[:-40])
    result = run("recover", twin, tmp_path / "out.uff")
    assert result.code == 3
    assert "UFF204" in result.err
    result = run("recover", twin, tmp_path / "out.pbtxt")
    assert result.code == 1
    assert run("info", tmp_path / "out.pbtxt").code == 0
