"""What a vault shows of the bank: memories with their links, and the mark of each written note."""

from __future__ import annotations

import json
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pieria.bank.core import EVERYTHING
from pieria.bank.results.transfer import BadNote, Synced, VaultEvent
from pieria.record.filter import Filter
from pieria.record.link import SYMMETRIC, End
from pieria.record.memory import KINDS, Memory
from pieria.record.usage import UNUSED
from pieria.upkeep.sleep import selected
from pieria.vault import markdown
from pieria.vault.folder import Folder, Scan, Seen, digest_of
from pieria.vault.markdown import RELATION
from pieria.vault.note import Page, Tie, heading, page_of, said_in
from pieria.vault.note_import import NOT_TEXT, decoded

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.store.protocol import Reader

AT_ONCE = 100
"""Notes written before the bank records them."""
SETTLED = 2_000_000_000
"""Nanoseconds after which another change of a file gets a different time on every file system."""


@dataclass(frozen=True, slots=True)
class Held:
    """A memory with the page for its note."""

    memory: Memory
    page: Page


def mark_of(held: Held, path: str, seen: Seen, written: bytes, target: str) -> dict[str, Any]:
    """Return the mark of a note that equals its memory, for the next sync."""
    text, _ = decoded(written)
    assert text is not None
    said = said_in(text, held.page.tail)
    return {
        "path": path,
        "size": seen.size,
        "changed": seen.changed,
        "digest": digest_of(written),
        "page": held.page.digest,
        "said": said.kept(),
        "tail": held.page.tail,
        "links": list(markdown.links(said.text)),
        "target": target,
    }


def held_in(
    reader: Reader, bank: Bank, wanted: Mapping[str, tuple[str, str]], paths: Mapping[str, str]
) -> dict[str, Held]:
    """Return existing memories with the pages of their notes: `wanted` gives each one's path and target."""
    hidden = reader.quarantines(wanted)
    found = reader.states(id for id in wanted if id not in hidden)
    states = {id: held.state for id, held in found.items() if not held.state.ended}
    filter = bank.core.filter().having(viewer=EVERYTHING)
    memories = reader.memories([state.row for state in states.values()], filter)
    usage = reader.usage(list(states))
    ties = _ties(reader, bank, list(states), paths)
    return {
        id: Held(
            memories[state.row],
            page_of(
                memories[state.row],
                usage.get(id, UNUSED),
                ties.get(id, ()),
                bank=bank.name,
                path=wanted[id][0],
                target=wanted[id][1],
            ),
        )
        for id, state in states.items()
    }


def _ties(reader: Reader, bank: Bank, ids: Sequence[str], paths: Mapping[str, str]) -> dict[str, list[Tie]]:
    """Return the notes that each memory links to. Links that come from its own text are left out."""
    every = reader.links([End("memory", id) for id in ids]) if ids else []
    shown = [link for link in every if link.relation != RELATION]
    links = [link for link in shown if link.source.what == link.target.what == "memory"]
    others = {end.name for link in links for end in (link.source, link.target) if end.name in paths}
    others -= reader.quarantines(others).keys()
    rows = {id: held.state.row for id, held in reader.states(others).items() if not held.state.ended}
    titles = reader.memories(list(rows.values()), bank.core.filter().having(viewer=EVERYTHING))
    wanted = set(ids)
    found: dict[str, dict[Tie, None]] = {}
    for link in links:
        ways = [(link.source.name, link.target.name), (link.target.name, link.source.name)]
        for here, there in ways if link.relation in (*SYMMETRIC, "related") else ways[:1]:
            if here in wanted and there in rows:
                tie = Tie(link.relation, heading(titles[rows[there]]), paths[there])
                found.setdefault(here, {})[tie] = None
    return {id: sorted(ties) for id, ties in found.items()}


def promoted_in(reader: Reader, bank: Bank) -> list[Memory]:
    """Return the memories that are promoted now."""
    asked = Filter(now=bank.core.now(), viewer=EVERYTHING, kinds=KINDS, status=("promoted",))
    return [memory for part in selected(reader, asked) for memory in part]


def is_from_note(memory: Memory) -> bool:
    """Return whether the memory comes from a handwritten note."""
    return memory.kind == "drawer" and memory.id.startswith("note_") and "mined" in memory.meta


def has_other_note(memory: Memory, paths: Container[str]) -> bool:
    """Return whether another note holds the memory: its source, or one that another system wrote."""
    return is_from_note(memory) or memory.meta.get("promoted_to") in paths


def spelt(value: object) -> str:
    """Return canonical JSON, to compare records with new values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class File:
    """A note file. `text` is None if the file was not read because it is unchanged."""

    path: str
    seen: Seen
    digest: str
    text: str | None = None
    problem: str | None = None

    @property
    def unsettled(self) -> dict[str, bool]:
        """Mark a file changed so recently that another change could have the same time."""
        return {"unsettled": True} if time.time_ns() - self.seen.changed < SETTLED else {}


@dataclass(slots=True)
class Vaulted:
    """What the bank and the folder hold during a sync."""

    bank: Bank
    folder: Folder
    scan: Scan
    report: Synced
    marks: dict[str, dict[str, Any]]
    """Marks of the notes of memories, by id."""
    others: dict[str, dict[str, Any]]
    """Marks of all other notes, by path."""
    claims: dict[str, list[File]] = field(default_factory=dict)
    """Notes that name a memory in their front matter, by its id."""

    def read(self, path: str) -> File | None:
        """Return the file, or None if it has disappeared or cannot be read. A read error is reported."""
        seen = self.scan.notes[path]
        try:
            written = self.folder.read(path)
        except FileNotFoundError:
            del self.scan.notes[path]
            return None
        except OSError as problem:
            self.bad(path, f"it cannot be read ({problem.strerror or problem})")
            self.scan.unseen[path] = "unread"
            return None
        text, odd = decoded(written)
        return File(path, seen, digest_of(written), text, NOT_TEXT if text is None else odd)

    def tell(self, path: str, what: str, id: str | None = None, detail: str | None = None) -> None:
        self.report.events.append(VaultEvent(path, what, id, detail))

    def bad(self, path: str, reason: str, *, taken: bool = False) -> None:
        self.report.problems.append(BadNote(path, reason, taken))
