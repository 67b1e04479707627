"""Tables of thresholds: JSON, and the text of Bitmain's calibration."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ufkit.core.diag import FormatError
from ufkit.core.files import Source
from ufkit.ufw.table import Shifted, Table, open_table, save_table

TEXT = b"""\
name: "tiny"  # a comment stays
layer {
  name: "data"
  threshold_y: 0.5
  threshold_y: 7
  blob_param { name: "data" threshold_y: 0.5 }
  blob_param { name: "label" threshold_y: 7 }
  top_unsigned: false
}
layer {
  name: "conv"
  threshold_y: 1.1
  future_field { x: 1 }
}
"""


def read(data: bytes) -> Table:
    return open_table(Source(data, "table"))


def test_json() -> None:
    assert read(b'{"data": 0.5, "conv1": 2}').thresholds == {"data": 0.5, "conv1": 2.0}
    assert read(b'{"graphs": 0.5}').thresholds == {"graphs": 0.5}, "a blob may be called anything"


def test_thresholds_are_of_float32() -> None:
    """As Bitmain's tools keep them, whatever the form."""
    assert read(b'{"x": 0.1}').thresholds["x"] == np.float32(0.1)
    assert read(TEXT).thresholds["conv"] == np.float32(1.1)


def test_text() -> None:
    table = read(TEXT)
    assert table.thresholds == {"data": 0.5, "label": 7.0, "conv": float(np.float32(1.1))}
    assert table.shifts == {}


def test_text_keeps_all_else(tmp_path: Path) -> None:
    table = read(TEXT)
    table.shifts["conv"] = Shifted(8)
    table.shifts["pool"] = Shifted(7, 135)  # a layer it does not have
    save_table(table, tmp_path / "t.prototxt")
    written = (tmp_path / "t.prototxt").read_bytes()
    behind = b'layer {\n  name: "pool"\n  right_shift_width: 7\n  threshold_x_quantized: 135\n}\n'
    inner = b"  future_field { x: 1 }\n"
    assert written == TEXT.replace(inner, inner + b"  right_shift_width: 8\n") + behind
    again = open_table(tmp_path / "t.prototxt")
    assert again.thresholds == table.thresholds
    assert again.shifts == table.shifts


def test_a_shift_that_is_there_is_replaced(tmp_path: Path) -> None:
    table = read(TEXT.replace(b"  future", b"  right_shift_width: 3  # was\n  future"))
    assert table.shifts == {"conv": Shifted(3)}
    table.shifts["conv"] = Shifted(9)
    save_table(table, tmp_path / "t.prototxt")
    assert b"right_shift_width: 9  # was\n" in (tmp_path / "t.prototxt").read_bytes()


@pytest.mark.parametrize("suffix", [".json", ".prototxt", ".txt"])
def test_a_table_of_ones_own_in_either_form(suffix: str, tmp_path: Path) -> None:
    names = {"data": 0.1, 'odd"\\name\n': 3e38, "ünï": 1e-30}
    table = Table({name: float(np.float32(value)) for name, value in names.items()})
    save_table(table, tmp_path / f"t{suffix}")
    assert open_table(tmp_path / f"t{suffix}").thresholds == table.thresholds


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"", "UFW203", "empty, 0 bytes"),
        (b"PK\x03\x04", "UFW203", "a ZIP archive"),
        (b"{]", "UFW203", "this is no JSON"),
        (b"[1, 2]", "UFW203", "an object of names and numbers"),
        (b"{}", "UFW203", "an object of names and numbers"),
        (b'{"x": "1"}', "UFW203", "the threshold of 'x' is str"),
        (b'{"x": true}', "UFW203", "the threshold of 'x' is bool"),
        (b'{"x": {"y": 1}}', "UFW203", "the threshold of 'x' is tuple"),
        (b'{"x": ' + b"[" * 100_000, "UFW203", "this is no JSON"),
        (b'{"x": 0}', "UFW201", "not 0.0"),
        (b'{"x": -1.5}', "UFW201", "not -1.5"),
        (b'{"x": NaN}', "UFW201", "not nan"),
        (b'{"x": 1e39}', "UFW201", "not 1e+39"),
        (b'{"x": 1' + b"0" * 400 + b"}", "UFW201", "not inf"),
        (b'{"x": 1, "y": 2, "x": 3}', "UFW204", "'x' has the threshold 1.0 and, further on, 3.0"),
        (b'layer { name: "a" type: "ReLU" }', "UFW203", "none of its 1 layers has a threshold_y"),
        (b'layer { name: "a" threshold_y: x }', "UFK110", "is not a number"),
        (b'layer { name: "a" threshold_y: -2 }', "UFW201", "not -2.0"),
        (b'layer { name: "a" right_shift_width: 32 }', "UFW205", "0 to 31 bits"),
        (b'layer { name: "a" right_shift_width: ' + b"9" * 18 + b" }", "UFW205", "0 to 31 bits"),
        (b'layer { blob_param { name: "a" } }', "UFK110", "without 'threshold_y'"),
        (
            b'layer { name: "a" threshold_y: 1 }\nlayer { name: "a" threshold_y: 2 }',
            "UFW204",
            "'a' has the threshold 1.0 and, further on, 2.0",
        ),
    ],
)
def test_what_is_no_table(data: bytes, code: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(data)
    assert caught.value.diagnostic.code == code
    assert said in caught.value.diagnostic.message
    assert caught.value.diagnostic.where.file == "table"


def test_lines_are_told() -> None:
    with pytest.raises(FormatError) as caught:
        read(TEXT.replace(b"1.1", b"nan"))
    assert caught.value.diagnostic.where.line == 12


def test_the_same_threshold_twice_is_one() -> None:
    assert read(b'layer { name: "a" threshold_y: 1 } layer { name: "a" threshold_y: 1 }')


def test_json_that_others_read(tmp_path: Path) -> None:
    save_table(Table({"a": 0.5}), tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text()) == {"a": 0.5}
