"""The operator table: the core operations of UFF and those of TensorFlow that came through.

To add an operation write its OpSpec in a module here and name it in `OPS`.
"""

from __future__ import annotations

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
from ufkit.uff.ops.spec import OpSpec
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
from ufkit.uff.ops.tf_windows import TF_WINDOWS

OPS: dict[str, OpSpec] = {
    spec.name: spec
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
    )
}
