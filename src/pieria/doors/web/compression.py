"""Text is sent packed to whoever takes it so: it shrinks to a fifth, which is felt where the server is far away.

Nobody elsewhere can have a page made for somebody who is signed in, and so learn what is on it by its length.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response

WORTH = 1_000
"""Bytes below which packing saves nothing."""


def packed(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


def sent(
    request: Request,
    content: bytes,
    kind: str,
    headers: Mapping[str, str],
    status: int = 200,
    pack: Callable[[bytes], bytes] = packed,
) -> Response:
    """The content as the caller takes it."""
    varies = ", ".join(filter(None, (headers.get("Vary"), "Accept-Encoding")))
    told = {**headers, "Vary": varies}
    if len(content) >= WORTH and _takes_packed(request):
        content, told = pack(content), {**told, "Content-Encoding": "gzip"}
    return Response(content, status, told, media_type=kind)


def _takes_packed(request: Request) -> bool:
    named = [each.strip().lower().partition(";q=") for each in request.headers.get("accept-encoding", "").split(",")]
    return any(name == "gzip" and quality not in ("0", "0.0") for name, _, quality in named)
