"""Makes `examples/`: a digit classifier, trained here, written by our own UFF writer.

The data are the 1,797 handwritten digits of 8 x 8 pixels that scikit-learn ships. The net is
trained with plain NumPy in double precision and rounded to float32 at the end, with every random
number from one seed, so the same file comes out each time.

    python scripts/make_examples.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import ufkit

Array = NDArray[np.float64]

CLASSES, EPOCHS, BATCH, STEP, SEED = 10, 30, 32, 2e-3, 20
HELD_OUT = 360  # the last digits of the set: other writers than the first


def digits() -> tuple[Array, NDArray[np.int64]]:
    """Images [1797, 8, 8, 1] in 0 to 1 and their labels."""
    bunch = load_digits()
    return bunch.images[..., None] / 16.0, bunch.target


def patches(images: Array) -> Array:
    """3 x 3 neighbourhoods, zeros outside: [N, H, W, 9 C], as a `same` convolution sees them."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width = images.shape[1:3]
    return np.concatenate(
        [padded[:, y : y + height, x : x + width] for y in range(3) for x in range(3)], axis=-1
    )


def spread(gradient: Array, channels: int) -> Array:
    """The transpose of `patches`."""
    count, height, width, _ = gradient.shape
    padded = np.zeros((count, height + 2, width + 2, channels))
    for n, (y, x) in enumerate((y, x) for y in range(3) for x in range(3)):
        part = gradient[..., n * channels : (n + 1) * channels]
        padded[:, y : y + height, x : x + width] += part
    return padded[:, 1:-1, 1:-1]


