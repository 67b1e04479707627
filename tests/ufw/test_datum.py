"""Records: arrays and images with a label."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import ufkit
from ufkit.ufw import image
from ufkit.ufw.datum import Datum
from ufkit.ufw.records import read_record
from ufkit.ufw.schema import DATUM
from wire.judge import judge

DTYPES = ("f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4")
IMAGE = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def official(record: Datum) -> Any:
    """What the official runtime reads of a record."""
    return judge("ufw").parsed(DATUM, record.to_bytes())


def code(raised: pytest.ExceptionInfo[ufkit.UfkitError]) -> str:
    return raised.value.diagnostic.code


# -- arrays ----------------------------------------------------------------------------------


@given(
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays.arrays(
            np.dtype(dtype), arrays.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4)
        )
    ),
    st.none() | st.integers(-(1 << 31), (1 << 31) - 1),
)
def test_every_type_and_shape_comes_back(array: np.ndarray, label: int | None) -> None:
    record = Datum.read(Datum.of(array, label).to_bytes())
    assert record.array().dtype == array.dtype
    assert record.array().shape == record.shape == array.shape
    assert record.array().tobytes() == array.tobytes()
    assert record.label == label
    assert record.style == "ufw"


@pytest.mark.parametrize("dtype", DTYPES)
def test_ufwio_reads_what_is_written(dtype: str) -> None:
    """By its rule: float32 from float_data, all else raw in `data`, viewed as `dtype`."""
    array = (np.arange(6) * 3 - 4).astype(dtype).reshape(1, 2, 3)
    found = official(Datum.of(array, 5))
    assert list(found.shape.dim) == [1, 2, 3]
    assert found.label == 5
    assert not found.HasField("channels")
    if dtype == "f4":
        assert not found.HasField("data")
        assert list(found.float_data) == array.reshape(-1).tolist()
    else:
        assert not found.float_data
        assert found.data == array.astype(np.dtype(dtype).newbyteorder("<")).tobytes()
    names = found.DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number
    assert names[found.dtype].name == {"f4": "FP32", "f2": "FP16"}.get(
        dtype, np.dtype(dtype).name.upper()
    )


@pytest.mark.parametrize("dtype", ["u1", "f4", "i2"])
def test_caffe_reads_what_is_written(dtype: str) -> None:
    """By its rule: `data` is uint8 and counts where there is any, else float_data."""
    array = IMAGE.astype(dtype)
    found = official(Datum.of(array, 3, style="caffe"))
    assert (found.channels, found.height, found.width) == (2, 3, 4)
    assert not found.HasField("shape")
    assert not found.HasField("dtype")
    if dtype == "u1":
        assert found.data == IMAGE.tobytes()
        assert not found.float_data
    else:
        assert not found.HasField("data")
        assert list(found.float_data) == IMAGE.reshape(-1).tolist()


def test_other_byte_orders_and_strides() -> None:
    array = np.arange(24, dtype=">i2").reshape(4, 3, 2).transpose(2, 1, 0)
    assert np.array_equal(Datum.read(Datum.of(array).to_bytes()).array(), array)
    floats = array.astype(">f4")[:, ::-1]
    assert np.array_equal(Datum.read(Datum.of(floats).to_bytes()).array(), floats)


def test_arrays_are_views_of_the_record() -> None:
    for array in (IMAGE, IMAGE.astype(np.float32)):
        data = Datum.of(array).to_bytes()
        found = Datum.read(data).array()
        start = np.frombuffer(data, np.uint8).ctypes.data
        assert start < found.ctypes.data < start + len(data)
        assert not found.flags.writeable
        assert np.array_equal(np.asarray(Datum.read(data)), array)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(Datum.read(data), dtype=np.float64, copy=False)


def test_a_record_without_sizes_is_one_axis() -> None:
    found = read_record(judge("ufw").official(DATUM, {"float_data": [1, 2, 3], "label": 1})
                        .SerializeToString())  # fmt: skip
    assert found.array().tolist() == [1, 2, 3]


def test_floats_packed_or_in_pieces() -> None:
    one = Datum.of(np.array([1.5, -2.0], np.float32)).to_bytes()
    packed = b"\x32\x08" + struct.pack("<2f", 3, 4)
    both = b"".join(b"\x35" + struct.pack("<f", value) for value in (5, 6))
    record = Datum.read(packed + b"\x28\x07" + both)
    assert record.array().tolist() == [3, 4, 5, 6]
    assert record.label == 7
    joined = Datum.read(one.replace(b"\x42\x02\x0a\x00", b"") + both)
    with pytest.raises(ufkit.FormatError, match=r"4 float32 elements.*\[2\] has 2"):
        joined.array()


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 300, 5000])
def test_float_data_that_breaks_off(count: int) -> None:
    data = Datum.of(np.zeros(count, np.float32)).to_bytes()
    shape = 2 + data.index(b"\x42")  # float_data comes before field 8
    with pytest.raises(ufkit.FormatError):
        Datum.read(data[: shape - 4]).array()


def test_shared_lmdb_without_labels() -> None:
    assert Datum.of(IMAGE).label is None
    assert Datum.read(Datum.of(IMAGE, 0).to_bytes()).label == 0


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros(3, np.int64), np.zeros(2, np.complex64),
                                   np.array(["a"]), np.zeros(1, bool)])  # fmt: skip
def test_what_ufw_has_no_type_for_is_refused(array: np.ndarray) -> None:
    with pytest.raises(ufkit.RequestError) as raised:
        Datum.of(array)
    assert code(raised) == "UFW303"


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2), np.uint8), np.zeros((1, 1, 1, 1)), np.full((1, 1, 1), 1 << 25)]
)
def test_what_caffe_cannot_read_is_refused(array: np.ndarray) -> None:
    with pytest.raises(ufkit.RequestError) as raised:
        Datum.of(array, style="caffe")
    assert code(raised) == "UFW303"


def test_labels_are_whole_numbers_of_32_bits() -> None:
    for label in (1 << 31, 1.5, "cat"):
        with pytest.raises(ufkit.RequestError):
            Datum.of(IMAGE, label)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields",
    [
        {"channels": 3, "height": 2, "width": 2, "data": b"x" * 11},
        {"channels": 3, "data": b"xyz"},
        {"shape": {"dim": [2, -1]}, "data": b""},
        {"shape": {"dim": [1] * 40}, "data": b"x"},
        {"shape": {"dim": [1 << 40, 1 << 40]}, "data": b"x"},
        {"shape": {"dim": [2]}, "dtype": 0, "data": b"x" * 9},
        {"shape": {"dim": [2]}, "dtype": 0},
    ],
)
def test_elements_and_shape_that_do_not_fit(fields: dict[str, Any]) -> None:
    record = Datum.read(judge("ufw").official(DATUM, fields).SerializeToString())
    with pytest.raises(ufkit.FormatError) as raised:
        record.array()
    assert code(raised) == "UFW301"


def test_what_is_not_edited_stays_byte_for_byte() -> None:
    data = b"\x28\x01\x22\x01x\xf8\x07\x05\x08\x01\x10\x01\x18\x01"  # an unknown field, odd order
    record = Datum.read(data)
    assert record.to_bytes() == data
    record.message.set("label", 300)
    assert record.to_bytes() == data.replace(b"\x28\x01", b"\x28\xac\x02")


# -- encoded images --------------------------------------------------------------------------


def _picture(grey: bool) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.integers(0, 256, (13, 7) if grey else (13, 7, 3), np.uint8)


@pytest.mark.parametrize("grey", [False, True])
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".bmp", ".webp", ".tiff"])
def test_encoded_datum(suffix: str, grey: bool) -> None:
    """True sizes from the image, and the pixels that OpenCV gives, blue first."""
    data = cv2.imencode(suffix, _picture(grey))[1].tobytes()
    record = Datum.read(Datum.of_image(data, 4).to_bytes())
    assert record.encoded
    assert bytes(record.data) == data
    assert record.dtype == np.uint8
    flags = cv2.IMREAD_GRAYSCALE if record.shape[0] == 1 else cv2.IMREAD_COLOR
    wanted = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    pixels = record.array()
    assert pixels.shape == record.shape == record.stated_shape
    assert np.array_equal(pixels, wanted[None] if wanted.ndim == 2 else wanted.transpose(2, 0, 1))


def test_sizes_of_the_header_count_not_those_stated() -> None:
    """BVLC's convert_imageset leaves them out; others wrote those of before a resize."""
    data = cv2.imencode(".png", _picture(False))[1].tobytes()
    fields = {"data": data, "encoded": True, "label": 1}
    for sizes in ({}, {"channels": 3, "height": 256, "width": 256}):
        record = read_record(judge("ufw").official(DATUM, {**fields, **sizes}).SerializeToString())
        assert record.datum.shape == (3, 13, 7)
        assert record.array().shape == (3, 13, 7)


