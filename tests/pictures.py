"""Small datasets to convert: pictures with labels and boxes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from ufkit.datasets.sample import Box, Sample
from ufkit.ufw.prototxt import Label

LABELS = (Label(1, "7", "cat"), Label(2, "11", "dog & <pet>"), Label(3, "90", "Zebra"))


def pixels(seed: int, height: int = 24, width: int = 32) -> Any:
    """Smooth noise, B G R: JPEG keeps it within a few steps."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (4, 5, 3), np.uint8)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)


def png(array: Any) -> bytes:
    return cv2.imencode(".png", array)[1].tobytes()


def jpg(array: Any) -> bytes:
    return cv2.imencode(".jpg", array)[1].tobytes()


def some_boxes(seed: int, count: int, size: tuple[int, int] = (32, 24)) -> tuple[Box, ...]:
    """Boxes with decimals, inside an image of that width and height, of three classes."""
    rng = np.random.default_rng(seed)
    found = []
    for at in range(count):
        x, y = sorted(rng.uniform(0, 1, 2)), sorted(rng.uniform(0, 1, 2))
        label = int(rng.integers(1, 4))
        corners = (x[0], y[0], max(x[1], x[0] + 0.01), max(y[1], y[0] + 0.01))
        found.append(Box(*map(float, corners), label, difficult=at % 3 == 1))
    return tuple(found)


def some_samples(
    count: int = 5,
    *,
    boxes: bool = False,
    label: bool = False,
    same_size: bool = False,
    flat: bool = False,
) -> list[Sample]:
    """PNG files of several sizes, in folders with odd names unless flat; the third has no box."""
    found = []
    for at in range(count):
        height, width = (24, 32) if same_size else (24 + at, 32 + 3 * at)
        found.append(
            Sample(
                key=f"{'' if flat else f'part {at % 2}/'}image.{at}.png",
                image=png(pixels(at, height, width)),
                label=at % 3 + 1 if label else None,
                boxes=some_boxes(at, 0 if at == 2 else at + 1) if boxes else None,
                width=width,
                height=height,
            )
        )
    return found


def write_coco(folder: Path, samples: Sequence[Sample], labels: Sequence[Label] = LABELS) -> Path:
    """What COCO's own files look like, written without ufkit."""
    (folder / "images").mkdir(parents=True)
    images, annotations = [], []
    for at, sample in enumerate(samples):
        name = f"{at:012}.png"
        assert isinstance(sample.image, bytes)
        (folder / "images" / name).write_bytes(sample.image)
        w, h = sample.width, sample.height
        images.append({"id": 1000 + at, "file_name": name, "width": w, "height": h})
        for box in sample.boxes or ():
            x, y = box.xmin * w, box.ymin * h
            size = (box.xmax - box.xmin) * w, (box.ymax - box.ymin) * h
            category = next(int(item.name) for item in labels if item.label == box.label)
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": 1000 + at,
                    "category_id": category,
                    "bbox": [x, y, *size],
                    "area": size[0] * size[1],
                    "iscrowd": int(bool(box.difficult)),
                    "segmentation": [],
                }
            )
    categories = [{"id": int(item.name), "name": item.display_name} for item in labels]
    document = {"images": images, "annotations": annotations, "categories": categories}
    path = folder / "instances.json"
    path.write_text(json.dumps(document))
    return path


def voc_xml(name: str, size: tuple[int, int], objects: str) -> str:
    w, h = size
    head = f"<filename>{name}</filename><size><width>{w}</width><height>{h}</height></size>"
    return f"<annotation><folder>x</folder>{head}{objects}</annotation>"


def write_voc(folder: Path, xml: str, name: str = "a", size: tuple[int, int] = (32, 24)) -> Path:
    """A VOC folder of one image with that annotation."""
    (folder / "JPEGImages").mkdir(parents=True, exist_ok=True)
    (folder / "Annotations").mkdir(exist_ok=True)
    (folder / "JPEGImages" / f"{name}.jpg").write_bytes(jpg(pixels(1, size[1], size[0])))
    (folder / "Annotations" / f"{name}.xml").write_text(xml)
    return folder
