"""What a vault shows of the bank: memories with their links, and the mark of each written note."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.bank.core import EVERYTHING
from pieria.record.filter import Filter
from pieria.record.link import SYMMETRIC, End, Link
from pieria.record.memory import KINDS, Memory
from pieria.record.usage import UNUSED
from pieria.upkeep.selection import selected
from pieria.vault import markdown
from pieria.vault.folder import Seen, digest_of
from pieria.vault.note import Page, Tie, heading, page_of, said_in
from pieria.vault.note_import import decoded
from pieria.vault.note_links import RELATION

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.store.protocol import Reader

AT_ONCE = 100
"""Notes written before the bank records them."""


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
    links = [link for link in reader.links([End("memory", id) for id in ids]) if _is_shown(link)] if ids else []
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


def _is_shown(link: Link) -> bool:
    return link.relation != RELATION and link.source.what == link.target.what == "memory"


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
