"""Small nets and blobs, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ufkit.core.files import Source
from ufkit.ufw.blob import Blob
from ufkit.ufw.io import open_net
from ufkit.ufw.net import Net
from ufkit.ufw.schema import BLOB, BLOB_SHAPE, V1_LAYER
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.numbers import Numbers

CAFFE = ("bm1880_lenet_float", "bm1880_lenet_int8", "lenet_v1_layers", "pnet")

PROTOTXT = """# deploy
name: "small"
input: "data"
input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
layer {
  name: "conv"
  type: "Convolution"
  bottom: "data"
  top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 }
}
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip" th_strategy: USE_KL
  inner_product_param { num_output: 5 } }
"""


def small_net() -> Net:
    """Two layers with weights: a convolution and an inner product."""
    rng = np.random.default_rng(0)
    net = Net.new("small")
    net.message.set("input", ["data"])
    net.message.set("input_dim", [1, 3, 8, 8])
    kernel = rng.standard_normal((4, 3, 3, 3)).astype(np.float32)
    net.add("conv", "Convolution", ["data"], ["conv"], [kernel, np.zeros(4, np.float32)])
    matrix = rng.standard_normal((5, 144)).astype(np.float32)
    net.add("ip", "InnerProduct", ["conv"], ["ip"], [matrix, np.ones(5, np.float32)])
    return net


def quantised_net() -> Net:
    """A net of blobs in every storage there is."""
    net = Net.new("quantised")
    net.add("float", "InnerProduct", [], ["a"], [np.arange(6, dtype=np.float32).reshape(2, 3)])
    net.add("double", "InnerProduct", ["a"], ["b"], [np.arange(6.0).reshape(3, 2)])
    net.add("neurons", "InnerProduct", ["b"], ["c"], [np.array([[-5, 7], [100, -128]], np.int8)])
    coefficients = Message.new(BLOB, shape=Message.new(BLOB_SHAPE, dim=[4]))
    coefficients.set("int8_data", np.array([-128, -1, 0, 127], np.int8).tobytes())
    coefficients.set("fscale_int8_to_float", 0.5)
    net.add("coefficients", "InnerProduct", ["c"], ["d"]).message.set("blobs", [coefficients])
    return opened(net)


def old_net() -> Net:
    """A net of the older style."""
    net = Net.new("old")
    blob = Message.new(BLOB, num=1, channels=1, height=2, width=3)
    blob.set("data", Numbers(BLOB.fields["data"], np.arange(6, dtype=np.float32)))
    layer = Message.new(V1_LAYER, name="ip", bottom=["data"], top=["ip"], type=14, blobs=[blob])
    net.message.set("layers", [layer])
    net.message.set("input", ["data"])
    return opened(net)


def encoded(net: Net) -> bytes:
    return to_bytes(net.message)


def opened(net: Net | bytes, name: str = "x.caffemodel") -> Net:
    """A net as it is read from its bytes."""
    return open_net(Source(net if isinstance(net, bytes) else encoded(net), name))


def blob_of(**values: Any) -> Blob:
    """A blob with these fields, as it is read; `dim` makes its shape."""
    if dims := values.pop("dim", None):
        values["shape"] = Message.new(BLOB_SHAPE, dim=dims)
    return Blob(Message.read(BLOB, Source(to_bytes(Message.new(BLOB, **values)), "x.binaryproto")))


def write_net(net: Net, path: Path) -> Path:
    path.write_bytes(encoded(net))
    return path
