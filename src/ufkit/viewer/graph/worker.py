"""A process that lays out diagrams, so that what takes too long can be ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
from multiprocessing.connection import Connection
from typing import Any

from ufkit.core.diag import UfkitError
from ufkit.viewer.layout.compound import lay_out
from ufkit.viewer.layout.diagram import Diagram, Placement, Spacing


class Worker:
    """The process. It is started fresh, so that it shares nothing with the server's threads."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _no_main():
            self._process.start()
        theirs.close()

    def ask(self, diagram: Diagram, spacing: Spacing, limit: float) -> Placement:
        """The layout. Raises TimeoutError, and EOFError or OSError where the process has ended."""
        self._pipe.send((diagram, spacing))
        if not self._pipe.poll(limit):
            raise TimeoutError
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def end(self) -> None:
        """Stop it at once, whatever it does; who waits for its answer is told so by EOFError."""
        self._process.kill()
        self._process.join()


@contextlib.contextmanager
def _no_main() -> Any:
    """Keep the new process from importing the program that runs here: it needs none of it."""
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name, None) for name in ("__file__", "__spec__")}
    main.__spec__ = None
    if hasattr(main, "__file__"):
        del main.__file__
    try:
        yield
    finally:
        main.__spec__ = kept["__spec__"]
        if kept["__file__"] is not None:
            main.__file__ = kept["__file__"]


def _work(pipe: Connection) -> None:
    """What the process does until the server goes away."""
    while True:
        try:
            diagram, spacing = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer: Placement | Exception = lay_out(diagram, spacing)
        except (UfkitError, MemoryError) as error:
            answer = error
        except KeyboardInterrupt:
            return
        pipe.send(answer)
