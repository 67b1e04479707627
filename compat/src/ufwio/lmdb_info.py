"""python -m ufwio.lmdb_info FOLDER: key, shape, type and label of each record."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ufkit.core.diag import UfkitError
from ufkit.core.render import visible
from ufkit.ufw.dataset import open_dataset
from ufkit.ufw.keys import shown_key


def main(arguments: Sequence[str]) -> int:
    """Print what is in a database; gives the exit code."""
    if len(arguments) != 1:
        print("usage: python -m ufwio.lmdb_info FOLDER", file=sys.stderr)
        return 2
    try:
        with open_dataset(arguments[0]) as dataset:
            for key, record in dataset.items():
                datum = record.datum
                label = "" if datum.label is None else f", label {datum.label}"
                print(f"{visible(shown_key(key))}: {datum.dtype}{list(datum.shape)}{label}")
            print(f"{len(dataset)} records")
    except UfkitError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
