"""Running the script that a user names to edit a graph before it is converted."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ufkit.core.diag import RequestError, UfkitError, Where
from ufkit_compat.rules import BAD_SCRIPT, TENSORFLOW_WANTED

_NAME = "ufkit_compat_preprocessor"


def preprocess(script: str | os.PathLike[str], graph: Any) -> None:
    """Run a script, and hand the graph to its `preprocess`, which edits it in place.

    Raises RequestError (CMP004) where the script fails or has none, (CMP005) where it imports a
    TensorFlow that is not installed. Errors of ufkit pass.
    """
    path = os.fspath(script)
    path = path if os.path.exists(path) else f"{path}.py"
    if not os.path.isfile(path):
        raise RequestError(BAD_SCRIPT.at(Where(os.fspath(script)), "there is no such script"))
    try:
        with _imports_beside(path):
            module = _run(path)
            function = getattr(module, "preprocess", None)
            if not callable(function):
                message = "the script defines no function `preprocess`"
                raise RequestError(BAD_SCRIPT.at(Where(path), message))
            function(graph)
    except UfkitError:
        raise
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "tensorflow":
            raise _failure(path, error) from error
        found = TENSORFLOW_WANTED.at(_where(path, error), f"{error}")
        raise RequestError(found) from error
    except Exception as error:  # whatever a user's script raises
        raise _failure(path, error) from error


@contextmanager
def _imports_beside(path: str) -> Iterator[None]:
    """Let the script import what lies beside it; nothing compiled is left there.

    Python takes what it compiled before for the script where that has the same size and second.
    """
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(folder)


def _run(path: str) -> ModuleType:
    """The script as a module, run anew each time."""
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        message = "the script is no Python: its name must end in .py"
        raise RequestError(BAD_SCRIPT.at(Where(path), message))
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def _where(path: str, error: BaseException) -> Where:
    """The last line of the script that an error passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [
        frame.lineno for frame in frames if os.path.abspath(frame.filename) == os.path.abspath(path)
    ]
    line = lines[-1] if lines else getattr(error, "lineno", None)
    return Where(path, line=line)


def _failure(path: str, error: BaseException) -> RequestError:
    message = f"{type(error).__name__}: {error}"
    return RequestError(BAD_SCRIPT.at(_where(path, error), message))
