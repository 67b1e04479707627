"""Everything the verbs do to a net of any kind of bytes, for tests of damage and for fuzzing."""

from __future__ import annotations

import contextlib
import io

import numpy as np

import ufkit
from ufkit.core.files import Source
from ufkit.ufw.check import check_net
from ufkit.ufw.compare import compare_nets
from ufkit.ufw.dequantize import dequantize
from ufkit.ufw.io import open_net
from ufkit.ufw.quantize import quantize
from ufkit.ufw.summary import summarize_net
from ufkit.ufw.table import Table
from ufkit.ufw.weights import net_weights
from ufkit.wire.pieces import write


def looked_at(data: bytes) -> None:
    """Nothing but our own errors may come of it, and what is not edited stays as it is."""
    try:
        net = open_net(Source(data, "x.caffemodel"))
    except ufkit.FormatError:
        return
    out = io.BytesIO()
    write(net.message.pieces(), out)
    assert out.getvalue() == data
    findings = list(check_net(net))
    try:
        summarize_net(net)
        for tensor in net_weights(net).values():
            if not tensor.problem:
                np.asarray(tensor)
    except ufkit.FormatError:
        assert findings  # what cannot be read was found by the check
        return
    with contextlib.suppress(ufkit.UfkitError):
        assert compare_nets(net, net).same
    with contextlib.suppress(ufkit.UfkitError):
        dequantize(open_net(Source(data, "x.caffemodel")))
    with contextlib.suppress(ufkit.UfkitError):
        tops = {top: 1.5 for layer in net.layers for top in (*layer.bottoms, *layer.tops)}
        quantize(net, Table(tops))
