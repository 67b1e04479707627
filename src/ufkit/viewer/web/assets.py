"""The files of the page, kept in memory: few, small, and each asked for by name.

They are served under a digest of them all, so that a browser may keep them without asking again,
and a newer ufkit has others. The page names the modules that it begins with, for them to be
fetched together instead of one after another as they name each other.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

FOLDER = Path(__file__).parents[1] / "static"
STARTS = ("start.js", "app.js")  # the scripts of the page
_IMPORT = re.compile(r'^(?:import|export)\b[^;]*?from "\./([^"]+)"|^import "\./([^"]+)"', re.M)
_MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page; `caching` is what a browser may do with it."""

    body: bytes
    media: str
    caching: str = "public, max-age=31536000, immutable"


class Assets:
    """Every file below a folder by its path from there; what is in no file is not found."""

    def __init__(self, folder: Path = FOLDER) -> None:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        self._files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        whole = hashlib.sha256()
        for name, data in self._files.items():
            whole.update(f"{name} {len(data)} ".encode() + data)
        self.root = f"static/{whole.hexdigest()[:16]}/"
        self._page = Asset(self._made_page().encode(), _MEDIA[".html"], "no-cache")

    def find(self, path: str) -> Asset | None:
        """What is at a path of the address; the page itself is asked for anew each time."""
        if path == "/":
            return self._page
        name = path.removeprefix(f"/{self.root}")
        if name == path or name not in self._files:
            return None
        suffix = PurePosixPath(name).suffix
        media = _MEDIA.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")
        return Asset(self._files[name], media)

    def _made_page(self) -> str:
        page = self._files["index.html"].decode().replace("static/", self.root)
        links = [f'<link rel="modulepreload" href="{self.root}{m}">' for m in self.modules()]
        return page.replace("<!-- modules -->", "\n".join(links))

    def modules(self) -> list[str]:
        """The modules that the scripts of the page need, and those that they need."""
        found: dict[str, None] = {}
        waiting = [*STARTS]
        while waiting:
            name = waiting.pop(0)
            if name not in found and name in self._files:
                found[name] = None
                matches = _IMPORT.finditer(self._files[name].decode())
                waiting += [match[1] or match[2] for match in matches]
        return [name for name in found if name not in STARTS]
