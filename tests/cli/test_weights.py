"""`ufkit weights`, and the writers below it."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import load_file
from syrupy.assertion import SnapshotAssertion

import ufkit
from ufkit.conversion.weights import (
    constants,
    save_weights,
    statistics,
    write_npz,
    write_safetensors,
)

ARRAYS = {
    "a/b:0": np.arange(6, dtype=np.float32).reshape(2, 3),
    "bool": np.array([True, False, True]),
    "scalar": np.float16(1.5).reshape(()),
    "empty": np.zeros((0, 4), np.int64),
    "int8": np.arange(-3, 4, dtype=np.int8),
    "file": np.arange(3, dtype=np.int16),
    "x.npy": np.arange(3, dtype=np.int32),
    "name \u00e9\n\x1b": np.ones(1, np.float32),
}


def every_type() -> ufkit.Builder:
    builder = ufkit.Builder()
    for name, array in ARRAYS.items():
        if array.size:
            builder.const(name, array)
    builder.output("a/b:0")
    return builder


def same(loaded: Any, expected: dict[str, np.ndarray[Any, Any]]) -> None:
    assert set(loaded) == set(expected)
    for name, array in expected.items():
        assert loaded[name].dtype == array.dtype, name
        assert loaded[name].shape == array.shape, name
        assert np.array_equal(loaded[name], array), name


def test_npz_is_what_numpy_loads(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with path.open("wb") as file:
        write_npz(ARRAYS, file)
    with np.load(path) as loaded:
        same(dict(loaded), ARRAYS)


def test_safetensors_is_what_safetensors_loads(tmp_path: Path) -> None:
    out = io.BytesIO()
    write_safetensors(ARRAYS, out)
    same(load_safetensors(out.getvalue()), ARRAYS)
    path = tmp_path / "x.safetensors"
    path.write_bytes(out.getvalue())
    with safe_open(path, "np") as file:
        assert set(file.keys()) == set(ARRAYS)
    assert int.from_bytes(out.getvalue()[:8], "little") % 8 == 0


@pytest.mark.parametrize("name", ["w.npz", "w.safetensors"])
def test_constants_of_a_file(tmp_path: Path, name: str) -> None:
    source = tmp_path / "x.uff"
    ufkit.save(every_type().meta, source)
    with ufkit.open(source) as meta:
        tensors = constants(meta.graph)
        expected = {id_: tensor.numpy().copy() for id_, tensor in tensors.items()}
        seen: list[tuple[int, int]] = []
        save_weights(tensors, tmp_path / name, progress=lambda *args: seen.append(args))
    total = sum(array.nbytes for array in expected.values())
    assert seen[-1] == (total, total)
    if name.endswith(".npz"):
        with np.load(tmp_path / name) as loaded:
            same(dict(loaded), expected)
    else:
        same(load_file(tmp_path / name), expected)


def test_names_that_do_not_fit() -> None:
    one = np.ones(1, np.float32)
    with pytest.raises(ufkit.NotSupportedError):
        write_npz({"a\0b": one}, io.BytesIO())
    with pytest.raises(ufkit.NotSupportedError):
        write_npz({"a" * 70_000: one}, io.BytesIO())
    with pytest.raises(ufkit.NotSupportedError) as raised:
        write_safetensors({"__metadata__": one, "c": one.astype(np.complex64)}, io.BytesIO())
    assert len(raised.value.diagnostics) == 2


def test_statistics() -> None:
    found = statistics(np.array([1, np.nan, 3, -np.inf], np.float32))
    assert (found.min, found.max, found.mean, found.other) == (1, 3, 2, 2)
    found = statistics(np.zeros(0, np.float32))
    assert (found.min, found.mean, found.other) == (None, None, 0)
    assert statistics(np.array([True, False])).mean == 0.5


def test_memory_does_not_grow(tmp_path: Path) -> None:
    source = tmp_path / "big.uff"
    builder = ufkit.Builder()
    builder.const("w", np.zeros(96 << 20, np.int8))
    builder.output("w")
    ufkit.save(builder.meta, source)
    code = (
        "import resource, sys\n"
        "from ufkit.cli.app import run\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"run(['weights', {str(source)!r}])\n"
        "before = peak()\n"
        f"for name in ('w.npz', 'w.safetensors'): run(['weights', {str(source)!r}, "
        f"{str(tmp_path)!r} + '/' + name, '-q'])\n"
        f"run(['weights', {str(source)!r}, '--stats'])\n"
        "sys.stderr.write(str(peak() - before))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stderr) * unit < 64 << 20


# -- the verb --------------------------------------------------------------------------------


def test_list(run: Any, net: Path) -> None:
    result = run("weights", net)
    assert result.code == 0
    assert "conv/kernel" in result.out
    assert result.out.splitlines()[-1].startswith("3 constants, ")
    assert "min" not in result.out
    assert "min" in run("weights", net, "--stats").out


def test_json(
    run: Any, net: Path, masked: Callable[[Any], Any], snapshot: SnapshotAssertion
) -> None:
    assert masked(run("weights", net, "--stats", "--json").json) == snapshot


def test_write(run: Any, net: Path, tmp_path: Path) -> None:
    target = tmp_path / "w.npz"
    result = run("weights", net, target)
    assert result.code == 0
    assert "3 constants" in result.out
    assert run("weights", net, target).code == 3
    assert run("weights", net, target, "--force", "-q").out == ""
    answer = run("weights", net, target, "--force", "--json").json
    assert answer["data"]["tensors"] == 3
    with np.load(target) as loaded:
        assert loaded["dense/kernel"].shape == (64, 5)


def test_usage(run: Any, net: Path, tmp_path: Path) -> None:
    assert run("weights", net, tmp_path / "w.pt").code == 2
    assert run("weights", net, tmp_path / "w.npz", "--stats").code == 2
    assert run("weights", net, "--graph", "other").code == 2


def test_text_twin(run: Any, net: Path, tmp_path: Path) -> None:
    text = tmp_path / "net.pbtxt"
    run("convert", net, text)
    result = run("weights", text)
    assert result.code == 0
    assert "were left out" in result.out
    assert run("weights", text, "--stats").code == 0
    result = run("weights", text, tmp_path / "w.npz", "--json")
    assert result.code == 3
    assert set(result.codes) == {"UFF204"}
    assert not (tmp_path / "w.npz").exists()


def test_corpus(run: Any, corpus: Path, tmp_path: Path) -> None:
    source = corpus / "uff" / "netvlad.uff"
    assert run("weights", source, tmp_path / "w.safetensors").code == 0
    assert run("weights", source, tmp_path / "w.npz").code == 0
    with np.load(tmp_path / "w.npz") as arrays:
        same(load_file(tmp_path / "w.safetensors"), dict(arrays))
