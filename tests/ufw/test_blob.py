"""Blobs: arrays in one storage or several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ufkit
from ufkit.core.files import Source
from ufkit.ufw.blob import Blob
from ufkit.ufw.schema import BLOB
from ufkit.wire.message import Message, to_bytes
from ufw.nets import blob_of
from wire.judge import field_bytes, judge, tag


def again(blob: Blob) -> Blob:
    return Blob(Message.read(BLOB, Source(to_bytes(blob.message), "x")))


def test_floats_are_a_view_of_the_file() -> None:
    data = bytearray(to_bytes(Blob.of(np.arange(6, dtype=np.float32).reshape(2, 3)).message))
    blob = Blob(Message.read(BLOB, Source(data, "x")))
    array = blob.array()
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not array.flags.writeable
    at = data.index(np.float32(5).tobytes())
    data[at : at + 4] = np.float32(9).tobytes()
    assert array[1, 2] == 9


@pytest.mark.parametrize(
    ("fields", "shape", "legacy"),
    [
        ({"dim": [2, 3]}, (2, 3), False),
        ({"num": 1, "channels": 1, "height": 2, "width": 3}, (1, 1, 2, 3), True),
        ({"dim": [6], "num": 1, "channels": 1, "height": 2, "width": 3}, (6,), False),
        ({}, (6,), False),
    ],
)
def test_shapes(fields: dict[str, Any], shape: tuple[int, ...], legacy: bool) -> None:
    blob = blob_of(data=range(6), **fields)
    assert (blob.shape, blob.legacy) == (shape, legacy)
    assert blob.array().shape == shape


def test_without_anything_a_blob_is_empty() -> None:
    blob = blob_of()
    assert blob.storages == []
    assert blob.array().shape == (0,)
    assert blob_of(data=[3]).shape == ()
    assert blob.diff() is None


def test_floats_count_before_integers() -> None:
    blob = blob_of(dim=[2], int32_data=[1, 2], int8_data=b"\x01\x02", double_data=[3, 4])
    assert blob.storages == ["double_data", "int8_data", "int32_data"]
    assert blob.array().tolist() == [3, 4]


def test_coefficients_are_multiplied_with_their_scale() -> None:
    blob = blob_of(dim=[3], int8_data=b"\x80\xff\x7f", fscale_int8_to_float=0.5)
    assert blob.array().tolist() == [-64, -0.5, 63.5]
    assert (blob.dtype.name, blob.stored_dtype.name) == ("float32", "int8")
    assert blob.stored("int8_data").tolist() == [-128, -1, 127]
    assert blob_of(dim=[1], int8_data=b"\x05").array().tolist() == [5]  # the default is 1


@pytest.mark.parametrize(
    ("fields", "expected", "dtype"),
    [
        ({}, [[1, -2], [300, 4]], "int32"),
        ({"dtype": 4}, [[1, -2], [300, 4]], "int16"),
        ({"scaleToFloat": 0.5}, [[0.5, -1], [150, 2]], "float32"),
        (
            {"scaleToFloatPerChannel": [2, 0.5], "per_channel_en": True},
            [[2, -4], [150, 2]],
            "float32",
        ),
        ({"scaleToFloatPerChannel": [2, 0.5]}, [[1, -2], [300, 4]], "int32"),
    ],
)
def test_integers(fields: dict[str, Any], expected: Any, dtype: str) -> None:
    blob = blob_of(dim=[2, 2], int32_data=[1, -2, 300, 4], **fields)
    assert blob.array().tolist() == expected
    assert blob.array().dtype == blob.dtype == dtype


def test_scales_that_do_not_fit() -> None:
    blob = blob_of(
        dim=[2], int32_data=[1, 2], scaleToFloatPerChannel=[1, 2, 3], per_channel_en=True
    )
    with pytest.raises(ufkit.FormatError, match=r"3 scales for the shape \[2\]"):
        blob.array()


def test_gradients() -> None:
    assert blob_of(dim=[2], data=[1, 2], diff=[3, 4]).diff().tolist() == [3, 4]
    blob = blob_of(dim=[2], int8_data=b"\1\2", int8_diff=b"\3\4", fscale_int8_to_float=2)
    assert blob.diff().tolist() == [6, 8]


@pytest.mark.parametrize(
    ("dtype", "storage", "back"),
    [
        ("float32", "data", "float32"),
        ("float16", "data", "float32"),
        ("float64", "double_data", "float64"),
        *((name, "int32_data", name) for name in ("int8", "uint8", "int16", "uint16", "int32")),
        ("uint32", "int32_data", "uint32"),
        ("int64", "int32_data", "int32"),
        ("uint64", "int32_data", "int32"),
    ],
)
@pytest.mark.parametrize("order", ["<", ">"])
def test_arrays_of_every_type(dtype: str, storage: str, back: str, order: str) -> None:
    array = np.array([[0, 1, 2], [3, 4, 100]], np.dtype(dtype).newbyteorder(order))
    blob = again(Blob.of(array))
    assert blob.storages == [storage]
    assert blob.array().dtype == back
    assert np.array_equal(blob.array(), array)
    assert blob.shape == (2, 3)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1 << 31], np.uint32),
        np.array([1 << 31], np.int64),
        np.array([-(1 << 31) - 1], np.int64),
        np.array([1j]),
        np.array(["text"]),
        np.array([True]),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(array: Any) -> None:
    blob = blob_of(dim=[2], data=[1, 2])
    with pytest.raises(ufkit.RequestError) as raised:
        blob.put(array)
    assert raised.value.diagnostic.code == "UFW107"
    assert blob.array().tolist() == [1, 2]


def test_a_new_value_is_not_scaled_by_an_old_scale() -> None:
    blob = blob_of(dim=[1], int32_data=[1], scaleToFloat=0.5, right_shift_num=7)
    blob.put(np.array([8], np.int8))
    assert again(blob).array().tolist() == [8]
    assert again(blob).message.get("right_shift_num") == 7  # of the layer, not of the numbers


def test_the_official_runtime_reads_what_is_put() -> None:
    ufw = judge("ufw")
    array = np.random.default_rng(0).integers(-(1 << 20), 1 << 20, (7, 11)).astype(np.int32)
    parsed = ufw.parsed(BLOB_TYPE, to_bytes(Blob.of(array).message))
    assert list(parsed.int32_data) == array.ravel().tolist()
    assert list(parsed.shape.dim) == [7, 11]
    assert parsed.dtype == 6


BLOB_TYPE = judge("ufw").type("BlobProto")


@pytest.mark.parametrize(
    ("data", "who"),
    [
        (tag(10, 0) + b"\x07", "BM1880"),
        (field_bytes(12, b"raw"), "NVIDIA"),
        (field_bytes(10, b"int8"), ""),
        (field_bytes(5, b"\0\0\0\0"), ""),
    ],
)
def test_dialects(data: bytes, who: str) -> None:
    blob = Blob(Message.read(BLOB, Source(data, "x")))
    assert who in blob.dialect
    assert bool(who) == bool(blob.dialect)
    assert to_bytes(blob.message) == data


@given(st.lists(st.integers(0, 3), max_size=4), st.sampled_from(["f4", "f8", "i1", "u2", "i4"]))
def test_any_shape_comes_back(shape: list[int], dtype: str) -> None:
    array = np.arange(int(np.prod(shape, dtype=int))).reshape(shape).astype(dtype)
    blob = again(Blob.of(array))
    assert blob.shape == array.shape
    assert np.array_equal(blob.array(), array)
