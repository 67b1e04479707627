"""What holds for every verb: help, exit codes, JSON for every kind of error, hostile names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import ufkit
import ufkit.uff.summary
from ufkit.cli.verbs import VERBS


def test_help(run: Any, snapshot: SnapshotAssertion) -> None:
    result = run("--help")
    assert result.code == 0
    assert result.out == snapshot
    assert run("-h").out == result.out
    assert run("help").out == result.out


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_teaches(run: Any, verb: str) -> None:
    result = run(verb, "--help")
    assert result.code == 0
    assert "Examples:" in result.out
    assert f"ufkit {verb}" in result.out.partition("Examples:")[2]
    assert "Exit codes:" in result.out
    assert all(len(line) <= 100 for line in result.out.splitlines())
    assert run(verb, "-h").out == run("help", verb).out == result.out


def test_help_on_a_terminal(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from ufkit.cli import command

    class Terminal:
        def __getattr__(self, name: str) -> Any:
            return getattr(sys.__stdout__, name)

        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(command.sys, "stdout", Terminal())
    import click

    from ufkit.cli.command import cli

    context = click.Context(cli, info_name="ufkit")
    assert "Look" in cli.get_help(context)
    for verb in VERBS:
        found = cli.get_command(context, verb)
        assert found is not None
        text = found.get_help(click.Context(found, info_name=verb, parent=context))
        assert "Examples" in text
        assert "Common options" in text or verb in ("dump", "completion")


def test_version(run: Any) -> None:
    assert run("--version").out == f"ufkit {ufkit.__version__}\n"


def test_no_arguments(run: Any) -> None:
    result = run()
    assert result.code == 2
    assert result.out == ""
    assert "Usage" in result.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["conver"], "Did you mean 'convert'?"),
        (["chekc", "x"], "Did you mean 'check'?"),
        (["xyzzy"], "There are info, check"),
        (["info"], "missing argument 'SOURCE'"),
        (["info", "a", "b"], "unexpected extra argument"),
        (["info", "a", "--shpe", "b"], "did you mean --shape?"),
        (["completion", "csh"], "is not one of 'bash', 'zsh', 'fish'"),
        (["--nonsense"], "no option --nonsense"),
    ],
)
def test_usage_errors(run: Any, args: list[str], said: str) -> None:
    result = run(*args)
    assert result.code == 2
    assert result.out == ""
    assert said in result.err
    assert "hint: " in result.err
    if "--nonsense" not in args:
        result = run(*args, "--json")
        assert result.code == 2
        assert result.json["ok"] is False


def test_a_file_in_place_of_a_verb(run: Any, net: Path) -> None:
    assert f"ufkit info {net}" in run(net).err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run: Any, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("completion", shell)
    assert result.code == 0
    assert "_UFKIT_COMPLETE" in result.out
    monkeypatch.setenv("_UFKIT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "ufkit con")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run().out == "plain,convert\n"


# -- errors of every kind --------------------------------------------------------------------


def fail_with(error: BaseException) -> Callable[..., Any]:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "exit_code", "rule"),
    [
        (ZeroDivisionError("oh\x1b[31m"), 70, "CLI002"),
        (MemoryError(), 70, "CLI003"),
        (RecursionError("too deep"), 70, "CLI002"),
        (KeyboardInterrupt(), 130, "CLI004"),
        (OSError(28, "No space left on device"), 3, "UFK002"),
        (PermissionError(13, "Permission denied", "some/file"), 3, "UFK001"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_unexpected_errors(
    run: Any,
    net: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    exit_code: int,
    rule: str,
) -> None:
    monkeypatch.setattr(ufkit.uff.summary, "summarize", fail_with(error))
    result = run("info", net)
    assert result.code == exit_code
    assert result.out == ""
    assert "\x1b" not in result.err
    assert rule in result.err or rule == "CLI004"
    result = run("info", net, "--json")
    assert result.code == exit_code
    assert result.codes == [rule]
    assert result.json["schema"] == "ufkit.info/1"
    assert result.json["data"] is None
    if rule == "CLI002":
        result = run("info", net, "--debug")
        assert result.code == exit_code
        assert "Traceback" in result.err
        assert "--debug" in run("info", net).err


def test_json_of_an_error(
    run: Any, tmp_path: Path, masked: Callable[[Any], Any], snapshot: SnapshotAssertion
) -> None:
    result = run("info", tmp_path / "absent.uff", "--json")
    assert result.code == 3
    assert result.err == ""
    assert masked(result.json) == snapshot


@pytest.mark.parametrize("name", ["", "no/such/folder/x.uff", "\udcff\udcfe", "\x1b[2J", "n\u00f6"])
def test_odd_paths(run: Any, tmp_path: Path, name: str) -> None:
    for verb in ("info", "check", "dump", "weights", "run"):
        result = run(verb, name)
        assert result.code in (2, 3)
        assert "\x1b" not in result.err
    result = run("convert", name, tmp_path / "x.onnx")
    assert result.code in (2, 3)


def test_unwritable_targets(run: Any, net: Path, image: Path, tmp_path: Path) -> None:
    target = tmp_path / "no" / "such" / "folder"
    for args in (
        ("convert", net, f"{target}.onnx"),
        ("convert", net, f"{target}.json"),
        ("dump", net, "-o", f"{target}.txt"),
        ("weights", net, f"{target}.npz"),
        ("run", net, "-i", image, "-o", f"{target}.npz"),
    ):
        result = run(*args)
        assert result.code == 3
        assert "UFK002" in result.err


# -- names from files ------------------------------------------------------------------------

HOSTILE = "x\x1b[2J\x1b]0;owned\x07\r\n\u202e\x9b31m"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    builder = ufkit.Builder(HOSTILE)
    builder.meta.add_descriptor(HOSTILE)
    builder.input(HOSTILE, [2, 2])
    builder.const(HOSTILE + "c", __import__("numpy").ones((2, 2), "float32"))
    builder.op("sum", "Binary", [HOSTILE, HOSTILE + "c"], func="add")
    builder.op(HOSTILE + "o", "_" + HOSTILE, ["sum"], **{HOSTILE: HOSTILE})
    builder.output(HOSTILE + "o", "sum")
    path = tmp_path / "hostile.uff"
    ufkit.save(builder.meta, path)
    return path


def test_hostile_names_do_not_reach_the_terminal(run: Any, hostile: Path, tmp_path: Path) -> None:
    commands: list[tuple[Any, ...]] = [
        ("info", hostile, "--nodes"),
        ("check", hostile),
        ("dump", hostile),
        ("dump", hostile, "--json"),
        ("dump", hostile, "--node", "absent\x1b"),
        ("weights", hostile, "--stats"),
        ("weights", hostile, tmp_path / "w.npz"),
        ("convert", hostile, tmp_path / "x.onnx"),
        ("run", hostile),
        ("run", hostile, "-i", f"absent\x1b={hostile}"),
        ("info", hostile, "--shape", f"{HOSTILE}q=1"),
        ("info", hostile, "--json", "--nodes"),
        ("check", hostile, "--json"),
        ("no\x1bverb",),
        ("info", "--no\x1boption"),
    ]
    for args in commands:
        result = run(*args)
        for text in (result.out, result.err):
            bad = {c for c in text if not c.isprintable() and c != "\n"}
            assert not bad, (args, bad)


def test_no_colour_without_a_terminal(run: Any, custom: Path) -> None:
    for args in (("info", custom), ("check", custom), ("convert", custom, "x.onnx")):
        result = run(*args)
        assert "\x1b" not in result.out + result.err


def test_json_holds_no_infinity(
    run: Any, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    from ufkit.conversion.engines import Session

    right = Session.run
    monkeypatch.setattr(
        Session,
        "run",
        lambda *args, **more: {k: v * np.float32("nan") for k, v in right(*args, **more).items()},
    )
    result = run("convert", net, tmp_path / "x.onnx", "--verify", "--json")
    assert result.code == 1

    def refuse(text: str) -> Any:
        raise AssertionError(text)

    answer = json.loads(result.out, parse_constant=refuse)
    assert answer["data"]["verification"]["outputs"][0]["error"] == "Infinity"
