"""Follow memories through revisions and every kind of derivation, for `trace`, `quarantine`, `purge` and the writes.

It reads links and states as recorded, ended and quarantined ones included. The verbs decide what to do with them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from pieria.language.index_terms import indexed_terms
from pieria.record import check
from pieria.record.changeset import Cut
from pieria.record.link import DRAWN_FROM, End, Link
from pieria.record.link import REVISES as REVISES  # noqa: PLC0414 - links between revisions are looked for here
from pieria.store.protocol import Reader

OUTGROWN = "outgrown"
"""How a source link ends when the memory no longer rests on that source.

Earlier versions of the memory still contain the source's words.
"""
RESERVED = (REVISES,)
"""Relations that only the engine adds and removes, because its later work depends on them."""
AT_ONCE = 2_000
NAMING = ("membership", "hierarchical")
"""The relations of tags, intents and subgoals to their members."""
NAMED, TAKEN_DOWN = "names", "taken down for"
"""Derivations without a link: names that nothing else bears, and the source of a step."""
STATE = "state"
STEPS_AT_ONCE = 256


class Origin(NamedTuple):
    """How a memory was reached: the relation, and the memory it was reached from."""

    how: str
    of: str


def followed(reader: Reader, ids: Iterable[str], follows: Callable[[Link, str], bool]) -> dict[str, Origin | None]:
    """Return the ids, and every memory reached by links that `follows` accepts, nearest first, each with its origin.

    `follows` gets a link and the id at which the link starts.
    """
    found: dict[str, Origin | None] = dict.fromkeys(ids)
    fringe = list(found)
    while fringe:
        reached_now: list[str] = []
        for begin in range(0, len(fringe), AT_ONCE):
            part = fringe[begin : begin + AT_ONCE]
            started = set(part)
            for link in reader.links([End("memory", id) for id in part], every_version=True):
                for id, other in _ways(link):
                    if id in started and other not in found and follows(link, id):
                        found[other] = Origin(link.relation, id)
                        reached_now.append(other)
        fringe = reached_now
    return found


def reached(reader: Reader, ids: Iterable[str], follows: Callable[[Link, str], bool]) -> list[str]:
    """Return only the ids of `followed`."""
    return list(followed(reader, ids, follows))


def _ways(link: Link) -> tuple[tuple[str, str], ...]:
    """Return the ends of a link between memories in both directions, or nothing if the link does not count."""
    # An undone revision and an outgrown source still share words. Other ended links do not count.
    standing = link.known_until is None and link.ended in ("", OUTGROWN)
    if not standing and link.relation != REVISES:
        return ()
    if link.source.what != "memory" or link.target.what != "memory":
        return ()
    return (link.source.name, link.target.name), (link.target.name, link.source.name)


def lineage(reader: Reader, ids: Iterable[str]) -> dict[str, Origin | None]:
    """Return the ids and every memory that contains words of theirs, with its origin; None for the ids."""
    found = followed(reader, ids, _holds_its_words)
    drawn = list(found)
    found |= {id: Origin(NAMED, of) for id, of in _named_after(reader, drawn).items()}
    return found | {id: Origin(TAKEN_DOWN, of) for id, of in _taken_down_for(reader, drawn).items() if id not in found}


def _holds_its_words(link: Link, id: str) -> bool:
    """Return whether the link leads to a revision, in either direction, or to a memory derived from the id."""
    return link.relation == REVISES or (link.relation == DRAWN_FROM and link.target.name == id)


def _named_after(reader: Reader, ids: list[str]) -> dict[str, str]:
    """Return subgoals of the steps, and tags and intents without other members, each with a member."""
    gone = set(ids)
    others = {id: of for id, of in _tied(reader, ids).items() if id not in gone}
    kinds = {id: each.state.kind for id, each in reader.states(others).items()}
    return {
        id: of
        for id, of in others.items()
        if kinds.get(id) == "subgoal" or (kinds.get(id) in ("tag", "intent") and gone.issuperset(_tied(reader, [id])))
    }


def _taken_down_for(reader: Reader, ids: list[str]) -> dict[str, str]:
    """Return the sources of the steps, each with its step.

    A source repeats the words of its step. Sources that other nodes rest on are left out.
    """
    gone = set(ids)
    links = reader.links([End("memory", id) for id in ids], DRAWN_FROM) if ids else []
    under = {link.target.name: link.source.name for link in links if link.source.name in gone}
    under = {id: of for id, of in under.items() if id not in gone}
    taken_down = [id for id, each in reader.states(sorted(under)).items() if each.state.kind == "source"]
    resting = reader.links([End("memory", id) for id in taken_down], DRAWN_FROM) if taken_down else []
    kept = {link.target.name for link in resting if link.source.name not in gone}
    return {id: under[id] for id in taken_down if id not in kept}


def _tied(reader: Reader, ids: list[str]) -> dict[str, str]:
    """Return what names these ids or is named by them, each with the id it is linked to."""
    given = set(ids)
    found: dict[str, str] = {}
    for link in reader.links([End("memory", id) for id in ids]) if ids else ():
        if link.relation in NAMING:
            for one, other in ((link.source.name, link.target.name), (link.target.name, link.source.name)):
                if one not in given and other in given:
                    found.setdefault(one, other)
    return found


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
        for begin in range(first + 1, 1 << 31, STEPS_AT_ONCE):
            there = reader.states([episodic_id(episode, index) for index in range(begin, begin + STEPS_AT_ONCE)])
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
