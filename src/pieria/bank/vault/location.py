"""Where the vault of a bank is. Apart from `vault`, so that opening a bank need not load what writes notes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class VaultAt(NamedTuple):
    """Where the vault is, and the folder in it for notes of memories: what settings say."""

    root: Path | None
    own: str


NOWHERE = VaultAt(None, "Pieria")
