"""Tensors that stay in their file until read."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ufkit.core.diag import FormatError, Rule, Where
from ufkit.core.dtypes import DType
from ufkit.core.files import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Tensor:
    """An n-d array left in its file.

    `shape`, `type`, `dtype` and `nbytes` are free. `numpy()` is a read-only view in the stored
    axis order, not a copy; it keeps the map open. `problem`, when there is one, is the rule and
    the message that reading it raises: the data is absent, or of the wrong size.
    """

    __slots__ = ("problem", "shape", "span", "type", "where")

    def __init__(
        self,
        shape: tuple[int, ...],
        type_: DType,
        span: Span,
        *,
        where: Where | None = None,
        problem: tuple[Rule, str] | None = None,
    ) -> None:
        self.shape = shape
        self.type = type_
        self.span = span
        self.where = where or Where()
        self.problem = problem

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy element type, little-endian."""
        return self.type.numpy

    @property
    def nbytes(self) -> int:
        """Bytes that shape and dtype ask for."""
        return prod(self.shape) * self.type.itemsize

    def numpy(self) -> NDArray[Any]:
        """The elements, read-only, not copied. Raises FormatError when `problem` is set."""
        import numpy as np

        if self.problem:
            rule, message = self.problem
            raise FormatError(rule.at(self.where, message))
        return np.frombuffer(self.span.view(), self.dtype).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        import numpy as np

        return np.array(self.numpy(), dtype=dtype, copy=bool(copy))

    def __repr__(self) -> str:
        state = self.problem[1] if self.problem else f"{self.span.nbytes} B @ {self.span.start}"
        return f"Tensor({self.type}{list(self.shape)}, {state})"
