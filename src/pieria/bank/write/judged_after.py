"""Remove the judged state of steps that follow a purged one, because it may repeat the purged words."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pieria.language.index_terms import indexed_terms
from pieria.record import check
from pieria.record.changeset import Cut
from pieria.record.link import DRAWN_FROM, End
from pieria.store.protocol import Reader

STATE = "state"
AT_ONCE = 256


def cuts(reader: Reader, ids: Collection[str]) -> list[Cut]:
    """Return every version of those steps, without the state."""
    found = {}
    for id in steps_after(reader, set(ids)):
        for memory in reader.history(id):
            if STATE in memory.body:
                body = check.mapping({name: value for name, value in memory.body.items() if name != STATE}, "body")
                terms = indexed_terms(memory.title, memory.text, body, memory.tags, memory.entities, memory.files)
                found[memory.row] = Cut(memory.row, body, terms)
    return list(found.values())


def steps_after(reader: Reader, gone: set[str]) -> Iterator[str]:
    """Yield the steps after one of these in its episode, without these."""
    from pieria.learning.knowledge import episodic_id

    for episode, first in _first_steps(reader, gone).items():
        for begin in range(first + 1, 1 << 31, AT_ONCE):
            there = reader.states([episodic_id(episode, index) for index in range(begin, begin + AT_ONCE)])
            yield from there.keys() - gone
            if not there:
                break


def _first_steps(reader: Reader, gone: set[str]) -> dict[str, int]:
    """Return the first purged step of each episode, found by its source."""
    links = reader.links([End("memory", id) for id in gone], DRAWN_FROM) if gone else []
    beneath = {link.target.name for link in links if link.source.name in gone and link.target.what == "memory"}
    first: dict[str, int] = {}
    for id, held in reader.states(sorted(gone | beneath)).items():
        if held.state.kind == "source":
            body = reader.history(id)[-1].body
            episode, index = body.get("episode_id"), body.get("step_index") or 0
            if isinstance(episode, str) and isinstance(index, int):
                first[episode] = min(index, first.get(episode, index))
    return first
