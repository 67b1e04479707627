"""Computes with TensorFlow what its operations give on the examples of the operator table.

The results are small and kept in `tests/conversion/tensorflow.npz`, so that the tests need no
TensorFlow. Run this, where TensorFlow 2 is installed, when an example is added or changed.

    python scripts/make_tensorflow_cases.py
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from graphs import arrays  # noqa: E402
from ufkit.core.dtypes import DType  # noqa: E402
from ufkit.uff.ops import OPS  # noqa: E402
from ufkit.uff.ops.spec import Example, OpSpec  # noqa: E402

TARGET = ROOT / "tests" / "conversion" / "tensorflow.npz"
# Not to be computed so: the CPU has no NCHW kernel, it has several results, or none of the name.
LEFT_OUT = ("_Snapshot", "_ResourceGather", "_ReadVariableOp")
RENAMED = {"squeeze_dims": "axis"}  # attributes that are called otherwise in Python


def computed(spec: OpSpec, example: Example) -> Any:
    """What TensorFlow's operation of that name gives: a tensor, or several."""
    operation = getattr(tf.raw_ops, spec.name.removeprefix("_"))
    parameters = inspect.signature(operation).parameters
    fed = [tf.constant(array) for array in arrays(example)]
    fields = {RENAMED.get(n, n): _attribute(value) for n, value in example.fields.items()}
    for at, name in enumerate(spec.inputs):
        if name.endswith("..."):
            stop = len(fed) - (len(spec.inputs) - at - 1)
            fed[at:stop] = [fed[at:stop]]
    named = dict(zip(parameters, fed, strict=False))
    if "is_training" in parameters:
        fields["is_training"] = False
    if spec.name == "_CheckNumerics":
        fields["message"] = "not finite"
    return operation(**named, **fields)


def _attribute(value: Any) -> Any:
    if isinstance(value, DType):
        return tf.as_dtype(value.name)
    return value[2:-1] if isinstance(value, str) and value.startswith("b'") else value


def main() -> None:
    """Compute and keep all of them."""
    results: dict[str, Any] = {}
    for spec in OPS.values():
        if not spec.custom or spec.plugin or spec.name in LEFT_OUT:
            continue
        for number, example in enumerate(spec.examples):
            if example.fields.get("data_format") == "NCHW":
                continue
            found = computed(spec, example)
            value = found[example.output] if isinstance(found, list | tuple) else found
            results[f"{spec.name}-{number}"] = value.numpy()
    np.savez_compressed(TARGET, **results)
    sys.stdout.write(f"{len(results)} results of TensorFlow {tf.__version__}\n")


if __name__ == "__main__":
    main()
