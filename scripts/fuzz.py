"""Feeds damaged files to ufkit until something other than an UfkitError comes out.

    python scripts/fuzz.py --seconds 60 --seed 1 [--target wire|uff|convert|text|json|net|onnx]
    python scripts/fuzz.py --target uff --input FILE     # one file again

The same seed gives the same inputs. A failure is written to a file and ends the run with code 1;
so does an input that takes longer than 10 seconds.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import importlib
import io
import random
import re
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

from ufkit.conversion.onnx_graph import open_graph
from ufkit.conversion.onnx_schema import SCHEMA as ONNX
from ufkit.conversion.onnx_uff import from_onnx
from ufkit.core.diag import UfkitError
from ufkit.core.files import Source
from ufkit.uff.io import JSON, TEXT, write_to
from ufkit.uff.io import open as open_uff
from ufkit.uff.schema import METAGRAPH
from ufkit.ufw.schema import NET
from ufkit.wire.json import json_chunks, parse_json
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.reader import LEN, scan
from ufkit.wire.schema import MessageType
from ufkit.wire.text import parse_text, text_lines
from ufkit.wire.values import encode_varint

# What tests ask of a file is asked here too.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
ask = importlib.import_module("robustness.exercise")
nets = importlib.import_module("robustness.nets")
look = importlib.import_module("ufw.exercise")
caffe = importlib.import_module("ufw.nets")

PATIENCE = 10.0  # seconds for one input
MEMORY = 3 << 30  # bytes of address space; a value that needs more is refused
Random = random.Random


# -- targets ---------------------------------------------------------------------------------


def wire(data: bytes) -> None:
    """Every level scanned, every value decoded, the message written back as it was."""
    source = Source(data, "fuzz")
    message = Message.read(METAGRAPH, source)
    walk(message)
    assert to_bytes(message) == data


def walk(message: Message) -> None:
    message.unknown()
    for field in list(message.known()):
        value = message.all(field.name) if field.repeated else message.get(field.name)
        for item in value if field.repeated else [value]:
            if isinstance(item, Message):
                walk(item)


def uff(data: bytes) -> None:
    for _ in ask.exercise(data, (ask.checked, ask.summed, ask.saved, ask.written)):
        pass


def convert(data: bytes) -> None:
    for _ in ask.exercise(data, (ask.converted, ask.ran)):
        pass


def text(data: bytes) -> None:
    """What can be read is printed, and read again to the same."""
    message = parse_text(Source(data, "fuzz"), METAGRAPH, aliases={"l": "val"})
    printed = "".join(text_lines(message))
    again = parse_text(Source(printed.encode()), METAGRAPH)
    assert "".join(text_lines(again)) == printed


def json(data: bytes) -> None:
    message = parse_json(Source(data, "fuzz"), METAGRAPH)
    printed = "".join(json_chunks(message))
    again = parse_json(Source(printed.encode()), METAGRAPH)
    assert "".join(json_chunks(again)) == printed


def net(data: bytes) -> None:
    """A net of Caffe or UFW, with all that the verbs do to one."""
    look.looked_at(data)


def onnx(data: bytes) -> None:
    """An ONNX model, to UFF."""
    found = from_onnx(open_graph(Source(data, "fuzz.onnx")))
    to_bytes(found.meta.message)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (wire, uff, convert, text, json, net, onnx)
}
SCHEMAS = {"net": NET, "onnx": ONNX["ModelProto"]}  # of the others, UFF's


def seeds(target: str) -> list[bytes]:
    """Good files to start from."""
    if target == "net":
        whole = (caffe.small_net(), caffe.quantised_net(), caffe.old_net())
        return [caffe.encoded(one) for one in whole]
    if target == "onnx":
        return [*nets.models()]
    form = {"text": TEXT, "json": JSON}.get(target)
    files = [*nets.NETS * 5, *(nets.operations() if target in ("uff", "convert") else [])]
    if form is None:
        return files
    made = []
    for data in files:
        out = io.BytesIO()
        write_to(open_uff(Source(data)), out, form=form, full=True)
        made.append(out.getvalue())
    return made


# -- mutations -------------------------------------------------------------------------------

NUMBERS = [0, 1, 2, 3, 4, 7, 127, 128, 255, 1 << 14, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40]
NUMBERS += [1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 2, (1 << 64) - (1 << 31)]
WORDS = [b"{", b"}", b"[", b"]", b"<", b">", b":", b",", b'"', b"'", b"\\", b"#", b"-1", b"1e400"]
WORDS += [b"null", b"nan", b"inf", b"graphs", b"nodes { ", b"fields", b"\0", b"\xff", b"0x", b"{}"]


def flip(rng: Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8)


def overwrite(rng: Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])


def cut(rng: Random, data: bytearray) -> None:
    begin = rng.randrange(len(data))
    del data[begin : begin + rng.choice([1, 2, 8, rng.randrange(1, 200)])]


def repeat(rng: Random, data: bytearray) -> None:
    begin = rng.randrange(len(data))
    part = data[begin : begin + rng.randrange(1, 64)]
    data[begin:begin] = part * rng.choice([1, 1, 2, 50])


def splice(rng: Random, data: bytearray) -> None:
    """A part goes elsewhere."""
    begin, to = rng.randrange(len(data)), rng.randrange(len(data))
    part = data[begin : begin + rng.randrange(1, 100)]
    data[to : to + rng.choice([0, len(part)])] = part


def word(rng: Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at : at + rng.choice([0, 1, 4])] = rng.choice(WORDS) * rng.choice([1, 1, 3])


def swap_words(rng: Random, data: bytearray) -> None:
    """A word or number of a text becomes another one of it."""
    found = list(re.finditer(rb"[\w.+-]+|[^\w\s]", data))
    if len(found) > 1:
        here, there = rng.choice(found), rng.choice(found)
        number = str(rng.choice(NUMBERS) * rng.choice([1, -1])).encode()
        data[here.start() : here.end()] = rng.choice([there[0], number])


def number(rng: Random, data: bytearray) -> None:
    """A few bytes become an extreme integer."""
    at = rng.randrange(len(data))
    value = rng.choice(NUMBERS)
    new = rng.choice(
        [encode_varint(value), struct.pack("<Q", value), struct.pack("<I", value % 2**32)]
    )
    data[at : at + rng.choice([1, len(new)])] = new


BYTES = (flip, overwrite, cut, repeat, splice, number)
TEXTS = (flip, overwrite, cut, repeat, splice, word, swap_words, swap_words)
Node = list[tuple[int, int, "bytes | Node"]]


def tree(message: Message) -> Node:
    """The fields of a message in their order, those of known messages taken apart."""
    source, span = message.span.source, message.span
    found: Node = []
    for tag, records in scan(source, span.start, span.stop).items():
        field = message.type.numbers.get(tag)
        for begin, kind, value, end in records:
            raw = bytes(source.view(value if kind == LEN else begin, end))
            inner: bytes | Node = raw
            if field is not None and field.kind == "message" and kind == LEN:
                inner = tree(Message.read(field.type, Source(raw)))
            found.append((tag, kind, inner))
    return found


def joined(node: Node) -> bytes:
    out = bytearray()
    for tag, kind, inner in node:
        if kind == LEN:
            body = inner if isinstance(inner, bytes) else joined(inner)
            out += encode_varint(tag << 3 | LEN) + encode_varint(len(body)) + body
        else:
            assert isinstance(inner, bytes)
            out += inner
    return bytes(out)


def levels(node: Node) -> list[Node]:
    """All messages of a tree that have a field."""
    found = [node] if node else []
    for _, _, inner in node:
        if not isinstance(inner, bytes):
            found += levels(inner)
    return found


def restructure(rng: Random, data: bytes, type_: MessageType) -> bytes:
    """Fields doubled, dropped, moved, exchanged between messages, given other values."""
    root = tree(Message.read(type_, Source(data)))
    for _ in range(rng.choice([1, 1, 2, 4])):
        places = levels(root)
        if not places:
            break
        here = rng.choice(places)
        at = rng.randrange(len(here))
        tag, kind, inner = here[at]
        match rng.randrange(7):
            case 0:
                here.insert(rng.randrange(len(here) + 1), copy.deepcopy(here[at]))
            case 1:
                del here[at]
            case 2:
                there = rng.choice(places)
                here[at] = copy.deepcopy(rng.choice(there))
            case 3:
                there = rng.choice(places)
                here[at] = (tag, *copy.deepcopy(rng.choice(there))[1:])
            case 4 if isinstance(inner, bytes) and kind == LEN:
                values = rng.choices(NUMBERS, k=rng.randrange(5))
                here[at] = (tag, kind, b"".join(map(encode_varint, values)))
            case 4:
                here[at] = (tag, 0, encode_varint(tag << 3) + encode_varint(rng.choice(NUMBERS)))
            case 5 if isinstance(inner, bytes) and inner:
                changed = bytearray(inner)
                rng.choice(BYTES)(rng, changed)
                here[at] = (tag, kind, bytes(changed))
            case _:
                rng.shuffle(here)
    return joined(root)


def mutate(rng: Random, target: str, pool: list[bytes]) -> bytes:
    data = rng.choice(pool)
    if target in ("text", "json"):
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 5])):
            if changed:
                rng.choice(TEXTS)(rng, changed)
        return bytes(changed)
    deep = target in ("convert", "onnx")
    if rng.random() < (0.9 if deep else 0.6):
        data = restructure(rng, data, SCHEMAS.get(target, METAGRAPH))
    if not data or rng.random() < (0.8 if deep else 0.4):
        return data
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        if changed:
            rng.choice(BYTES)(rng, changed)
    return bytes(changed)


# -- the run ---------------------------------------------------------------------------------


class TooSlow(BaseException):
    """An input took longer than PATIENCE."""


def _interrupt(_: int, __: FrameType | None) -> None:
    raise TooSlow


def attempt(target: str, data: bytes) -> str | None:
    """The traceback of what should not have come out, if anything did."""
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        TARGETS[target](data)
    except UfkitError as error:
        str(error)
    except (Exception, TooSlow):  # noqa: BLE001 - that is what is looked for
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def fuzz(target: str, seed: int, seconds: float) -> bool:
    """Whether nothing was found."""
    rng = random.Random(f"{target} {seed}")
    pool = seeds(target)
    begin = time.monotonic()
    count = 0
    while (passed := time.monotonic() - begin) < seconds:
        data = mutate(rng, target, pool)
        if found := attempt(target, data):
            path = Path(tempfile.mkdtemp(prefix="ufkit-fuzz-"), f"{target}-{seed}-{count}.bin")
            path.write_bytes(data)
            print(f"{target}: failed at input {count} of seed {seed}\n{found}")
            print(f"again: python scripts/fuzz.py --target {target} --input {path}")
            return False
        count += 1
    print(f"{target}: {count} inputs in {passed:.1f} s, {count / passed:.0f} a second", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: all of them")
    parser.add_argument("--input", type=Path, help="try this file only")
    options = parser.parse_args()
    targets = options.target or [*TARGETS]
    faulthandler.enable()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    signal.signal(signal.SIGALRM, _interrupt)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if options.input:
        found = [attempt(target, options.input.read_bytes()) for target in targets]
        print("\n".join(text for text in found if text) or "nothing found")
        return int(any(found))
    share = options.seconds / len(targets)
    passed = [fuzz(target, options.seed, share) for target in targets]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
