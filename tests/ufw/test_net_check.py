"""What is found in nets, blobs and label maps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ufkit.core.diag import Diagnostic
from ufkit.core.files import Source
from ufkit.ufw.blob import Blob
from ufkit.ufw.check import check_blob, check_labels, check_net, check_prototxt
from ufkit.ufw.io import open_labels, open_net, open_prototxt
from ufkit.ufw.net import Net
from ufkit.ufw.schema import BLOB
from ufkit.wire.message import Message
from ufw.exercise import looked_at
from ufw.nets import CAFFE, blob_of, encoded, old_net, opened, quantised_net, small_net
from wire.judge import field_bytes


def codes(findings: Any) -> list[str]:
    return [finding.code for finding in findings]


def test_a_good_net_has_no_findings() -> None:
    assert list(check_net(opened(small_net()))) == []


def test_the_corpus(corpus: Path) -> None:
    found = {
        name: sorted(set(codes(check_net(open_net(corpus / "ufw" / f"{name}.caffemodel")))))
        for name in CAFFE
    }
    assert found == {
        "bm1880_lenet_float": [],
        "bm1880_lenet_int8": ["UFW109"],
        "lenet_v1_layers": ["UFW006", "UFW108"],
        "pnet": [],
    }


def raw(data: bytes) -> Blob:
    return Blob(Message.read(BLOB, Source(data, "x")))


HALF = field_bytes(7, b"\x0a\x01\x01") + field_bytes(12, b"raw data of NVIDIA's")
FOUR = np.arange(4, dtype=np.float32)


@pytest.mark.parametrize(
    ("blob", "expected"),
    [
        (lambda: blob_of(dim=[4], data=FOUR), []),
        (lambda: blob_of(dim=[5], data=FOUR), ["UFW101"]),
        (lambda: blob_of(dim=[5], int32_data=[1, 2, 3]), ["UFW101"]),
        (lambda: blob_of(dim=[3], int8_data=b"1234"), ["UFW101"]),
        (lambda: blob_of(dim=[-1], data=FOUR), ["UFW102"]),
        (lambda: blob_of(dim=[1 << 40, 1 << 40], data=FOUR), ["UFW102"]),
        (lambda: blob_of(dim=[4]), ["UFW103"]),
        (lambda: blob_of(dim=[0]), []),
        (lambda: blob_of(dim=[4], data=FOUR, int8_data=b"1234"), ["UFW104"]),
        (
            lambda: raw(field_bytes(7, b"\x0a\x01\x01") + field_bytes(12, b"half")),
            ["UFW105", "UFW103"],
        ),
        (lambda: raw(field_bytes(5, FOUR.tobytes()) + b"\x50\x07"), ["UFW105"]),
        (lambda: blob_of(dim=[2], data=[1, np.nan]), ["UFW106"]),
        (lambda: blob_of(dim=[2], double_data=[-np.inf, 0]), ["UFW106"]),
        (lambda: blob_of(num=1, channels=1, height=1, width=4, data=FOUR), ["UFW108"]),
        (lambda: blob_of(dim=[16], data=np.arange(16) - 8), ["UFW109"]),
        (lambda: blob_of(dim=[16], data=np.zeros(16)), []),
        (lambda: blob_of(dim=[16], data=np.arange(16) * 100), []),
    ],
)
def test_blobs(blob: Callable[[], Blob], expected: list[str]) -> None:
    assert codes(check_blob(blob())) == expected


def changed(change: Callable[[Net], object]) -> list[Diagnostic]:
    net = small_net()
    change(net)
    return list(check_net(opened(net)))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda net: net.message.clear("layer"), ["UFW002"]),
        (lambda net: net.add("ip", "ReLU", ["ip"], ["ip"]), ["UFW004"]),
        (lambda net: net.add("x", "ReLU", ["nobody"], ["x"]), ["UFW005"]),
        (lambda net: net.message.clear("input"), ["UFW005"]),
        (lambda net: net.message.set("layers", old_net().message.all("layers")),
         ["UFW003", "UFW004", "UFW403", "UFW108"]),
    ],
)  # fmt: skip
def test_nets(change: Callable[[Net], object], expected: list[str]) -> None:
    assert codes(changed(change)) == expected


def test_a_file_of_both_styles_shows_all_layers() -> None:
    net = small_net()
    net.message.set("layers", old_net().message.all("layers"))
    assert [layer.style for layer in opened(net).layers] == ["layers", "layer", "layer"]
    assert opened(net).style == "layers and layer"


def test_layers_for_training_may_share_names() -> None:
    source = (
        'layer { name: "data" type: "Data" top: "d" include { phase: TRAIN } }\n'
        'layer { name: "data" type: "Data" top: "d" include { phase: TEST } }\n'
        'layer { name: "r" type: "ReLU" bottom: "d" top: "r" }'
    )
    text = open_prototxt(Source(source.encode(), "x"))
    assert list(check_prototxt(text)) == []


def test_labels() -> None:
    source = 'item { name: "a" label: 1 } item { name: "b" label: 1 } item { name: "a" label: 2 }'
    found = list(check_labels(open_labels(Source(source.encode(), "x"))))
    assert codes(found) == ["UFW501", "UFW501"]


def test_damage_anywhere_is_one_of_our_errors() -> None:
    for net in (small_net(), quantised_net(), old_net()):
        data = encoded(net)
        for size in (*range(min(len(data), 700)), *range(700, len(data), 97)):
            looked_at(data[:size])


def test_damage_to_real_nets(corpus: Path) -> None:
    for name in CAFFE:
        data = (corpus / "ufw" / f"{name}.caffemodel").read_bytes()
        step = len(data) // 60
        for size in range(0, len(data), step):
            looked_at(data[:size])
        for at in range(0, 3000, 13):
            looked_at(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 : 5000])


def test_what_damage_is_found_in_has_its_bytes() -> None:
    data = encoded(small_net())
    found = [f for f in check_net(opened(data[:-3])) if f.severity == "error"]
    assert codes(found) == ["UFK101"]
    assert found[0].where.start is not None


def test_many_findings_in_a_long_text_take_no_longer_each() -> None:
    source = "".join(
        f'layer {{ name: "l{n}" type: "ReLU" bottom: "x{n}" top: "y{n}" }}\n' for n in range(20_000)
    )
    found = list(check_prototxt(open_prototxt(Source(source.encode(), "x"))))
    assert len(found) == 20_000
    assert found[-1].where.line == 20_000
