"""Holds the third-party files of the viewer's page against the packages they are from.

python scripts/check_vendor.py           compare with the npm registry's packages (needs npm)

`src/ufkit/viewer/static/vendor/vendor.json` says of each file which package, version and path it
is, under what licence, and its SHA-256; `tests/viewer/test_vendor.py` holds the hashes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "src/ufkit/viewer/static/vendor"


def packed(package: str, folder: Path) -> tarfile.TarFile:
    """The archive of a package, as the registry has it."""
    command = ["npm", "pack", package, "--silent", "--ignore-scripts"]
    name = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return tarfile.open(folder / name.stdout.split()[-1])


def main() -> int:
    """Print a line for each file; 1 if one is not what its package has."""
    if shutil.which("npm") is None:
        print("npm is not installed: nothing was compared", file=sys.stderr)
        return 2
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in json.loads((FOLDER / "vendor.json").read_text()):
            package = f"{row['package']}@{row['version']}"
            with packed(package, Path(folder)) as archive:
                member = archive.extractfile(f"package/{row['path']}")
                same = member is not None and member.read() == (FOLDER / row["file"]).read_bytes()
            differ += not same
            print(f"{row['file']}: {'is' if same else 'IS NOT'} {row['path']} of {package}")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
