"""Names of wings and rooms made from other names, such as those of folders. Checking a place is in `check`."""

from __future__ import annotations

import re

GENERAL = "general"
LONGEST = 100
_EDGES = re.compile(r"^[^\w]+|[^\w]+$|_+$|^_+")
_FORBIDDEN = re.compile(r"[/\\\x00-\x1f\x7f]+|\.\.+")


def place_name(spelt: str) -> str:
    """Return a name for a wing or room that every toolset accepts."""
    kept = _FORBIDDEN.sub("-", spelt.strip())[:LONGEST]
    return _EDGES.sub("", kept).strip() or GENERAL
