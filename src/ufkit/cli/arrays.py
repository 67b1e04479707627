"""Arrays from .npy and .npz files."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

from ufkit.cli.rules import BAD_ARRAYS
from ufkit.cli.source import bad_request
from ufkit.core.diag import FileError, FormatError, Where
from ufkit.core.rules import CANNOT_READ

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IN, _OUT = "in:", "out:"
_LONGEST_HEADER = 100_000_000  # bytes; as the safetensors library has it


def load(path: str) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz or .safetensors by name, or that of an .npy under "".

    Pickles are refused.

    Raises FileError, FormatError (CLI005).
    """
    import zipfile
    import zlib

    import numpy as np

    try:
        with open(path, "rb") as file:
            if path.lower().endswith(".safetensors"):
                return _safetensors(file)
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"": loaded}
            with loaded:
                return {name: loaded[name] for name in loaded.files}
    except FileNotFoundError as error:
        raise _unreadable(path, error) from error
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError,
            RuntimeError, SyntaxError, AttributeError, TypeError) as error:  # fmt: skip
        message = f"this holds no arrays that can be read: {_reason(path, error)}"
        raise FormatError(BAD_ARRAYS.at(Where(path), message)) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _safetensors(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """The arrays of a .safetensors file. Raises ValueError, KeyError for what is none."""
    import json

    import numpy as np

    from ufkit.conversion.weights import SAFETENSORS

    dtypes = {short: np.dtype(name).newbyteorder("<") for name, short in SAFETENSORS.items()}
    length = int.from_bytes(file.read(8), "little")
    header = json.loads(file.read(min(length, _LONGEST_HEADER)))
    header.pop("__metadata__", None)
    data = file.read()
    found = {}
    for name, entry in header.items():
        start, stop = entry["data_offsets"]
        flat = np.frombuffer(data[start:stop], dtypes[entry["dtype"]])
        found[name] = flat.reshape(entry["shape"])
    return found


def _unreadable(path: str, error: OSError) -> FileError:
    return FileError(CANNOT_READ.at(Where(path), f"cannot read: {error.strerror or error}"))


def _reason(path: str, error: Exception) -> str:
    if "pickle" in str(error):
        with open(path, "rb") as file:
            head = file.read(6)
        if head != b"\x93NUMPY" and not head.startswith(b"PK"):
            return "its first bytes are those of neither"
        return "it holds Python objects, not plain numbers"
    return str(error) or type(error).__name__


def inputs_of(path: str) -> dict[str, NDArray[Any]]:
    """Arrays of an .npz by Input id.

    Where keys begin with `in:`, those are the inputs and the rest (`out:`) is left aside.
    """
    arrays = load(path)
    marked = {name[len(_IN) :]: array for name, array in arrays.items() if name.startswith(_IN)}
    if marked:
        return marked
    return {name: array for name, array in arrays.items() if not name.startswith(_OUT)}


def feeds_of(texts: tuple[str, ...], inputs: list[str]) -> dict[str, NDArray[Any]]:
    """What `-i` gives: NAME=FILE.npy, FILE.npz, or FILE.npy for the only Input.

    Raises RequestError (CLI001) for what is ambiguous or given twice.
    """
    feeds: dict[str, NDArray[Any]] = {}
    for text in texts:
        for name, array in _given(text, inputs).items():
            if name in feeds:
                raise bad_request(f"the input {name!r} is given twice")
            feeds[name] = array
    return feeds


def _given(text: str, inputs: list[str]) -> dict[str, NDArray[Any]]:
    name, path = _split(text)
    if name:
        arrays = load(path)
        if "" in arrays:
            return {name: arrays[""]}
        if len(arrays) == 1:
            return {name: next(iter(arrays.values()))}
        given = arrays.get(name, arrays.get(_IN + name))
        if given is None:
            raise bad_request(f"{path} holds {len(arrays)} arrays, none of them for {name!r}")
        return {name: given}
    arrays = inputs_of(text)
    if "" not in arrays:
        return arrays
    if len(inputs) == 1:
        return {inputs[0]: arrays[""]}
    names = ", ".join(inputs) or "none"
    raise bad_request(f"which input is {text} for? The model has {names}", f"-i NAME={text}")


def _split(text: str) -> tuple[str, str]:
    """NAME and FILE of NAME=FILE; both may hold a '=', so the file that exists decides."""
    if os.path.exists(text):
        return "", text
    at = [place for place, character in enumerate(text) if character == "="]
    for place in at:
        if os.path.exists(text[place + 1 :]):
            return text[:place], text[place + 1 :]
    name, _, path = text.partition("=") if at else ("", "", text)
    return name, path
