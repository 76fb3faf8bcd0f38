"""Drawers whose file is gone. Taken out they can be brought back; nothing is looked up outside the allowed folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pieria.errors import InputError
from pieria.record.memory import Memory
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.drawers import every
from pieria.toolsets.mempalace.words import place_filter, preview

SHOWN = 100
REASON = "its source file is gone"


def sync(call: Call, dry_run: bool, wing: str | None = None, project_dir: str | None = None) -> dict[str, Any]:
    bank = call.bank
    folder = call.host.paths.allowed(project_dir, "project_dir") if project_dir else None
    files: dict[str, bool | None] = {}
    gone: list[Memory] = []
    unchecked = 0
    for memory in every(bank, place=place_filter(wing, None)):
        if memory.source is None:
            continue
        if memory.source not in files:
            files[memory.source] = _is_there(call, memory.source, folder)
        unchecked += files[memory.source] is None
        if files[memory.source] is False:
            gone.append(memory)
    if not dry_run:
        for memory in gone:
            bank.remove(memory.id, reason=REASON)
    return {
        "dry_run": dry_run,
        "sources": len(files),
        "missing_sources": sorted(source for source, is_there in files.items() if is_there is False),
        "unchecked": unchecked,
        "removed": 0 if dry_run else len(gone),
        "count": len(gone),
        "drawers": [
            {"drawer_id": one.id, "wing": one.wing, "room": one.room, "content_preview": preview(one.text)}
            for one in gone[:SHOWN]
        ],
        "more": max(0, len(gone) - SHOWN),
    }


def _is_there(call: Call, source: str, folder: Path | None) -> bool | None:
    """None where it is no file that this caller may look up."""
    if not Path(source).is_absolute():
        return None
    try:
        path = call.host.paths.allowed(source, "source_file")
    except InputError:
        return None
    if folder is not None and not path.is_relative_to(folder):
        return None
    # A drive that is not there says nothing of the files on it.
    return path.exists() if path.parent.exists() or folder is not None else None
