"""Exports small models with PyTorch, as its users do, with random weights.

They are kept in `tests/conversion/torch_models/`, so that the tests need no PyTorch. Run this,
where torch 2.13 and onnxscript are installed, when one is added or changed.

    python scripts/make_torch_models.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn

TARGET = Path(__file__).resolve().parent.parent / "tests" / "conversion" / "torch_models"


class Residual(nn.Module):
    """A ResNet of two blocks, one of which halves the map."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 7, 2, 3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        self.first = self.block(8, 8, 1)
        self.second = self.block(8, 16, 2)
        self.short = nn.Sequential(nn.Conv2d(8, 16, 1, 2, bias=False), nn.BatchNorm2d(16))
        self.pool, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(16, 10)

    @staticmethod
    def block(inner: int, outer: int, stride: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outer),
            nn.ReLU(),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outer),
        )

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        x = torch.relu(x + self.first(x))
        x = torch.relu(self.short(x) + self.second(x))
        return self.head(torch.flatten(self.pool(x), 1))


class Inverted(nn.Module):
    """MobileNetV2's blocks, with ReLU6, and one of MobileNetV3's with squeeze and Hardswish."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = self.unit(3, 8, 3, 2)
        self.inverted = nn.Sequential(
            self.unit(8, 24, 1), self.unit(24, 24, 3, groups=24), nn.Conv2d(24, 8, 1, bias=False),
            nn.BatchNorm2d(8),
        )  # fmt: skip
        self.wide = nn.Sequential(nn.Conv2d(8, 16, 5, 2, 2, groups=8), nn.Hardswish())
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 4, 1), nn.SiLU(), nn.Conv2d(4, 16, 1),
            nn.Hardsigmoid(),
        )  # fmt: skip
        self.head = nn.Linear(16, 5)

    @staticmethod
    def unit(inner: int, outer: int, size: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
        conv = nn.Conv2d(inner, outer, size, stride, size // 2, groups=groups, bias=False)
        return nn.Sequential(conv, nn.BatchNorm2d(outer), nn.ReLU6())

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        x = self.wide(x + self.inverted(x))
        return self.head((x * self.squeeze(x)).mean([2, 3])).softmax(1)


class UNet(nn.Module):
    """Down and up again: transposed convolutions, bilinear and nearest resizing, Concat."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.LeakyReLU(0.1))
        self.low = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(6, 8, 3, padding=1), nn.ELU())
        self.lowest = nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(8, 8, 3, padding=2, dilation=2))
        self.up = nn.ConvTranspose2d(8, 8, 2, 2)
        self.fine = nn.ConvTranspose2d(16, 6, 3, 2, padding=1, output_padding=1)
        self.smooth = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.near = nn.Upsample(scale_factor=2, mode="nearest")
        self.slopes, self.norm = nn.PReLU(12), nn.InstanceNorm2d(12, affine=True)
        self.head = nn.Conv2d(26, 2, 1)

    def forward(self, x: Any) -> Any:
        top = self.down(x)
        low = self.low(top)
        up = torch.cat([self.up(self.lowest(low)), low], 1)
        joined = self.norm(self.slopes(torch.cat([self.fine(up), top], 1)))
        return self.head(torch.cat([joined, self.smooth(low[:, :6]), self.near(low)], 1)).sigmoid()


class Block(nn.Module):
    """Patches, a class token, and one layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.places = nn.Parameter(torch.randn(1, 17, 16))
        self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(3))
        self.mix, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.wide, self.narrow = nn.Linear(16, 32), nn.Linear(32, 16)
        self.head = nn.Linear(16, 7)

    def attend(self, x: Any) -> Any:
        n, t, c = x.shape
        q, k, v = self.mix(x).reshape(n, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4).unbind(0)
        share = (q @ k.transpose(-2, -1) * (c // 4) ** -0.5).softmax(-1)
        return self.out((share @ v).transpose(1, 2).reshape(n, t, c))

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        x = x + self.attend(self.norms[0](x))
        x = x + self.narrow(nn.functional.gelu(self.wide(self.norms[1](x))))
        return self.head(self.norms[2](x)[:, 0]).log_softmax(-1)


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "resnet": (Residual, (2, 3, 32, 32)),
    "mobilenet": (Inverted, (2, 3, 24, 24)),
    "unet": (UNet, (2, 1, 16, 16)),
    "transformer": (Block, (2, 3, 16, 16)),
}


def lively(model: nn.Module) -> nn.Module:
    """The model for inference, its norms with moments that training would have left."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
    return model.eval()


def without_notes(path: Path) -> None:
    """Take out the lines of Python that the exporter notes: they are half of such a file."""
    exported = onnx.load(path)
    graph = exported.graph
    for item in (graph, *graph.node, *graph.value_info, *graph.input, *graph.output):
        item.ClearField("metadata_props")
        item.ClearField("doc_string")
    onnx.save(exported, path)


def main() -> None:
    """Export each, by the exporter of old and by the new one; the batch stays open."""
    TARGET.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    for name, (make, shape) in MODELS.items():
        torch.manual_seed(0)
        model, image = lively(make()), torch.randn(shape)
        names = {"input_names": ["image"], "output_names": ["result"]}
        for kind, opset, options in (
            ("traced", 13, {"dynamo": False, "dynamic_axes": {"image": {0: "batch"}}}),
            ("unfolded", 17, {"dynamo": False, "do_constant_folding": False,
                              "training": torch.onnx.TrainingMode.PRESERVE}),
            ("exported", 18, {"dynamo": True, "external_data": False,
                              "dynamic_shapes": ({0: torch.export.Dim("batch")},)}),
        ):  # fmt: skip
            path = TARGET / f"{name}_{kind}.onnx"
            torch.onnx.export(model, (image,), path, opset_version=opset, **names, **options)
            without_notes(path)
            print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
