"""How far bytes that nobody vouches for can be a message of a schema."""

from __future__ import annotations

import enum
import functools
import re

from ufkit.core.diag import FormatError
from ufkit.core.files import Source
from ufkit.wire.reader import I32, I64, LEN, Record, scan
from ufkit.wire.schema import FieldType, MessageType
from ufkit.wire.values import fits

SMALL = 512  # bytes of a message whose verdict is remembered: most fields of a file repeat
_FIELDS, _TEXT = 64, 4096  # what is looked at of one message when the budget is used up
_ENDLESS = re.compile(rb"[\x80-\xff]{10}")  # no integer goes on that long


class Verdict(enum.IntEnum):
    """What bytes are worth, the least first."""

    BROKEN = 0  # not a message of the type, or damaged in it
    SOUND = 1  # it can be read; fields that are unknown, or given twice, are among it
    PLAUSIBLE = 2  # what a writer of the schema makes


class Budget:
    """Work that a whole file may cost, so that bytes made to be looked at again and again end.

    Eight steps for each byte are more than any file takes whose messages do not overlap.
    """

    def __init__(self, size: int) -> None:
        self._left = 8 * size

    def scan(self, source: Source, start: int, stop: int) -> dict[int, list[Record]] | None:
        """The fields of one level; None where they are damaged, or too many to be looked at."""
        most = max(self._left, _FIELDS)
        try:
            fields = scan(source, start, stop, most)
        except FormatError as error:
            self._left -= min(most, (error.diagnostic.where.start or start) - start)
            return None
        self._left -= sum(map(len, fields.values()))
        end = max((records[-1][3] for records in fields.values()), default=stop)
        return fields if end == stop else None

    def allows(self, nbytes: int) -> bool:
        """Whether a text of that length may be looked at; it is counted."""
        self._left -= nbytes // 64
        return nbytes <= _TEXT or self._left >= 0


def judge(type_: MessageType, source: Source, start: int, stop: int, budget: Budget) -> Verdict:
    """The verdict on bytes as a message of a type, all the messages in it included.

    What bytes fields hold is not looked at.
    """
    if stop - start <= SMALL:
        return _remembered(type_, bytes(source.piece(start, stop)))
    return _judge(type_, source, start, stop, budget)


@functools.lru_cache(maxsize=8192)
def _remembered(type_: MessageType, data: bytes) -> Verdict:
    return _judge(type_, Source(data), 0, len(data), Budget(len(data)))


def _judge(type_: MessageType, source: Source, start: int, stop: int, budget: Budget) -> Verdict:
    fields = budget.scan(source, start, stop)
    if fields is None:
        return Verdict.BROKEN
    verdict = Verdict.PLAUSIBLE
    for number, records in fields.items():
        field = type_.numbers.get(number)
        found = Verdict.SOUND if field is None else judge_field(field, source, records, budget)
        verdict = min(verdict, found)
        if verdict is Verdict.BROKEN:
            return verdict
    if any(sum(m.number in fields for m in members) > 1 for members in type_.oneofs.values()):
        return Verdict.SOUND
    return verdict


def judge_field(field: FieldType, source: Source, records: list[Record], budget: Budget) -> Verdict:
    """The verdict on what is at hand of one field."""
    once = field.repeated or len(records) == 1
    verdict = Verdict.PLAUSIBLE if once else Verdict.SOUND
    for _, wire, start, stop in records:
        if not fits(field, wire):
            verdict = min(verdict, Verdict.SOUND)
        elif wire != LEN or field.kind == "bytes":
            continue
        elif field.kind == "message":
            verdict = min(verdict, judge(field.type, source, start, stop, budget))
        elif field.kind == "string":
            verdict = min(verdict, _text(source, start, stop, budget))
        else:
            verdict = min(verdict, _packed(field, source, start, stop))
        if verdict is Verdict.BROKEN:
            break
    return verdict


def _text(source: Source, start: int, stop: int, budget: Budget) -> Verdict:
    if not budget.allows(stop - start):
        return Verdict.BROKEN
    try:
        str(source.piece(start, stop), "utf-8")
    except UnicodeDecodeError:
        return Verdict.BROKEN
    return Verdict.PLAUSIBLE


def _packed(field: FieldType, source: Source, start: int, stop: int) -> Verdict:
    if size := {I64: 8, I32: 4}.get(field.wire):
        return Verdict.BROKEN if (stop - start) % size else Verdict.PLAUSIBLE
    data = source.piece(start, stop)
    whole = start == stop or (data[-1] < 128 and not _ENDLESS.search(data))
    return Verdict.PLAUSIBLE if whole else Verdict.BROKEN
