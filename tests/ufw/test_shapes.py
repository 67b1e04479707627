"""Shapes of nets: sizes as OpenCV's reader of Caffe nets (4.14) has them, and what is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufkit.core.diag import RequestError
from ufkit.core.files import Source
from ufkit.ufw.check import check_net, check_prototxt
from ufkit.ufw.io import open_net, open_prototxt
from ufkit.ufw.layers import LAYERS
from ufkit.ufw.net import Net
from ufkit.ufw.pair import pair_findings
from ufkit.ufw.shapes import NetShapes, infer_net
from ufw.nets import PROTOTXT, opened, small_net

Shape = tuple[int | None, ...]

# Each line was computed by OpenCV 4.14 (cv2.dnn.readNetFromCaffe, getLayersShapes), with weights
# of the right sizes; 3,000 random ones of the same kinds agreed when this was written.
JUDGED: list[tuple[str, str, Shape, Shape]] = [
    ("Convolution", "convolution_param { num_output: 6 kernel_size: 3 stride: 2 pad: 1 }",
     (2, 4, 11, 20), (2, 6, 6, 10)),
    ("Convolution", "convolution_param { num_output: 6 kernel_size: 5 dilation: 2 pad: 3 }",
     (2, 4, 11, 20), (2, 6, 9, 18)),
    ("Convolution",
     "convolution_param { num_output: 6 kernel_h: 3 kernel_w: 1 stride_h: 1 stride_w: 2 pad_h: 2 }",
     (2, 4, 11, 20), (2, 6, 13, 10)),
    ("Deconvolution", "convolution_param { num_output: 6 kernel_size: 4 stride: 2 pad: 1 }",
     (2, 4, 5, 7), (2, 6, 10, 14)),
    ("Deconvolution", "convolution_param { num_output: 6 kernel_size: 3 stride: 3 }",
     (2, 4, 5, 7), (2, 6, 15, 21)),
    ("Pooling", "pooling_param { kernel_size: 2 stride: 2 }", (2, 3, 5, 8), (2, 3, 3, 4)),
    ("Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }", (2, 3, 6, 7), (2, 3, 4, 4)),
    ("Pooling", "pooling_param { pool: AVE kernel_size: 2 stride: 3 pad: 1 }",
     (2, 3, 4, 7), (2, 3, 2, 3)),
    ("Pooling", "pooling_param { kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 }",
     (2, 3, 8, 7), (2, 3, 4, 6)),
    ("Pooling", "pooling_param { pool: AVE global_pooling: true }", (2, 3, 8, 7), (2, 3, 1, 1)),
    ("InnerProduct", "inner_product_param { num_output: 7 }", (2, 3, 4, 5), (2, 7)),
    ("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }",
     (2, 3, 4, 5), (2, 4, 5, 3)),
    ("Flatten", "", (2, 3, 4, 5), (2, 60)),
    ("Flatten", "flatten_param { axis: 2 }", (2, 3, 4, 5), (2, 3, 20)),
    ("Reshape", "reshape_param { shape { dim: 0 dim: -1 } }", (2, 3, 4, 5), (2, 60)),
    ("Reshape", "reshape_param { shape { dim: 0 dim: 3 dim: -1 } }", (2, 6, 4, 5), (2, 3, 40)),
    ("Reshape", "reshape_param { shape { dim: -1 dim: 2 } axis: 1 num_axes: 1 }",
     (2, 6, 4, 5), (2, 3, 2, 4, 5)),
    ("Normalize", "norm_param { across_spatial: false channel_shared: false }",
     (2, 6, 4, 5), (2, 6, 4, 5)),
    ("PriorBox", "prior_box_param { min_size: 3 max_size: 9 aspect_ratio: 2 aspect_ratio: 3 }",
     (1, 3, 4, 5), (1, 2, 480)),
    ("PriorBox", "prior_box_param { min_size: 3 min_size: 4 aspect_ratio: 2 flip: false }",
     (1, 3, 4, 5), (1, 2, 320)),
    ("PriorBox", "prior_box_param { min_size: 3 max_size: 5 aspect_ratio: 2 aspect_ratio: 0.5 }",
     (1, 3, 4, 5), (1, 2, 320)),
]  # fmt: skip

# By hand, from the formulas that the modules name.
BY_HAND: list[tuple[str, str, Shape, Shape]] = [
    ("DepthwiseConvolution", "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }",
     (1, 4, 9, 9), (1, 4, 9, 9)),
    ("Pooling", "pooling_param { kernel_size: 2 stride: 2 ceil_mode: false }",
     (1, 3, 5, 5), (1, 3, 2, 2)),
    ("Pooling", "pooling_param { kernel_size: 2 stride: 2 round_mode: FLOOR }",
     (1, 3, 5, 5), (1, 3, 2, 2)),
    ("Im2col", "convolution_param { kernel_size: 2 }", (1, 3, 5, 5), (1, 12, 4, 4)),
    ("Upsample", "upsample_param { scale: 2 }", (1, 3, 5, 6), (1, 3, 10, 12)),
    ("Interp", "interp_param { zoom_factor: 8 }", (1, 3, 5, 6), (1, 3, 33, 41)),
    ("Interp", "interp_param { shrink_factor: 2 pad_beg: 0 pad_end: -1 }",
     (1, 3, 10, 8), (1, 3, 5, 4)),
    ("Interp", "interp_param { height: 7 width: 9 }", (1, 3, 5, 6), (1, 3, 7, 9)),
    ("Reorg", "reorg_param { stride: 2 }", (1, 3, 4, 6), (1, 12, 2, 3)),
    ("Reorg", "reorg_param { stride: 2 reverse: true }", (1, 12, 2, 3), (1, 3, 4, 6)),
    ("SPP", "spp_param { pyramid_height: 3 }", (2, 4, 9, 9), (2, 84)),
    ("Tile", "tile_param { axis: 1 tiles: 3 }", (2, 4), (2, 12)),
    ("Transpose", "transpose_param { order: 1 order: 0 }", (2, 4), (4, 2)),
    ("ArgMax", "argmax_param { top_k: 2 out_max_val: true }", (5, 10), (5, 2, 2)),
    ("ArgMax", "argmax_param { top_k: 2 axis: 1 }", (5, 10, 3), (5, 2, 3)),
    ("Reduction", "reduction_param { axis: 1 }", (5, 10, 3), (5,)),
    ("Embed", "embed_param { num_output: 8 input_dim: 100 }", (5, 2), (5, 2, 8)),
    ("LSTM", "recurrent_param { num_output: 16 }", (20, 4, 8), (20, 4, 16)),
    ("Power", "power_param { scale: 2 }", (1, 7), (1, 7)),
    ("ReLU6", "", (1, 7), (1, 7)),
    ("DetectionEvaluate", "", (1, 7), (1, 1, None, 5)),
    ("InnerProduct", "inner_product_param { num_output: 3 axis: 2 }", (2, 5, 4), (2, 5, 3)),
]  # fmt: skip


def text_of(type_: str, param: str, *shapes: Shape, tops: tuple[str, ...] = ("out",)) -> str:
    """A net of one layer; it takes as many arrays as there are shapes."""
    lines = []
    for at, shape in enumerate(shapes):
        dims = " ".join(f"dim: {size or 0}" for size in shape)
        lines.append(f'input: "x{at}" input_shape {{ {dims} }}')
    ends = "".join(f' bottom: "x{at}"' for at in range(len(shapes)))
    ends += "".join(f' top: "{top}"' for top in tops)
    return "\n".join([*lines, f'layer {{ name: "l" type: "{type_}"{ends} {param} }}'])


def inferred(text: str, **given: Any) -> NetShapes:
    return infer_net(open_prototxt(Source(text.encode(), "x.prototxt")), given=given)


def made(type_: str, param: str, *shapes: Shape, tops: tuple[str, ...] = ("out",)) -> list[Any]:
    result = inferred(text_of(type_, param, *shapes, tops=tops))
    assert [str(finding) for finding in result.findings] == []
    return result.layers[0].tops


@pytest.mark.parametrize(("type_", "param", "shape", "expected"), [*JUDGED, *BY_HAND])
def test_one_layer(type_: str, param: str, shape: Shape, expected: Shape) -> None:
    shapes = [shape] * max(LAYERS[type_].takes, 1)
    assert made(type_, param, *shapes) == [expected]


def test_layers_of_several_arrays() -> None:
    concat = made("Concat", "concat_param { axis: 1 }", (1, 3, 8, 8), (1, 5, 8, 8))
    assert concat == [(1, 8, 8, 8)]
    assert made("Concat", "concat_param { concat_dim: 0 }", (1, 3), (4, 3)) == [(5, 3)]
    assert made("Eltwise", "", (2, 3, 4, 4), (None, 3, 4, 4)) == [(2, 3, 4, 4)]
    points = "slice_param { axis: 1 slice_point: 2 slice_point: 5 }"
    assert made("Slice", points, (1, 9), tops=("a", "b", "c")) == [(1, 2), (1, 3), (1, 4)]
    assert made("Slice", "", (2, 6, 4), tops=("a", "b")) == [(2, 3, 4)] * 2
    assert made("Split", "", (2, 6), tops=("a", "b")) == [(2, 6)] * 2
    assert made("Crop", "", (1, 3, 9, 9), (1, 7, 5, 6)) == [(1, 3, 5, 6)]
    assert (
        made("Pooling", "pooling_param { kernel_size: 2 }", (1, 3, 4, 4), tops=("a", "b"))
        == [(1, 3, 3, 3)] * 2
    )
    found = "detection_output_param { num_classes: 21 }"
    assert made("DetectionOutput", found, (1, 400), (1, 2100), (1, 2, 400)) == [(1, 1, None, 7)]
    regions = "roi_pooling_param { pooled_h: 6 pooled_w: 7 }"
    assert made("ROIPooling", regions, (1, 256, 14, 14), (300, 5)) == [(300, 256, 6, 7)]


def test_data_layers() -> None:
    transform = "transform_param { crop_size: 227 }"
    data = made("Data", "data_param { batch_size: 8 }" + transform, tops=("data", "label"))
    assert data == [(8, None, 227, 227), (8,)]
    memory = "memory_data_param { batch_size: 1 channels: 3 height: 4 width: 5 }"
    assert made("MemoryData", memory, tops=("data", "label")) == [(1, 3, 4, 5), (1,)]
    image = "image_data_param { batch_size: 2 new_height: 8 new_width: 9 }"
    assert made("ImageData", image, tops=("data", "label")) == [(2, 3, 8, 9), (2,)]
    dummy = "dummy_data_param { num: 1 channels: 2 height: 3 width: 4 }"
    assert made("DummyData", dummy) == [(1, 2, 3, 4)]
    assert made("Input", "input_param { shape { dim: 0 dim: 3 } }") == [(None, 3)]


CONFLICTS = [
    ("Convolution", "convolution_param { num_output: 4 kernel_size: 9 }", ((1, 3, 8, 8),),
     "a window of 9 is larger than 8 and a padding of 0"),
    ("Convolution", "convolution_param { num_output: 4 kernel_size: 1 group: 2 }", ((1, 3, 8, 8),),
     "the 2 groups do not divide what it takes: 3 channels"),
    ("Convolution", "convolution_param { num_output: 4 kernel_size: 1 stride: 0 }",
     ((1, 3, 8, 8),), "stride is 0; it is 1 at least"),
    ("Convolution", "convolution_param { kernel_size: [1, 2, 3] }", ((1, 3, 8, 8),),
     "kernel_size has 3 values; there are 2 axes behind the channels"),
    ("Pooling", "pooling_param { kernel_size: 2 pad: 2 }", ((1, 3, 8, 8),), "pad is 2"),
    ("Concat", "", ((1, 3, 8, 8), (1, 3, 7, 8)), "[1, 3, 7, 8] cannot be joined"),
    ("Eltwise", "", ((1, 3), (1, 4)), "[1, 3] and [1, 4] are not of one shape"),
    ("Eltwise", "", ((1, 3), (1, 3, 1)), "[1, 3] and [1, 3, 1] are not of one shape"),
    ("Slice", "slice_param { slice_point: 3 slice_point: 2 }", ((1, 9),), "2 slice points"),
    ("Reshape", "reshape_param { shape { dim: 0 dim: 7 dim: -1 } }", ((1, 3, 4),),
     "[1, 3, 4] cannot be divided by 7"),
    ("Reshape", "reshape_param { shape { dim: 5 } }", ((1, 3),), "not as many elements as [5]"),
    ("Permute", "permute_param { order: 1 order: 1 }", ((1, 3),), "[1, 1] is no order"),
    ("Flatten", "flatten_param { axis: 4 }", ((1, 3),), "axis 4 is not in [1, 3]"),
    ("Crop", "", ((1, 3, 4, 4), (1, 3, 5, 5)), "5 from 0 on do not fit into 4"),
    ("DetectionOutput", "detection_output_param { num_classes: 21 }",
     ((1, 400), (1, 2000), (1, 2, 400)), "100 boxes have 2100 confidences; [1, 2000] holds 2000"),
    ("Eltwise", "eltwise_param { }", (), ""),
    ("Crop", "", ((1, 3),), "a Crop takes 2 arrays; this one has 1"),
    ("Tile", "tile_param { tiles: 9223372036854775807 }", ((1, 3),), "which no array can be"),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "param", "shapes", "message"), CONFLICTS)
def test_what_a_layer_cannot_take_is_a_finding(
    type_: str, param: str, shapes: tuple[Shape, ...], message: str
) -> None:
    text = text_of(type_, param, *shapes)
    result = inferred(text)
    assert result.layers[0].tops == [None]
    if message:
        (finding,) = result.findings
        assert (finding.code, finding.where.node) == ("UFW008", "l")
        assert message in finding.message
        checked = check_prototxt(open_prototxt(Source(text.encode(), "x.prototxt")))
        assert "UFW008" in [other.code for other in checked]


def test_settings_that_cannot_be_read_are_findings() -> None:
    text = text_of("Convolution", 'convolution_param { num_output: "four" }', (1, 3, 8, 8))
    (finding,) = inferred(text).findings
    assert finding.code == "UFK110"
    assert finding.where.line == 2


def test_what_is_behind_an_unknown_layer_is_not_known() -> None:
    text = PROTOTXT.replace('"Convolution"', '"Flower"')
    result = inferred(text)
    assert [layer.tops for layer in result.layers] == [[None], [(None, 5)]]
    assert result.findings == []


def test_shapes_can_be_given() -> None:
    text = 'layer { name: "d" type: "Data" top: "data" top: "label" }\n' + text_of(
        "Convolution", "convolution_param { num_output: 2 kernel_size: 3 }"
    ).replace("top:", 'bottom: "data" top:')
    assert inferred(text).layers[1].tops == [(None, 2, None, None)]
    result = inferred(text, data=["N", 1, 28, 28])
    assert result.layers[1].tops == [(None, 2, 26, 26)]
    assert result.layers[1].macs == 2 * 26 * 26 * 9
    with pytest.raises(RequestError, match="'date' is nothing that it takes; that is data, label"):
        inferred(text, date=[1])


def test_multiply_accumulates() -> None:
    with opened(small_net()) as net:
        conv, dense = infer_net(net).layers
    assert conv.tops == [(1, 4, 6, 6)]
    assert conv.macs == 4 * 6 * 6 * 3 * 9
    assert dense.macs == 5 * 144
    text = text_of("Convolution", "convolution_param { num_output: 4 group: 2 kernel_size: 3 }",
                   (1, 2, 8, 8))  # fmt: skip
    assert inferred(text).layers[0].macs == 4 * 6 * 6 * 1 * 9
    text = text_of("Deconvolution", "convolution_param { num_output: 4 kernel_size: 3 }",
                   (1, 2, 8, 8))  # fmt: skip
    assert inferred(text).layers[0].macs == 2 * 8 * 8 * 4 * 9


def test_weights_tell_what_settings_do_not() -> None:
    net = Net.new("bare")
    net.add("c", "Convolution", ["x"], ["c"], [np.zeros((6, 3, 3, 3), np.float32)])
    net.add("f", "InnerProduct", ["c"], ["f"], [np.zeros((1, 1, 7, 96), np.float32)])
    with opened(net) as bare:
        assert [layer.tops for layer in infer_net(bare).layers] == [
            [(None, 6, None, None)],
            [(None, 7)],
        ]


def test_weights_of_another_size_are_a_finding() -> None:
    net = small_net()
    net.message.set("input_dim", [1, 1, 8, 8])
    (finding,) = check_net(opened(net))
    assert finding.code == "UFW403"
    assert "it takes 1 channels; its weights [4, 3, 3, 3] are for 3" in finding.message
    text = PROTOTXT.replace("input_dim: 8 input_dim: 8", "input_dim: 9 input_dim: 8")
    (finding,) = pair_findings(open_prototxt(Source(text.encode(), "x")), opened(small_net()))
    assert "it takes 168 numbers of [1, 4, 7, 6]; its weights are for 144" in finding.message


def test_layers_of_training_do_not_come_in_the_way() -> None:
    train = "include { phase: TRAIN } input_param { shape { dim: 64 dim: 3 } }"
    test = "include { phase: TEST } input_param { shape { dim: 1 dim: 3 } }"
    head = 'layer { name: "d" type: "Input" top: "x0" %s }\n'
    body = text_of("ReLU", "").replace("top:", 'bottom: "x0" top:')
    for text in (head % train + head % test + body, head % test + head % train + body):
        assert inferred(text).arrays["out"] == (1, 3)


NAMES = (
    "kernel_size", "stride", "pad", "group", "num_output", "dilation", "axis", "top_k", "order",
    "slice_point", "tiles", "num_axes", "end_axis", "min_size", "aspect_ratio", "offset", "scale",
    "height",
)  # fmt: skip
SIZES = st.one_of(st.none(), st.integers(1, 40))


@given(
    st.sampled_from(sorted(LAYERS)),
    st.lists(st.lists(SIZES, max_size=5).map(tuple), max_size=3),
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "kernel_size",
                    "stride",
                    "pad",
                    "group",
                    "num_output",
                    "dilation",
                    "axis",
                    "top_k",
                    "order",
                    "slice_point",
                    "tiles",
                    "num_axes",
                    "end_axis",
                    "min_size",
                    "aspect_ratio",
                    "offset",
                    "scale",
                    "height",
                ]
            ),
            st.integers(-3, 1 << 40),
        ),
        max_size=5,
    ),
)
def test_nothing_is_raised(
    type_: str, shapes: list[Shape], settings: list[tuple[str, int]]
) -> None:
    fields = " ".join(f"{name}: {value}" for name, value in settings)
    param = f"{LAYERS[type_].parameter} {{ {fields} }}" if LAYERS[type_].parameter else ""
    result = inferred(text_of(type_, param, *shapes, tops=("a", "b")))
    for shape in result.layers[0].tops:
        assert shape is None or all(size is None or size >= 0 for size in shape)


def test_real_nets(corpus: Path) -> None:
    folder = corpus / "ufw"
    mobilenet = infer_net(open_prototxt(folder / "mobilenet_deploy_int8_unique_top.prototxt"))
    assert mobilenet.findings == []
    assert mobilenet.arrays["loss"] == (1, 1000, 1, 1)
    macs = sum(layer.macs or 0 for layer in mobilenet.layers)
    assert macs == 568_740_352  # the paper of MobileNet says 569 million
    with open_net(folder / "bm1880_lenet_float.caffemodel") as net:
        lenet = infer_net(net, given={"data": [1, 1, 28, 28]})
    assert lenet.findings == []
    assert lenet.arrays["pool2"] == (1, 50, 4, 4)
    assert lenet.arrays["ip2"] == (1, 10)
