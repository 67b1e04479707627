"""`ufkit edit`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

import ufkit
from graphs import small_net


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """What graphsurgeon and a training side leave in a file."""
    b = small_net()
    b.graph["image"].inputs = ("image_tensor:0",)
    b.op("idle", "Identity", ["relu"])
    b.meta.referenced_data["weights_gone"] = np.ones(3, np.float32)
    path = tmp_path / "faulty.uff"
    ufkit.save(b.meta, path)
    return path


@pytest.fixture
def twin(net: Path) -> Path:
    path = net.with_suffix(".pbtxt")
    ufkit.convert(net, path)
    return path


def test_all_changes_at_once_say_what_they_did(
    run: Any, faulty: Path, tmp_path: Path, snapshot: SnapshotAssertion, masked: Callable[..., Any]
) -> None:
    args = (
        *("--fix", "--set-shape", "image=1,8,8,3", "--set-batch", "2", "--random-weights", "7"),
        *("--extract", "conv..dense", "--fold", "--remove-unreachable"),
        *("--rename", "conv=map", "--rename", "dense/kernel=weights"),
    )
    target = tmp_path / "new.uff"
    result = run("edit", faulty, target, *args)
    assert result.code == 0
    assert masked(result.out) == snapshot
    again = run("edit", faulty, target, *args, "--force", "--json")
    assert masked(again.json) == snapshot
    with ufkit.open(target) as model:
        assert [node.id for node in model.graph.inputs] == ["map"]
        assert model.graph["map"].fields["shape"] == [2, 8, 8, 4]
        assert "weights_weights" in model.referenced_data
        assert [d.code for d in ufkit.check(model)] == ["UFF308"]


def test_a_twin_is_made_runnable(run: Any, twin: Path, tmp_path: Path, image: Path) -> None:
    target = tmp_path / "made.uff"
    assert run("convert", twin, target).code == 3  # its weights are gone
    result = run("edit", twin, target, "--random-weights", 0)
    assert result.code == 0
    assert "2 constants of 1.7 KiB made up: 2 kernels" in result.out
    assert run("run", target, "-i", image).code == 0
    assert run("convert", target, tmp_path / "made.onnx", "--verify").code == 0
    first = target.read_bytes()
    assert run("edit", twin, target, "--random-weights", 0, "--force").code == 0
    assert target.read_bytes() == first


def test_the_source_may_be_the_target(run: Any, net: Path) -> None:
    before = net.read_bytes()
    assert run("edit", net, net, "--rename", "image=input").code == 3
    assert net.read_bytes() == before
    assert run("edit", net, net, "--rename", "image=input", "--force").code == 0
    assert run("edit", net, net, "--rename", "input=image", "--force").code == 0
    assert net.read_bytes() == before


def test_ids_that_hold_what_separates_them(run: Any, tmp_path: Path) -> None:
    b = ufkit.Builder()
    b.input("x", [1, 4])
    b.op("a..b,c=d", "Activation", ["x"], func="relu")
    b.op("y", "Activation", ["a..b,c=d"], func="tanh")
    b.output("y")
    source, target = tmp_path / "odd.uff", tmp_path / "new.uff"
    ufkit.save(b.meta, source)
    result = run("edit", source, target, "--extract", "a..b,c=d..y")
    assert result.code == 2
    assert "--from and --to" in result.err
    args = ("--from", "a..b,c=d", "--to", "y", "--rename", "a..b,c=d=start")
    assert run("edit", source, target, *args).code == 0
    with ufkit.open(target) as model:
        assert [node.id for node in model.graph] == ["start", "y", "MarkOutput_0"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ([], 2, "say what to change"),
        (["--extract", "conv"], 2, "is no IN[,IN]..OUT[,OUT]"),
        (["--extract", ".."], 2, "is no IN[,IN]..OUT[,OUT]"),
        (["--extract", "cnv..dense"], 2, "did you mean 'conv'?"),
        (["--extract", "dense..conv"], 2, "not needed for 'conv'"),
        (["--rename", "conv"], 2, "is no OLD=NEW"),
        (["--rename", "conv=a", "--rename", "conv=b"], 2, "renamed twice"),
        (["--rename", "conv=relu"], 2, "UFF522"),
        (["--set-batch", "0"], 2, "is no batch"),
        (["--set-batch", "many"], 2, "is no batch"),
        (["--set-shape", "image=1,16,16,3"], 2, "UFF302"),
        (["--set-shape", "picture=1,8,8,3"], 2, "is no Input"),
        (["--random-weights", "-1"], 2, "--random-weights"),
        (["--fix", "--full"], 2, "--full concerns text"),
        (["--fix", "--graph", "side"], 2, "no graph 'side'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    run: Any, net: Path, tmp_path: Path, args: list[str], code: int, said: str
) -> None:
    target = tmp_path / "new.uff"
    result = run("edit", net, target, *args)
    assert (result.code, result.out) == (code, "")
    assert said in result.err
    assert not target.exists()


def test_text_would_lose_what_was_made_up(run: Any, twin: Path, tmp_path: Path) -> None:
    target = tmp_path / "new.pbtxt"
    assert "add --full" in run("edit", twin, target, "--random-weights", 0).err
    assert run("edit", twin, target, "--random-weights", 0, "--full").code == 0
    assert run("convert", target, tmp_path / "new.uff").code == 0
    assert "ufkit convert" in run("edit", twin, tmp_path / "x.onnx", "--fix").err


def test_what_was_cut_without_a_shape_is_said(run: Any, custom: Path, tmp_path: Path) -> None:
    target = tmp_path / "new.uff"
    result = run("edit", custom, target, "--extract", "plugin4..")
    assert result.code == 0
    assert "UFF301" in result.out
    assert "--set-shape plugin4=" in result.out
    assert run("edit", target, target, "--force", "--set-shape", "plugin4=N,4").code == 0


def test_what_check_finds_is_mended_in_place(run: Any, faulty: Path) -> None:
    assert run("check", faulty).code == 1
    assert run("edit", faulty, faulty, "--force", "--fix", "-q").out == ""
    assert run("check", faulty).code == 0