def test_colour_on_request() -> None:
    data = cv2.imencode(".png", _picture(True))[1].tobytes()
    assert image.decode(data).ndim == 2
    assert image.decode(data, colour=True).shape == (13, 7, 3)


@pytest.mark.parametrize("grey", [False, True])
@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_a_part_of_the_size_on_request(suffix: str, grey: bool) -> None:
    picture = cv2.resize(_picture(grey), (96, 64))
    data = cv2.imencode(suffix, picture)[1].tobytes()
    for shrink in (1, 2, 4, 8):
        small = image.decode(data, colour=not grey, shrink=shrink)
        assert small.shape[:2] == (64 // shrink, 96 // shrink)
        assert small.ndim == (2 if grey else 3)
        assert abs(float(small.mean()) - float(picture.mean())) < 4


def test_16_bits_transparency_and_palettes() -> None:
    deep = cv2.imencode(".png", np.full((2, 3), 65535, np.uint16))[1].tobytes()
    assert Datum.of_image(deep).dtype == np.uint16
    assert Datum.of_image(deep).array().max() == 65535
    clear = cv2.imencode(".png", np.zeros((2, 3, 4), np.uint8))[1].tobytes()
    assert Datum.of_image(clear).shape == Datum.of_image(clear).array().shape == (3, 2, 3)
    rows = b"\0\0\1" * 2
    palette = (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 3, 0, 0, 0))
               + _chunk(b"PLTE", b"\xff\0\0\0\0\xff") + _chunk(b"IDAT", zlib.compress(rows))
               + _chunk(b"IEND", b""))  # fmt: skip
    assert Datum.of_image(palette).shape == (3, 2, 2)
    assert Datum.of_image(palette).array()[:, 0, 0].tolist() == [0, 0, 255]  # red, blue first


