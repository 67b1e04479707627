"""The files of the page, kept in memory: few, small, and each asked for by name.

They are served under a digest of them all, so that a browser may keep them without asking again,
and a newer ufkit has others. The page names the modules that it begins with, for them to be
fetched together instead of one after another as they name each other.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from ufkit.viewer.asking import bad

if TYPE_CHECKING:
    from starlette.requests import Request

FOLDER = Path(__file__).parents[1] / "static"
START = "app.js"
_KEPT = {"cache-control": "public, max-age=31536000, immutable"}
_ASKED = {"cache-control": "no-cache"}
_IMPORT = re.compile(r'^(?:import|export)\b[^;]*?from "\./([^"]+)"|^import "\./([^"]+)"', re.M)
_MEDIA = {".js": "text/javascript", ".svg": "image/svg+xml", ".css": "text/css"}


class Assets:
    """Every file below a folder by its path from there; what is in no file is not found."""

    def __init__(self, folder: Path = FOLDER) -> None:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        self._files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        whole = hashlib.sha256()
        for name, data in self._files.items():
            whole.update(f"{name} {len(data)} ".encode() + data)
        self.root = f"static/{whole.hexdigest()[:16]}/"
        self._page = self._made_page()

    async def page(self, _: Request) -> Response:
        """The page itself, which is asked for anew each time."""
        return Response(self._page, media_type="text/html", headers=_ASKED)

    async def file(self, request: Request) -> Response:
        """One of the files. Raises RequestError (VWR002) for what is none."""
        name = request.path_params["name"]
        data = self._files.get(name)
        if data is None:
            raise bad(f"the page has no file {name[:80]!r}")
        suffix = Path(name).suffix
        media = _MEDIA.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")
        return Response(data, media_type=media, headers=_KEPT)

    def _made_page(self) -> str:
        page = self._files["index.html"].decode().replace("static/", self.root)
        links = [f'<link rel="modulepreload" href="{self.root}{m}">' for m in self.modules()]
        return page.replace("<!-- modules -->", "\n".join(links))

    def modules(self) -> list[str]:
        """The modules that the first one needs, and those that they need."""
        found: dict[str, None] = {}
        waiting = [START]
        while waiting:
            name = waiting.pop()
            if name not in found and name in self._files:
                found[name] = None
                matches = _IMPORT.finditer(self._files[name].decode())
                waiting += [match[1] or match[2] for match in matches]
        del found[START]
        return [*found]
