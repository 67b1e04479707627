"""Copies of messages that share what lies in files."""

from __future__ import annotations

from typing import Any

from ufkit.wire.message import Message


def copied(message: Message) -> Message:
    """A message of its own with the same content, edits and unknown fields included.

    What was not edited stays where it is: both share those bytes, so that copying a graph costs
    nothing of its weights.
    """
    twin = Message(message.type, message.span)
    if message.original is None:
        twin._edited = True
        twin._records = message._records
        twin._set = {name: _value(value, twin) for name, value in message._set.items()}
        twin._children = {
            at: _value(child, twin)
            for at, child in message._children.items()
            if child.original is None
        }
    return twin


def _value(value: Any, owner: Message) -> Any:
    """A field's value for another message; lists are edited in place, so each has its own."""
    if isinstance(value, list):
        return [_value(item, owner) for item in value]
    if isinstance(value, Message):
        value = copied(value)
        value._parent = owner
        value.depth = owner.depth + 1
    return value
