"""The location of a bank's vault. Kept apart from the vault, so that opening a bank does not load its code."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class VaultAt(NamedTuple):
    """The vault folder, and the subfolder for notes of memories, from the settings."""

    root: Path | None
    own: str


NOWHERE = VaultAt(None, "Pieria")
