"""The content security policy of our pages: files of this server only."""

from __future__ import annotations

from collections.abc import Collection

from pieria.doors.web.vendor import listed

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


def policy(scripts: Collection[str] = ()) -> str:
    """Return the policy for a page with these scripts. Styles that a script adds are allowed by their hash."""
    hashes = [style for file in listed() if f"vendor/{file.name}" in scripts for style in file.styles]
    return "; ".join((*_BASE, " ".join(("style-src 'self'", *(f"'{each}'" for each in hashes)))))
