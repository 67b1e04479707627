"""Constants of TensorFlow: every type, every way that elements are written."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ufkit
from tf_graphs import BY_NAME, node, of_array, opened, tensor
from ufkit.conversion.tf_tensor import TfTensor, tensor_of
from ufkit.conversion.tf_uff import to_uff
from ufkit.core.diag import Where
from ufkit.core.files import Padded, Source
from ufkit.wire.message import Message

CASES: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("float32", {"float_val": [1.5, -2]}, [1.5, -2]),
    ("float64", {"double_val": [1.5, -2]}, [1.5, -2]),
    ("int32", {"int_val": [7, -1]}, [7, -1]),
    ("int16", {"int_val": [7, -1]}, [7, -1]),
    ("int8", {"int_val": [7, -1]}, [7, -1]),
    ("uint8", {"int_val": [7, 255]}, [7, 255]),
    ("uint16", {"int_val": [7, 65535]}, [7, 65535]),
    ("qint8", {"int_val": [7, -1]}, [7, -1]),
    ("quint16", {"int_val": [7, 65535]}, [7, 65535]),
    ("uint32", {"uint32_val": [7, 1 << 31]}, [7, 1 << 31]),
    ("uint64", {"uint64_val": [7, 1 << 63]}, [7, 1 << 63]),
    ("int64", {"int64_val": [7, -(1 << 40)]}, [7, -(1 << 40)]),
    ("bool", {"bool_val": [True, False]}, [True, False]),
    ("float16", {"half_val": [0x3C00, 0xC000]}, [1.0, -2.0]),
    ("bfloat16", {"half_val": [0x3F80, 0xC000]}, [1.0, -2.0]),
    ("complex64", {"scomplex_val": [1, 2, 3, 4]}, [1 + 2j, 3 + 4j]),
    ("complex128", {"dcomplex_val": [1, 2, 3, 4]}, [1 + 2j, 3 + 4j]),
]


def read(message: Message) -> TfTensor:
    return tensor_of(message, Where("graph.pb", "c"))


@pytest.mark.parametrize(("type_", "held", "wanted"), CASES, ids=[case[0] for case in CASES])
def test_elements_one_by_one(type_: str, held: dict[str, Any], wanted: list[Any]) -> None:
    assert read(tensor(type_, (2,), **held)).numpy().tolist() == wanted


@pytest.mark.parametrize(("type_", "held", "wanted"), CASES, ids=[case[0] for case in CASES])
def test_the_last_element_goes_on(type_: str, held: dict[str, Any], wanted: list[Any]) -> None:
    found = read(tensor(type_, (2, 3), **held)).numpy()
    assert found.tolist() == [[*wanted, wanted[1]], [wanted[1]] * 3]


@pytest.mark.parametrize("type_", [row.name for row in BY_NAME.values() if row.storage])
def test_no_elements_are_zeros(type_: str) -> None:
    assert not read(tensor(type_, (2, 2))).numpy().any()


@given(st.data())
def test_content_is_as_it_lies_in_memory(data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=9))
    message = of_array(np.array(numbers, np.float32))
    assert read(message).numpy().tolist() == numbers


def test_a_content_is_not_copied() -> None:
    c = opened(node("c", "Const", value=of_array(np.arange(100, dtype=np.float32)))).nodes["c"]
    span = c.tensor.span
    assert span is not None
    assert span.source is c.message.span.source
    assert c.message.span.start < span.start < span.stop <= c.message.span.stop


def test_a_content_goes_into_the_uff_from_where_it_lies() -> None:
    graph = opened(node("c", "Const", value=of_array(np.arange(100, dtype=np.float32))))
    meta = to_uff(graph, outputs=["c"]).meta
    blob = meta.referenced_data["weights_c"]
    assert blob.source is graph.nodes["c"].message.span.source


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (tensor("float32", (3,), tensor_content=bytes(8)), r"8 bytes; float32\[3\] needs 12"),
        (tensor("int32", (1,), int_val=[1, 2]), "2 elements, 1 by its shape"),
        (tensor("complex64", (2,), scomplex_val=[1, 2, 3]), "3 numbers are no pairs"),
        (tensor("float32", (-1,), float_val=[1]), "open sizes"),
        (tensor("float32", (1 << 31, 1 << 31), float_val=[1]), "exceeds 60 bits"),
        (tensor("float32", (1 << 30,), float_val=[1]), "needs 4294967296 bytes"),
    ],
)
def test_what_is_not_sound_is_told(message: Message, reason: str) -> None:
    with pytest.raises(ufkit.FormatError, match=reason):
        read(message)


def test_a_type_that_is_unknown() -> None:
    message = tensor("float32", ())
    message.set("dtype", 99)
    with pytest.raises(ufkit.FormatError, match="of type 99"):
        read(message)


def written(message: Message, *, strict: bool) -> tuple[list[int], str, bytes, list[str]]:
    """A constant in the UFF: shape, type, elements; and the rules of what was said."""
    made = to_uff(opened(node("c", "Const", value=message)), outputs=["c"], strict=strict)
    fields = made.meta.graph["c"].fields
    codes = [item.code for item in made.diagnostics]
    return fields["shape"], str(fields["dtype"]), bytes(fields["values"].view()), codes


def test_what_nvidia_lost_is_lost_only_when_asked() -> None:
    message = tensor("int64", (), int64_val=[1 << 40])
    assert written(message, strict=True) == ([0], "int64", b"", ["CNV406"])
    assert written(message, strict=False) == ([], "int64", struct.pack("<q", 1 << 40), [])


def test_integers_of_64_bits_in_one_piece_were_never_lost() -> None:
    message = of_array(np.array([1, 2]))
    assert written(message, strict=True) == ([2], "int64", struct.pack("<2q", 1, 2), [])


@pytest.mark.parametrize("strict", [True, False])
def test_bools_have_type_7_and_a_byte_each(strict: bool) -> None:
    message = tensor("bool", (3,), bool_val=[False, True])
    assert written(message, strict=strict) == ([3], "bool", b"\0\1\1", [])


@pytest.mark.parametrize("strict", [True, False])
def test_strings_cannot_be_kept(strict: bool) -> None:
    message = tensor("string", (), string_val=[b"cat"])
    shape, _, values, codes = written(message, strict=strict)
    assert (shape, values, codes) == ([0], b"", ["CNV406"])


@pytest.mark.parametrize(
    ("message", "type_", "values"),
    [
        (tensor("float64", (2,), double_val=[0.1]), "float32", struct.pack("<2f", 0.1, 0.1)),
        (tensor("uint8", (1,), int_val=[255]), "int32", struct.pack("<i", 255)),
        (tensor("uint32", (1,), uint32_val=[1 << 31]), "int64", struct.pack("<q", 1 << 31)),
        (tensor("bfloat16", (1,), half_val=[0xC000]), "float32", struct.pack("<f", -2)),
        (tensor("qint8", (1,), int_val=[-3]), "int8", b"\xfd"),
    ],
)
def test_types_that_uff_lacks_become_those_that_hold_them(
    message: Message, type_: str, values: bytes
) -> None:
    shape = [dim.get("size") for dim in message.get("tensor_shape").all("dim")]
    assert written(message, strict=False) == (shape, type_, values, ["CNV407"])
    assert written(message, strict=True)[1].removeprefix("raw") in ("7", "bool")


def test_numbers_beyond_64_bits_with_a_sign_are_not_bent() -> None:
    message = tensor("uint64", (1,), uint64_val=[1 << 63])
    assert written(message, strict=False)[0] == [0]


@given(st.binary(max_size=9), st.binary(min_size=1, max_size=5), st.integers(0, 40), st.data())
def test_bytes_over_and_over_are_the_same_by_every_way(
    head: bytes, unit: bytes, more: int, data: st.DataObject
) -> None:
    span = Padded(Source(head), 0, len(head), more, unit)
    wanted = head + (unit * more)[:more]
    written = io.BytesIO()
    span.write_to(written)
    size = data.draw(st.integers(1, 50))
    assert bytes(span.view()) == written.getvalue() == b"".join(span.chunks(size)) == wanted
    assert span.nbytes == len(wanted)


def test_one_element_for_many_is_written_without_being_held(tmp_path: Any) -> None:
    count = 40_000_000
    graph = opened(node("c", "Const", value=tensor("float32", (count,), float_val=[1, 2])))
    ufkit.save(to_uff(graph, outputs=["c"]).meta, tmp_path / "a.uff")
    with ufkit.open(tmp_path / "a.uff") as model:
        values = ufkit.constant(model.graph["c"]).numpy()
        assert values[0] == 1
        assert (values[1:] == 2).all()
        assert len(values) == count
