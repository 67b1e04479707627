"""A contract that every entry of the operator table keeps, whoever wrote it."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from graphs import feeds, output, scalars, single
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.evaluate import evaluate
from ufkit.uff.infer import infer
from ufkit.uff.ops import OPS
from ufkit.uff.ops.spec import Example, OpSpec

LENGTH_IS_DATA = ("_Range", "_Where", "_NonMaxSuppression")
ENDS = {"Input", "Const", "MarkOutput"}
CASES = [
    pytest.param(spec, example, id=f"{spec.key}-{n}")
    for spec in OPS.values()
    for n, example in enumerate(spec.examples)
]


def _run(model: onnx.ModelProto, fed: dict[str, np.ndarray]) -> np.ndarray:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, fed)[0]


def _takes(opset: int) -> bool:
    """Whether ONNX Runtime takes an opset: `onnx` may be ahead of it."""
    graph = onnx.parser.parse_graph("g (float[1] x) => (float[1] y) { y = Identity(x) }")
    opsets = [onnx.helper.make_opsetid("", opset)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9)
    try:
        _run(model, {"x": np.ones(1, np.float32)})
    except Exception:  # noqa: BLE001
        return False  # its errors share no base
    return True


NEWEST = max(filter(_takes, range(17, onnx.defs.onnx_opset_version() + 1)))


def test_every_operation_that_computes_has_an_example() -> None:
    assert {spec.name for spec in OPS.values() if not spec.examples} == ENDS


def test_the_thirty_core_operations_are_there() -> None:
    assert sum(not spec.custom for spec in OPS.values()) == 30


@pytest.mark.parametrize(("spec", "example"), CASES)
def test_shape_is_inferred_as_it_is_computed(spec: OpSpec, example: Example) -> None:
    graph = single(spec, example).graph
    inference = infer(graph, scalars(example))
    value = evaluate(inference, feeds(example))[output(example)]
    shape = inference.facts[output(example)].shape
    assert shape is not None
    assert len(shape) == value.ndim
    first = int(spec.name.startswith(LENGTH_IS_DATA))
    assert shape[first:] == value.shape[first:]
    assert inference.facts[output(example)].dtype.numpy == value.dtype


@pytest.mark.parametrize("opset", [13, 17, NEWEST])
@pytest.mark.parametrize(("spec", "example"), CASES)
def test_onnx_runtime_agrees_with_the_reference(spec: OpSpec, example: Example, opset: int) -> None:
    graph = single(spec, example).graph
    conversion = to_onnx(graph, opset=opset, shapes=scalars(example))
    expected = evaluate(conversion.inference, feeds(example))[output(example)]
    model = conversion.model.to_proto()
    onnx.checker.check_model(model, full_check=True)
    got = _run(model, feeds(example))
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(("spec", "example"), CASES)
def test_an_open_batch_stays_open(spec: OpSpec, example: Example) -> None:
    graph = single(spec, example, open_batch=True).graph
    if not graph.inputs:
        pytest.skip("the example has constants only")
    if example.orders == "CN_KC":
        pytest.skip("the first axis is no batch here")
    if graph.inputs[0].fields["shape"] == []:
        pytest.skip("the example's inputs are scalars")
    conversion = to_onnx(graph, shapes=scalars(example))
    declared = conversion.model.proto.graph.input[0].type.tensor_type.shape.dim[0]
    assert declared.dim_param == "N"
    expected = evaluate(conversion.inference, feeds(example))[output(example)]
    got = _run(conversion.model.to_proto(), feeds(example))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(("spec", "example"), CASES)
def test_channels_first_turns_inputs_and_outputs_only(spec: OpSpec, example: Example) -> None:
    graph = single(spec, example).graph
    conversion = to_onnx(graph, channels_first=True, shapes=scalars(example))
    fed = {id_: feeds(example)[id_].transpose(order) for id_, order in conversion.inputs.items()}
    expected = evaluate(conversion.inference, feeds(example))[output(example)]
    got = _run(conversion.model.to_proto(), fed)
    expected = expected.transpose(conversion.outputs[output(example)])
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