def _chunk(name: bytes, data: bytes) -> bytes:
    return (struct.pack(">I", len(data)) + name + data
            + struct.pack(">I", zlib.crc32(name + data)))  # fmt: skip


def test_a_rotation_noted_by_a_camera_is_not_applied() -> None:
    data = cv2.imencode(".jpg", _picture(False))[1].tobytes()
    note = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    turned = data[:2] + b"\xff\xe1" + struct.pack(">H", len(note) + 2) + note + data[2:]
    assert cv2.imdecode(np.frombuffer(turned, np.uint8), cv2.IMREAD_COLOR).shape[:2] == (7, 13)
    assert Datum.of_image(turned).shape == Datum.of_image(turned).array().shape == (3, 13, 7)


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".bmp"])
def test_sizes_are_read_without_decoding(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = cv2.imencode(suffix, _picture(False))[1].tobytes()
    monkeypatch.setattr(image, "need", lambda *_: pytest.fail("decoded"))
    assert Datum.of_image(data).shape == (3, 13, 7)


def test_a_jpeg_that_was_cut_short() -> None:
    """OpenCV before 5 makes the rest of it grey, without a word."""
    data = cv2.imencode(".jpg", np.full((64, 64, 3), 200, np.uint8))[1].tobytes()
    for cut in (data[:-2], data[:-20]):
        record = Datum.of_image(cut)
        assert record.shape == (3, 64, 64)
        with pytest.raises(ufkit.FormatError, match="ends too early") as raised:
            record.array()
        assert code(raised) == "UFW302"
    assert Datum.of_image(data + b"\0\0").array().shape == (3, 64, 64)  # padded


@given(st.binary(max_size=60), st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM"]))
def test_damaged_images_end_in_an_error_of_ours(data: bytes, magic: bytes) -> None:
    record = Datum.read(judge("ufw").official(DATUM, {"data": magic + data, "encoded": True})
                        .SerializeToString())  # fmt: skip
    assert {_outcome(lambda: record.shape), _outcome(record.array)} <= {"", "UFW302"}


def _outcome(ask: Callable[[], Any]) -> str:
    try:
        ask()
    except ufkit.FormatError as error:
        return error.diagnostic.code
    return ""


def test_the_corpus(corpus: Path) -> None:
    found = sorted((corpus / "lmdb").iterdir())
    assert found
    for folder in found:
        with ufkit.open_dataset(folder) as dataset:
            for key, data in dataset.raw():
                theirs = judge("ufw").parsed(DATUM, data)
                record = dataset[key]
                sizes = theirs.channels, theirs.height, theirs.width
                assert record.array().tobytes() == theirs.data
                assert record.array().shape == sizes
                again = Datum.of(record.array(), record.label, style="caffe")
                assert again.array().tobytes() == theirs.data
