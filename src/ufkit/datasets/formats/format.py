"""What a format of datasets is: how it is told, read and written, and what it can say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ufkit.datasets.report import Report
from ufkit.datasets.sample import Listing, Sample
from ufkit.ufw.prototxt import Label

SSD, VOC = "ssd", "voc"


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """What some formats want to know; each names those that concern it.

    images    folder that names of images are relative to
    labels    the classes, in place of those that the source has
    pixels    of VOC's corners: "ssd" takes them as they are, "voc" counts the first pixel as 1
    rgb       arrays of the source have R G B
    split     of VOC: the list of ImageSets/Main whose images are taken
    mode      of a database: "new", "append" to what it has, "overwrite", or "resume": append those
              samples that come behind its last one
    keys      of a database: "caffe", "ufwio" or "own"
    label_db  a second database, for several labels or labels with fractions, of the same keys
    """

    images: Path | None = None
    labels: tuple[Label, ...] = ()
    pixels: str = SSD
    rgb: bool = False
    split: str = ""
    mode: str = "new"
    keys: str = "caffe"
    label_db: Path | None = None


Sniff = Callable[[Path], bool]
Read = Callable[[Path, FormatOptions], Listing]
Write = Callable[[Path, Listing, Iterator[Sample], FormatOptions, Report], None]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of datasets.

    sniff     whether a path is of it, told by content
    read      what is there, listed; see Listing
    write     take all samples, each within `report.one()`, which counts it. Samples have
              an array, where `arrays`, or the bytes of an image file. The Listing tells classes;
              its samples are not for the writer
    suffixes  of targets; a folder where there are none
    arrays    whether it holds arrays, and
    files     whether it holds image files
    boxes     whether it holds boxes
    label     whether it holds a label
    direct    whether it is written where it is to be, and can be gone on with
    last      how many samples a target has, and the name of its last one, where it can be resumed
    reads     names of the FormatOptions that reading heeds, and
    writes    that writing heeds
    """

    name: str
    doc: str
    sniff: Sniff
    read: Read
    write: Write
    suffixes: tuple[str, ...] = ()
    arrays: bool = False
    files: bool = True
    boxes: bool = False
    label: bool = False
    direct: bool = False
    last: Callable[[Path], tuple[int, str]] | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
