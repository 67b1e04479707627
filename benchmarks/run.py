"""Measures ufkit against its peers and prints ratios. See README.md."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from files import Files
from report import machine, table

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = {
    "open": "open_list",
    "read": "read_weights",
    "onnx": "to_onnx",
    "netvlad": "small_to_onnx",
    "tensorflow": "from_tensorflow",
    "from-onnx": "from_onnx",
    "inference": "run_netvlad",
    "caffe": "caffe_nets",
    "datum": "datum",
    "dataset": "make_dataset",
    "layout": "graph_layout",
    "view": "first_paint",
    "start": "command_line",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1024, metavar="MIB", help="of the big files")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="medians are of N")
    parser.add_argument("--only", choices=QUESTIONS, action="append", help="one question")
    parser.add_argument("--folder", type=Path, help="where to put a folder for the files")
    parser.add_argument(
        "--netvlad",
        type=Path,
        default=ROOT.parent / "shared/corpus/uff/netvlad.pb",
        help="the frozen TensorFlow graph that tf2onnx converts",
    )
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what a user installs is compiled once
    folder = Path(tempfile.mkdtemp(prefix="ufkit-bench-", dir=options.folder))
    try:
        netvlad = options.netvlad.resolve() if options.netvlad.exists() else None
        files = Files(folder.resolve(), options.size, netvlad)
        files.make()
        print(f"{machine()}; files of {options.size} MiB, medians of {options.rounds}")
        for name in options.only or QUESTIONS:
            question = importlib.import_module(QUESTIONS[name])
            print(f"\n{str(question.__doc__).splitlines()[0]}\n")
            print(table(question.run(files, options.rounds)), flush=True)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
