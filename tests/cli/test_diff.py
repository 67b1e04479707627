"""`ufkit diff`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

import ufkit


@pytest.fixture
def other(net: Path, tmp_path: Path) -> Path:
    """The small net with a stride, an activation and one weight changed, and a node more."""
    path = tmp_path / "other.uff"
    with ufkit.open(net) as model:
        graph = model.graph
        graph["conv"].fields["strides"] = [2, 2]
        graph["relu"].fields["func"] = "elu"
        graph["dense"].inputs = ["flat", "scaled"]
        graph.add("scaled", "Unary", ["dense/kernel"], func="abs")
        kernel = ufkit.constant(graph["conv/kernel"]).numpy().copy()
        kernel[0, 0, 0, 0] += 1
        model.referenced_data["weights_conv/kernel"] = kernel
        ufkit.save(model, path)
    return path


def test_same(run: Any, net: Path) -> None:
    result = run("diff", net, net)
    assert (result.code, result.out, result.err) == (0, "same: 12 nodes, 3 weights compared\n", "")


def test_different(run: Any, net: Path, other: Path, snapshot: SnapshotAssertion) -> None:
    result = run("diff", net, other)
    assert result.code == 1
    assert result.err == ""
    first = result.out.splitlines()[0]
    assert first.startswith("different: 3 nodes changed, 1 added; 1 of 3 weights differs, largest ")
    assert result.out.replace(f"{net.parent}{os.sep}", "") == snapshot


def test_the_other_way_round(run: Any, net: Path, other: Path) -> None:
    result = run("diff", other, net)
    assert result.code == 1
    assert "1 removed" in result.out
    assert "[2,2] -> [1,1]" in result.out


def test_json(
    run: Any, net: Path, other: Path, masked: Callable[[Any], Any], snapshot: SnapshotAssertion
) -> None:
    result = run("diff", net, other, "--json")
    assert result.code == 1
    assert result.json["ok"] is False
    assert masked(result.json) == snapshot
    assert run("diff", net, net, "--json").json["data"]["same"] is True


def test_quiet_is_the_exit_code_alone(run: Any, net: Path, other: Path) -> None:
    for pair, code in (((net, net), 0), ((net, other), 1)):
        result = run("diff", *pair, "-q")
        assert (result.code, result.out, result.err) == (code, "", "")


def test_tolerance(run: Any, tmp_path: Path) -> None:
    paths = []
    for name, value in (("a", 1.0), ("b", 1.001)):
        builder = ufkit.Builder()
        builder.const("w", np.float32([value, 2]))
        paths.append(tmp_path / f"{name}.uff")
        ufkit.save(builder.meta, paths[-1])
    assert run("diff", *paths).code == 1
    assert run("diff", *paths, "--tolerance", "1e-4").code == 1
    assert run("diff", *paths, "--tolerance", "1e-3").code == 0
    assert run("diff", *paths, "--no-weights").code == 0


def test_usage(run: Any, net: Path) -> None:
    assert run("diff", net).code == 2
    assert run("diff", "-", "-").code == 2
    assert run("diff", net, net, "--no-weights", "--tolerance", "1").code == 2
    assert run("diff", net, net, "--tolerance", "-1").code == 2


def test_bad_files(run: Any, net: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.uff"
    page.write_text("<!DOCTYPE html>")
    for pair in ((net, page), (page, net)):
        result = run("diff", *pair)
        assert (result.code, result.out) == (3, "")
        assert "it is a web page" in result.err
        assert str(page) in result.err
    assert run("diff", net, tmp_path / "absent.uff").code == 3
    cut = tmp_path / "cut.uff"
    cut.write_bytes(net.read_bytes()[:-100])
    assert run("diff", net, cut, "--json").codes[0].startswith("UFK")


def test_stdin(net: Path) -> None:
    import subprocess

    code = "import sys; from ufkit.cli import main; sys.exit(main())"
    with net.open("rb") as file:
        done = subprocess.run([sys.executable, "-c", code, "diff", "-", net], stdin=file)
    assert done.returncode == 0


def test_onnx(run: Any, net: Path, other: Path, onnx_net: Path) -> None:
    assert run("diff", net, onnx_net).out.startswith("same: ")
    assert run("diff", onnx_net, onnx_net).code == 0
    result = run("diff", other, onnx_net)  # which no longer fits its dense layer
    assert result.code == 1
    assert "conversion  not possible: " in result.out


def test_onnx_of_another_program(run: Any, net: Path, onnx_net: Path) -> None:
    foreign = onnx_net.read_bytes().replace(b"ufkit", b"other", 1)
    foreign = foreign.replace(b"flat", b"FLAT")
    onnx_net.write_bytes(foreign)
    result = run("diff", net, onnx_net)
    assert result.code == 0
    assert "6 of 7 operations" in result.out
    assert "no name" not in result.out
    lines = run("diff", net, onnx_net, "-v").out.splitlines()
    at = lines.index("of no name that the other has")
    assert {"FLAT", "flat"} <= {line.split()[0] for line in lines[at + 1 : at + 6] if line}


def test_long_lists_are_cut(run: Any, tmp_path: Path) -> None:
    paths = []
    for prefix in "ab":
        builder = ufkit.Builder()
        last = builder.input("x", [1])
        for number in range(30):
            builder.const(f"w{number}", np.float32([number, ord(prefix)]))
            last = builder.op(f"{prefix}{number}", "Unary", [last], func="neg" + prefix)
        builder.op("join", "Concat", [f"{prefix}{n}" for n in range(30)], axis=0)
        paths.append(tmp_path / f"{prefix}.uff")
        ufkit.save(builder.meta, paths[-1])
    result = run("diff", *paths)
    assert result.out.count("... and 10 more (all with --json)") == 3
    assert result.out.splitlines()[0].startswith(
        "different: 1 node changed, 30 added, 30 removed; 30 of 30 weights differ, largest"
    )
    data = run("diff", *paths, "--json").json["data"]
    assert (len(data["added"]), len(data["weights"]["different"])) == (30, 30)


def test_values_that_differ_behind_the_cut(run: Any, tmp_path: Path) -> None:
    paths = []
    for last in (1, 2):
        builder = ufkit.Builder()
        builder.input("x", [*[7] * 40, last])
        paths.append(tmp_path / f"{last}.uff")
        ufkit.save(builder.meta, paths[-1])
    assert "shape  [40:] [1] -> [40:] [2]" in run("diff", *paths).out


def test_names_cannot_drive_the_terminal(run: Any, tmp_path: Path) -> None:
    evil = "x\x1b[2J\r\n\u202e"
    paths = []
    for text in "ab":
        builder = ufkit.Builder(evil + text)
        builder.meta.extra_fields[evil] = evil + text
        builder.input(evil, [1])
        builder.op("y", "_" + evil, [evil], **{evil: evil + text})
        builder.const("w" + evil, np.float32([ord(text)]))
        builder.op(evil + text, "_" + evil, [evil], value=text)
        paths.append(tmp_path / f"{text}.uff")
        ufkit.save(builder.meta, paths[-1])
    for more in ((), ("--json",)):
        result = run("diff", *paths, *more)
        assert result.code == 1
        assert not {c for c in result.out if not c.isprintable() and c != "\n"}


def test_corpus(run: Any, corpus: Path) -> None:
    binary = corpus / "uff" / "netvlad_short.uff"
    result = run("diff", binary, f"{binary}.pbtxt")
    assert result.code == 0
    assert result.out.startswith("same: 279 nodes, 37 weights compared, 68 not compared\n")
    assert "UFF501" in result.out
    result = run("diff", corpus / "uff" / "netvlad.uff", binary)
    assert result.code == 1
    assert len(result.out.splitlines()) < 70
