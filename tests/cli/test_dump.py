"""`ufkit dump`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ufkit


def test_text_is_the_twin(run: Any, net: Path, tmp_path: Path) -> None:
    result = run("dump", net)
    assert result.code == 0
    assert result.err == ""
    twin = tmp_path / "net.pbtxt"
    with ufkit.open(net) as meta:
        ufkit.save(meta, twin)
    assert result.out == twin.read_text()
    assert run("dump", net, "--text").out == result.out
    assert "bytes skipped" in result.out


def test_full_and_json_can_be_opened_again(run: Any, net: Path, tmp_path: Path) -> None:
    for option, name in (("--full", "a.pbtxt"), ("--json", "a.json")):
        target = tmp_path / name
        result = run("dump", net, option, "-o", target)
        assert result.code == 0
        assert result.out == ""
        assert target.read_text() == run("dump", net, option).out
        assert run("convert", target, tmp_path / f"{name}.uff").code == 0
        assert (tmp_path / f"{name}.uff").read_bytes() == net.read_bytes()


def test_nodes(run: Any, net: Path, tmp_path: Path) -> None:
    out = run("dump", net, "--node", "conv", "--node", "relu").out
    part = tmp_path / "part.pbtxt"
    part.write_text(out)
    with ufkit.open(part) as meta:
        assert [node.id for node in meta.graph] == ["conv", "relu"]
        assert meta.graph["conv"].fields["inputs_orders"]
        assert list(meta.referenced_data) == ["orders_N+C_+CK"]
    result = run("dump", net, "--node", "convv")
    assert result.code == 2
    assert "did you mean 'conv'?" in result.err


def test_existing_target(run: Any, net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("mine")
    assert run("dump", net, "-o", target).code == 3
    assert target.read_text() == "mine"
    assert run("dump", net, "-o", target, "--force").code == 0
    assert "wrote" in run("dump", net, "-o", target, "--force").err
    assert run("dump", net, "-o", target, "--force", "-q").err == ""


def test_usage(run: Any, net: Path) -> None:
    assert run("dump", net, "--text", "--json").code == 2
    result = run("dump", net, "--full", "--json")
    assert result.code == 2
    assert result.json["schema"] == "ufkit.dump/1"


def test_errors_are_json_where_json_is_asked(run: Any, tmp_path: Path) -> None:
    result = run("dump", tmp_path / "absent", "--json")
    assert result.code == 3
    assert result.codes == ["UFK001"]


def test_damage_found_midway(run: Any, net: Path) -> None:
    content = net.read_bytes()
    net.write_bytes(content.replace(b"conv/kernel", b"conv/\xff\xfe\xfdnel", 1))
    for form in ("--text", "--json"):
        result = run("dump", net, form)
        assert result.code == 3
        assert "UFK105" in result.out + result.err
