"""Small files cut short at every byte, and with every byte changed: only our own errors."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

import ufkit
from robustness.exercise import LOOKS, STAGES, exercise
from robustness.nets import NETS
from ufkit.core.diag import UfkitError

NAMES = ("convolutions", "shapes", "values")
# The lowest bit changes values and wire types, the highest makes integers go on.
CHANGES = (lambda byte: byte ^ 1, lambda byte: byte ^ 0x80)


@pytest.mark.parametrize("data", NETS, ids=NAMES)
def test_undamaged_files_pass_every_stage(data: bytes) -> None:
    assert [*exercise(data)] == ["recovered", "opened", *(stage.__name__ for stage in STAGES)]


@pytest.mark.parametrize("data", NETS, ids=NAMES)
def test_cut_short_at_every_byte(data: bytes) -> None:
    for stop in range(len(data)):
        for _ in exercise(data[:stop]):
            pass


@pytest.mark.parametrize("data", NETS, ids=NAMES)
def test_cut_short_at_every_byte_on_the_disk(data: bytes, tmp_path: Path) -> None:
    """Maps and windows end elsewhere than bytes do."""
    path = tmp_path / "cut.uff"
    for stop in range(len(data)):
        path.write_bytes(data[:stop])
        with contextlib.suppress(UfkitError), ufkit.open(path) as meta:
            for _ in ufkit.check(meta):
                pass


@pytest.mark.parametrize("data", NETS, ids=NAMES)
def test_every_byte_changed(data: bytes) -> None:
    for at, byte in enumerate(data):
        for change in CHANGES:
            damaged = data[:at] + bytes([change(byte)]) + data[at + 1 :]
            for _ in exercise(damaged, STAGES if at % 32 == 0 else LOOKS[:1]):
                pass
