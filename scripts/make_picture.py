"""Draws `docs/convert.svg`, the picture in the README: the main command and what it prints.

python scripts/make_picture.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "ufkit convert examples/digits.uff digits.onnx --verify"


def printed() -> str:
    """What the command prints, run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        arguments = [sys.executable, "-m", "ufkit", *COMMAND.split()[1:]]
        done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    """Draw it; fonts are the reader's own, so that nothing is fetched to show it."""
    console = Console(record=True, width=104, file=StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), (COMMAND, "bold")))
    for line in printed().splitlines():
        style = "bold green" if line.startswith("equal") else ""
        console.print(Text(line, style=style))
    svg = console.export_svg(title="ufkit", theme=MONOKAI, unique_id="ufkit")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = svg.replace("Fira Code", "ui-monospace")
    (ROOT / "docs" / "convert.svg").write_text(svg)


if __name__ == "__main__":
    main()
