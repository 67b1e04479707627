"""Layers that work element by element, on vectors, and along an axis.

Sizes as Caffe computes them: inner_product_layer.cpp, embed_layer.cpp, lstm_layer.cpp,
recurrent_layer.cpp, eltwise_layer.cpp, argmax_layer.cpp, reduction_layer.cpp, neuron_layer.cpp.
"""

from __future__ import annotations

from math import prod

from ufkit.ufw.layers.spec import (
    LayerType,
    Shape,
    Shapes,
    Size,
    Use,
    fits,
    product,
    same,
    work,
    written,
)
from ufkit.ufw.rules import WRONG_WEIGHTS

_GATES = {"LSTM": 4, "RNN": 1}  # rows of the first matrix for each output
_ARGMAX_AXES = 3
_MATRIX = 2


def _matrix(use: Use) -> tuple[Size, Size]:
    """Rows and columns of the weights; older files pad them to four axes."""
    blob = use.blob(0)
    if blob is None or len(blob) < _MATRIX:
        return None, None
    if use.param.flag("transpose"):
        return blob[-1], prod(blob[:-1])
    return prod(blob[:-1]), blob[-1]


def _inner_product(use: Use) -> Shapes:
    shape, (rows, columns) = use.inputs[0], _matrix(use)
    count = use.param.whole("num_output") if use.param.has("num_output") else rows
    axis = use.param.whole("axis")
    axis = 1 if axis is None else axis
    if shape is None:
        return [(*[None] * axis, count)] if 0 <= axis <= _ARGMAX_AXES else [None]
    axis = use.axis(shape, axis)
    inner = product(shape[axis:])
    if not fits(inner, columns):
        message = f"it takes {inner} numbers of {written(shape)}; its weights are for {columns}"
        use.report(WRONG_WEIGHTS, message)
    return [(*shape[:axis], count)]


def _inner_product_macs(use: Use, out: Shape) -> Size:
    shape, (_, columns) = use.inputs[0], _matrix(use)
    if columns is None and shape is not None:
        columns = product(shape[use.axis(shape, use.param.whole("axis") or 0) :])
    return work(out, columns)


def _embed(use: Use) -> Shapes:
    shape = use.inputs[0]
    return [None if shape is None else (*shape, use.param.whole("num_output"))]


def _recurrent(use: Use) -> Shapes:
    shape, blob = use.inputs[0] or (None, None), use.blob(0)
    count = use.param.whole("num_output")
    if count is None and blob:
        count = blob[0] // _GATES[use.layer.type]
    return [(*shape[:2], count)]


def _eltwise(use: Use) -> Shapes:
    known = [shape for shape in use.inputs if shape is not None]
    if not known:
        return [None]
    first: list[Size] = [*known[0]]
    for other in known[1:]:
        if len(other) != len(first) or not all(map(fits, first, other)):
            use.conflict(f"{written(known[0])} and {written(other)} are not of one shape")
        first = [b if a is None else a for a, b in zip(first, other, strict=True)]
    return [tuple(first)]


def _argmax(use: Use) -> Shapes:
    shape, most = use.inputs[0], use.param.whole("top_k")
    if shape is None:
        return [None]
    if use.param.has("axis"):
        axis = use.axis(shape, use.param.whole("axis") or 0)
        size = shape[axis]
        if size is not None and most is not None and most > size:
            use.conflict(f"top_k is {most}; axis {axis} has {size}")
        return [(*shape[:axis], most, *shape[axis + 1 :])]
    rest = [1] * (max(len(shape), _ARGMAX_AXES) - _ARGMAX_AXES)
    return [(shape[0], 2 if use.param.flag("out_max_val") else 1, most, *rest)]


def _reduction(use: Use) -> Shapes:
    shape = use.inputs[0]
    if shape is None:
        return [None]
    return [shape[: use.axis(shape, use.param.whole("axis") or 0)]]


def _softmax(use: Use) -> Shapes:
    if (shape := use.inputs[0]) is not None:
        use.axis(shape, use.param.whole("axis") or 0)
    return [use.inputs[0]]


def _loss(use: Use) -> Shapes:
    return [(), use.inputs[0]]  # the second, where there is one, are the probabilities


def _number(use: Use) -> Shapes:
    return [()]


def _nothing(use: Use) -> Shapes:
    return []


_WEIGHTS = (("weights", "KC"), ("bias", "K"))
_SCALE = (("scale", "K"), ("bias", "K"))
_MOVING = (("mean, not divided", "K"), ("variance, not divided", "K"), ("divisor of both", ""))
_SLOPES = (("slopes", "K"),)

