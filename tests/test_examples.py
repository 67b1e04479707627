"""The example that the README converts is what it is said to be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ufkit

ROOT = Path(__file__).resolve().parent.parent
HELD_OUT = 360
STATED = 349  # of the held-out digits, as the README says


def _held_out() -> tuple[np.ndarray, np.ndarray]:
    sklearn = pytest.importorskip("sklearn.datasets")
    bunch = sklearn.load_digits()
    images = (bunch.images[-HELD_OUT:, ..., None] / 16).astype(np.float32)
    return images, bunch.target[-HELD_OUT:]


def _right(model: ufkit.MetaGraph) -> int:
    images, labels = _held_out()
    found = ufkit.run(model.graph, {"image": images})["probabilities"]
    return int((found.argmax(1) == labels).sum())


def test_it_is_as_good_as_stated() -> None:
    with ufkit.open(ROOT / "examples" / "digits.uff") as model:
        assert _right(model) == STATED
    assert f"{STATED} of {HELD_OUT}" in " ".join((ROOT / "README.md").read_text().split())


def test_it_is_small_and_without_findings_but_notes() -> None:
    path = ROOT / "examples" / "digits.uff"
    assert path.stat().st_size < 200_000
    with ufkit.open(path) as model:
        assert {finding.severity for finding in ufkit.check(model)} == {ufkit.Severity.NOTE}


def test_its_picture_is_of_the_held_out_digits() -> None:
    images, _ = _held_out()
    np.testing.assert_array_equal(np.load(ROOT / "examples" / "eight_digits.npy"), images[:8])


def test_the_script_makes_it_again(tmp_path: Path) -> None:
    """Node for node; weights may differ in their last bits between linear algebra libraries."""
    pytest.importorskip("sklearn.datasets")
    script = ROOT / "scripts" / "make_examples.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, capture_output=True)
    with ufkit.open(tmp_path / "digits.uff") as made:
        committed = ufkit.open(ROOT / "examples" / "digits.uff")
        assert [str(node) for node in made.graph] == [str(node) for node in committed.graph]
        assert _right(made) > 0.95 * HELD_OUT
