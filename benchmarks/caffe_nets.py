"""How fast a big Caffe net is opened and listed, and integers of UFW blobs are read and written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from files import MIB, Files
from measure import Action, Side, interleave
from report import Row, mib, seconds

_LAYERS = 19  # with weights, as VGG has them; as many without
_INTEGERS = 16_000_000


def run(files: Files, rounds: int) -> Iterator[Row]:
    net, descriptors = str(_write_net(files)), str(compile_schemas(files.folder))
    taken = interleave(
        [
            Side("ufkit list", (net,), "caffe_nets:ufkit_list"),
            Side("protobuf list", (net, descriptors), "caffe_nets:protobuf_list"),
        ],
        rounds,
    )
    ours, theirs = taken["ufkit list"], taken["protobuf list"]
    for kind, mine, other in (
        ("first call", ours.seconds, theirs.seconds),
        ("warm", ours.warm, theirs.warm),
    ):
        yield Row(
            f"open and list a net, {kind}",
            seconds(mine),
            seconds(other),
            other / mine,
            at_least=1000,
            unit="x faster",
        )
    yield Row("open and list a net, resident growth", mib(ours.grown), mib(theirs.grown))
    for width, bits in (("of 8 bits", 8), ("of 32 bits", 32)):
        blob = str(_write_blob(files.folder, bits))
        sides = [
            Side(f"{who} {what}", (blob, *more), f"caffe_nets:{who}_{what}")
            for what in ("decode", "encode", "parse", "serialize")
            for who, more in (("ufkit", ()), ("protobuf", (descriptors,)))
            if (who, what) not in (("ufkit", "parse"), ("ufkit", "serialize"))
        ]
        taken = interleave(sides, rounds)
        for what, peer, target in (
            ("decode", "decode", 1.0),
            ("decode", "parse", None),
            ("encode", "encode", 1.0),
            ("encode", "serialize", None),
        ):
            mine, other = taken[f"ufkit {what}"].seconds, taken[f"protobuf {peer}"].seconds
            yield Row(
                f"{what} {_INTEGERS:,} packed sint32 {width}, against protobuf's {peer}",
                seconds(mine),
                seconds(other),
                other / mine,
                at_least=target,
                unit="x the speed",
            )


def _write_net(files: Files) -> Path:
    """A net of that many MiB; all layers share the numbers of one array."""
    import numpy as np

    from ufkit import Net, save_net

    weights = np.ones((64, files.size * MIB // 4 // _LAYERS // 64), np.float32)
    bias = np.ones(64, np.float32)
    net = Net.new("big")
    for number in range(_LAYERS):
        bottom, top = f"x{number}", f"x{number + 1}"
        net.add(f"ip{number}", "InnerProduct", [bottom], [top], [weights, bias])
        net.add(f"relu{number}", "ReLU", [top], [top])
    path = files.folder / "big.caffemodel"
    save_net(net, path)
    return path


def _write_blob(folder: Path, bits: int) -> Path:
    import numpy as np

    from ufkit import Blob, save_blob

    low = -(1 << bits - 1)
    numbers = np.random.default_rng(0).integers(low, -low, _INTEGERS).astype(np.int32)
    path = folder / f"integers{bits}.binaryproto"
    save_blob(Blob.of(numbers), path)
    return path


# -- ufkit -----------------------------------------------------------------------------------


def ufkit_list(path: str) -> Action:
    from ufkit import open_net

    def action() -> object:
        net = open_net(path)
        return net, [
            (layer.name, layer.type, [blob.shape for blob in layer.blobs]) for layer in net.layers
        ]

    return action


def ufkit_decode(path: str) -> Action:
    from ufkit import open_blob

    return lambda: open_blob(path).stored("int32_data")


def ufkit_encode(path: str) -> Action:
    import numpy as np

    from ufkit import Blob, open_blob
    from ufkit.wire.message import to_bytes

    array = np.array(open_blob(path).stored("int32_data"))
    return lambda: to_bytes(Blob.of(array).message)


# -- the official runtime --------------------------------------------------------------------


def compile_schemas(folder: Path) -> Path:
    """ufkit's own schemas as a descriptor set."""
    from grpc_tools import protoc

    schemas = Path(str(resources("ufkit.ufw")))
    out = folder / "caffe.desc"
    options = [f"-I{schemas}", f"--descriptor_set_out={out}", "--include_imports"]
    if protoc.main(["protoc", *options, "caffe.proto"]):
        raise RuntimeError("protoc refused caffe.proto")
    return out


def generated(descriptors: str, name: str) -> Any:
    """The generated class, in a pool of its own."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    found = descriptor_pb2.FileDescriptorSet.FromString(Path(descriptors).read_bytes())
    for file in found.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def protobuf_list(path: str, descriptors: str) -> Action:
    kind = generated(descriptors, "caffe.NetParameter")

    def action() -> object:
        net = kind.FromString(Path(path).read_bytes())
        return net, [
            (layer.name, layer.type, [tuple(blob.shape.dim) for blob in layer.blobs])
            for layer in net.layer
        ]

    return action


def protobuf_parse(path: str, descriptors: str) -> Action:
    """The message alone, from bytes in memory."""
    return partial(generated(descriptors, "ufw.BlobProto").FromString, Path(path).read_bytes())


def protobuf_decode(path: str, descriptors: str) -> Action:
    """An array out of a file, as `ufkit_decode`."""
    import numpy as np

    kind = generated(descriptors, "ufw.BlobProto")

    def action() -> object:
        values = kind.FromString(Path(path).read_bytes()).int32_data
        return np.fromiter(values, np.int32, len(values))

    return action


def protobuf_serialize(path: str, descriptors: str) -> Action:
    """Bytes out of a message that is there."""
    blob: Any = protobuf_parse(path, descriptors)()
    return lambda: blob.SerializeToString()


def protobuf_encode(path: str, descriptors: str) -> Action:
    """Bytes out of an array, as `ufkit_encode`."""
    kind, array = generated(descriptors, "ufw.BlobProto"), protobuf_decode(path, descriptors)()

    def action() -> object:
        blob = kind()
        blob.int32_data.extend(array.tolist())  # type: ignore[attr-defined]
        return blob.SerializeToString()

    return action
