"""The formats of datasets, one module each. Adding one is a module and a line here."""

from __future__ import annotations

from ufkit.datasets.formats import (
    arrays,
    coco,
    database,
    folders,
    image_list,
    parquet,
    voc,
    webdataset,
    yolo,
)
from ufkit.datasets.formats.format import Format

# In the order in which they are tried: a folder of images is what is left.
FORMATS: dict[str, Format] = {
    item.name: item
    for item in (
        database.FORMAT,
        coco.FORMAT,
        voc.FORMAT,
        yolo.FORMAT,
        image_list.FORMAT,
        parquet.FORMAT,
        webdataset.FORMAT,
        arrays.FORMAT,
        folders.CLASSES,
        folders.IMAGES,
    )
}
