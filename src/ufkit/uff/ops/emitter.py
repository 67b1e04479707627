"""What lowerings write with: the face that the conversion to ONNX shows to the operator table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from numpy.typing import NDArray

from ufkit.core.dtypes import DType
from ufkit.uff.orders import Order


class Emitter(Protocol):
    """What a lowering writes with. Values are ONNX names; `order` is that of their axes.

    `order` permutes the axes of the UFF value: the ONNX tensor is `value.transpose(order)`.
    """

    opset: int

    def value(self, i: int, order: Order | None = None) -> str:
        """Input i with its axes in `order` (default: as in UFF); axes it lacks go in front."""

    def held(self, i: int) -> Order:
        """The order in which input i is at hand without a transposition."""

    def common(self) -> Order:
        """The order in which the fewest elements are transposed when all inputs are broadcast."""

    def unordered(self, i: int) -> str:
        """Input i for whoever looks at its elements in memory order only."""

    def known(self, i: int) -> NDArray[Any] | None:
        """The elements of input i where they are known at export."""

    def taking(self, inputs: Sequence[int]) -> Emitter:
        """An emitter of the same node that sees these of its inputs only, in this order."""

    def constant(self, array: Any, dtype: str = "int64") -> str:
        """A new constant."""

    def node(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """A new ONNX node with one output."""

    def nodes(self, op_type: str, *inputs: str, outputs: int, **attributes: Any) -> tuple[str, ...]:
        """A new ONNX node with several outputs."""

    def plugin(
        self, *inputs: str, outputs: int = 1, name: str = "", **fields: Any
    ) -> tuple[str, ...]:
        """A new node that TensorRT takes for the plugin of the operation's name, or of `name`.

        It has the operation's fields, and those given.
        """

    def reduce(self, op_type: str, name: str, axes: list[int], keep: bool) -> str:
        """A reduction along ONNX axes, which opsets take in two ways."""

    def cast(self, name: str, dtype: DType | str) -> str:
        """A value in another element type."""

    def result(self, name: str, order: Order | None = None) -> None:
        """Declare which ONNX value is the node's, and the order it is in."""

    def alias(self, i: int, order: Order | None = None) -> None:
        """Declare that the node's value is input i, its axes permuted by `order`."""

    def refuse(self, reason: str, hint: str = "") -> NoReturn:
        """Give up on this node; every refusal ends in one report."""
