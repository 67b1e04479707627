"""Measuring: every sample in a process of its own, the sides taking turns, medians of rounds.

A side is a function that prepares (imports, opens what is not in question) and gives back the
action to be timed. Run as a script this module is the process of one sample: it prints what it
measured as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MIB = 1 << 20
_SHORT = 0.05  # seconds; shorter actions are also measured warm
_REPEATS = 21

Action = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement.

    seconds   of the first call in a fresh process, imports excluded
    warm      median of further calls; the first one where that was long
    grown     MiB that the resident set grew by during the first call
    peak      largest resident set of the process, in MiB; 0 where it is not known
    """

    seconds: float
    warm: float
    grown: float = 0.0
    peak: float = 0.0


@dataclass(frozen=True, slots=True)
class Side:
    """Something to be measured.

    `function` is "module:function" to be called with `arguments` in a fresh process. Without it
    `arguments` are a command whose whole process is timed. `before` runs ahead of each sample.
    """

    name: str
    arguments: tuple[str, ...]
    function: str = ""
    before: Action = lambda: None

    def sample(self) -> Sample:
        self.before()
        if not self.function:
            return _whole_process(self.arguments)
        command = [sys.executable, __file__, self.function, *self.arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{self.name} failed:\n{done.stderr}")
        return Sample(**json.loads(done.stdout.splitlines()[-1]))


def interleave(sides: Sequence[Side], rounds: int) -> dict[str, Sample]:
    """Median samples by name: A B A B, so that a noisy moment hits all sides alike."""
    samples: dict[str, list[Sample]] = {side.name: [] for side in sides}
    for turn in range(rounds):
        for side in sides:
            _say(f"round {turn + 1} of {rounds}: {side.name}")
            samples[side.name].append(side.sample())
    _say("")
    return {name: _median(taken) for name, taken in samples.items()}


def _median(samples: Sequence[Sample]) -> Sample:
    return Sample(
        *(
            statistics.median(getattr(sample, name) for sample in samples)
            for name in Sample.__slots__
        )
    )


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _whole_process(command: Sequence[str]) -> Sample:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - start
    return Sample(seconds, seconds)


def resident(line: str = "VmRSS") -> float:
    """A line of this process's memory in MiB. `VmHWM` is the peak: unlike getrusage's, it does
    not count what the parent held when it forked."""
    for entry in Path("/proc/self/status").read_text().splitlines():
        if entry.startswith(line):
            return int(entry.split()[1]) / 1024
    return 0.0


def _one_sample(function: str, arguments: Sequence[str]) -> Sample:
    module, _, name = function.partition(":")
    prepare: Callable[..., Action] = getattr(importlib.import_module(module), name)
    action = prepare(*arguments)
    before = resident()
    seconds, kept = _timed(action)
    grown, peak = resident() - before, resident("VmHWM")
    del kept
    warm = seconds
    if seconds < _SHORT:
        warm = statistics.median(_timed(action)[0] for _ in range(_REPEATS))
    return Sample(seconds, warm, grown, peak)


def _timed(action: Action) -> tuple[float, Any]:
    start = time.perf_counter()
    kept = action()
    return time.perf_counter() - start, kept


if __name__ == "__main__":
    os.chdir(HERE)
    sample = _one_sample(sys.argv[1], sys.argv[2:])
    print(json.dumps({name: getattr(sample, name) for name in Sample.__slots__}))
