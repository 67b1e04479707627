"""What an encoded message is written as: bytes, and spans that are copied from file to file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from ufkit.core.files import Payload, Span

Piece = bytes | Payload


def nbytes(piece: Piece) -> int:
    """How many bytes a piece will write."""
    return len(piece) if isinstance(piece, bytes) else piece.nbytes


def write(pieces: Iterable[Piece], out: IO[bytes]) -> None:
    """Append pieces to `out`; spans of a file that touch are copied as one."""
    held: Span | None = None
    for piece in pieces:
        if type(piece) is Span:  # what is more than one, such as Padded, writes itself
            if held and held.source is piece.source and held.stop == piece.start:
                held = Span(held.source, held.start, piece.stop)
                continue
            if held:
                held.write_to(out)
            held = piece
            continue
        if held:
            held.write_to(out)
            held = None
        if isinstance(piece, bytes):
            out.write(piece)
        else:
            piece.write_to(out)
    if held:
        held.write_to(out)
