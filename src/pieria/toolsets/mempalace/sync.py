"""Drawers whose file is gone. Taken out they can be brought back; nothing is looked up outside the allowed folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pieria.bank import Bank
from pieria.bank.capture.sources import GONE
from pieria.errors import InputError, NotFoundError
from pieria.record.memory import Memory
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.drawers import SHOWN, every
from pieria.toolsets.mempalace.words import no_such_place, place_filter, preview


def sync(call: Call, dry_run: bool, wing: str | None = None, project_dir: str | None = None) -> dict[str, Any]:
    bank, place = call.bank, place_filter(wing, None)
    folder = call.host.paths.allowed(project_dir, "project_dir") if project_dir else None
    sources = bank.count(by="source", place=place)
    files = {source: _is_there(call, source, folder) for source in sources}
    missing = sorted(source for source, is_there in files.items() if is_there is False)
    gone = [memory for source in missing for memory in every(bank, place=place, source=source)]
    told = {
        "dry_run": dry_run,
        "sources": len(files),
        "missing_sources": missing,
        "unchecked": sum(number for source, number in sources.items() if files[source] is None),
        "removed": 0 if dry_run else sum(_taken_out(bank, memory) for memory in gone),
        "count": len(gone),
        "drawers": [
            {"drawer_id": one.id, "wing": one.wing, "room": one.room, "content_preview": preview(one.text)}
            for one in gone[:SHOWN]
        ],
        "more": max(0, len(gone) - SHOWN),
    }
    why = None if sources else no_such_place(bank, wing, None)
    return {**told, "hint": why} if why else told


def _taken_out(bank: Bank, memory: Memory) -> bool:
    """False where somebody else was faster."""
    try:
        bank.remove(memory.id, reason=GONE)
    except NotFoundError:
        return False
    return True


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
    try:
        # A drive that is not there says nothing of the files on it.
        return path.exists() if path.parent.exists() or folder is not None else None
    except OSError:
        return None
