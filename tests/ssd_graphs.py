"""SSD detectors as TensorFlow's Object Detection API froze them, but for the size of their weights.

Names, and which node takes which, are those of the detectors whose UFFs are in the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tf_graphs import BY_NAME, const, graph_def, node, placeholder
from ufkit.wire.message import Message

_FLOAT, _INT = BY_NAME["float32"], BY_NAME["int32"]
_ONES = [1, 1, 1, 1]


@dataclass(frozen=True, slots=True)
class Detector:
    """What differs between exports.

    features  names of the maps that boxes are predicted from
    cast      the node that makes floats of pixels, `ToFloat` before TensorFlow 1.13
    image     how that spells its input
    squeezed  whether boxes lose an axis before they are joined, or after
    sized     whether anchors take the size of the image
    scores    whether the scores come before the boxes at the end
    """

    features: tuple[str, ...]
    cast: str = "Cast"
    image: str = "image_tensor"
    squeezed: bool = False
    sized: bool = False
    scores: bool = False

    def graph_def(self) -> Message:
        """The GraphDef."""
        return graph_def(*self._nodes())

    def _nodes(self) -> Iterator[Message]:
        yield placeholder("image_tensor", 1, -1, -1, 3, dtype="uint8")
        yield node(self.cast, "Cast", self.image, SrcT=BY_NAME["uint8"], DstT=_FLOAT)
        yield from self._preprocessor()
        below = "Preprocessor/sub"
        for feature in self.features:
            yield from _feature(feature, below)
            below = f"{feature}/Relu6"
        for number, feature in enumerate(self.features):
            yield from _predictor(f"BoxPredictor_{number}", f"{feature}/Relu6")
        yield from self._joined()
        yield from self._anchors()
        yield from self._postprocessor()

    def _preprocessor(self) -> Iterator[Message]:
        scope = "Preprocessor"
        yield node(f"{scope}/map/Shape", "Shape", self.cast, T=_FLOAT)
        yield const(f"{scope}/map/size", np.int32([300, 300]))
        yield node(f"{scope}/map/Resize", "ResizeBilinear", self.cast, f"{scope}/map/size")
        yield const(f"{scope}/mul/x", np.float32(0.00784))
        yield node(f"{scope}/mul", "Mul", f"{scope}/mul/x", f"{scope}/map/Resize", T=_FLOAT)
        yield const(f"{scope}/sub/y", np.float32(1))
        yield node(f"{scope}/sub", "Sub", f"{scope}/mul", f"{scope}/sub/y", T=_FLOAT)

    def _joined(self) -> Iterator[Message]:
        numbers = range(len(self.features))
        boxes = [f"BoxPredictor_{number}/Reshape" for number in numbers]
        scores = [f"BoxPredictor_{number}/Reshape_1" for number in numbers]
        if self.squeezed:
            for number, name in enumerate(boxes):
                boxes[number] = f"Squeeze_{number}" if number else "Squeeze"
                yield node(boxes[number], "Squeeze", name, T=_FLOAT, squeeze_dims=[2])
        yield const("concat/axis", np.int32(1))
        yield node("concat", "ConcatV2", *boxes, "concat/axis", T=_FLOAT, N=len(boxes))
        if not self.squeezed:
            yield node("Squeeze", "Squeeze", "concat", T=_FLOAT, squeeze_dims=[2])
        yield const("concat_1/axis", np.int32(1))
        yield node("concat_1", "ConcatV2", *scores, "concat_1/axis", T=_FLOAT, N=len(scores))

    def _anchors(self) -> Iterator[Message]:
        scope = "MultipleGridAnchorGenerator"
        sizes = []
        if self.sized:
            yield node("Shape_6", "Shape", "Preprocessor/sub", T=_FLOAT)
            for name in ("strided_slice_6", "strided_slice_7"):
                yield from _picked(name, "Shape_6")
                sizes.append(name)
        yield const(f"{scope}/range", np.float32([0, 1]))
        yield node(f"{scope}/Pack", "Pack", *sizes, f"{scope}/range", T=_FLOAT, axis=0)
        yield node(f"{scope}/Tile", "Tile", f"{scope}/Pack", f"{scope}/range", T=_FLOAT)
        yield const("Concatenate/concat/axis", np.int32(0))
        yield node("Concatenate/concat", "ConcatV2", f"{scope}/Tile", "Concatenate/concat/axis")

    def _postprocessor(self) -> Iterator[Message]:
        scope = "Postprocessor"
        boxes = "concat" if self.squeezed else "Squeeze"
        yield node("all_equal", "Equal", "Preprocessor/map/Shape", "Preprocessor/map/size")
        yield node("Assert/Assert", "Assert", "all_equal")
        decode = node(f"{scope}/Decode", "Mul", boxes, "Concatenate/concat", T=_FLOAT)
        convert = node(f"{scope}/convert_scores", "Sigmoid", "concat_1", "^Assert/Assert", T=_FLOAT)
        yield from (convert, decode) if self.scores else (decode, convert)
        last = f"{scope}/BatchMultiClassNonMaxSuppression"
        yield node(
            last, "Op", f"{scope}/Decode", f"{scope}/convert_scores", "Preprocessor/map/Shape"
        )
        for number, name in enumerate(("detection_boxes", "detection_scores", "num_detections")):
            yield node(name, "Identity", f"{last}:{number}" if number else last, T=_FLOAT)


def _feature(name: str, below: str) -> Iterator[Message]:
    yield const(f"{name}/weights", np.ones((1, 1, 2, 2), np.float32))
    yield node(f"{name}/weights/read", "Identity", f"{name}/weights", T=_FLOAT)
    yield node(
        f"{name}/Conv2D", "Conv2D", below, f"{name}/weights/read", T=_FLOAT, padding=b"SAME",
        data_format=b"NHWC", strides=_ONES, dilations=_ONES,
    )  # fmt: skip
    moments = [f"{name}/BatchNorm/{part}" for part in ("gamma", "beta", "mean", "variance")]
    for part in moments:
        yield const(part, np.ones(2, np.float32))
    norm = f"{name}/BatchNorm/FusedBatchNormV3"
    yield node(
        norm, "FusedBatchNormV3", f"{name}/Conv2D", *moments, T=_FLOAT, U=_FLOAT,
        epsilon=1e-3, data_format=b"NHWC", is_training=False,
    )  # fmt: skip
    yield node(f"{name}/Relu6", "Relu6", norm, T=_FLOAT)


def _predictor(scope: str, feature: str) -> Iterator[Message]:
    yield node(f"{scope}/Shape", "Shape", feature, T=_FLOAT, out_type=_INT)
    yield from _picked(f"{scope}/strided_slice", f"{scope}/Shape")
    for what, name, parts in (("BoxEncodingPredictor", "", 3), ("ClassPredictor", "_1", 2)):
        yield const(f"{scope}/{what}/weights", np.ones((1, 1, 2, 8), np.float32))
        yield const(f"{scope}/{what}/biases", np.ones(8, np.float32))
        yield node(
            f"{scope}/{what}/Conv2D", "Conv2D", feature, f"{scope}/{what}/weights", T=_FLOAT,
            padding=b"SAME", data_format=b"NHWC", strides=_ONES, dilations=_ONES,
        )  # fmt: skip
        bias = f"{scope}/{what}/BiasAdd"
        inputs = (f"{scope}/{what}/Conv2D", f"{scope}/{what}/biases")
        yield node(bias, "BiasAdd", *inputs, T=_FLOAT, data_format=b"NHWC")
        sizes = [f"{scope}/stack{name}/{number}" for number in range(1, parts + 1)]
        for size in sizes:
            yield const(size, np.int32(1))
        stack = f"{scope}/stack{name}"
        yield node(
            stack, "Pack", f"{scope}/strided_slice", *sizes, T=_INT, N=len(sizes) + 1, axis=0
        )
        yield node(f"{scope}/Reshape{name}", "Reshape", bias, stack, T=_FLOAT, Tshape=_INT)


def _picked(name: str, source: str) -> Iterator[Message]:
    """One element of a shape."""
    parts = [f"{name}/stack", f"{name}/stack_1", f"{name}/stack_2"]
    for part in parts:
        yield const(part, np.int32([1]))
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"), 0)
    yield node(name, "StridedSlice", source, *parts, T=_INT, shrink_axis_mask=1, **masks)
