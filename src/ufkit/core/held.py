"""What holds a file open while it is in use."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from ufkit.core.files import Source


class Held:
    """Something that is read from `source`: to be closed, used in a `with` block, or left to the
    garbage collector."""

    source: Source

    def close(self) -> None:
        """Let go of the file; arrays already handed out stay valid."""
        self.source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
