"""Which threshold a layer's input and output have."""

from __future__ import annotations

import pytest

from ufkit.ufw.net import Net
from ufkit.ufw.thresholds import Thresholds


def chain(*layers: str) -> Net:
    """Layers written as `Type name: bottoms -> tops`."""
    net = Net.new()
    for text in layers:
        head, _, ends = text.partition(": ")
        type_, name = head.split()
        bottoms, _, tops = ends.partition("->")
        net.add(name, type_, bottoms.split(), tops.split())
    return net


def of(net: Net, table: dict[str, float], name: str) -> tuple[float, float]:
    thresholds = Thresholds(net, table)
    assert list(thresholds.missing(net[name])) == []
    return thresholds.of(net[name])


def test_those_of_the_table() -> None:
    net = chain("Convolution c: x -> y")
    assert of(net, {"x": 1.0, "y": 2.0, "other": 3.0}, "c") == (1.0, 2.0)


def test_relu_in_place_changes_nothing() -> None:
    net = chain("Convolution a: x -> y", "ReLU r: y -> y", "Convolution b: y -> z")
    assert of(net, {"x": 1.0, "y": 2.0, "z": 3.0}, "a") == (1.0, 2.0)
    assert of(net, {"x": 1.0, "y": 2.0, "z": 3.0}, "b") == (2.0, 3.0)


def test_copies_have_that_of_what_they_copy() -> None:
    net = chain(
        "Convolution a: x -> y",
        "Split s: y -> y1 y2",
        "Flatten f: y2 -> flat",
        "Convolution b: y1 -> z",
        "InnerProduct i: flat -> out",
    )
    table = {"x": 1.0, "y": 2.0, "z": 3.0, "out": 4.0}
    assert of(net, table, "b") == (2.0, 3.0)
    assert of(net, table, "i") == (2.0, 4.0)
    assert of(net, {**table, "y2": 5.0}, "i") == (5.0, 4.0), "its own, where it has one"


def test_what_only_relu_takes_has_that_of_the_result() -> None:
    """As in nets whose tops all have names of their own, calibrated behind ReLU."""
    net = chain("Convolution a: x -> y", "ReLU r: y -> relu", "Convolution b: relu -> z")
    assert of(net, {"x": 1.0, "relu": 2.0, "z": 3.0}, "a") == (1.0, 2.0)
    shared = chain("Convolution a: x -> y", "ReLU r: y -> relu", "Eltwise e: relu y -> z")
    thresholds = Thresholds(shared, {"x": 1.0, "relu": 2.0})
    assert list(thresholds.missing(shared["a"])) == [("'y' has no threshold", "")]


def test_a_blob_computed_anew_in_place() -> None:
    """The range of a convolution is not that of what BatchNorm and Scale make of it."""
    net = chain(
        "Convolution a: x -> y",
        "BatchNorm bn: y -> y",
        "Scale sc: y -> y",
        "ReLU r: y -> y",
        "Convolution b: y -> z",
    )
    table = {"x": 1.0, "y": 2.0, "z": 3.0}
    assert of(net, table, "b") == (2.0, 3.0)
    ((message, hint),) = Thresholds(net, table).missing(net["a"])
    assert message == "'y', before BatchNorm 'bn' computes it anew in place, has no threshold"
    assert hint == "name both: 'y' for this, 'sc' for what comes of it"
    both = {**table, "sc": 7.0}
    assert of(net, both, "a") == (1.0, 2.0)
    assert of(net, both, "b") == (7.0, 3.0)


def test_what_is_missing_is_named_by_its_origin() -> None:
    net = chain("Convolution a: x -> y", "Split s: y -> y1 y2", "Convolution b: y2 -> z")
    thresholds = Thresholds(net, {"x": 1.0})
    assert [m for m, _ in thresholds.missing(net["b"])] == [
        "'y' has no threshold",
        "'z' has no threshold",
    ]
    with pytest.raises(KeyError):
        thresholds.of(net["b"])


def test_hostile_nets_end() -> None:
    """Copies in a circle, layers without ends."""
    net = chain("Split a: x -> y", "Split b: y -> x", "Convolution c: y -> z", "Convolution d: ->")
    thresholds = Thresholds(net, {})
    assert [m for m, _ in thresholds.missing(net["c"])][1] == "'z' has no threshold"
    assert [m for m, _ in thresholds.missing(net["d"])] == [
        "'d' names nothing that it takes",
        "'d' names nothing that it makes",
    ]
