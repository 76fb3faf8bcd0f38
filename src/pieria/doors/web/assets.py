"""Styles and scripts: read once, and named by a hash of their content so that browsers may cache them for ever.

Also how answers are compressed, and the content security policy: files of this server only.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from pieria.doors.web import vendor
from pieria.doors.web.vendor import listed
from pieria.runtime.lazy import cached_property

HERE = Path(__file__).parent
STATIC, PAGES = HERE / "static", HERE / "pages"
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png"}
FOR_EVER = "public, max-age=31536000, immutable"
WORTH = 1_000
"""Size in bytes below which compression saves nothing."""
REFERRER = "same-origin"
"""Other sites get no referrer. With none at all, browsers would send no origin with our own forms."""
_BASE = (
    "default-src 'none'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
)


class Assets:
    """All files share one hash in their addresses, so that relative imports between modules work."""

    def __init__(self, static: Path = STATIC, pages: Path = PAGES) -> None:
        self._files: dict[str, bytes] = {}
        for folder in (static, pages):
            for path in sorted(folder.rglob("*")):
                if path.suffix in KINDS:
                    self._files[path.relative_to(folder).as_posix()] = path.read_bytes()
        self.missing = vendor.missing(static / "vendor")
        for name in self.missing:
            self._files.pop(f"vendor/{name}", None)

    @cached_property
    def mark(self) -> str:
        whole = sha256()
        for name, content in sorted(self._files.items()):
            whole.update(f"{name} {len(content)} ".encode() + content)
        return whole.hexdigest()[:16]

    def path(self, name: str) -> str:
        """Return the file's address. Raise `KeyError` if there is no such file."""
        self._files[name]
        return f"/static/{self.mark}/{name}"

    def has(self, name: str) -> bool:
        return name in self._files

    @property
    def sizes(self) -> Mapping[str, int]:
        return {name: len(content) for name, content in self._files.items()}

    async def answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = self._files.get(name)
        if content is None:
            return Response("There is no such file.\n", 404, media_type="text/plain")
        is_current = request.path_params["mark"] == self.mark
        # A page still open from another version gets the file, but must not cache it.
        headers = {"Cache-Control": FOR_EVER if is_current else "no-cache"}
        return sent(request, content, KINDS[Path(name).suffix], headers, pack=_packed_once)


def packed(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


_packed_once = lru_cache(maxsize=64)(packed)


def sent(
    request: Request,
    content: bytes,
    kind: str,
    headers: Mapping[str, str],
    status: int = 200,
    pack: Callable[[bytes], bytes] = packed,
) -> Response:
    """Return the content, compressed if the client accepts it."""
    varies = ", ".join(filter(None, (headers.get("Vary"), "Accept-Encoding")))
    told = {**headers, "Vary": varies}
    if len(content) >= WORTH and _takes_packed(request):
        content, told = pack(content), {**told, "Content-Encoding": "gzip"}
    return Response(content, status, told, media_type=kind)


def _takes_packed(request: Request) -> bool:
    named = [each.strip().lower().partition(";q=") for each in request.headers.get("accept-encoding", "").split(",")]
    return any(name == "gzip" and quality not in ("0", "0.0") for name, _, quality in named)


def policy(scripts: Collection[str] = ()) -> str:
    """Return the policy for a page with these scripts. Styles that a script adds are allowed by their hash."""
    hashes = [style for file in listed() if f"vendor/{file.name}" in scripts for style in file.styles]
    return "; ".join((*_BASE, " ".join(("style-src 'self'", *(f"'{each}'" for each in hashes)))))
