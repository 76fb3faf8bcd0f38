"""The scratchpad of the calling session."""

from __future__ import annotations

from typing import Any

from pieria.toolsets.host import Call
from pieria.toolsets.mnemosyne.words import here


def scratchpad_write(call: Call, content: str) -> dict[str, Any]:
    bank = call.bank
    entry = bank.scratchpad.write(content)
    return {"status": "written", "id": entry.id, **here(call, bank)}


def scratchpad_read(call: Call) -> dict[str, Any]:
    bank = call.bank
    entries = [entry.as_dict() for entry in bank.scratchpad.read()]
    return {"entries_count": len(entries), "entries": entries, **here(call, bank)}


def scratchpad_clear(call: Call) -> dict[str, Any]:
    bank = call.bank
    return {"status": "cleared", "cleared": bank.scratchpad.clear(), **here(call, bank)}
