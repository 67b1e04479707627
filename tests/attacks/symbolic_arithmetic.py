"""Every operation on sizes that are not known."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import given, net, node, numbers


def cases() -> Iterator[bytes]:
    shape = node("s", "Shape", ["x"])
    for sizes in ((-1, 3), (-1, 2, 3, 4)):
        x = given("x", *sizes)
        for func in ("min", "max", "mul", "sub", "div", "add", "pow"):
            for other in (0, -3):
                yield net(x, shape, numbers("c", other), node("y", "Binary", ["s", "c"], func=func))
                yield net(x, shape, numbers("c", other), node("y", "Binary", ["c", "s"], func=func))
                yield net(
                    x,
                    shape,
                    numbers("c", other),
                    node("t", "Binary", ["s", "c"], func=func),
                    node("y", "Reshape", ["x", "t"]),
                )
            yield net(x, shape, node("y", "Binary", ["s", "s"], func=func))
        for func in ("neg", "exp", "abs", "square", "ceil"):
            yield net(x, shape, node("y", "Unary", ["s"], func=func))
        for func in ("relu", "relu6", "sigmoid", "elu", "selu", "softsign"):
            yield net(x, shape, node("y", "Activation", ["s"], func=func))
        for func in ("sum", "prod", "max", "min", "mean"):
            yield net(x, shape, node("y", "Reduce", ["s"], func=func))
            yield net(
                x,
                shape,
                node("r", "Reduce", ["s"], func=func, keepdims=True),
                node("y", "Reshape", ["x", "r"]),
            )
        for operation in (
            "ArgMax",
            "ArgMin",
            "Softmax",
            "LeakyRelu",
            "LRN",
            "Squeeze",
            "Flatten",
            "Shape",
            "Identity",
            "Stack",
        ):
            yield net(x, shape, node("y", operation, ["s"]))
        yield net(
            x,
            shape,
            numbers("i", 0),
            node("g", "Gather", ["s", "i"]),
            node("y", "Reshape", ["x", "g"]),
        )
        yield net(x, shape, node("y", "Gather", ["s", "s"]))
        yield net(x, shape, node("y", "Gather", ["x", "s"]))
        yield net(x, shape, node("y", "Pad", ["s", "s"]))
        yield net(x, shape, node("y", "StridedSlice", ["x", "s", "s", "s"]))
        yield net(x, shape, node("y", "StridedSlice", ["s", "s", "s", "s"]))
        for masks in range(8):
            cut = {
                "begin_mask": masks & 1,
                "end_mask": masks >> 1 & 1,
                "shrink_axis_mask": masks >> 2,
            }
            yield net(
                x,
                shape,
                numbers("o", 1),
                numbers("n", 0),
                node("f", "StridedSlice", ["s", "n", "o", "o"]),
                node("y", "StridedSlice", ["x", "f", "f", "o"], **cut),
            )
            yield net(
                x,
                shape,
                numbers("o", *[1] * len(sizes)),
                node("y", "StridedSlice", ["x", "s", "s", "o"], **cut),
            )
        yield net(x, shape, node("y", "ConvTranspose", ["x", "x", "s"]))
        yield net(x, shape, node("y", "Conv", ["x", "s"]))
        yield net(x, shape, node("y", "Conv", ["x", "x"]))
        yield net(x, shape, node("y", "FullyConnected", ["x", "x"]))
        yield net(x, shape, node("y", "BatchNorm", ["x", "s", "s", "s", "s"]))
