"""What the fixture `viewer` gives: arguments of `ufkit view` in, the address of the page out."""

from collections.abc import Callable

Viewer = Callable[..., str]
