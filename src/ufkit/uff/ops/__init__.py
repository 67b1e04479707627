"""The operator table: UFF's core operations, those of TensorFlow that came through, and plugins.

To add an operation write its OpSpec in a module here and name it in `OPS`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ufkit.core.diag import FormatError
from ufkit.uff.model import Node
from ufkit.uff.ops.conv import CONV, CONV_TRANSPOSE
from ufkit.uff.ops.dense import FULLY_CONNECTED
from ufkit.uff.ops.elementwise import ACTIVATION, BINARY, IDENTITY, LEAKY_RELU, UNARY
from ufkit.uff.ops.graph import CONST, INPUT, MARK_OUTPUT
from ufkit.uff.ops.join import CONCAT, STACK
from ufkit.uff.ops.norm import BATCH_NORM, LRN, SOFTMAX
from ufkit.uff.ops.pool import POOL
from ufkit.uff.ops.reduce import ARG_MAX, ARG_MIN, REDUCE
from ufkit.uff.ops.reshape import EXPAND_DIMS, FLATTEN, RESHAPE, SHAPE, SQUEEZE, TRANSPOSE
from ufkit.uff.ops.select import GATHER, GATHER_V2, PAD, STRIDED_SLICE
from ufkit.uff.ops.spec import Call, Facts, OpSpec
from ufkit.uff.ops.tf_array import TF_ARRAY
from ufkit.uff.ops.tf_axes import TF_AXES
from ufkit.uff.ops.tf_batch import TF_BATCH
from ufkit.uff.ops.tf_choose import TF_CHOOSE
from ufkit.uff.ops.tf_crop import CROP_AND_RESIZE
from ufkit.uff.ops.tf_einsum import EINSUM
from ufkit.uff.ops.tf_fill import TF_FILL
from ufkit.uff.ops.tf_functions import TF_FUNCTIONS
from ufkit.uff.ops.tf_layers import TF_LAYERS
from ufkit.uff.ops.tf_linear import TF_LINEAR
from ufkit.uff.ops.tf_math import TF_MATH
from ufkit.uff.ops.tf_nms import TF_NMS
from ufkit.uff.ops.tf_patches import EXTRACT_IMAGE_PATCHES
from ufkit.uff.ops.tf_quant import TF_QUANT
from ufkit.uff.ops.tf_resize import TF_RESIZE
from ufkit.uff.ops.tf_spatial import TF_SPATIAL
from ufkit.uff.ops.tf_split import TF_SPLIT
from ufkit.uff.ops.tf_windows import TF_WINDOWS
from ufkit.uff.ops.trt_anchors import TRT_GRID_ANCHORS
from ufkit.uff.ops.trt_batched import BATCHED_NMS
from ufkit.uff.ops.trt_crop import CROP_PLUGIN
from ufkit.uff.ops.trt_detection import NMS
from ufkit.uff.ops.trt_flatten import FLATTEN_CONCAT
from ufkit.uff.ops.trt_layers import TRT_LAYERS
from ufkit.uff.ops.trt_prior_box import PRIOR_BOX
from ufkit.uff.ops.trt_proposal import PROPOSAL
from ufkit.uff.ops.trt_pyramid import PYRAMID, SPECIAL_SLICE
from ufkit.uff.ops.trt_refine import DETECTION_LAYER, PROPOSAL_LAYER
from ufkit.uff.rules import INPUT_COUNT
from ufkit.uff.unknown import unknown

OPS: dict[str, OpSpec] = {
    spec.key: spec
    for spec in (
        INPUT,
        IDENTITY,
        CONST,
        CONV,
        CONV_TRANSPOSE,
        POOL,
        FULLY_CONNECTED,
        LRN,
        BINARY,
        UNARY,
        EXPAND_DIMS,
        ARG_MAX,
        ARG_MIN,
        RESHAPE,
        TRANSPOSE,
        REDUCE,
        CONCAT,
        STACK,
        SHAPE,
        STRIDED_SLICE,
        MARK_OUTPUT,
        ACTIVATION,
        LEAKY_RELU,
        SOFTMAX,
        BATCH_NORM,
        SQUEEZE,
        FLATTEN,
        PAD,
        GATHER,
        GATHER_V2,
        *TF_MATH,
        *TF_FUNCTIONS,
        *TF_AXES,
        *TF_ARRAY,
        *TF_FILL,
        *TF_CHOOSE,
        *TF_LINEAR,
        *TF_LAYERS,
        *TF_QUANT,
        EINSUM,
        *TF_NMS,
        CROP_AND_RESIZE,
        *TF_WINDOWS,
        *TF_SPATIAL,
        *TF_RESIZE,
        EXTRACT_IMAGE_PATCHES,
        *TF_BATCH,
        *TF_SPLIT,
        *TRT_LAYERS,
        PROPOSAL,
        CROP_PLUGIN,
        PYRAMID,
        SPECIAL_SLICE,
        PROPOSAL_LAYER,
        DETECTION_LAYER,
        *TRT_GRID_ANCHORS,
        PRIOR_BOX,
        FLATTEN_CONCAT,
        NMS,
        BATCHED_NMS,
    )
}
_MARKED = {spec.name: spec for spec in OPS.values() if spec.mark}


def entry_of(node: Node) -> OpSpec | None:
    """The entry of a node's operation; of two that share a name, the one whose field it has."""
    marked = _MARKED.get(node.operation)
    return marked if marked and marked.mark in node.fields else OPS.get(node.operation)


def call_of(node: Node, inputs: Sequence[Facts]) -> Call:
    """The node as its operation's entry sees it. Raises FormatError (UFF106, UFF200 and more)."""
    spec = entry_of(node)
    if spec is None:
        raise FormatError(unknown(node))
    if not spec.accepts(len(inputs)):
        wanted = ", ".join(spec.inputs) or "none"
        message = f"{node.operation} has {len(inputs)} inputs; it takes {wanted}"
        raise FormatError(INPUT_COUNT.at(node.where(), message))
    return Call(node, spec, inputs)
