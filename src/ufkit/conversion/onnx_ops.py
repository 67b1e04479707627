"""What becomes of each ONNX operator."""

from __future__ import annotations

from ufkit.conversion.onnx_layers import LAYERS
from ufkit.conversion.onnx_makers import MAKERS
from ufkit.conversion.onnx_math import MATH
from ufkit.conversion.onnx_picks import PICKS
from ufkit.conversion.onnx_resize import RESIZES
from ufkit.conversion.onnx_shapes import SHAPES
from ufkit.conversion.onnx_walk import Entry
from ufkit.conversion.onnx_windows import WINDOWS

ENTRIES: dict[str, Entry] = {**WINDOWS, **LAYERS, **MATH, **SHAPES, **MAKERS, **PICKS, **RESIZES}
