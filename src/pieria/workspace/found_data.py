"""Report importable files in the data folder. They are never imported unasked."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from pieria.store.protocol import Finding

MNEMEX = "memories.jsonl"
"""The file of a Mnemex store, in the folder that `MNEMEX_STORAGE_PATH` names."""


def offers(folder: Path) -> list[Finding]:
    file = folder / MNEMEX
    if not file.is_file():
        return []
    remedy = f"If it is not imported yet, import it: pieria import {quote(str(folder))} --from mnemex"
    return [Finding("import", True, f"{file} is a store of Mnemex", remedy)]
