"""Search in a picture: keys, operations, fields and shapes."""

from __future__ import annotations

from typing import Any

from ufkit.viewer.content import Item, Model

_MOST = 200  # results that are shown
_MOST_FIELDS = 20_000  # items whose fields are looked at


def search(model: Model, at: int, words: str) -> dict[str, Any]:
    """The items in which all the words occur, those whose key or operation begins so first.

    A word of the form `name=value` is looked for in the fields.
    """
    wanted = words.casefold().split()
    picture = model.pictures[at]
    ranked = []
    if wanted:
        for index, item in enumerate(picture.items):
            rank = _rank(model, at, index, item, wanted)
            if rank is not None:
                ranked.append((rank, index))
    ranked.sort()
    rows = []
    for _, index in ranked[:_MOST]:
        item = picture.items[index]
        rows.append(
            {
                "item": index,
                "key": item.key,
                "title": item.title,
                "value": item.value,
                "category": item.category,
                "folded": item.folded,
            }
        )
    return {"total": len(ranked), "rows": rows}


def _rank(model: Model, at: int, index: int, item: Item, wanted: list[str]) -> int | None:
    """How good a match is, 0 the best; None for none."""
    key, title = item.key.casefold(), item.title.casefold()
    operation = item.operation.casefold()
    said = *item.lines, *item.field_lines, *item.weight_lines
    text = " ".join((key, title, operation, *said, item.value)).casefold()
    missing = [word for word in wanted if word not in text]
    if missing and (index >= _MOST_FIELDS or not _in_fields(model, at, index, missing)):
        return None
    first = wanted[0]
    if key == first:
        return 0
    if (
        title.startswith(first)
        or operation.startswith(first)
        or key.rpartition("/")[2].startswith(first)
    ):
        return 1
    return 3 if missing else 2


def _in_fields(model: Model, at: int, index: int, words: list[str]) -> bool:
    rows = model.details(at, index).fields
    text = " ".join(f"{row.name}={row.value}" for row in rows if row.given).casefold()
    return all(word in text for word in words)
