"""Runs ideas, each in a process of its own with little memory and time; a line of JSON for each.

python tests/attacks/worker.py [IDEA...]
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
IDEAS = sorted(
    p.stem for p in HERE.glob("*.py") if p.stem not in ("forge", "worker", "test_attacks")
)
SECONDS = (
    40.0  # of processor time for one file, and for each megabyte as much again: machines differ
)
SPARE = 64 << 20  # bytes of memory for one file, and for each of its bytes:
PER_BYTE = 256  # a node of 30 bytes is a dozen Python objects


def address_space() -> int:
    pages = Path("/proc/self/statm").read_text("ascii").split()[0]
    return int(pages) * resource.getpagesize()


def limited(size: int) -> None:
    """Leave this process that much time and memory from here on."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS * (1 + size / 1e6))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + PER_BYTE * size + SPARE, hard))


def freed() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def attack(idea: str, note: Path) -> None:
    """All files of an idea; what is going on is noted, for the case that this process dies."""
    from robustness.exercise import STAGES, edited, exercise, written

    costly = (written, edited)
    rest = tuple(stage for stage in STAGES if stage not in costly)  # many files differ little
    slowest = (0.0, "")
    for number, data in enumerate(importlib.import_module(f"attacks.{idea}").cases()):
        stage = "opened"
        begin = time.process_time()
        limited(len(data))
        try:
            for stage in exercise(data, STAGES if number < 20 else rest):
                note.write_text(f"file {number}, {stage}", "utf-8")
        except BaseException:  # noqa: BLE001 - MemoryError and interrupts are findings too
            freed()
            kept = Path(tempfile.gettempdir(), f"attack-{idea}-{number}.uff")
            kept.write_bytes(data)
            lines = traceback.format_exc(limit=-6)
            note.write_text(f"file {number}, {stage}: kept as {kept}\n{lines}", "utf-8")
            os._exit(1)
        freed()
        slowest = max(slowest, (time.process_time() - begin, f"file {number}"))
    note.write_text(f"slowest {slowest[0]:.2f} s, {slowest[1]}", "utf-8")


def main() -> None:
    sys.path[0] = str(HERE.parent)
    importlib.import_module("robustness.exercise")  # once, for all the forks
    with tempfile.TemporaryDirectory() as folder:
        for idea in sys.argv[1:] or IDEAS:
            note = Path(folder, idea)
            begin = time.monotonic()
            child = os.fork()
            if not child:
                attack(idea, note)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            text = note.read_text("utf-8") if note.exists() else "it died before the first file"
            if code < 0:
                text += f": ended by {signal.Signals(-code).name}"
            seconds = round(time.monotonic() - begin, 2)
            result = {"idea": idea, "ok": code == 0, "seconds": seconds, "text": text}
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
