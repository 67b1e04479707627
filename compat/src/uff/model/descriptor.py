"""Sets of operations that a file says it uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from uff.model import uff_pb2


class DescriptorOp:
    """How an operation is used. Any method describes something and gives the object back.

    NVIDIA's refused nodes that went against it; here it is noted, and `ufkit check` tells what is
    wrong with a file.
    """

    def __init__(self) -> None:
        self.described: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., DescriptorOp]:
        if name.startswith("_"):
            raise AttributeError(name)

        def describe(*args: Any, **kwargs: Any) -> DescriptorOp:
            self.described.append((name, args, kwargs))
            return self

        return describe


class Descriptor:
    """A set of operations; `optional` says that a reader can do without it."""

    def __init__(
        self,
        name: str,
        version: int,
        optional: bool = False,
        desc_ops: Mapping[str, DescriptorOp] | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.optional = optional
        self.desc_ops = dict(desc_ops or {})

    def to_uff(self, debug: bool = False) -> Any:
        """The `uff_pb2.Descriptor`."""
        return uff_pb2.Descriptor(id=self.name, version=self.version, optional=self.optional)
