"""What an ONNX model says of itself beside its graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ufkit.conversion.onnx_schema import SCHEMA
from ufkit.core.files import Source
from ufkit.wire.message import Message

_LONGEST, _MOST = 2_000, 100  # letters of a text, and notes
_TEXTS = {"domain": "domain", "doc_string": "description"}


def about(source: Source) -> Iterator[tuple[str, str]]:
    """Who made a model, its description and version, and what was noted in it: of what is there,
    a name and a text each. Raises FormatError."""
    model = Message.read(SCHEMA["ModelProto"], source)
    maker = " ".join(filter(None, (model.get("producer_name"), model.get("producer_version"))))
    if maker:
        yield "made by", _cut(maker)
    for name, shown in _TEXTS.items():
        if text := model.get(name):
            yield shown, _cut(text)
    if version := model.get("model_version"):
        yield "version", str(version)
    yield "ONNX file format", str(model.get("ir_version"))
    for entry in islice(model.all("metadata_props"), _MOST):
        yield _cut(entry.get("key")), _cut(entry.get("value"))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
