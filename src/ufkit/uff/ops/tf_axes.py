"""TensorFlow operations that are core ones but take axes, or a permutation, as inputs.

The converter turned those it knew into fields; what another one left unchanged is read here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ufkit.core.dtypes import INT32, INT64
from ufkit.uff.ops.elementwise import IDENTITY
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.join import CONCAT, STACK
from ufkit.uff.ops.rearranged import rearranged
from ufkit.uff.ops.reduce import ARG_MAX, ARG_MIN, REDUCE
from ufkit.uff.ops.reshape import EXPAND_DIMS, RESHAPE, SHAPE, SQUEEZE, TRANSPOSE
from ufkit.uff.ops.select import GATHER, GATHER_V2, PAD, STRIDED_SLICE, known_integers
from ufkit.uff.ops.spec import Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE, stands_for

_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1
_KEEP = Field("b", "whether the axes stay, with length 1", False)


def _i32(*numbers: int) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.int32)


def _first_only(count: int) -> tuple[int, ...]:
    return (0,)


def _one(field: str, at: int = 1) -> Callable[[Call], dict[str, Any]]:
    """The field of the core operation that is one number in input `at`."""

    def values(call: Call) -> dict[str, Any]:
        (number,) = known_integers(call, at % len(call.inputs), 1)
        return {field: number}

    return values


# -- Mean, Sum and the like, ArgMax ----------------------------------------------------------


def _reduction(func: str) -> OpSpec:
    def values(call: Call) -> dict[str, Any]:
        return {"func": func, "axes": known_integers(call, 1), "keepdims": call.own("keep_dims")}

    examples = tuple(
        Example((_X, axes), {"keep_dims": keep}, const=(1,))
        for axes in (_i32(0, -1), np.array(1, np.int32))
        for keep in (True, False)
    )
    stand_in = stands_for(
        f"_{func.capitalize()}",
        REDUCE,
        f"Reduce with func `{func}`.",
        values,
        {"Tidx": TYPE, "keep_dims": _KEEP},
        examples,
    )
    return rearranged(stand_in, ("x", "axis"), _first_only)


def _search(core: OpSpec) -> OpSpec:
    def values(call: Call) -> dict[str, Any]:
        return {**_one("axis")(call), "output_type": call.own("output_type")}

    kind = Field("dtype", "element type of the result", INT64)
    stand_in = stands_for(
        f"_{core.name}",
        replace(core, fields={**core.fields, "output_type": kind}),
        f"{core.name}, as `output_type` says.",
        values,
        {"Tidx": TYPE, "output_type": kind},
        (
            Example((_X, np.array(1, np.int32)), const=(1,)),
            Example((_X, np.array(-1, np.int32)), {"output_type": INT32}, const=(1,)),
        ),
    )
    return rearranged(stand_in, ("x", "dimension"), _first_only)


REDUCTIONS = (
    *map(_reduction, ("mean", "sum", "max", "min", "prod")),
    *map(_search, (ARG_MAX, ARG_MIN)),
)

# -- Concat, Pack ----------------------------------------------------------------------------

_N = Field("i", "how many there are, as the inputs say", None)

JOINS = (
    rearranged(
        stands_for(
            "_ConcatV2",
            CONCAT,
            "Concat.",
            _one("axis", -1),
            {"N": _N, "Tidx": TYPE},
            (Example(((2, 3, 4), (2, 5, 4), np.array(-2, np.int32)), const=(2,)),),
        ),
        ("values...", "axis"),
        lambda count: range(count - 1),
    ),
    rearranged(
        stands_for(
            "_Concat",
            CONCAT,
            "Concat.",
            _one("axis", 0),
            {"N": _N},
            (Example((np.array(1, np.int32), (2, 3, 4), (2, 5, 4)), const=(0,)),),
        ),
        ("concat_dim", "values..."),
        lambda count: range(1, count),
    ),
    stands_for(
        "_Pack",
        STACK,
        "Stack.",
        lambda call: {"axis": call.own("axis")},
        {"N": _N, "axis": Field("i", "place of the new axis in the result", 0)},
        (Example(((2, 3), (2, 3)), {"axis": -1}),),
    ),
)

# -- shapes ----------------------------------------------------------------------------------

_OUT_TYPE = Field("dtype", "element type of the result", INT32)

SHAPES = (
    stands_for(
        "_Reshape",
        RESHAPE,
        "Reshape.",
        fields={"Tshape": TYPE},
        examples=(Example(((2, 3, 4), _i32(-1, 6)), const=(1,)),),
    ),
    stands_for(
        "_Squeeze",
        SQUEEZE,
        "Squeeze.",
        lambda call: {"axes": call.own("squeeze_dims")},
        {"squeeze_dims": Field("i_list", "axes to remove; none means all of length 1", [])},
        (Example(((2, 1, 3, 1),), {"squeeze_dims": [-1]}), Example(((1, 3, 1),))),
    ),
    rearranged(
        stands_for(
            "_ExpandDims",
            EXPAND_DIMS,
            "ExpandDims.",
            _one("axis"),
            {"Tdim": TYPE},
            (Example(((2, 3), np.array(-1, np.int32)), const=(1,)),),
        ),
        ("x", "dim"),
        _first_only,
    ),
    rearranged(
        stands_for(
            "_Transpose",
            TRANSPOSE,
            "Transpose.",
            lambda call: {"permutation": known_integers(call, 1)},
            {"Tperm": TYPE},
            (Example(((2, 3, 4), _i32(2, 0, 1)), const=(1,)),),
        ),
        ("x", "perm"),
        _first_only,
    ),
    stands_for(
        "_Shape",
        replace(SHAPE, fields={"out_type": _OUT_TYPE}),
        "Shape, as `out_type` says.",
        lambda call: {"out_type": call.own("out_type")},
        {"out_type": _OUT_TYPE},
        (Example(((2, 3, 4),)), Example(((2, 3, 4),), {"out_type": INT64})),
    ),
    stands_for("_Pad", PAD, "Pad.", fields={"Tpaddings": TYPE}),
)

# -- parts -----------------------------------------------------------------------------------


def _gather_v2(call: Call) -> dict[str, Any]:
    if call.own("batch_dims"):
        call.conflict("batch_dims other than 0 are not understood here")
    return _one("axis", 2)(call)


_MASKS = {
    "begin_mask": Field("i", "entries whose axis starts at its beginning", 0),
    "end_mask": Field("i", "entries whose axis runs to its end", 0),
    "shrink_axis_mask": Field("i", "entries of whose axis one element is taken", 0),
    "ellipsis_mask": Field("i", "the entry that stands for all axes not mentioned", 0),
    "new_axis_mask": Field("i", "entries that are a new axis of length 1", 0),
}

PARTS = (
    rearranged(
        stands_for(
            "_GatherV2",
            GATHER_V2,
            "GatherV2.",
            _gather_v2,
            {
                "Tparams": TYPE,
                "Tindices": TYPE,
                "Taxis": TYPE,
                "batch_dims": Field("i", "axes that both have in common; only 0 is read", 0),
            },
            (Example(((2, 5, 3), _i32(4, 0), np.array(-2, np.int32)), const=(1, 2)),),
        ),
        ("params", "indices", "axis"),
        lambda count: (0, 1),
    ),
    stands_for(
        "_Gather",
        GATHER,
        "Gather.",
        fields={
            "Tparams": TYPE,
            "Tindices": TYPE,
            "validate_indices": Field("b", "has no effect", True),
        },
    ),
    stands_for(
        "_StridedSlice",
        replace(STRIDED_SLICE, fields=_MASKS),
        "StridedSlice, with entries that stand for the axes not mentioned or for a new one.",
        lambda call: {name: call.own(name) for name in _MASKS},
        {"Index": TYPE, **_MASKS},
        (
            *STRIDED_SLICE.examples,
            Example(
                (_X, _i32(0, 9, -1), _i32(0, 9, 0), _i32(1, 1, 1)),
                {"ellipsis_mask": 1, "new_axis_mask": 2, "shrink_axis_mask": 4},
                const=(1, 2, 3),
            ),
            Example(
                (_X, _i32(0, 1, 0, 0), _i32(0, 2, 0, 3), _i32(1, 1, 1, 2)),
                {"new_axis_mask": 1, "ellipsis_mask": 4},
                const=(1, 2, 3),
            ),
        ),
    ),
)

# -- what passes its input on ----------------------------------------------------------------


def _infer_alone(call: Call) -> Facts:
    if len(call.inputs) > 1:
        call.conflict(f"which of its {len(call.inputs)} results is meant the file does not say")
    return call.inputs[0]


PASSED_ON = (
    replace(
        stands_for("_IdentityN", IDENTITY, "Its input, of which there may be but one."),
        inputs=("x...",),
        infer=_infer_alone,
    ),
    *(
        stands_for(name, IDENTITY, doc)
        for name, doc in (
            ("_Identity", "Its input."),
            ("_ReadVariableOp", "Its input: a variable that was frozen."),
        )
    ),
    rearranged(
        stands_for(
            "_Print",
            IDENTITY,
            "Its first input; what it prints is not printed.",
            examples=(Example(((2, 3), (2,))),),
        ),
        ("x", "data..."),
        _first_only,
    ),
)

TF_AXES = (*REDUCTIONS, *JOINS, *SHAPES, *PARTS, *PASSED_ON)
