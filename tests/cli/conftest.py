"""Fixtures of the command line: a runner in this process, and small files."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ufkit
from graphs import small_net


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)

    @property
    def codes(self) -> list[str]:
        return [item["code"] for item in self.json["diagnostics"]]


Run = Callable[..., Result]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs a command line in this process."""
    from ufkit.cli.app import run as run_app

    before = signal.getsignal(signal.SIGTERM)

    def call(*args: object) -> Result:
        capfd.readouterr()
        code = run_app([str(arg) for arg in args])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err or "--debug" in args
        return Result(code, captured.out, captured.err)

    yield call
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """A small convolutional net: image [N, 8, 8, 3] to probabilities [N, 5]."""
    path = tmp_path / "net.uff"
    ufkit.save(small_net().meta, path)
    return path


@pytest.fixture
def onnx_net(net: Path) -> Path:
    path = net.with_suffix(".onnx")
    ufkit.convert(net, path)
    return path


@pytest.fixture
def custom(tmp_path: Path) -> Path:
    """A net with five custom operations and one that nobody knows."""
    builder = ufkit.Builder()
    builder.meta.add_descriptor("custom")
    last = builder.input("x", [-1, 4])
    for number in range(5):
        last = builder.op(f"plugin{number}", "_Plugin_TRT", [last])
    last = builder.op("odd", "Nonsense", [last])
    builder.output(last)
    path = tmp_path / "custom.uff"
    ufkit.save(builder.meta, path)
    return path


@pytest.fixture
def shapeless(tmp_path: Path) -> Path:
    """A dense layer whose Input has no shape; its id holds what option parsers stumble over."""
    builder = ufkit.Builder()
    builder.input("in=put/x:0", [])
    builder.const("kernel", np.eye(4, 3, dtype=np.float32))
    builder.op("y", "FullyConnected", ["in=put/x:0", "kernel"], "NC_CK")
    builder.output("y")
    path = tmp_path / "shapeless.uff"
    ufkit.save(builder.meta, path)
    return path


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "image.npy"
    np.save(path, np.random.default_rng(1).standard_normal((2, 8, 8, 3), np.float32))
    return path


@pytest.fixture
def masked(tmp_path: Path) -> Callable[[Any], Any]:
    """JSON without what differs from one machine to the next: folders and measured floats."""

    def mask(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: mask(item) for key, item in value.items()}
        if isinstance(value, list):
            return [mask(item) for item in value]
        if isinstance(value, float):
            return "<float>"
        if isinstance(value, str):
            return re.sub(re.escape(str(tmp_path)) + "/?", "", value)
        return value

    return mask
