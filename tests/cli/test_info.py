"""`ufkit info`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import ufkit


def test_text(run: Any, net: Path) -> None:
    result = run("info", net)
    assert result.code == 0
    assert result.err == ""
    assert "UFF, binary" in result.out
    assert "float32[N, 8, 8, 3]" in result.out
    assert "float32[N, 5]" in result.out
    assert "3 Const" in result.out
    assert "parameters  432 float32, 1.7 KiB" in result.out
    assert "\x1b" not in result.out


def test_json(
    run: Any, net: Path, masked: Callable[[Any], Any], snapshot: SnapshotAssertion
) -> None:
    result = run("info", net, "--json", "--nodes")
    assert result.code == 0
    assert masked(result.json) == snapshot


def test_custom_operations_are_marked(run: Any, custom: Path) -> None:
    out = run("info", custom).out
    assert "5 _Plugin_TRT (custom)" in out
    assert "1 Nonsense (unknown)" in out


def test_nodes(run: Any, net: Path) -> None:
    out = run("info", net, "--nodes").out
    assert "conv  Conv  float32[N, 8, 8, 4]\n    from image, conv/kernel" in out
    assert "inputs_orders=[N+C,+CN]" in out
    assert "func=add" in out
    assert "(432 bytes)" in out


@pytest.mark.parametrize("suffix", [".pbtxt", ".json"])
def test_other_forms_have_their_size(run: Any, net: Path, suffix: str) -> None:
    other = net.with_suffix(suffix)
    with ufkit.open(net) as meta:
        ufkit.save(meta, other)
    data = run("info", other, "--json").json["data"]
    assert data["bytes"] == other.stat().st_size
    assert data["form"] == {".pbtxt": "uff-text", ".json": "uff-json"}[suffix]
    out = run("info", other).out
    assert ("left out" in out) == (suffix == ".pbtxt")


def test_a_missing_shape_is_asked_for_and_taken(run: Any, shapeless: Path) -> None:
    result = run("info", shapeless)
    assert result.code == 0
    assert "UFF301" in result.out
    assert "UFF301" not in run("info", shapeless, "-q").out
    given = run("info", shapeless, "--shape", "in=put/x:0=N,4", "--json")
    assert given.json["data"]["graphs"][0]["outputs"][0]["shape"] == ["N", 3]
    assert given.json["diagnostics"] == []


def test_what_is_no_uff_is_named(run: Any, onnx_net: Path, tmp_path: Path) -> None:
    result = run("info", onnx_net)
    assert result.code == 3
    assert "it is an ONNX model" in result.err
    page = tmp_path / "model.uff"
    page.write_text("<!DOCTYPE html><html></html>")
    result = run("info", page, "--json")
    assert result.code == 3
    assert result.json["ok"] is False
    assert result.codes == ["UFF001"]
    assert "web page" in result.json["diagnostics"][0]["message"]


def test_damage(run: Any, net: Path) -> None:
    net.write_bytes(net.read_bytes()[:200])
    assert run("info", net).code == 3


def test_corpus(run: Any, corpus: Path) -> None:
    for path in sorted((corpus / "uff").glob("*.uff")) + sorted((corpus / "uff").glob("*.pbtxt")):
        expected = 3 if path.name == "lfs_pointer.uff" else 0
        assert run("info", path).code == expected
        assert run("info", path, "--nodes", "--json").json["ok"] is (expected == 0)
