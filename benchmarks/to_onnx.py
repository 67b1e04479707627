"""How long a big UFF takes to become ONNX, next to `cp` of the same file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from files import Files
from measure import Action, Side, interleave
from report import Row, mib, seconds


def run(files: Files, rounds: int) -> Iterator[Row]:
    """Both ways: up to the data on the disk (fsync), and up to the page cache."""
    out, copied = files.folder / "out.onnx", files.folder / "copied.uff"

    def clean() -> None:
        out.unlink(missing_ok=True)
        copied.unlink(missing_ok=True)
        os.sync()  # what the last sample left to be written is not for the next one to wait for

    for path, what in ((files.dense, "dense"), (files.conv, "convolutions")):
        for sync in ("fsync", "no fsync"):
            arguments = str(path), str(out), sync
            command = f"cp {path} {copied}" + (f" && sync {copied}" if sync == "fsync" else "")
            taken = interleave(
                [
                    Side("ufkit", arguments, "to_onnx:ufkit_convert", clean),
                    Side("cp", ("sh", "-c", command), before=clean),
                ],
                rounds,
            )
            ours, theirs = taken["ufkit"], taken["cp"]
            yield Row(
                f"{what}, {sync}",
                seconds(ours.seconds),
                seconds(theirs.seconds),
                ours.seconds / theirs.seconds,
                at_most=1.5,
                unit="x the time",
            )
            size = path.stat().st_size / (1 << 20)
            yield Row(
                f"{what}, {sync}, peak resident",
                mib(ours.peak),
                f"{mib(size)} file",
                ours.peak / size,
                at_most=0.2,
                unit="x the file",
            )
    clean()


def ufkit_convert(source: str, target: str, sync: str) -> Action:
    """`ufkit.convert`, which always ends with the data on the disk; here it can be stopped."""
    from ufkit import convert

    if sync == "no fsync":
        setattr(os, "fsync", lambda descriptor: None)  # noqa: B010

    def action() -> object:
        Path(target).unlink(missing_ok=True)
        return convert(source, target)

    return action
