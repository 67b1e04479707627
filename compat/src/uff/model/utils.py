"""Small things that scripts import."""

from __future__ import annotations

int_types = (int,)


def convert_to_str(value: bytes | str) -> str:
    """A text of either kind as `str`."""
    return value.decode("utf-8") if isinstance(value, bytes) else value
