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

from ufkit.core.files import Source, Span
from ufkit.wire.cut import Open, cut_at
from ufkit.wire.landmarks import Landmarks, Layout
from ufkit.wire.message import Message
from ufkit.wire.reader import LEN, Record
from ufkit.wire.schema import MessageType
from ufkit.wire.values import fits

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
    misfits     where containers and landmarks begin whose length was wrong and is made anew
    """

    intact: bool
    message: Message
    lost: tuple[tuple[int, int], ...]
    cut: tuple[Open, ...] | None
    misfits: tuple[int, ...]


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
        self.relabelled: dict[int, Message] = {}
        self.singular: dict[tuple[int, int], Record] = {}

    def run(self) -> Salvage:
        at = 0
        while at < self.size:
            at = self.next_part(at) or self.landmark_at(at) or self.behind_damage(at)
        self.close(self.size)
        return self.result()

    # -- going on ----------------------------------------------------------------------------

    def next_part(self, at: int) -> int | None:
        """Take the part at `at` as what follows the one before; where it ends."""
        inside = self.open if self.open and at != self.open.stop else None
        if not inside and (head := self.marks.open_head(at)):
            return self.enter(at, *head)
        limit = inside.stop if inside and inside.stop and not inside.damaged else self.size
        found = self.marks.record(at, limit)
        if found is None:
            return None
        number, record = found
        part = self.level(at).numbers.get(number)
        if part is None or not fits(part, record[1]):
            return self.strangers(at, limit)
        if not self.marks.believable(part, record):
            return None
        if part not in self.layout.required and self.hides(at, record[3]):
            return None
        if not part.repeated and not self.repeats(inside, number, record):
            return None
        self.take(inside, number, record)
        return record[3]

    def level(self, at: int) -> MessageType:
        """The type of message that `at` lies in."""
        inside = self.open is not None and at != self.open.stop
        return self.layout.container.type if inside else self.layout.root

    def row(self, inside: Container | None) -> Row:
        return inside.parts if inside else self.root

    def repeats(self, inside: Container | None, number: int, record: Record) -> bool:
        """Whether a singular field is the first in its row, or says the same as that."""
        first = self.singular.setdefault((id(inside), number), record)
        view = self.source.view
        return view(first[0], first[3]) == view(record[0], record[3])

    def strangers(self, begin: int, limit: int) -> int | None:
        """Take fields that the schema does not have, if what they lead to is in its place and
        nothing that can be told is hidden in them."""
        type_ = self.level(begin)
        found: Row = []
        at = begin
        while at != limit and not self.marks.part(at) and not self.marks.head(at):
            stranger = self.marks.record(at, limit)
            if stranger is None or len(found) == self.layout.strangers:
                return None
            number, record = stranger
            if number in type_.numbers or self.marks.is_displaced(record):
                return None
            found.append(stranger)
            at = record[3]
        if not found or self.hides(self.last_begin(begin), at):
            return None
        inside = self.open if self.open and begin != self.open.stop else None
        for number, record in found:
            self.take(inside, number, record)
        return at

    def hides(self, start: int, stop: int) -> bool:
        """Whether a landmark begins inside of bytes taken for something else."""
        return self.marks.search(start + 1, stop) < stop

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

    # -- damage ------------------------------------------------------------------------------

    def behind_damage(self, at: int) -> int:
        """Go on at the next landmark. What was taken last is given up when that lies in it."""
        begin = self.last_begin(at)
        found = self.next_landmark(begin + 1, self.marks.frame(at))
        if found == self.size:
            self.cut = cut_at(self.marks, self.level(at), at)
        if found >= at and self.cut is None and self.relabel(at, found):
            return found
        if begin < at and self.cut is None and not self.is_own(at) and self.relabel(begin, found):
            return found
        if found < at:
            self.give_up_last()
        if self.open and self.open.stop == at and not self.open.damaged:
            self.open = None
        elif self.open:
            self.open.damaged = True
        self.last = None
        self.lost.append((min(begin, found) if found < at else at, found))
        return found

    def next_landmark(self, at: int, frame: int) -> int:
        """Where the next landmark begins; `frame` is where the damaged part ends if its length
        is right. What is in there is not believed if no landmarks follow up to its end; neither
        is one of the root with parts of a container right behind."""
        while (at := self.marks.search(at, self.size)) < self.size:
            found = self.marks.part(at)
            if found is None:
                break
            mark, (_, _, _, stop) = found
            behind = self.marks.part(stop) if stop < self.size else None
            inside = behind is not None and self.layout.in_container(behind[0])
            stray = inside and not self.layout.in_container(mark)
            if not stray and (stop >= frame or behind or self.marks.head(stop)):
                break
            at += 1
        return at

    def is_own(self, at: int) -> bool:
        """Whether the field at `at` is one that may stand there, readable or not."""
        found = self.marks.record(at, self.size)
        return found is not None and found[0] in self.level(at).numbers

    def relabel(self, at: int, stop: int) -> bool:
        """Take the landmark at `at` whose length is wrong, if all up to `stop` is its value."""
        found = self.marks.mislabelled(at, stop)
        if found is None:
            return False
        mark, value = found
        if self.last and self.last_begin(0) == at:
            self.last.pop()
        owner = self.owner_at(at) if self.layout.in_container(mark) else None
        self.take(owner, mark.number, (at, LEN, value, stop))
        self.relabelled[at] = Message(mark.type, Span(self.source, value, stop))
        return True

    def last_begin(self, at: int) -> int:
        """Where what ends at `at` begins: a part, or the head of a container."""
        if self.last:
            return self.last[-1][1][0]
        return self.open.record[0] if self.open and self.open.record[2] == at else at

    def give_up_last(self) -> None:
        if self.last:
            self.last.pop()
        elif self.open:
            self.containers.remove(self.open)
            self.open = None

    # -- what was found ----------------------------------------------------------------------

    def result(self) -> Salvage:
        kept = [one for one in self.containers if self.is_worth(one)]
        lost = tuple(_joined(sorted(self.lost)))
        anew = {one.record[0]: self.made_of(one) for one in kept if one.damaged}
        intact = self.size > 0 and not lost and not anew and not self.relabelled
        if intact:
            message = Message.read(self.layout.root, self.source)
        else:
            number = self.layout.container.number
            rows = [*self.root, *((number, one.record) for one in kept)]
            # a container without a head begins where its first part does, which is not to be it
            anew = self.relabelled | anew
            message = Message.of_records(self.layout.root, self.source, rows, anew)
        misfits = [one.record[0] for one in kept if one.misfit and not one.headless]
        return Salvage(intact, message, lost, self.cut, tuple(sorted([*misfits, *self.relabelled])))

    def made_of(self, one: Container) -> Message:
        type_: MessageType = self.layout.container.type
        return Message.of_records(type_, self.source, one.parts, self.relabelled)

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
