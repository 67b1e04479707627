"""Graphs drawn at random, for properties that any graph has."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ufkit.uff.build import Builder


@st.composite
def dags(draw: st.DrawFn) -> Builder:
    """A graph on [2, 3], element by element: an Input `n0`, and constants among what follows.

    Outputs are its last node and some of the others, each once.
    """
    b = Builder()
    b.input("n0", [2, 3])
    number = st.floats(-2, 2, width=32)
    for i in range(1, draw(st.integers(2, 12))):
        before = st.sampled_from([f"n{j}" for j in range(i)])
        operation = draw(st.sampled_from(["Const", "Unary", "Activation", "Binary"]))
        if operation == "Const":
            elements = draw(st.lists(number, min_size=6, max_size=6))
            b.const(f"n{i}", np.array(elements, np.float32).reshape(2, 3))
        elif operation == "Binary":
            func = draw(st.sampled_from(["add", "sub", "mul", "max"]))
            b.op(f"n{i}", operation, [draw(before), draw(before)], func=func)
        else:
            func = "neg" if operation == "Unary" else "tanh"
            b.op(f"n{i}", operation, [draw(before)], func=func)
    last = f"n{i}"
    b.output(last, *draw(st.sets(st.sampled_from([f"n{j}" for j in range(i)]), max_size=2)))
    return b
