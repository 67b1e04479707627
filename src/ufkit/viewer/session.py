"""What the viewer was asked to show: files, and what belongs to several of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ufkit.viewer.openers import Wish
from ufkit.viewer.subject import Subject

if TYPE_CHECKING:
    from ufkit.viewer.quantisation import Quantisation


class Session:
    """The files named on the command line; nothing else can be reached."""

    def __init__(self, paths: Sequence[str], wish: Wish | None = None) -> None:
        self._wish = wish or Wish()
        self.subjects = [Subject(at, path, self._wish) for at, path in enumerate(paths)]

    def about(self) -> dict[str, Any]:
        """What the page is told first."""
        return {
            "files": [subject.about() for subject in self.subjects],
            "pages": self.pages,
        }

    @property
    def pages(self) -> list[str]:
        """The pages about both files, the first one to be opened."""
        quantised = ["quant"] if self.quantisation else []
        return [*quantised, "compare"] if self.compared else quantised

    @property
    def compared(self) -> bool:
        """Whether there are two models, to be held against each other."""
        return [bool(subject.model) for subject in self.subjects] == [True, True]

    @cached_property
    def quantisation(self) -> Quantisation | None:
        """A float net beside the same in integers, or its table; None without such a pair."""
        nets = all(subject.kind.startswith("caffe") or subject.table for subject in self.subjects)
        if len(self.subjects) != 2 or not nets:
            return None
        from ufkit.viewer.quantisation import quantisation_of

        return quantisation_of(self.subjects, self._wish.table)

    def verify(self) -> None:
        """Raises FileError (VWR006) where one of the files was written to meanwhile."""
        for subject in self.subjects:
            subject.verify()

    def __iter__(self) -> Iterator[Subject]:
        return iter(self.subjects)

    def close(self) -> None:
        """Let go of all files."""
        for subject in self.subjects:
            subject.close()