def halved(images: Array) -> tuple[Array, Array]:
    """2 x 2 maxima, and where they came from (shared out among equals)."""
    count, height, width, channels = images.shape
    cells = images.reshape(count, height // 2, 2, width // 2, 2, channels)
    top = cells.max((2, 4), keepdims=True)
    source = cells == top
    return top[:, :, 0, :, 0], source / source.sum((2, 4), keepdims=True)


class Net:
    """conv 3x3x16, relu, conv 3x3x16, relu, max 2x2, conv 3x3x32, relu, max 2x2, dense 10."""

    def __init__(self, random: np.random.Generator) -> None:
        self.weights: dict[str, Array] = {}
        for name, rows, columns in (
            ("conv1", 9, 16),
            ("conv2", 144, 16),
            ("conv3", 144, 32),
            ("dense", 128, CLASSES),
        ):
            self.weights[f"{name}/kernel"] = random.normal(0, (2 / rows) ** 0.5, (rows, columns))
            self.weights[f"{name}/bias"] = np.zeros(columns)

    def gradients(self, images: Array, labels: NDArray[np.int64]) -> dict[str, Array]:
        """Of the mean cross entropy, by name."""
        w = self.weights
        seen: dict[str, Any] = {}
        sources: dict[str, Array] = {}
        values = images
        for name in ("conv1", "conv2", "conv3"):
            seen[name] = patches(values)
            values = np.maximum(seen[name] @ w[f"{name}/kernel"] + w[f"{name}/bias"], 0)
            seen[f"{name}/on"] = values > 0
            if name != "conv1":
                values, sources[name] = halved(values)
        flat = values.reshape(len(values), -1)
        scores = flat @ w["dense/kernel"] + w["dense/bias"]
        raised = np.exp(scores - scores.max(1, keepdims=True))
        error = raised / raised.sum(1, keepdims=True)
        error[np.arange(len(labels)), labels] -= 1
        error /= len(labels)
        found = {"dense/kernel": flat.T @ error, "dense/bias": error.sum(0)}
        error = (error @ w["dense/kernel"].T).reshape(values.shape)
        for name in ("conv3", "conv2", "conv1"):
            if name in sources:
                error = error[:, :, None, :, None] * sources[name]
                error = error.reshape(seen[f"{name}/on"].shape)
            error = error * seen[f"{name}/on"]
            columns = error.shape[-1]
            rows = seen[name].reshape(-1, seen[name].shape[-1])
            found[f"{name}/kernel"] = rows.T @ error.reshape(-1, columns)
            found[f"{name}/bias"] = error.sum((0, 1, 2))
            if name != "conv1":
                error = spread(error @ w[f"{name}/kernel"].T, 16)
        return found


def train(images: Array, labels: NDArray[np.int64]) -> dict[str, Array]:
    """Weights by name, after Adam on the images given, each batch shifted by up to a pixel."""
    random = np.random.default_rng(SEED)
    net = Net(random)
    mean = {name: np.zeros_like(value) for name, value in net.weights.items()}
    square = {name: np.zeros_like(value) for name, value in net.weights.items()}
    step = 0
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        for at in range(0, len(order), BATCH):
            step += 1
            chosen = order[at : at + BATCH]
            rate = STEP * (1 - epoch / EPOCHS)
            shifted = np.roll(images[chosen], random.integers(-1, 2, 2), (1, 2))
            for name, gradient in net.gradients(shifted, labels[chosen]).items():
                mean[name] += 0.1 * (gradient - mean[name])
                square[name] += 0.001 * (gradient**2 - square[name])
                scale = np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8
                net.weights[name] -= rate * mean[name] / (1 - 0.9**step) / scale
    return net.weights


def to_uff(weights: dict[str, Any]) -> ufkit.Builder:
    """The net as NVIDIA's converter would have written it: from the outputs backwards."""
    b = ufkit.Builder()

    def layer(name: str, operation: str, source: str, orders: str, **fields: Any) -> str:
        shape = (3, 3, -1, weights[f"{name}/bias"].size) if operation == "Conv" else (128, CLASSES)
        kernel = weights[f"{name}/kernel"].reshape(shape).astype(np.float32)
        b.const(f"{name}/bias", weights[f"{name}/bias"].astype(np.float32))
        b.op(f"{name}/BiasAdd", "Binary", [f"{name}/{operation}", f"{name}/bias"], func="add")
        b.op(f"{name}/{operation}", operation, [source, f"{name}/kernel"], orders, **fields)
        b.const(f"{name}/kernel", kernel)
        return f"{name}/BiasAdd"

    same: dict[str, Any] = {"strides": [1, 1], "dilation": [1, 1], "implicit_padding": "same"}
    window: dict[str, Any] = {"func": "max", "kernel": [2, 2], "strides": [2, 2]}
    b.op("probabilities", "Softmax", ["dense/BiasAdd"], "N+C", axis=0)
    layer("dense", "FullyConnected", "flatten", "NC_CK")
    b.op("flatten", "Flatten", ["pool3"])
    b.op("pool3", "Pool", ["conv3/Relu"], "N+C", **window)
    b.op("conv3/Relu", "Activation", ["conv3/BiasAdd"], func="relu")
    layer("conv3", "Conv", "pool2", "N+C_+CK", **same)
    b.op("pool2", "Pool", ["conv2/Relu"], "N+C", **window)
    b.op("conv2/Relu", "Activation", ["conv2/BiasAdd"], func="relu")
    layer("conv2", "Conv", "conv1/Relu", "N+C_+CK", **same)
    b.op("conv1/Relu", "Activation", ["conv1/BiasAdd"], func="relu")
    layer("conv1", "Conv", "image", "N+C_+CK", **same)
    b.input("image", [-1, 8, 8, 1])
    b.output("probabilities")
    return b


def main(folder: Path) -> None:
    """Train, write `digits.uff` and a few held-out digits, and say how good the net is."""
    images, labels = digits()
    weights = train(images[:-HELD_OUT], labels[:-HELD_OUT])
    folder.mkdir(exist_ok=True)
    model = to_uff(weights)
    ufkit.save(model.meta, folder / "digits.uff")
    held = images[-HELD_OUT:].astype(np.float32)
    found = ufkit.run(model.graph, {"image": held})["probabilities"].argmax(1)
    right = int((found == labels[-HELD_OUT:]).sum())
    np.save(folder / "eight_digits.npy", held[:8])
    sys.stdout.write(f"{right} of {HELD_OUT} held-out digits right ({right / HELD_OUT:.1%})\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "examples"))
