"""Text of a schema that nobody has: names and values as they stand, written back as they came.

The tokens are those of the text form, so what any Protocol Buffers reader takes is taken here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NoReturn

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import Source, Span
from ufkit.wire.pieces import Piece
from ufkit.wire.reader import MAX_DEPTH, TextFault, shown
from ufkit.wire.rules import TOO_DEEP
from ufkit.wire.tokens import (
    BOOLS,
    CLOSING,
    ELEMENT,
    FIELD,
    NAME,
    QUOTE,
    SKIPPED,
    check_utf8,
    integer,
    real,
)
from ufkit.wire.values import quoted

_INDENT = "  "
_NEWLINE = re.compile(rb"\n")


class Word(str):
    """A value without quotes: a number, true or false, a name of an enum."""

    __slots__ = ()


class _Lines:
    """Which line of a text a byte is in; found out when it is first asked for."""

    __slots__ = ("_ends", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._ends: list[int] | None = None

    def where(self, at: int) -> Where:
        if self._ends is None:
            self._ends = [match.start() for match in _NEWLINE.finditer(self.source.buffer)]
        return Where(self.source.name, line=bisect_left(self._ends, at) + 1)


class Entry:
    """A field: its name and one value, a text, a Word or a Tree. An element of a list is one too.

    What asks for a kind of value raises FormatError (UFK110) with line and column when it is of
    another.
    """

    __slots__ = ("_new", "name", "owner", "start", "stop", "value")

    def __init__(self, owner: Tree, name: str, value: str | Tree, start: int, stop: int) -> None:
        self.owner = owner
        self.name = name
        self.value = value
        self.start = start  # bytes of the value
        self.stop = stop
        self._new = False

    def text(self) -> str:
        """A text in quotes, or a word as it is written; bytes that are no UTF-8 as surrogates."""
        return self.value if isinstance(self.value, str) else self._misfit("a text")

    def integer(self) -> int:
        number = integer(self.value) if isinstance(self.value, Word) else None
        return self._misfit("an integer") if number is None else number

    def real(self) -> float:
        number = real(self.value) if isinstance(self.value, Word) else None
        return self._misfit("a number") if number is None else number

    def flag(self) -> bool:
        value = BOOLS.get(self.value) if isinstance(self.value, Word) else None
        return self._misfit("true or false") if value is None else value

    def tree(self) -> Tree:
        return self.value if isinstance(self.value, Tree) else self._misfit("a message in braces")

    def _misfit(self, wanted: str) -> NoReturn:
        found = "a message" if isinstance(self.value, Tree) else shown(self.value)
        fault = TextFault(self.start, f"{self.name}: {found} is not {wanted}")
        raise fault.located(self.owner.source)

    def plain(self) -> Tree | str | float:
        """The value as Python has it: words that spell numbers, true or false as those."""
        if not isinstance(self.value, Word):
            return self.value
        if (number := integer(self.value)) is not None:
            return number
        flag = {"true": True, "false": False}.get(self.value)
        if flag is not None:
            return flag
        number_ = real(self.value)
        return str(self.value) if number_ is None else number_

    def where(self) -> Where:
        """The line of the value, for diagnostics."""
        return self.owner.lines.where(self.start)

    def set(self, value: str | float) -> None:
        """Another value: a Word or number as it is, True and False, any other str in quotes."""
        if isinstance(self.value, Tree):
            self._misfit("one value")
        self.value = _held(value)
        self._new = True

    def pieces(self) -> Iterator[Piece]:
        """The value as it is written: as it came, unless it or what is in it was set."""
        if isinstance(self.value, Tree):
            yield from self.value.pieces()
        elif self._new:
            yield _written(self.value).encode()
        else:
            yield Span(self.owner.source, self.start, self.stop)

    def __repr__(self) -> str:
        return f"Entry({self.name}: {self.value!r})"


class Tree:
    """The fields between two braces, or of a whole file, in the order of the text."""

    __slots__ = ("_tail", "depth", "entries", "lines", "start", "stop")

    def __init__(self, lines: _Lines, start: int, depth: int = 0) -> None:
        self.lines = lines
        self.start = start  # bytes of the fields, braces left out
        self.stop = lines.source.size
        self.depth = depth
        self.entries: list[Entry] = []
        self._tail = start  # where the last field ends

    @property
    def source(self) -> Source:
        """The text it is a part of."""
        return self.lines.source

    def all(self, name: str) -> list[Entry]:
        """The fields of that name."""
        return [entry for entry in self.entries if entry.name == name]

    def get(self, name: str) -> Entry | None:
        """The field of that name, of several the last; None without one."""
        return next((entry for entry in reversed(self.entries) if entry.name == name), None)

    def trees(self, name: str) -> list[Tree]:
        """The messages of that name."""
        return [entry.tree() for entry in self.all(name)]

    def tree(self, name: str) -> Tree | None:
        """The message of that name; None without one."""
        entry = self.get(name)
        return None if entry is None else entry.tree()

    def text(self, name: str, default: str = "") -> str:
        """The text, or word, of that name."""
        entry = self.get(name)
        return default if entry is None else entry.text()

    def missing(self, name: str) -> FormatError:
        """The error of a message that lacks a field."""
        return TextFault(self.start, f"a message without {name!r}").located(self.source)

    def append(self, name: str, value: str | float) -> Entry:
        """Add a field at the end; see `Entry.set` for its value."""
        entry = Entry(self, name, "", self.stop, self.stop)
        entry.set(value)
        self.entries.append(entry)
        return entry

    def where(self) -> Where:
        """The line where the fields begin, for diagnostics."""
        return self.lines.where(self.start)

    def pieces(self) -> Iterator[Piece]:
        """The text, in order: as it came, comments and spaces included, around what was set."""
        at = self.start
        added = []
        for entry in self.entries:
            if entry.start == self.stop:
                added.append(entry)
                continue
            yield Span(self.source, at, entry.start)
            yield from entry.pieces()
            at = entry.stop
        if added:
            tail = self._end_of_line()
            yield Span(self.source, at, tail)
            for entry in added:
                yield f"\n{_INDENT * self.depth}{entry.name}: ".encode()
                yield from entry.pieces()
            at = tail
            if self.depth == 0 and self._tail == self.start:
                yield b"\n"
        yield Span(self.source, at, self.stop)

    def _end_of_line(self) -> int:
        """Where fields can be added: behind the last one and a comment beside it."""
        rest = bytes(self.source.view(self._tail, self.stop))
        found = rest.find(b"\n")
        if found < 0:
            return self.stop if self.depth == 0 else self._tail
        return self._tail + found

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Tree({', '.join(dict.fromkeys(entry.name for entry in self.entries))})"


def _held(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return Word(str(value).lower() if isinstance(value, bool) else str(value))


def _written(value: str) -> str:
    return value if isinstance(value, Word) else in_quotes(value)


def in_quotes(value: str) -> str:
    """A string as the text form has it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def parse_tree(source: Source) -> Tree:
    """The fields that a text describes, whatever their names.

    Raises FormatError with line and column (UFK110, UFK104).
    """
    try:
        check_utf8(source)
        return _Parser(source).run()
    except TextFault as fault:
        raise fault.located(source) from fault.__cause__


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.buffer = source.buffer
        # for each message that is open: its fields, its closing brace, and its name where it is
        # an element of a list
        self.open: list[tuple[Tree, bytes, str]] = []

    def run(self) -> Tree:
        buffer = self.buffer
        root = Tree(_Lines(self.source), 0)
        self.open.append((root, b"", ""))
        at = 3 if buffer[:3] == b"\xef\xbb\xbf" else 0
        may_separate = False
        while match := FIELD.match(buffer, at):
            separator, name, colon, plain, word, start, close = match.groups()
            if separator and not may_separate:
                raise TextFault(match.start(1), f"unexpected {shown(separator)}")
            at = match.end()
            depth = len(self.open)
            if close:
                at = self.close(at, close)
            elif start and start in CLOSING:
                self.enter(name.decode(), at, start, listed=False)
            elif start == b"[":
                at = self.list(name.decode(), at)
            elif not colon:
                raise TextFault(match.end(2), f"expected ':' after {shown(name)}")
            elif plain is not None:
                self.add(name.decode(), plain.decode(), match.start(4) - 1, at)
            elif word:
                self.add(name.decode(), Word(word.decode()), match.start(5), at)
            else:
                at = self.string(name.decode(), at - 1)
            may_separate = len(self.open) <= depth
            self.open[-1][0]._tail = at
        return self.end(at, may_separate, root)

    def end(self, at: int, may_separate: bool, root: Tree) -> Tree:
        """The root, if the text ends here as it should; otherwise what is wrong."""
        skipped = SKIPPED.match(self.buffer, at)
        at = skipped.end() if skipped else at
        if skipped and skipped[1] and not may_separate:
            raise TextFault(skipped.start(1), f"unexpected {shown(skipped[1])}")
        if at == self.source.size:
            if len(self.open) > 1:
                raise TextFault(
                    at, f"{self.open[-1][1].decode()!r} missing: a message is not closed"
                )
            return root
        if name := NAME.match(self.buffer, at):
            raise TextFault(at, f"expected ':' and a value, or '{{', after {shown(name[0])}")
        found = repr(bytes(self.buffer[at : at + 4]).decode("utf-8", "ignore")[:1])
        raise TextFault(at, f"expected a field name, found {found}")

    def add(self, name: str, value: str | Tree, start: int, stop: int) -> Entry:
        tree = self.open[-1][0]
        entry = Entry(tree, name, value, start, stop)
        tree.entries.append(entry)
        return entry

    def enter(self, name: str, at: int, start: bytes, *, listed: bool) -> None:
        """Open the message whose brace ends before `at`."""
        if len(self.open) > MAX_DEPTH:
            message = f"messages nested more than {MAX_DEPTH} deep"
            raise TextFault(at - 1, message, rule=TOO_DEEP, hint="")
        child = Tree(self.open[0][0].lines, at, len(self.open))
        self.add(name, child, at, at)
        self.open.append((child, CLOSING[start], name if listed else ""))

    def close(self, at: int, close: bytes) -> int:
        """Leave a message; in a list, enter the next one. Return where to go on."""
        tree, closing, name = self.open[-1]
        if close != closing:
            wanted = f"expected {closing.decode()!r}" if closing else "nothing is open"
            raise TextFault(at - 1, f"{wanted}, found {close.decode()!r}")
        self.open.pop()
        tree.stop = self.open[-1][0].entries[-1].stop = at - 1
        return self.elements(name, at, behind=True) if name else at

    def list(self, name: str, at: int) -> int:
        """Read a list, up to its end or into the first message in it; return where to go on."""
        match = ELEMENT.match(self.buffer, at)
        return match.end() if match and match[2] == b"]" else self.elements(name, at, behind=False)

    def elements(self, name: str, at: int, *, behind: bool) -> int:
        """Go on in a list, `behind` an element or before one."""
        while True:
            match = ELEMENT.match(self.buffer, at)
            if behind:
                if match is None or match[2] not in (b",", b"]"):
                    raise TextFault(at, f"expected ',' or ']' in the list of {name}")
                if match[2] == b"]":
                    return match.end()
                at = match.end()
            elif match is None or match[2] in (b",", b"]"):
                raise TextFault(at, f"expected a value in the list of {name}")
            elif match[2] and match[2] in CLOSING:
                self.enter(name, match.end(), match[2], listed=True)
                return match.end()
            elif match[1]:
                self.add(name, Word(match[1].decode()), match.start(1), match.end())
                at = match.end()
            else:
                at = self.string(name, match.end() - 1)
            behind = not behind

    def string(self, name: str, at: int) -> int:
        """Read a text in quotes and those that follow it directly; return where they end."""
        begin, out = at, bytearray()
        at = quoted(self.buffer, at, out)
        while more := QUOTE.match(self.buffer, at):
            at = quoted(self.buffer, more.end(), out)
        self.add(name, out.decode(errors="surrogateescape"), begin, at)
        return at
