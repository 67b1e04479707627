"""From one format into another, with proof.

Not here: training, quantisation, anything that needs TensorFlow.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """`ufkit.convert` is this package and, for users, a function: calling it is `pairs.convert`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from ufkit.convert.pairs import convert

        return convert(*args, **kwargs)


sys.modules[__name__].__class__ = _Package
