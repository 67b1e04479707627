"""The schema of ONNX, as far as it is read or written here; `onnx` is not needed for it."""

from __future__ import annotations

from importlib.resources import files

from ufkit.wire.proto import parse_proto

SCHEMA = parse_proto(files(__package__).joinpath("onnx.proto").read_text())
