"""The cases that ONNX brings for its own operators: converted rightly, or refused; never wrong."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from ufkit.conversion.onnx_graph import open_graph
from ufkit.conversion.onnx_ops import ENTRIES
from ufkit.conversion.onnx_uff import from_onnx
from ufkit.core.diag import NotSupportedError, UfkitError
from ufkit.core.dtypes import DTYPES
from ufkit.core.files import Source
from ufkit.uff.evaluate import evaluate

Array = np.ndarray[Any, Any]
Case = tuple[onnx.ModelProto, list[Array], list[Array]]
_TYPES = {dtype.name for dtype in DTYPES}
# Of what a claimed operator's cases must convert at least this many: the others ask for types,
# numbers known only at run time, or uses that UFF has no words for.
_LEAST = 0.3


@functools.cache
def cases() -> dict[str, list[tuple[str, Case]]]:
    """The cases of ONNX's operators, by operator."""
    from onnx.backend.test.case.node import collect_testcases

    found: dict[str, list[tuple[str, Case]]] = defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected = collect_testcases(None)
    for case in collected:
        for inputs, outputs in case.data_sets[:1]:
            op = case.model.graph.node[0].op_type
            expanded = "_expanded" in case.name
            arrays = [*map(_array, inputs)], [*map(_array, outputs)]
            key = "expanded" if expanded else op if op in ENTRIES else "other"
            found[key].append((case.name, (case.model, *arrays)))
    return found


def _array(item: Any) -> Any:
    """An array; sequences and what is absent stay what they are."""
    if isinstance(item, onnx.TensorProto):
        return numpy_helper.to_array(item)
    return np.asarray(item) if isinstance(item, np.generic) else item


GROUPS = [*sorted(ENTRIES), "expanded", "other"]  # of functions as their bodies, of the rest


def _variants(case: Case) -> Iterator[Case]:
    """The case as it is and, for what has to be constant, with inputs that are."""
    yield case
    model, inputs, outputs = case
    if len(model.graph.input) == len(inputs) and all(isinstance(a, np.ndarray) for a in inputs):
        for fed in (1, 0):
            fixed = onnx.ModelProto()
            fixed.CopyFrom(model)
            del fixed.graph.input[fed:]
            for info, array in zip(model.graph.input[fed:], inputs[fed:], strict=True):
                fixed.graph.initializer.append(numpy_helper.from_array(array, info.name))
            yield fixed, inputs[:fed], outputs


def _judge(name: str, case: Case) -> bool:
    """Whether the case was converted; a wrong result fails, and so does any other error."""
    model, inputs, outputs = case
    try:
        found = from_onnx(open_graph(Source(model.SerializeToString(), name)))
    except NotSupportedError:
        return False
    names = [info.name for info in model.graph.input]
    scalars = dict(zip(names, inputs, strict=False))
    fed = {id_: scalars[id_] for id_ in found.inference.inputs}
    got = evaluate(found.inference, fed)
    for info, expected in zip(model.graph.output, outputs, strict=False):
        _compare(name, got[info.name], np.asarray(expected))
    return True


def _compare(name: str, got: Array, expected: Array) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), name
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected, name)
        return
    finite = expected[np.isfinite(expected)]
    near = 3e-3 if expected.dtype == np.float16 else 1e-4
    if "averagepool" in name:
        near = 4e-4  # ONNX gives the result of one of them in four digits
    wide = got.astype(np.float64), expected.astype(np.float64)
    largest = float(np.abs(finite).max(initial=1))
    np.testing.assert_allclose(*wide, rtol=near, atol=near * largest, err_msg=name)


@pytest.mark.parametrize("op", GROUPS)
def test_each_case_is_right_or_refused(op: str) -> None:
    counts: Counter[bool] = Counter()
    for name, case in cases()[op]:
        if not _typed(case):
            continue
        judged = [_judge(name, variant) for variant in _variants(case)]
        counts[any(judged)] += 1
    if op in ENTRIES and op not in _SELDOM:
        assert counts[True] >= _LEAST * counts.total(), counts


def _typed(case: Case) -> bool:
    """Whether UFF has the types of all inputs and outputs."""
    arrays = [array for part in case[1:] for array in part]
    return all(not isinstance(a, list) and np.asarray(a).dtype.name in _TYPES for a in arrays)


# Operators whose cases are mostly in training mode, of opset 1, or work in double precision.
_SELDOM = {"Dropout", "Not", "ReduceLogSumExp"}


@pytest.mark.parametrize("op", GROUPS)
def test_what_has_other_types_ends_in_no_other_error(op: str) -> None:
    for name, case in cases()[op]:
        if not _typed(case):
            model = case[0].SerializeToString()
            with contextlib.suppress(UfkitError):
                from_onnx(open_graph(Source(model, name)))
