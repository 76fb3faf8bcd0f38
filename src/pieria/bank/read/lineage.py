"""The lineage of memories through every kind of derivation, shared by `trace`, `quarantine` and `purge`.

It reads links and states as recorded, ended and quarantined ones included. The verbs decide what to do with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from pieria.bank.read.revisions import REVISES, Origin, followed
from pieria.record.link import DRAWN_FROM, End, Link
from pieria.store.protocol import Reader

NAMING = ("membership", "hierarchical")
"""The relations of tags, intents and subgoals to their members."""
NAMED, TAKEN_DOWN = "names", "taken down for"
"""Derivations without a link: names that nothing else bears, and the source of a step."""


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
