"""Samples on their way: read in order, changed by worker processes, handed to one writer."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np

from ufkit.core.diag import Diagnostic, FileError, RequestError, UfkitError, Where
from ufkit.datasets.pictures import opencv
from ufkit.datasets.report import Report
from ufkit.datasets.rules import CANNOT_HOLD, WORKER_DIED
from ufkit.datasets.sample import Sample
from ufkit.datasets.transform import Transform
from ufkit.ufw.keys import name_of

Outcome = tuple[Sample, list[Diagnostic]] | UfkitError
Progress = Callable[[str, int, int], None]

_BATCH = 8  # samples of one errand: enough to hide its cost, few enough to hold
_AHEAD = 3  # errands for each worker that are under way or wait to be written


def order(count: int, seed: int | None) -> Sequence[int]:
    """The sequence in which samples are taken: the source's, or shuffled with a seed."""
    if seed is None:
        return range(count)
    shuffled: list[int] = np.random.default_rng(seed).permutation(count).tolist()
    return shuffled


def changed(
    samples: Sequence[Sample],
    transform: Transform,
    report: Report,
    *,
    workers: int = 1,
    seed: int | None = None,
    done: tuple[int, str] = (0, ""),
    progress: Progress = lambda what, done, total: None,
) -> Generator[Sample, None, None]:
    """The samples after `transform`, in their order whatever the number of workers.

    Bad ones are handed to the report, which raises or counts them. No more than a few dozen
    samples are held at any time. `done` leaves out those that a target has already: their number,
    and the name of the last one. More than one worker are processes, started anew (spawned): a
    script that asks for them needs the usual `if __name__ == "__main__"`.
    Raises FileError (DAT004) if one of them dies.
    """
    total = len(samples)
    taken = _taken(samples, rest(samples, order(total, seed), *done))
    outcomes = _serial(taken, transform) if workers <= 1 else _parallel(taken, transform, workers)
    for outcome in outcomes:
        report.read += 1
        if isinstance(outcome, UfkitError):
            report.bad(outcome)
        else:
            sample, findings = outcome
            report.note(findings)
            yield sample
        progress("converting", report.read, total)


def rest(samples: Sequence[Sample], indices: Sequence[int], count: int, name: str) -> Sequence[int]:
    """The indices behind the one of that name, which `count` samples or more end with.

    Bad samples were left out, so that the number alone does not tell. Raises RequestError (DAT003)
    where there is no such sample.
    """
    for at in range(max(count - 1, 0), len(indices) if count else 0):
        try:
            key = samples[indices[at]].key
        except UfkitError:
            continue
        if name in (key, name_of(key)):
            return indices[at + 1 :]
    if not count:
        return indices
    message = f"the target ends with {name!r}, which is not the source's sample {count:,} or later"
    hint = "resume with the source, and the --shuffle, that it was begun with"
    raise RequestError(CANNOT_HOLD.at(Where(), message, hint=hint))


def _taken(samples: Sequence[Sample], indices: Iterable[int]) -> Iterator[Sample | UfkitError]:
    for at in indices:
        try:
            yield samples[at]
        except UfkitError as error:
            yield error


def _outcome(sample: Sample | UfkitError, transform: Transform) -> Outcome:
    if isinstance(sample, UfkitError):
        return sample
    try:
        return transform(sample)
    except UfkitError as error:
        return error


def _serial(taken: Iterator[Sample | UfkitError], transform: Transform) -> Iterator[Outcome]:
    return (_outcome(sample, transform) for sample in taken)


def _begin() -> None:
    """In a worker: one thread of OpenCV's, and an end when the process that it works for ends.

    Interrupts are that one's to handle; killed, it cannot tell its workers, which would wait.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    opencv().setNumThreads(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _errand(batch: list[Sample | UfkitError], transform: Transform) -> list[Outcome]:
    """What a worker does."""
    return [_outcome(sample, transform) for sample in batch]


def _parallel(
    taken: Iterator[Sample | UfkitError], transform: Transform, workers: int
) -> Iterator[Outcome]:
    # Spawned, not forked: databases and threads of this process do not survive a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
    waiting: deque[Future[list[Outcome]]] = deque()
    try:
        for batch in _batches(taken):
            waiting.append(pool.submit(_errand, batch, transform))
            if len(waiting) >= workers * _AHEAD:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        message = f"one of {workers} worker processes died"
        raise FileError(WORKER_DIED.at(Where(), message)) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _batches(taken: Iterator[Sample | UfkitError]) -> Iterator[list[Sample | UfkitError]]:
    batch: list[Sample | UfkitError] = []
    for sample in taken:
        batch.append(sample)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
