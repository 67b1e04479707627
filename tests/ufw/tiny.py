"""Small nets of Caffe's kind for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ufkit.ufw.io import save_net
from ufkit.ufw.net import Net


def tiny_net() -> Net:
    """data -> conv -> relu (in place) -> pool -> ip: weights by hand."""
    net = Net.new("tiny")
    net.add("data", "Input", (), ["data"])
    kernels = np.array([[[[0.7, -0.35], [0.0, 0.0]]], [[[0.01, 0.02], [0.03, 0.04]]]], np.float32)
    net.add("conv", "Convolution", ["data"], ["conv"], [kernels, np.float32([0.1, -0.1])])
    net.add("relu", "ReLU", ["conv"], ["conv"])
    net.add("pool", "Pooling", ["conv"], ["pool"])
    net.add("ip", "InnerProduct", ["pool"], ["ip"], [np.eye(3, 2, dtype=np.float32)])
    return net


TABLE = {"data": 2.0, "conv": 4.0, "pool": 4.0, "ip": 8.0}


def saved(net: Net, folder: Path, name: str = "net.caffemodel") -> Path:
    path = folder / name
    save_net(net, path)
    return path
