"""The files that are measured on: made once per run, streamed, never held in memory.

300 constants of one shape in a chain of 300 layers. Two mixes, because a dense layer's weights go
into ONNX as they lie while a convolution's have to be permuted.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

import ufkit
from ufkit.conversion.tf_graph import SCHEMA
from ufkit.core.dtypes import FLOAT32
from ufkit.uff.data import Ref
from ufkit.wire.message import Message
from ufkit.wire.pieces import write

CONSTANTS = 300
MIB = 1 << 20
_BLOCK = 1 << 20  # elements made at a time


@dataclass(frozen=True, slots=True)
class Noise:
    """The elements of one constant, made while they are written."""

    seed: int
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return 4 * math.prod(self.shape)

    def write_to(self, out: IO[bytes]) -> None:
        random = np.random.default_rng(self.seed)
        left = self.nbytes // 4
        while left:
            block = random.random(min(left, _BLOCK), np.float32)
            out.write(block.data)
            left -= block.size


@dataclass(frozen=True, slots=True)
class Files:
    """Where everything is. `netvlad` is a frozen TensorFlow graph, if there is one."""

    folder: Path
    size: int
    netvlad: Path | None

    @property
    def dense(self) -> Path:
        return self.folder / "dense.uff"

    @property
    def conv(self) -> Path:
        return self.folder / "conv.uff"

    @property
    def mobile(self) -> Path:
        return self.folder / "mobile.uff"

    @property
    def frozen(self) -> Path:
        """The dense net as a frozen TensorFlow graph."""
        return self.folder / "dense.pb"

    @property
    def model(self) -> Path:
        """The dense net as an ONNX model."""
        return self.folder / "dense.onnx"

    @property
    def safetensors(self) -> Path:
        return self.folder / "dense.safetensors"

    def make(self) -> None:
        """Write what is not there yet."""
        side = math.isqrt(self.size * MIB // CONSTANTS // 4)
        channels = max(math.isqrt(self.size * MIB // CONSTANTS // 36), 1)
        dense = {f"layer{i}/kernel": Noise(i, (side, side)) for i in range(CONSTANTS)}
        kernels = {
            f"layer{i}/kernel": Noise(i, (3, 3, channels, channels)) for i in range(CONSTANTS)
        }
        if not self.dense.exists():
            ufkit.save(_dense(dense, side), self.dense)
        if not self.conv.exists():
            ufkit.save(_convolutional(kernels, channels), self.conv)
        if not self.mobile.exists():
            ufkit.save(_mobile(), self.mobile)
        if not self.frozen.exists():
            _save_frozen(dense, side, self.frozen)
        if not self.model.exists():
            ufkit.convert(self.dense, self.model)
        if not self.safetensors.exists():
            _save_safetensors(dense, self.safetensors)


def _const(builder: ufkit.Builder, id_: str, noise: Noise) -> str:
    """A Const as `Builder.const` adds it, its elements yet to be made."""
    builder.meta.referenced_data[f"weights_{id_}"] = noise
    builder.graph.add(
        id_, "Const", values=Ref(f"weights_{id_}"), dtype=FLOAT32, shape=list(noise.shape)
    )
    return id_


def _dense(weights: dict[str, Noise], side: int) -> ufkit.MetaGraph:
    b = ufkit.Builder()
    last = b.input("input", [-1, side])
    for number, (id_, noise) in enumerate(weights.items()):
        kernel = _const(b, id_, noise)
        last = b.op(f"layer{number}", "FullyConnected", [last, kernel], "NC_CK")
    b.output(last)
    return b.meta


def _convolutional(weights: dict[str, Noise], channels: int) -> ufkit.MetaGraph:
    b = ufkit.Builder()
    last = b.input("input", [-1, 8, 8, channels])
    for number, (id_, noise) in enumerate(weights.items()):
        last = _conv(b, f"layer{number}", last, _const(b, id_, noise))
    b.output(last)
    return b.meta


def _conv(
    b: ufkit.Builder, id_: str, last: str, kernel: str, stride: int = 1, groups: int = 1
) -> str:
    return b.op(
        id_,
        "Conv",
        [last, kernel],
        "N+C_+CK",
        strides=[stride, stride],
        dilation=[1, 1],
        implicit_padding="same",
        number_groups=groups,
    )


def _mobile() -> ufkit.MetaGraph:
    """A net like MobileNet v1 up to its last block: the size and the operations of NetVLAD's."""
    b = ufkit.Builder()
    seeds = iter(range(10_000, 20_000))

    def const(id_: str, *shape: int) -> str:
        return _const(b, id_, Noise(next(seeds), shape))

    def normed(id_: str, last: str, channels: int) -> str:
        parts = ("gamma", "beta", "mean", "variance")
        inputs = [last, *(const(f"{id_}/{part}", channels) for part in parts)]
        last = b.op(f"{id_}/norm", "BatchNorm", inputs, "N+C", epsilon=1e-3)
        return b.op(f"{id_}/relu", "Activation", [last], func="relu6")

    def layers(last: str) -> Iterator[str]:
        channels = 32
        last = _conv(b, "first", last, const("first/kernel", 3, 3, 3, channels), stride=2)
        last = normed("first", last, channels)
        plan = ((64, 1), (96, 2), (96, 1), (128, 2), (128, 1), (256, 2), *[(256, 1)] * 5)
        for number, (wide, stride) in enumerate(plan):
            id_ = f"deep{number}"
            kernel = const(f"{id_}/kernel", 3, 3, channels, 1)
            last = normed(id_, _conv(b, id_, last, kernel, stride, channels), channels)
            kernel = const(f"{id_}/point/kernel", 1, 1, channels, wide)
            last = normed(f"{id_}/point", _conv(b, f"{id_}/point", last, kernel), wide)
            channels = wide
        yield b.op("mean", "Reduce", [last], func="mean", axes=[1, 2], keepdims=False)
        yield b.op(
            "dense", "FullyConnected", ["mean", const("dense/kernel", channels, 400)], "NC_CK"
        )

    b.output(list(layers(b.input("input", [-1, 480, 752, 3])))[-1])
    return b.meta


