"""TensorFlow's Einsum: sums of products, said by naming axes."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ufkit.uff.dims import Dim, show, unify
from ufkit.uff.ops.elementwise import broadcast, in_double
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE
from ufkit.uff.rules import FIELD_VALUE

_REST = "..."


def _terms(call: Call) -> tuple[list[str], str]:
    """The labels of each input, and those of the result. Raises FormatError (UFF208)."""
    equation = call["equation"].replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if not arrow:
        result = _implied(left)
    for term in (*terms, result):
        if not _is_term(term):
            call.fail(FIELD_VALUE, f"{term!r} in {equation!r} names no axes", "equation")
    if len(terms) != len(call.inputs):
        message = f"{equation!r} names {len(terms)} tensors, there are {len(call.inputs)}"
        call.fail(FIELD_VALUE, message, "equation")
    labels = result.replace(_REST, "")
    if len(set(labels)) < len(labels) or not set(labels) <= set(left):
        message = f"the result of {equation!r} must name axes of the inputs, each once"
        call.fail(FIELD_VALUE, message, "equation")
    return terms, result


def _is_term(term: str) -> bool:
    labels = term.replace(_REST, "", 1)
    return not labels or (labels.isascii() and labels.isalpha())


def _implied(left: str) -> str:
    """The result where the equation does not say it: labels that stand once, sorted."""
    counts = Counter(left.replace(_REST, "").replace(",", ""))
    once = sorted(label for label, count in counts.items() if count == 1)
    return _REST * (_REST in left) + "".join(once)


def _infer(call: Call) -> Facts:
    terms, result = _terms(call)
    sizes: dict[str, int | Dim] = {}
    rest: list[Facts] = []
    for i, term in enumerate(terms):
        shape = call.shape(i)
        before, dots, behind = term.partition(_REST)
        spare = len(shape) - len(before) - len(behind)
        if spare < 0 or (spare and not dots):
            call.conflict(f"{term!r} does not name the axes of {show(shape)}")
        stop = len(before) + spare
        rest.append(Facts(shape[len(before) : stop]))
        named = (*shape[: len(before)], *shape[stop:])
        for label, size in zip(before + behind, named, strict=True):
            both = unify(sizes.get(label, size), size)
            if both is None:
                call.conflict(f"axis {label!r} is both {sizes[label]} and {size}")
            sizes[label] = both
    outer = broadcast(Call(call.node, call.spec, rest))
    if outer and _REST not in result:
        call.conflict(f"the axes {show(outer)} that '...' stands for are not in the result")
    before, dots, behind = result.partition(_REST)
    middle = outer if dots else ()
    shape = (*(sizes[label] for label in before), *middle, *(sizes[label] for label in behind))
    return Facts(shape, call.inputs[0].dtype)


def _equation(call: Call) -> str:
    terms, result = _terms(call)
    return f"{','.join(terms)}->{result}"


def _evaluate(call: Call, *arrays: Array) -> Array:
    """The sum over all axes that the result does not name."""
    equation = _equation(call)
    total = in_double(lambda *wide: np.einsum(equation, *wide, optimize=len(wide) > 1), *arrays)
    return total.astype(arrays[0].dtype)


def _to_onnx(call: Call, emit: Emitter) -> None:
    """ONNX wants `...` to stand for as many axes in each tensor that has it."""
    terms, _ = _terms(call)
    spare = [call.rank(i) - len(term.replace(_REST, "")) for i, term in enumerate(terms)]
    names = []
    for i, term in enumerate(terms):
        name, first = emit.value(i), term.find(_REST)
        if first >= 0 and (lacking := max(spare) - spare[i]):
            name = emit.node("Unsqueeze", name, emit.constant([*range(first, first + lacking)]))
        names.append(name)
    emit.result(emit.node("Einsum", *names, equation=_equation(call)))


def _case(equation: str, *shapes: tuple[int, ...]) -> Example:
    return Example(shapes, {"equation": f"b'{equation}'"})


EINSUM = OpSpec(
    name="_Einsum",
    doc="Products summed over axes named by letters: `ij,jk->ik` is a matrix product, `...` the "
    "axes not named. Without `->` the result has the letters that stand once, sorted.",
    inputs=("inputs...",),
    fields={"T": TYPE, "equation": Field("s", "letters of each input's axes, and the result's")},
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    examples=(
        _case("ij,jk->ik", (2, 3), (3, 4)),
        _case("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
        _case("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
        _case("bi->b", (2, 3)),
        _case("bii->bi", (2, 3, 3)),
        _case("abc->cab", (2, 3, 4)),
    ),
)
