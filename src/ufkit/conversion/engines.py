"""What runs an ONNX file: ONNX Runtime, or where that is missing the evaluator in `onnx`.

Whatever they raise becomes an error of ours.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.conversion.rules import ONNX_REFUSED
from ufkit.core.diag import (
    FormatError,
    RequestError,
    UfkitError,
    Where,
)
from ufkit.core.files import PathLike, need
from ufkit.uff.rules import BAD_INPUT
from ufkit.wire.schema import did_you_mean

Array = NDArray[Any]
Run = Callable[[Mapping[str, Array]], dict[str, Array]]

ONNXRUNTIME, REFERENCE = "onnxruntime", "reference"


def best_engine() -> str:
    """ONNX Runtime when it is installed."""
    return ONNXRUNTIME if importlib.util.find_spec(ONNXRUNTIME) else REFERENCE


@dataclass(frozen=True, slots=True)
class Port:
    """An input of a model: sizes that are open are strings; `shape` None means any."""

    name: str
    dtype: str
    shape: tuple[int | str, ...] | None

    def __str__(self) -> str:
        sizes = "?" if self.shape is None else ", ".join(map(str, self.shape))
        return f"{self.name} {self.dtype}[{sizes}]"

    def accepts(self, array: Array) -> bool:
        """Whether an array of that type and shape can be fed."""
        if self.dtype and array.dtype.name != self.dtype:
            return False
        return self.shape is None or (
            len(self.shape) == array.ndim
            and all(
                not isinstance(size, int) or size == actual
                for size, actual in zip(self.shape, array.shape, strict=True)
            )
        )


@dataclass(frozen=True, slots=True)
class Session:
    """An ONNX file that an engine has taken."""

    path: str
    inputs: tuple[Port, ...]
    _run: Run

    def run(self, feeds: Mapping[str, Any]) -> dict[str, Array]:
        """The outputs by name. Raises RequestError (UFF401) for feeds that do not fit."""
        ports = {port.name: port for port in self.inputs}
        for name in feeds:
            if name not in ports:
                message = f"{name!r} is no input; the model takes {', '.join(ports) or 'none'}"
                raise self._bad(message, did_you_mean(name, ports))
        arrays: dict[str, Array] = {}
        for name, port in ports.items():
            if name not in feeds:
                raise self._bad(f"nothing is given for input {port}")
            arrays[name] = self._fitted(port, np.asarray(feeds[name]))
        with _ours(self.path, "the model does not run"):
            return self._run(arrays)

    def _fitted(self, port: Port, array: Array) -> Array:
        wanted = np.dtype(port.dtype) if port.dtype else array.dtype
        given = f"{array.dtype}[{', '.join(map(str, array.shape))}]"
        if np.can_cast(array.dtype, wanted, "same_kind"):
            array = array.astype(wanted, copy=False)
        if not port.accepts(array):
            raise self._bad(f"the array given is {given}; the input is {port}")
        return array

    def _bad(self, message: str, hint: str | None = None) -> RequestError:
        return RequestError(BAD_INPUT.at(Where(self.path), message, hint=hint))


def open_onnx(path: PathLike, *, engine: str = ONNXRUNTIME) -> Session:
    """An ONNX file on an engine: "onnxruntime", or "reference" for the evaluator in `onnx`.

    Raises MissingExtraError, FormatError (CNV201) when the engine does not take the model.
    """
    name = os.fspath(path)
    with _ours(name, "the model is refused"):
        return _reference(name) if engine == REFERENCE else _runtime(name)


def _runtime(path: str) -> Session:
    runtime = need(ONNXRUNTIME, "run")
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # what goes wrong is raised as well
    session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ports = tuple(
        Port(item.name, _RUNTIME_TYPES.get(item.type, ""), _sizes(item.shape))
        for item in session.get_inputs()
    )
    names = [output.name for output in session.get_outputs()]

    def run(feeds: Mapping[str, Array]) -> dict[str, Array]:
        return dict(zip(names, session.run(names, dict(feeds)), strict=True))

    return Session(path, ports, run)


def _reference(path: str) -> Session:
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = onnx.load(path)
    evaluator = ReferenceEvaluator(model)
    weights = {item.name for item in model.graph.initializer}
    ports = tuple(_port(item) for item in model.graph.input if item.name not in weights)

    def run(feeds: Mapping[str, Array]) -> dict[str, Array]:
        values = evaluator.run(None, dict(feeds))
        return dict(zip(evaluator.output_names, values, strict=True))

    return Session(path, ports, run)


_RUNTIME_TYPES = {
    f"tensor({theirs})": ours
    for theirs, ours in (
        ("float", "float32"),
        ("double", "float64"),
        *((name, name) for name in ("float16", "bool", "int8", "int16", "int32", "int64")),
        *((name, name) for name in ("uint8", "uint16", "uint32", "uint64")),
    )
}


def _sizes(shape: Any) -> tuple[int | str, ...] | None:
    if shape is None:
        return None
    return tuple(size if isinstance(size, int) else str(size or "?") for size in shape)


def _port(item: Any) -> Port:
    import onnx

    tensor = item.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
    if not tensor.HasField("shape"):
        return Port(item.name, dtype, None)
    sizes = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param
             for dim in tensor.shape.dim]  # fmt: skip
    return Port(item.name, dtype, _sizes(sizes))


@contextmanager
def _ours(path: str, what: str) -> Iterator[None]:
    """Turn what an engine raises into our errors: its classes share no base but Exception."""
    try:
        yield
    except (UfkitError, MemoryError):
        raise
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        message = f"{what}: {lines[0] if lines else type(error).__name__}"
        raise FormatError(ONNX_REFUSED.at(Where(path), message)) from error
