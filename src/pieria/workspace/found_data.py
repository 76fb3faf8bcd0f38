"""What lies in the data folder and may be brought in: it is told of, and never taken unasked."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from pieria.store.protocol import Finding

MNEMEX = "memories.jsonl"
"""The file of a store of Mnemex, whose folder `MNEMEX_STORAGE_PATH` names."""


def offers(folder: Path) -> list[Finding]:
    file = folder / MNEMEX
    if not file.is_file():
        return []
    remedy = f"Bring it in, if it is not in yet: pieria import {quote(str(folder))} --from mnemex"
    return [Finding("import", True, f"{file} is a store of Mnemex", remedy)]