LAYERS = (
    LayerType("InnerProduct", "A matrix times all that is behind an axis, and a bias.",
              _inner_product, "inner_product_param", _WEIGHTS, _inner_product_macs),
    LayerType("Embed", "The row of a table that each number names.", _embed, "embed_param",
              (("table", "CK"), ("bias", "K"))),
    LayerType("LSTM", "A recurrent layer with gates, over the first axis.", _recurrent,
              "recurrent_param", (("of the input", "KC"), ("bias", "K"), ("of the state", "KC"))),
    LayerType("RNN", "A recurrent layer, over the first axis.", _recurrent, "recurrent_param",
              (("of the input", "KC"), ("bias", "K"), ("of the state", "KC"))),
    LayerType("Eltwise", "Sum, product or largest of its inputs, element by element.",
              _eltwise, "eltwise_param"),
    LayerType("ReLU", "max(x, 0), or negative_slope times what is below 0.", same, "relu_param"),
    LayerType("ReLU6", "x cut off at 0 and 6.", same, "relu6_param"),
    LayerType("PReLU", "max(x, 0) and, of what is below 0, a slope for each channel.",
              same, "prelu_param", _SLOPES),
    LayerType("ELU", "x above 0, alpha (e^x - 1) below.", same, "elu_param"),
    LayerType("Sigmoid", "1 / (1 + e^-x).", same, "sigmoid_param"),
    LayerType("TanH", "The hyperbolic tangent.", same, "tanh_param"),
    LayerType("Swish", "x times the sigmoid of beta x.", same, "swish_param"),
    LayerType("Mish", "x tanh(log(1 + e^x)).", same, "mish_param"),
    LayerType("Clip", "x cut off at two ends.", same, "clip_param"),
    LayerType("BNLL", "log(1 + e^x).", same),
    LayerType("AbsVal", "The absolute value.", same),
    LayerType("Power", "(shift + scale x)^power.", same, "power_param"),
    LayerType("Exp", "base^(shift + scale x).", same, "exp_param"),
    LayerType("Log", "The logarithm of shift + scale x.", same, "log_param"),
    LayerType("Threshold", "1 where x is above the threshold, else 0.", same, "threshold_param"),
    LayerType("Dropout", "Its input as it is; in training a part of it is set to 0.",
              same, "dropout_param"),
    LayerType("BatchNorm", "(x - mean) / sqrt(variance + eps) of each channel; the first two blobs "
              "are divided by the third.", same, "batch_norm_param", _MOVING),
    LayerType("Scale", "x times a number for each channel, and a bias.",
              same, "scale_param", _SCALE),
    LayerType("Bias", "x plus a number for each channel.", same, "bias_param", (("bias", "K"),)),
    LayerType("LRN", "x over a power of the sum of squares around it.", same, "lrn_param"),
    LayerType("MVN", "x without its mean, and over its deviation.", same, "mvn_param"),
    LayerType("Normalize", "x over its length across channels, times a scale for each.",
              same, "norm_param", (("scale", "K"),)),
    LayerType("Softmax", "e^x over its sum along an axis.", _softmax, "softmax_param"),
    LayerType("ArgMax", "Where the largest are.", _argmax, "argmax_param"),
    LayerType("Reduction", "One number of all that is behind an axis.",
              _reduction, "reduction_param"),
    LayerType("SoftmaxWithLoss", "Softmax and its loss, for training.", _loss, "softmax_param",
              takes=2),
    LayerType("SigmoidCrossEntropyLoss", "Sigmoid and its loss, for training.", _loss, takes=2),
    LayerType("EuclideanLoss", "Half the mean square of the difference, for training.", _number,
              takes=2),
    LayerType("SmoothL1Loss", "A loss for training boxes.", _number, takes=2),
    LayerType("HingeLoss", "A loss for training.", _number, takes=2),
    LayerType("ContrastiveLoss", "A loss for training pairs.", _number, takes=3),
    LayerType("MultinomialLogisticLoss", "A loss for training.", _number, takes=2),
    LayerType("InfogainLoss", "A loss for training.", _loss, takes=2),
    LayerType("MultiBoxLoss", "The loss that detectors of SSD's kind are trained with.", _number,
              "multibox_loss_param", takes=2),
    LayerType("Accuracy", "The share of right answers.", _number, "accuracy_param", takes=2),
    LayerType("Silence", "Takes what nothing else does.", _nothing),
)  # fmt: skip
