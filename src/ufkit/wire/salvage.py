"""What is left of a damaged message: its whole parts, found again behind the damage.

A file is taken for a row of parts. A part that begins where the one before it ends is believed
when it can be read. Where none can, the next landmark is looked for, byte by byte: a part that
says so much of itself that chance does not make it. Lengths of what holds parts are not believed.

Not here: what the parts mean. Values that were changed in place, with every length intact, look
like any others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ufkit.core.files import Source
from ufkit.wire.cut import Open, cut_at
from ufkit.wire.landmarks import Landmarks, Layout
from ufkit.wire.message import Message
from ufkit.wire.reader import LEN, Record
from ufkit.wire.schema import MessageType
from ufkit.wire.values import fits

_STRANGERS = 16  # parts in a row that are believed although the schema does not know them

Row = list[tuple[int, Record]]  # parts, each with the number of its field


@dataclass(slots=True)
class Container:
    """A message that is a row of parts. `record` begins and ends where they do if it has lost
    its own head; `stop` is None when its length is not believed any more."""

    record: Record
    stop: int | None
    parts: Row = field(default_factory=list)
    damaged: bool = False  # it is to be made anew
    misfit: bool = False  # its length is not that of what it holds
    headless: bool = False


@dataclass(frozen=True)
class Salvage:
    """What was found.

    intact      whether the message is all of the source, as it is
    message     the surviving parts, spans of the source; all of it as it is where nothing is lost
    lost        bytes that are in no part: begin and end of each range, in order
    cut         the fields that the file's end cuts through, if all that was before fits; they
                are the end of the last range of `lost`
    misfits     where containers begin whose length is not that of what they hold
    landmarks   how many were found
    """

    intact: bool
    message: Message
    lost: tuple[tuple[int, int], ...]
    cut: tuple[Open, ...] | None
    misfits: tuple[int, ...]
    landmarks: int


def salvage(source: Source, layout: Layout) -> Salvage:
    """All that can be told to be whole in a source. Raises nothing for what is in it."""
    return _Walk(source, layout).run()


class _Walk:
    def __init__(self, source: Source, layout: Layout) -> None:
        self.source, self.size, self.layout = source, source.size, layout
        self.marks = Landmarks(source, layout)
        self.root: Row = []
        self.containers: list[Container] = []
        self.open: Container | None = None
        self.last: Row | None = None  # the row that ends where we are
        self.lost: list[tuple[int, int]] = []
        self.cut: tuple[Open, ...] | None = None

    def run(self) -> Salvage:
        at = 0
        while at < self.size:
            after = self.next_part(at) or self.landmark_at(at)
            if after is None:
                self.cut = cut_at(self.marks, self.level(at), at)
                if self.cut is not None:
                    self.lost.append((at, self.size))
                    break
                after = self.behind_damage(at)
            at = after
        return self.result()

    # -- going on ----------------------------------------------------------------------------

    def next_part(self, at: int) -> int | None:
        """Take the part at `at` as what follows the one before; where it ends."""
        inside = self.open if self.open and at != self.open.stop else None
        if not inside and (head := self.marks.open_head(at)):
            return self.enter(at, *head)
        limit = inside.stop if inside and inside.stop and inside.stop > at else self.size
        found = self.marks.record(at, limit)
        if found is None:
            return None
        number, record = found
        part = self.level(at).numbers.get(number)
        if part is None or not fits(part, record[1]):
            return self.strangers(at, limit)
        if not self.marks.believable(part, record):
            return None
        if not part.repeated and not self.repeats(number, record, self.row(inside)):
            return None
        self.take(inside, number, record)
        return record[3]

    def level(self, at: int) -> MessageType:
        """The type of message that `at` lies in."""
        inside = self.open is not None and at != self.open.stop
        return self.layout.container.type if inside else self.layout.root

    def row(self, inside: Container | None) -> Row:
        return inside.parts if inside else self.root

    def repeats(self, number: int, record: Record, row: Row) -> bool:
        """Whether a singular field is the first in its row, or says the same again."""
        view = self.source.view
        return all(view(r[0], r[3]) == view(record[0], record[3]) for n, r in row if n == number)

    def strangers(self, at: int, limit: int) -> int | None:
        """Take fields that the schema does not have, if what they lead to is in its place."""
        inside = self.open if self.open and at != self.open.stop else None
        end = inside.stop if inside else self.size
        type_ = self.level(at)
        found: Row = []
        while at != end and not self.marks.part(at):
            stranger = self.marks.record(at, limit)
            if stranger is None or len(found) == _STRANGERS:
                return None
            number, record = stranger
            part = type_.numbers.get(number)
            known = part is not None and fits(part, record[1])
            if known or self.marks.is_displaced(record):
                return None
            found.append(stranger)
            at = record[3]
        for number, record in found:
            self.take(inside, number, record)
        return at if found else None

    def take(self, inside: Container | None, number: int, record: Record) -> None:
        if not inside:
            self.close(record[0])
        row = self.row(inside)
        row.append((number, record))
        self.last = row

    # -- containers --------------------------------------------------------------------------

    def enter(self, at: int, value: int, stop: int) -> int:
        self.close(at)
        fits_in = stop <= self.size
        self.open = Container((at, LEN, value, stop), stop if fits_in else None)
        self.open.damaged = self.open.misfit = not fits_in
        self.containers.append(self.open)
        self.last = None
        return value

    def close(self, at: int) -> None:
        if self.open and at != self.open.stop:
            self.open.damaged = self.open.misfit = True
        self.open = None

    def owner_at(self, at: int) -> Container:
        """The container that a landmark found at `at` belongs to: one without a head if none."""
        if self.open is None:
            self.open = Container((at, LEN, at, at), None, damaged=True, headless=True)
            self.containers.append(self.open)
        elif self.open.stop is not None:
            self.open.stop = None
            self.open.damaged = self.open.misfit = True
        return self.open

    # -- landmarks ---------------------------------------------------------------------------

    def landmark_at(self, at: int) -> int | None:
        """Take the part at `at`, wherever it belongs, if it can be nothing else; where it ends."""
        if head := self.marks.head(at):
            return self.enter(at, *head)
        found = self.marks.part(at)
        if found is None:
            return None
        part, record = found
        owner = self.owner_at(at) if self.layout.in_container(part) else None
        self.take(owner, part.number, record)
        return record[3]

    def behind_damage(self, at: int) -> int:
        """Where the next landmark is. What was taken last is given up when it lies in there."""
        if self.open:
            if self.open.stop == at and not self.open.damaged:
                self.open = None
            else:
                self.open.damaged = True
        begin = self.last[-1][1][0] if self.last else at
        found = self.marks.search(begin + 1)
        if self.last and (found < at or self.is_doubtful(*self.last[-1])):
            self.last.pop()
        else:
            begin = at
        self.last = None
        self.lost.append((begin, found))
        return found

    def is_doubtful(self, number: int, record: Record) -> bool:
        """Whether a part right before damage lacks what makes it a landmark."""
        mark = self.layout.numbers.get(number)
        return mark is not None and not self.marks.is_value(mark, record[2], record[3])

    # -- what was found ----------------------------------------------------------------------

    def result(self) -> Salvage:
        self.close(self.size)
        kept = [one for one in self.containers if self.is_worth(one)]
        lost = tuple(_joined(sorted(self.lost)))
        anew = {
            one.record[0]: Message.of_records(self.layout.container.type, self.source, one.parts)
            for one in kept
            if one.damaged
        }
        whole = Message.read(self.layout.root, self.source)
        intact = self.size > 0 and not lost and not anew
        found = [*self.root, *(part for one in kept for part in one.parts)]
        return Salvage(
            intact,
            whole if intact else self.made_of(kept, anew),
            lost,
            self.cut,
            tuple(one.record[0] for one in kept if one.misfit and not one.headless),
            sum(number in self.layout.numbers for number, _ in found),
        )

    def is_worth(self, one: Container) -> bool:
        """Whether a container is whole or holds a landmark; what it has is lost otherwise."""
        if one.stop is not None and not one.damaged:
            return True
        if any(number in self.layout.numbers for number, _ in one.parts):
            return True
        begin, _, value, _ = one.record
        self.lost.append((begin, value))
        self.lost += [(record[0], record[3]) for _, record in one.parts]
        return False

    def made_of(self, containers: list[Container], anew: dict[int, Message]) -> Message:
        """The root of what was found."""
        number = self.layout.container.number
        rows = [*self.root, *((number, one.record) for one in containers)]
        return Message.of_records(self.layout.root, self.source, rows, anew)


def _joined(ranges: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges in order, those that touch as one."""
    if not ranges:
        return
    begin, end = ranges[0]
    for start, stop in ranges[1:]:
        if start > end:
            yield begin, end
            begin = start
        end = max(end, stop)
    yield begin, end
