"""Files of other formats under the name of a UFF."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from attacks.forge import file, put


def cases() -> Iterator[bytes]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a.npy", b"0" * 1000)
    yield from (b"", b"\x00", b"\xff" * 100, b"\n" * 100, b"PK\x03\x04", archive.getvalue())
    yield b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123\n"
    yield b"<!DOCTYPE html><html><body>404</body></html>"
    yield b"<html>" + b"<" * 5_000
    yield put(1, put(1, "x") + put(2, "Placeholder")) + put(4, put(1, 27))  # TensorFlow
    yield put(1, 8) + put(2, "producer") + put(7, put(2, "main"))  # ONNX
    yield put(1, "net") + put(100, put(1, "conv"))  # Caffe
    yield b"\x89HDF\r\n\x1a\n" + b"\x00" * 100
    yield b"\x80\x04\x95\x0a\x00\x00\x00\x00\x00\x00\x00\x8c\x06string\x94."
    yield b"\x1f\x8b\x08\x00" + b"\x00" * 16
    yield b"\x08" * 4_096
    yield bytes(range(256)) * 16
    yield b"# " * 3_000 + file()
    yield file() + file()  # two files in a row: protobuf merges them
