"""Markdown notes for Obsidian and other editors: a note a memory, in folders by place, and one note of facts."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pieria.exporters import Exporter
from pieria.exporters.fields import encode, stamp
from pieria.record.memory import Memory
from pieria.vault.file_names import free_name, note_name, same_name
from pieria.vault.markdown import wiki_link
from pieria.vault.note import heading

if TYPE_CHECKING:
    from pieria.bank.transfer.snapshot import Snapshot

FACTS = "Facts.md"
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def write(snapshot: Snapshot, folder: Path) -> None:
    paths = _write_notes(snapshot, folder)
    _write_links(snapshot, folder, paths)
    _write_facts(snapshot, folder)


def _write_notes(snapshot: Snapshot, folder: Path) -> dict[str, str]:
    """Write the notes; return the path of each memory's note."""
    paths: dict[str, str] = {}
    taken: dict[str, set[str]] = {"": {same_name(FACTS)}}
    for memory, _ in snapshot.memories(("session",)):
        wing, _, room = memory.place.partition("/")
        below = "/".join(note_name(part, memory.id) for part in (wing, room))
        names = taken.setdefault(same_name(below), set())
        name = free_name(note_name(heading(memory), memory.id), names)
        names.add(same_name(name))
        paths[memory.id] = f"{below}/{name}"
        path = folder / paths[memory.id]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_note(memory), encoding="utf-8", errors="replace")
    return paths


def _note(memory: Memory) -> str:
    values = {
        "title": heading(memory), "id": memory.id, "kind": memory.kind, "tags": list(memory.tags),
        "date": stamp(memory.at), "author": memory.author, "session": memory.session, "source": memory.source,
        "importance": memory.importance, "valid_from": stamp(memory.times.valid_from),
        "valid_until": stamp(memory.times.valid_until), "status": memory.standing.status,
    }  # fmt: skip
    lines = [f"{name}: {_yaml(value)}\n" for name, value in values.items() if value not in (None, [])]
    return f"---\n{''.join(lines)}---\n\n{memory.text.rstrip()}\n"


def _yaml(value: object) -> str:
    """Return the value as JSON, which YAML reads too. Characters that break YAML's lines are escaped."""
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", encode(value))


def _write_links(snapshot: Snapshot, folder: Path, paths: dict[str, str]) -> None:
    begun: set[str] = set()
    for link in snapshot.links():
        if link.source.what != "memory" or link.target.what != "memory":
            snapshot.leave("links to places")
            continue
        here, there = paths.get(link.source.name), paths.get(link.target.name)
        if here is None or there is None:
            snapshot.leave("links of nodes that only lead through a graph")
            continue
        with (folder / here).open("a", encoding="utf-8", errors="replace") as file:
            file.write("" if here in begun else "\n## Relations\n\n")
            file.write(f"- {link.relation} {wiki_link(there, PurePosixPath(there).stem)}\n")
        begun.add(here)


def _write_facts(snapshot: Snapshot, folder: Path) -> None:
    facts = snapshot.facts()
    first = next(facts, None)
    if first is None:
        return
    with (folder / FACTS).open("w", encoding="utf-8", errors="replace") as file:
        file.write("# Facts\n\n| subject | predicate | object | from | until |\n|---|---|---|---|---|\n")
        for fact in chain([first], facts):
            cells = (fact.subject, fact.predicate, fact.object, stamp(fact.valid_from), stamp(fact.valid_until))
            file.write(f"| {' | '.join(map(_cell, cells))} |\n")


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("\n", " ")


EXPORTER = Exporter("markdown", "Markdown notes", write, is_folder=True)