def _save_frozen(weights: dict[str, Noise], side: int, path: Path) -> None:
    """A GraphDef, its elements made while they are written."""
    nodes = [_frozen("input", "Placeholder", [], dtype={"type": 1}, shape=_sizes(-1, side))]
    last = "input"
    for number, (id_, noise) in enumerate(weights.items()):
        sizes = _sizes(*noise.shape)["shape"]
        tensor = Message.new(
            SCHEMA["TensorProto"], dtype=1, tensor_shape=sizes, tensor_content=noise
        )
        nodes.append(_frozen(id_, "Const", [], dtype={"type": 1}, value={"tensor": tensor}))
        nodes.append(_frozen(f"layer{number}", "MatMul", [last, id_], T={"type": 1}))
        last = f"layer{number}"
    with path.open("wb") as out:
        write(Message.new(SCHEMA["GraphDef"], node=nodes).pieces(), out)


def _frozen(name: str, op: str, inputs: list[str], **attrs: dict[str, Any]) -> Message:
    entries = [
        Message.new(
            SCHEMA["NodeDef.AttrEntry"], key=key, value=Message.new(SCHEMA["AttrValue"], **value)
        )
        for key, value in attrs.items()
    ]
    return Message.new(SCHEMA["NodeDef"], name=name, op=op, input=inputs, attr=entries)


def _sizes(*shape: int) -> dict[str, Any]:
    dims = [Message.new(SCHEMA["TensorShapeProto.Dim"], size=size) for size in shape]
    return {"shape": Message.new(SCHEMA["TensorShapeProto"], dim=dims)}


def _save_safetensors(weights: dict[str, Noise], path: Path) -> None:
    """The format is a length, JSON of that length, and the elements; written so, it streams."""
    header, at = {}, 0
    for name, noise in weights.items():
        offsets = [at, at := at + noise.nbytes]
        header[name] = {"dtype": "F32", "shape": noise.shape, "data_offsets": offsets}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for noise in weights.values():
            noise.write_to(out)
