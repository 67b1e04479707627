"""ConvTranspose with parameters and output shapes of every unfitting kind."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INC, INT64, const, given, net, node, numbers, orders

HUGE = (0, -1, -(1 << 63), 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1)


def cases() -> Iterator[bytes]:
    spelt = orders((0, 2, INC, 1), (2, INC, 0, 1))
    kernel = const("k", [3, 3, 4, 2], b"\0" * 288)
    x, inputs = given("x", 1, 4, 4, 2), ["x", "k", "s"]
    fits = numbers("s", 1, 6, 6, 4)
    yield net(x, kernel, fits, node("y", "ConvTranspose", inputs, inputs_orders=spelt))
    for name in ("strides", "dilation", "padding", "number_groups"):
        for value in HUGE:
            given_ = value if name == "number_groups" else (value, value)
            yield net(
                x,
                kernel,
                fits,
                node("y", "ConvTranspose", inputs, inputs_orders=spelt, **{name: given_}),
            )
    for target in (
        (),
        (1,),
        (1, 6, 6),
        (1, 6, 6, 4, 1),
        (-1, -1, -1, -1),
        (0, 0, 0, 0),
        (1, 6, 6, 9),
    ):
        yield net(
            x,
            kernel,
            numbers("s", *target),
            node("y", "ConvTranspose", inputs, inputs_orders=spelt),
        )
    for size in (1 << 31, 1 << 40, 1 << 62):
        big = numbers("s", 1, size, size, 4, type_=INT64)
        for stride in (1, size, (size - 3) // 3):
            fields = {"strides": (stride, stride)}
            yield net(
                x, kernel, big, node("y", "ConvTranspose", inputs, inputs_orders=spelt, **fields)
            )
    for rank in range(6):
        data = b"\0" * 4
        yield net(
            given("x", *[1] * rank),
            const("k", [1] * rank, data),
            numbers("s", *[1] * rank),
            node("y", "ConvTranspose", inputs),
        )
        yield net(x, const("k", [1] * rank, data), fits, node("y", "ConvTranspose", inputs))
