"""How fast, and in how much memory, a big file is opened and what is in it listed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from files import Files
from measure import Action, Side, interleave
from report import Row, mib, seconds


def run(files: Files, rounds: int) -> Iterator[Row]:
    uff, descriptors = str(files.dense), str(_compile_schema(files.folder))
    taken = interleave(
        [
            Side("ufkit open", (uff,), "open_list:ufkit_open"),
            Side("ufkit list", (uff,), "open_list:ufkit_list"),
            Side("protobuf open", (uff, descriptors), "open_list:protobuf_open"),
            Side("protobuf list", (uff, descriptors), "open_list:protobuf_list"),
            Side("safetensors open", (str(files.safetensors),), "open_list:safetensors_open"),
            Side("safetensors list", (str(files.safetensors),), "open_list:safetensors_list"),
        ],
        rounds,
    )
    goals: dict[tuple[str, str], dict[str, float]] = {
        ("open", "protobuf"): {"at_least": 1000},
        ("open", "safetensors"): {"at_most": 2},
    }
    for step in ("open", "list"):
        ours = taken[f"ufkit {step}"]
        for peer in ("protobuf", "safetensors"):
            theirs = taken[f"{peer} {step}"]
            slower = peer == "protobuf"  # its target says how many times faster we are
            for kind in ("seconds", "warm"):
                mine, other = getattr(ours, kind), getattr(theirs, kind)
                yield Row(
                    f"{step}, {'first call' if kind == 'seconds' else 'warm'}, against {peer}",
                    seconds(mine),
                    seconds(other),
                    other / mine if slower else mine / other,
                    **goals.get((step, peer), {}),
                    unit="x faster" if slower else "x the time",
                )
            bound = {"at_most": 10.0} if peer == "protobuf" else {}
            yield Row(
                f"{step}, resident growth, against {peer}",
                mib(ours.grown),
                mib(theirs.grown),
                ours.grown,
                **bound,
                unit="MiB",
            )
            yield Row(f"{step}, peak resident, against {peer}", mib(ours.peak), mib(theirs.peak))


# -- ufkit -----------------------------------------------------------------------------------


def ufkit_open(path: str) -> Action:
    from ufkit import open as open_uff

    return lambda: open_uff(path)


def ufkit_list(path: str) -> Action:
    from ufkit import open as open_uff
    from ufkit.uff.const import constant

    def action() -> object:
        meta = open_uff(path)
        nodes = [(node.id, node.operation) for node in meta.graph]
        tensors = []
        for node in meta.graph:
            if node.operation == "Const":
                tensor = constant(node)
                tensors.append((node.id, tensor.type.name, tensor.shape))
        return meta, nodes, tensors

    return action


# -- the official runtime --------------------------------------------------------------------


def _compile_schema(folder: Path) -> Path:
    """ufkit's own schema as a descriptor set."""
    from grpc_tools import protoc

    schema = Path(str(resources("ufkit.uff"))) / "uff.proto"
    out = folder / "uff.desc"
    arguments = ["protoc", f"-I{schema.parent}", f"--descriptor_set_out={out}", schema.name]
    if protoc.main(arguments):
        raise RuntimeError("protoc refused uff.proto")
    return out


def _protobuf_class(descriptors: str) -> Any:
    """The generated class, in a pool of its own: another `uff` in the default one would clash."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    found = descriptor_pb2.FileDescriptorSet.FromString(Path(descriptors).read_bytes())
    for file in found.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("uff.MetaGraph"))


def protobuf_open(path: str, descriptors: str) -> Action:
    meta_graph = _protobuf_class(descriptors)
    return lambda: meta_graph.FromString(Path(path).read_bytes())


def protobuf_list(path: str, descriptors: str) -> Action:
    parse = protobuf_open(path, descriptors)

    def action() -> object:
        meta: Any = parse()
        nodes = [(node.id, node.operation) for node in meta.graphs[0].nodes]
        tensors = []
        for node in meta.graphs[0].nodes:
            if node.operation == "Const":
                fields = {entry.key: entry.value for entry in node.fields}
                shape = tuple(fields["shape"].i_list.val)
                tensors.append((node.id, fields["dtype"].dtype, shape))
        return meta, nodes, tensors

    return action


# -- safetensors -----------------------------------------------------------------------------


def safetensors_open(path: str) -> Action:
    from safetensors import safe_open

    return lambda: safe_open(path, framework="numpy")


def safetensors_list(path: str) -> Action:
    from safetensors import safe_open

    def action() -> object:
        file: Any = safe_open(path, framework="numpy")
        tensors = []
        for key in file.keys():  # noqa: SIM118 (it is no mapping)
            part = file.get_slice(key)
            tensors.append((key, part.get_dtype(), tuple(part.get_shape())))
        return file, tensors

    return action
