"""Categories of operations, which colour the boxes: one table for all formats.

Names are those of UFF, Caffe and ONNX without the underscore of custom operations; what is in no
row is `other`, a name of a TensorRT plugin `plugin`.
"""

from __future__ import annotations

CATEGORIES = {
    "input": "Input Data Placeholder PlaceholderWithDefault ImageData AnnotatedData MemoryData "
    "HDF5Data WindowData VideoData",
    "output": "MarkOutput Output",
    "constant": "Const Constant ConstantOfShape Parameter DummyData Fill RandomUniform",
    "layer": (
        "Conv ConvTranspose FullyConnected Convolution Deconvolution InnerProduct Gemm MatMul "
        "DepthwiseConvolution DepthwiseConv2dNative Conv3D Conv2D Conv2DBackpropInput "
        "BatchMatMul BatchMatMulV2 Einsum LSTM GRU RNN Embed QLinearConv QLinearMatMul "
        "ConvInteger MatMulInteger Attention ConvolutionDepthwise"
    ),
    "pool": (
        "Pool Pooling MaxPool AveragePool GlobalMaxPool GlobalAveragePool AvgPool LpPool SPP "
        "AvgPool3D MaxPool3D ROIPooling PSROIPooling MaxPoolV2"
    ),
    "normalization": (
        "BatchNorm LRN BatchNormalization FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 MVN "
        "Normalize Scale Bias InstanceNormalization LayerNormalization GroupNormalization L2Loss "
        "LpNormalization MeanVarianceNormalization"
    ),
    "activation": (
        "Activation LeakyRelu Softmax Relu Relu6 Sigmoid Tanh Elu Selu Softsign Softplus ReLU "
        "ReLU6 PReLU PRelu TanH ELU LogSoftmax HardSigmoid HardSwish Clip Gelu Mish Swish Erf "
        "BNLL Threshold AbsVal Power Exp Log SoftmaxWithLoss Celu ThresholdedRelu LReLU Softmax_TRT"
    ),
    "shape": (
        "Reshape Flatten Transpose Squeeze ExpandDims Unsqueeze Shape Permute Pad Cast Identity "
        "Dropout Expand BroadcastTo SpaceToDepth DepthToSpace SpaceToBatchND BatchToSpaceND Size "
        "Rank Reorg ShuffleChannel MirrorPad PadV2 StopGradient Dequantize QuantizeLinear "
        "DequantizeLinear Im2col Silence"
    ),
    "join": (
        "Concat Stack Split Slice StridedSlice Gather GatherV2 GatherND ConcatV2 Pack Unpack "
        "SplitV Tile Crop Resize Upsample Interp ResizeBilinear ResizeNearestNeighbor ScatterND "
        "GatherElements ScatterElements BatchTile Switch Merge Select SelectV2 Where"
    ),
    "arithmetic": (
        "Binary Unary Reduce ArgMax ArgMin Add AddV2 Sub Mul Div RealDiv Min Max Sum Mean Pow "
        "Eltwise Sqrt Rsqrt Neg Reciprocal ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd "
        "ReduceL2 Abs Ceil Floor Round Sign Cos Sin ArgMaxV2 TopK TopKV2 CumSum Cumsum Prod "
        "Reduction Equal Greater Less GreaterEqual LessEqual Not And Or Minimum Maximum "
        "SquaredDifference EuclideanLoss SmoothL1Loss HingeLoss ContrastiveLoss InfogainLoss "
        "MultinomialLogisticLoss SigmoidCrossEntropyLoss"
    ),
    "detection": (
        "PriorBox DetectionOutput NonMaxSuppression Proposal NonMaxSuppressionV2 "
        "NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 CropAndResize RoiAlign "
        "MultiBoxLoss Accuracy DetectionEvaluate NMS GridAnchor FlattenConcat BatchedNMS RPRoi"
    ),
}  # fmt: skip

_OF = {name: category for category, names in CATEGORIES.items() for name in names.split()}
PLUGIN, OTHER = "plugin", "other"


def category(operation: str, *, plugin: bool = False) -> str:
    """The category of an operation of any of the formats."""
    if plugin or operation.endswith("_TRT"):
        return PLUGIN
    return _OF.get(operation.removeprefix("_"), OTHER)
