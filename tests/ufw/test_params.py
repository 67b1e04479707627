"""Settings of layers, read alike from binary files and from texts."""

from __future__ import annotations

import pytest

from ufkit.core.diag import FormatError
from ufkit.core.files import Source
from ufkit.ufw.io import open_net, open_prototxt
from ufkit.ufw.params import Parameter, told
from ufw.nets import encoded

TEXT = """layer { name: "c" type: "Convolution" bottom: "x" top: "c"
  convolution_param { num_output: 4 kernel_size: 3 kernel_size: 5 bias_term: false
    weight_filler { type: "msra" } } }
layer { name: "p" type: "Pooling" bottom: "c" top: "p" pooling_param { pool: AVE kernel_size: 2 } }
"""


def both(text: str = TEXT) -> list[list[Parameter]]:
    """The layers of a text, and of the binary file that says the same."""
    source = Source(text.encode(), "x.prototxt")
    binary = open_net(Source(encoded(open_net(source)), "x.caffemodel"))
    return [[told(layer) for layer in net.layers] for net in (open_prototxt(source), binary)]


def test_files_and_texts_are_read_alike() -> None:
    for conv, pool in both():
        param = conv.part("convolution_param")
        assert param.whole("num_output") == 4
        assert param.wholes("kernel_size") == [3, 5]
        assert param.flag("bias_term") is False
        assert param.get("axis") == 1  # Caffe's default
        assert param.whole("kernel_h") is None
        assert param.part("weight_filler").get("type") == "msra"
        assert param.part("bias_filler").get("type") == "constant"
        assert {*param.names} == {"num_output", "kernel_size", "bias_term", "weight_filler"}
        assert pool.part("pooling_param").get("pool") == "AVE"
        assert pool.part("lrn_param").names == ()
        assert pool.part("lrn_param").get("norm_region") == "ACROSS_CHANNELS"


def test_places_are_lines_and_bytes() -> None:
    text, binary = both()
    assert text[0].part("convolution_param").where("bias_term").line == 2
    where = binary[0].part("convolution_param").where("bias_term")
    assert where.start is not None
    assert where.stop == where.start + 2


def test_texts_have_fields_and_numbers_that_no_schema_knows() -> None:
    text = TEXT.replace("pool: AVE", "pool: 1 ceil_mode: false extra { depth: 2 }")
    net = open_prototxt(Source(text.encode(), "x"))
    pool = told(net.layers[1]).part("pooling_param")
    assert pool.get("pool") == "AVE"
    assert pool.flag("ceil_mode", True) is False
    assert pool.part("extra").get("depth") == 2
    assert pool.field("ceil_mode") is None


def test_what_a_field_cannot_hold_is_an_error_with_its_line() -> None:
    text = TEXT.replace("num_output: 4", 'num_output: "4"')
    conv = told(open_prototxt(Source(text.encode(), "x")).layers[0])
    with pytest.raises(FormatError, match=r"num_output: '4' is not an integer"):
        conv.part("convolution_param").whole("num_output")
    text = TEXT.replace("pooling_param {", "lrn_param: 5 pooling_param {")
    pool = told(open_prototxt(Source(text.encode(), "x")).layers[1])
    with pytest.raises(FormatError, match="not a message"):
        pool.part("lrn_param")
