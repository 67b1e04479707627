"""How fast every weight of a big file is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from files import MIB, Files
from measure import Action, Side, interleave
from report import Row, seconds

Use = Callable[[Any], object]  # takes one array


def run(files: Files, rounds: int) -> Iterator[Row]:
    uff, tensors = str(files.dense), str(files.safetensors)
    for work, what in (("sum", "sum of each tensor"), ("copy", "copy of each into one buffer")):
        taken = interleave(
            [
                Side("ufkit", (uff, work), "read_weights:ufkit_read"),
                Side("safetensors", (tensors, work), "read_weights:safetensors_read"),
                Side("plain file", (tensors, work), "read_weights:plain_read"),
            ],
            rounds,
        )
        ours = taken.pop("ufkit").seconds
        for peer, sample in taken.items():
            bound = {"at_least": 0.9} if peer == "safetensors" else {}
            yield Row(
                f"{what}, against {peer}",
                _speed(files, ours),
                _speed(files, sample.seconds),
                sample.seconds / ours,
                **bound,
                unit="x the speed",
            )


def _speed(files: Files, time: float) -> str:
    return f"{seconds(time)} ({files.size / 1024 / time:.2f} GiB/s)"


def _use(work: str, biggest: int) -> Use:
    """What is done with each array: the same for every peer."""
    import numpy as np

    if work == "sum":
        return lambda array: array.sum()
    buffer = np.ones(biggest // 4, np.float32)  # its pages are there before the clock starts
    return lambda array: np.copyto(buffer[: array.size], array.reshape(-1))


def ufkit_read(path: str, work: str) -> Action:
    from ufkit import open as open_uff
    from ufkit.uff.const import constant

    use = _use(work, 64 * MIB)

    def action() -> object:
        with open_uff(path) as meta:
            for node in meta.graph:
                if node.operation == "Const":
                    use(constant(node).numpy())
        return None

    return action


def safetensors_read(path: str, work: str) -> Action:
    from safetensors import safe_open

    use = _use(work, 64 * MIB)

    def action() -> object:
        with safe_open(path, framework="numpy") as file:
            for key in file.keys():  # noqa: SIM118 (it is no mapping)
                use(file.get_tensor(key))
        return None

    return action


def plain_read(path: str, work: str) -> Action:
    """The same elements in blocks of about a constant's size; where tensors begin is ignored."""
    import numpy as np

    block = np.ones(MIB, np.float32)
    use = _use(work, 64 * MIB)

    def action() -> object:
        with open(path, "rb", buffering=0) as file:
            file.seek(8 + int.from_bytes(file.read(8), "little"))  # safetensors: behind the header
            while size := file.readinto(block.data.cast("B")):
                if work == "sum":
                    use(block[: size // 4])
        return None

    return action
