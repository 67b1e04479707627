"""`ufkit check`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from syrupy.assertion import SnapshotAssertion

import ufkit


def test_fine(run: Any, net: Path) -> None:
    result = run("check", net)
    assert result.code == 0
    assert result.out.splitlines()[-1].startswith(f"{net}: no errors, ")


def test_alike_findings_are_one_with_a_count(run: Any, custom: Path) -> None:
    result = run("check", custom)
    assert result.code == 0
    assert "warning[UFF201] operation '_Plugin_TRT' is not known here  x5\n" in result.out
    assert "and 2 more; --verbose lists all" in result.out
    assert result.out.count("  why: ") == len({"UFF200", "UFF201"})
    assert result.out.splitlines()[-1].endswith("no errors, 6 warnings")
    every = run("check", custom, "--verbose").out
    assert every.count("[UFF201]") == 5
    assert "more;" not in every


def test_strict(run: Any, custom: Path, net: Path) -> None:
    assert run("check", custom, "--strict").code == 1
    assert run("check", net, "--strict").code == 0
    result = run("check", custom, "--strict", "--json")
    assert result.code == 1
    assert result.json["ok"] is False


def test_errors(run: Any, tmp_path: Path) -> None:
    builder = ufkit.Builder()
    builder.op("y", "Binary", ["absent", "gone"], func="add")
    builder.output("y")
    path = tmp_path / "bad.uff"
    ufkit.save(builder.meta, path)
    result = run("check", path)
    assert result.code == 1
    assert "error[UFF102]" in result.out
    assert result.err == ""
    assert "error" in result.out.splitlines()[-1]


def test_quiet(run: Any, net: Path, custom: Path) -> None:
    assert run("check", net, "-q").out == ""
    assert run("check", custom, "-q").out == ""
    assert "UFF201" in run("check", custom, "-q", "--strict").out


def test_json(
    run: Any, custom: Path, masked: Callable[[Any], Any], snapshot: SnapshotAssertion
) -> None:
    result = run("check", custom, "--json")
    assert result.code == 0
    assert len(result.json["diagnostics"]) == 6
    assert masked(result.json) == snapshot


def test_shape(run: Any, shapeless: Path) -> None:
    assert "UFF301" in run("check", shapeless).out
    assert "UFF301" not in run("check", shapeless, "--shape", "in=put/x:0=-1,4").out
    result = run("check", shapeless, "--shape", "in=put/x:0=-1,5")
    assert result.code == 1
    result = run("check", shapeless, "--shape", "in=put/x=-1,4")
    assert result.code == 2
    assert "did you mean 'in=put/x:0'" in result.err


def test_no_uff(run: Any, onnx_net: Path) -> None:
    assert run("check", onnx_net).code == 3


def test_corpus(run: Any, corpus: Path) -> None:
    for path in sorted((corpus / "uff").glob("*.pbtxt")):
        result = run("check", path)
        assert result.code == 0
        assert len(result.out.splitlines()) < 60
