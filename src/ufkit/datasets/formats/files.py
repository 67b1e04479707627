"""Image files of a folder that is being written, and names that stay inside it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ufkit.core.diag import FormatError, Where
from ufkit.datasets.pictures import SUFFIXES, suffix_of
from ufkit.datasets.rules import DUPLICATE
from ufkit.datasets.sample import Sample
from ufkit.ufw.keys import name_of

_ODD = set('\\:*?"<>|\0\n\r\t')  # what some system does not take in a name


def safe_name(key: str) -> str:
    """A key as a relative path that leads nowhere else, without the number of a database's key:
    Caffe's `00000012_`, ufwio's `0000000012__`.

    Keys come from strangers: `../../etc/passwd` becomes `etc/passwd`.
    """
    key = name_of(key)
    parts = [part for part in PurePosixPath(key).parts if part not in ("/", "..", ".")]
    return "".join("_" if char in _ODD else char for char in "/".join(parts).strip()) or "_"


class ImageFolder:
    """A folder that image files are put into, under the names of their samples.

    `by_stem`: names must differ without their suffixes, too: other files are named after them.
    """

    def __init__(self, path: Path, *, by_stem: bool = False) -> None:
        self.path = path
        self._by_stem = by_stem
        self._taken: set[str] = set()
        path.mkdir(parents=True, exist_ok=True)

    def add(self, sample: Sample, name: str = "") -> str:
        """Write a sample's image file; gives its name in the folder, suffix by content.

        Raises FormatError (DAT005) where two samples have one name, letters' case aside.
        """
        assert isinstance(sample.image, bytes)
        inside = safe_name(name or sample.key)
        suffix = suffix_of(sample.image)
        known = PurePosixPath(inside).suffix.lower()
        if known != f".{suffix}" and (known, suffix) not in ((".jpeg", "jpg"), (".tiff", "tif")):
            stem = inside.removesuffix(inside[-len(known) :]) if known in SUFFIXES else inside
            inside = f"{stem}.{suffix}"
        claimed = (inside.rpartition(".")[0] if self._by_stem else inside).lower()
        if claimed in self._taken:
            message = f"{inside} is written already"
            raise FormatError(DUPLICATE.at(Where(node=sample.key), message))
        self._taken.add(claimed)
        target = self.path / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(sample.image)
        return inside
