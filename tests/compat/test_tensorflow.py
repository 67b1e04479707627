"""The module that scripts import in TensorFlow's place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ufkit_compat.tensorflow as tf
from tf_graphs import graph_def, placeholder
from ufkit.conversion.tf_tensor import TYPES
from ufkit.wire.message import to_bytes


def test_types_are_called_and_numbered_as_in_tensorflow() -> None:
    for row in TYPES:
        dtype = getattr(tf, row.name)
        assert (dtype.as_datatype_enum, str(dtype)) == (row.number, f"tf.{row.name}")
        assert dtype is tf.as_dtype(row.name) is getattr(tf.compat.v1, row.name)
        assert tf.as_dtype(row.number) == dtype == dtype.base_dtype
    assert (tf.float32.size, tf.string.size) == (4, 1)
    assert tf.float16.as_numpy_dtype is np.float16
    with pytest.raises(TypeError):
        _ = tf.bfloat16.as_numpy_dtype


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.float32, "float32"),
        (np.dtype("int64"), "int64"),
        (float, "float32"),
        (int, "int32"),
        (str, "string"),
        ("double", "float64"),
        (101, "float32"),  # of a variable
    ],
)
def test_types_are_named_in_many_ways(value: Any, name: str) -> None:
    assert tf.as_dtype(value) is getattr(tf, name)


@pytest.mark.parametrize("value", ["floaty", 999, None, object, np.dtype("M8")])
def test_what_names_no_type(value: Any) -> None:
    with pytest.raises(TypeError):
        tf.as_dtype(value)


def test_a_graph_is_read_as_scripts_do(tmp_path: Path) -> None:
    path = tmp_path / "frozen.pb"
    path.write_bytes(to_bytes(graph_def(placeholder("x", 1))))
    for files in (tf.gfile.GFile, tf.gfile.FastGFile, tf.io.gfile.GFile, tf.compat.v1.gfile.GFile):
        found = tf.compat.v1.GraphDef()
        with files(str(path), "rb") as file:
            found.ParseFromString(file.read())
        assert [node.name for node in found.node] == ["x"]
    assert tf.gfile.Exists(str(path))
    assert tf.GraphDef is tf.compat.v1.GraphDef
    tf.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    with tf.gfile.GFile(str(tmp_path / "names.txt"), "w") as file:
        file.write("é\n")
    with tf.gfile.GFile(str(tmp_path / "names.txt")) as file:
        assert file.read() == "é\n"


def test_arrays_become_tensors_and_back() -> None:
    for array in (np.arange(6, dtype=np.int16).reshape(2, 3), np.float32(2), np.array([True])):
        tensor = tf.make_tensor_proto(array)
        np.testing.assert_array_equal(tf.make_ndarray(tensor), array)
    assert tf.make_tensor_proto([1.5]).dtype == tf.float32.as_datatype_enum
    assert tf.make_tensor_proto(3).dtype == tf.int32.as_datatype_enum
    assert tf.make_ndarray(tf.make_tensor_proto(1, tf.float16, [2])).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError):
        tf.make_tensor_proto("text")


@pytest.mark.parametrize("name", ["Session", "Graph", "import_graph_def", "keras"])
def test_what_is_not_there_says_what_to_do(name: str) -> None:
    for module in (tf, tf.compat.v1, tf.compat, tf.io, tf.gfile):
        with pytest.raises(AttributeError, match=rf"{name} is not in .*save the frozen graph"):
            getattr(module, name)
