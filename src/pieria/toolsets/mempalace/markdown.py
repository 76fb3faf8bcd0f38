"""The palace as Markdown files, and drawers whose source file is gone. Only files in allowed folders are touched."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unicodedata import category, normalize

from pieria.bank import Bank
from pieria.bank.capture.sources import GONE
from pieria.errors import InputError, NotFoundError, StorageError
from pieria.record.memory import LISTED_KINDS, Memory
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.drawers import SHOWN, every
from pieria.toolsets.mempalace.words import basename, hall_of, no_such_place, place_filter, preview, split, stamp

INDEX = "README.md"
SAFE = " .'-_"
UNSAFE = re.compile(r"^[ .]|[ .]$")
LONGEST = 100


def export_markdown(call: Call, output_path: str, wing: str | None = None) -> dict[str, Any]:
    bank = call.bank
    folder = call.host.paths.allowed(output_path, "output_path")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("output_path", "an empty or new folder", output_path)
    wanted = place_filter(wing, None)
    places = [place for place in bank.places.counts() if wanted is None or split(place)[0] == wanted]
    if wanted is not None and not places:
        raise InputError("wing", "a wing that holds drawers", wing, hint=no_such_place(bank, wanted, None))
    files = _files(places)
    drawers = 0
    for place, file in files.items():
        held = every(bank, place=place, kinds=LISTED_KINDS)
        drawers += len(held)
        _write(folder / file, _room(place, held))
    _write(folder / INDEX, _index(bank, files))
    wings = len({split(place)[0] for place in places})
    told = call.host.paths.told(folder)
    return {"path": told, "wings": wings, "rooms": len(places), "drawers": drawers, "files": len(files) + 1}


def _files(places: Iterable[str]) -> dict[str, Path]:
    """Return a path for each place, unique even if the file system ignores case or normalises accents."""
    found: dict[str, Path] = {}
    taken = {_alike(Path(INDEX))}
    for place in places:
        wing, room = split(place)
        path = Path(_safe(wing), f"{_safe(room)}.md")
        if _alike(path) in taken:
            path = path.with_stem(f"{path.stem}-{_mark(place)}")
        taken.add(_alike(path))
        found[place] = path
    return found


def _alike(path: Path) -> str:
    return normalize("NFC", str(path)).casefold()


def _safe(name: str) -> str:
    letters = (each if each.isalnum() or each in SAFE or category(each).startswith("M") else "_" for each in name)
    kept = UNSAFE.sub("_", "".join(letters)[:LONGEST])
    return kept if kept == name else f"{kept}-{_mark(name)}"


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write a temporary file, then rename it."""
    aside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            aside.write_text("\n".join(lines) + "\n", "utf-8", errors="replace", newline="\n")
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as problem:
        hint = "Delete the files written so far, free some space or choose another folder, then export again."
        raise StorageError("export", f"{path} cannot be written ({problem.strerror})", hint=hint) from problem


def _room(place: str, drawers: list[Memory]) -> Iterator[str]:
    wing, room = split(place)
    yield f"# {_line(wing)} / {_line(room)}"
    for drawer in drawers:
        yield ""
        yield f"## {_line(drawer.id)}"
        yield ""
        told = {
            "filed": stamp(drawer.at),
            "hall": hall_of(drawer),
            "by": drawer.author,
            "from": basename(drawer.source),
        }
        yield " · ".join(f"{name}: {_line(value)}" for name, value in told.items() if value)
        yield ""
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", drawer.text)), default=0))
        yield f"{fence}text"
        yield drawer.text
        yield fence


def _index(bank: Bank, files: dict[str, Path]) -> Iterator[str]:
    yield f"# {_line(bank.name)}"
    last = None
    for place, file in files.items():
        wing, room = split(place)
        if wing != last:
            yield from ("", f"## {_line(wing)}", "")
            last = wing
        yield f"- [{_line(room)}](<{file.as_posix()}>)"


def _line(text: str) -> str:
    """Return the text on one line, with Markdown characters escaped."""
    return re.sub(r"([\\`*\[\]<>#|])", r"\\\1", " ".join(text.split()))


def sync(
    call: Call, dry_run: bool, apply: bool = False, wing: str | None = None, project_dir: str | None = None
) -> dict[str, Any]:
    bank, place = call.bank, place_filter(wing, None)
    folder = call.host.paths.allowed(project_dir, "project_dir") if project_dir else None
    sources = bank.count(by="source", place=place)
    files = {source: _is_there(call, source, folder) for source in sources}
    missing = sorted(source for source, is_there in files.items() if is_there is False)
    gone = [memory for source in missing for memory in every(bank, place=place, source=source)]
    dry_run = dry_run and not apply
    scanned = sum(sources.values())
    unchecked = sum(number for source, number in sources.items() if files[source] is None)
    told = {
        "dry_run": dry_run,
        "scanned": scanned,
        "kept": scanned - unchecked - len(gone),
        "missing": len(gone),
        "unchecked": unchecked,
        "removed_drawers": 0 if dry_run else sum(_taken_out(bank, memory) for memory in gone),
        "missing_sources": missing,
        "drawers": [
            {"drawer_id": one.id, "wing": one.wing, "room": one.room, "content_preview": preview(one.text)}
            for one in gone[:SHOWN]
        ],
        "more": max(0, len(gone) - SHOWN),
    }
    why = None if sources else no_such_place(bank, wing, None)
    return {**told, "hint": why} if why else told


def _taken_out(bank: Bank, memory: Memory) -> bool:
    """Remove the memory. Return False if another caller already did."""
    try:
        bank.remove(memory.id, reason=GONE)
    except NotFoundError:
        return False
    return True


def _is_there(call: Call, source: str, folder: Path | None) -> bool | None:
    """Return whether the source exists; None if it is no file this caller may check."""
    if not Path(source).is_absolute():
        return None
    try:
        path = call.host.paths.allowed(source, "source_file")
    except InputError:
        return None
    if folder is not None and not path.is_relative_to(folder):
        return None
    try:
        # If the parent folder is missing, the drive may be unmounted.
        return path.exists() if path.parent.exists() or folder is not None else None
    except OSError:
        return None
