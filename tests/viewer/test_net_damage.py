"""Damaged nets in the viewer: findings instead of a blank page, whatever byte is wrong."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest

from ufkit.core.diag import FormatError, UfkitError
from ufkit.core.files import Source
from ufkit.ufw.io import open_net, open_prototxt
from ufkit.ufw.net import Net
from ufkit.ufw.prototxt import Prototxt
from ufkit.ufw.quantize import quantize
from ufkit.ufw.schema import CAFFE
from ufkit.ufw.table import Table
from ufkit.viewer.models.net import NetModel
from ufkit.viewer.web.answers import Answer
from ufkit.wire.message import Message
from ufw.nets import encoded
from ufw.tiny import TABLE, tiny_net


def telling_net() -> Net:
    """A quantised net with settings: something of all that is shown."""
    net = tiny_net()
    quantize(net, Table(dict(TABLE)), per_channel=True)
    conv = Message.new(CAFFE["ConvolutionParameter"], num_output=2, kernel_size=[2], bias_term=True)
    net["conv"].message.set("convolution_param", conv)
    pool = Message.new(CAFFE["PoolingParameter"], pool=1, kernel_size=2)
    net["pool"].message.set("pooling_param", pool)
    return net


TEXT = b"""name: "net" input: "data" input_shape { dim: 1 dim: 1 dim: 5 dim: 5 }
layer { name: "conv" type: "Convolution" bottom: "data" top: "c"
  convolution_param { num_output: 2 kernel_size: 2 weight_filler { type: "msra" } } }
layer { name: "sum" type: "Eltwise" bottom: "c" bottom: "c" top: "s"
  eltwise_param { operation: MAX coeff: 1.5 coeff: nan } include { phase: TEST }
  odd { deep { x: 1 } } }
"""
DATA = encoded(telling_net())


def looked_at(net: Net | Prototxt) -> None:
    """All pages are asked for; only our own errors may come of it."""
    try:
        model = NetModel(net, "caffe-net")
    except FormatError:
        return
    for at, item in enumerate(model.pictures[0].items):
        with contextlib.suppress(UfkitError):
            details = model.details(0, at)
            rows = [(row.name, row.kind, row.value, row.default) for row in details.fields]
            assert json.loads(Answer({"rows": rows}).body)
        for array in item.weights:
            with contextlib.suppress(UfkitError):
                np.asarray(array.read())
    assert model.findings is not None
    assert all(0 <= at < len(model.pictures[0].items) for _, at in model.places().values())


def test_undamaged_nets_have_pages() -> None:
    looked_at(open_net(Source(DATA, "x")))
    looked_at(open_prototxt(Source(TEXT, "x")))


@pytest.mark.parametrize("value", [0x00, 0x7F, 0xFF])
def test_every_byte_changed(value: int) -> None:
    for at in range(len(DATA)):
        data = DATA[:at] + bytes([value]) + DATA[at + 1 :]
        with contextlib.suppress(FormatError):
            looked_at(open_net(Source(data, "x")))


def test_cut_short_at_every_byte() -> None:
    for at in range(len(DATA)):
        with contextlib.suppress(FormatError):
            looked_at(open_net(Source(DATA[:at], "x")))


@pytest.mark.parametrize("value", [b"{", b"}", b'"', b"9", b"-", b" "])
def test_every_letter_of_a_text_changed(value: bytes) -> None:
    for at in range(len(TEXT)):
        data = TEXT[:at] + value + TEXT[at + 1 :]
        with contextlib.suppress(FormatError):
            looked_at(open_prototxt(Source(data, "x")))
