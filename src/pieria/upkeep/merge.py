"""One memory in place of several that say the same. It links to them and takes over their links; they are archived.

A mind only words it. Importance, labels, times, usage and lineage are computed here. One changeset writes everything,
so that one `undo` reverts everything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pieria.errors import ConflictError
from pieria.record.changeset import Changeset, Stored, Write
from pieria.record.check import NAME_LIMIT
from pieria.record.draft import Draft, NewMemory
from pieria.record.fact import FactQuery, FactRow
from pieria.record.factnames import folded
from pieria.record.factnames import row_of as fact_row
from pieria.record.filter import Filter
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, REVISES, End, LinkRow
from pieria.record.link import row_of as link_row
from pieria.record.memory import TIERS, Memory
from pieria.record.time import micros
from pieria.record.usage import UNUSED, Usage, Use
from pieria.store.protocol import Reader
from pieria.store.rows import first_write
from pieria.upkeep.groups import audience_of

VERB = "merge"
RELATION = "related"
LINEAGE = (DRAWN_FROM, REVISES)
STRONGER, MOST_STRONGER, STRONGEST = 0.1, 0.5, 2.0
"""Strength added per member, the most that all members add, and the limit for any memory."""
JOINED = "; "


@dataclass(frozen=True, slots=True)
class Merging:
    """The planned merge. `sources` are oldest first."""

    new: NewMemory
    sources: tuple[Memory, ...]
    cohesion: float


def checked(memories: Sequence[Memory], fades: Collection[str]) -> None:
    """Raise `ConflictError` if a memory must not be merged, or if their audiences differ."""
    for memory in memories:
        why = _kept_for(memory, fades)
        if why is not None:
            raise ConflictError(f"it is {why}", ids=(memory.id,), hint="Leave it out, or only link them.")
    if len({audience_of(memory) for memory in memories}) > 1:
        hint = "Merge what the same readers see, or only link them."
        raise ConflictError("different readers see them", ids=tuple(one.id for one in memories), hint=hint)


def _kept_for(memory: Memory, fades: Collection[str]) -> str | None:
    if memory.pinned:
        return "pinned"
    if memory.kind not in fades:
        return f"evidence: a {memory.kind} is kept unchanged"
    return None if memory.status == "active" else memory.status


def merging(memories: Sequence[Memory], text: str, cohesion: float) -> Merging:
    """Return the merged memory. Where single values differ the latest wins; lists are joined."""
    last = memories[-1]
    stronger = min(MOST_STRONGER, STRONGER * cohesion * len(memories))
    confidences = [memory.confidence for memory in memories if memory.confidence is not None]
    new = NewMemory(
        text,
        title=next((memory.title for memory in reversed(memories) if memory.title), None),
        kind=_shared(memory.kind for memory in memories) or "note",
        body=_together(memory.body for memory in memories),
        tags=_labels(memory.tags for memory in memories),
        entities=_labels(memory.entities for memory in memories),
        files=_labels(memory.files for memory in memories),
        importance=max(memory.importance for memory in memories),
        confidence=min(confidences, default=None),
        strength=min(STRONGEST, max(memory.strength for memory in memories) + stronger),
        scope=last.scope,
        source=_joined((memory.source for memory in memories), NAME_LIMIT),
        context=_joined((memory.context for memory in memories), None),
        author=_shared(memory.author for memory in memories),
        author_type=_shared(memory.author_type for memory in memories),
        channel=_shared(memory.channel for memory in memories),
        session=_shared(memory.session for memory in memories),
        place=_shared(memory.place for memory in memories),
        at=last.at,
        meta=_together(memory.meta for memory in memories),
    )
    return Merging(new, tuple(memories), cohesion)


def changes(
    reader: Reader, made: Merging, draft: Draft, id: str, filter: Filter, now: int, default_place: str
) -> Changeset:
    """Return the changeset. Raise `ConflictError` if a source was changed since it was read."""
    ids = [memory.id for memory in made.sources]
    held = reader.states(ids)
    changed = tuple(memory.id for memory in made.sources if _differs(memory, held.get(memory.id)))
    if changed:
        raise ConflictError("it was changed meanwhile", ids=changed, hint="Look at them again.")
    write = first_write(draft, id, now, default_place)
    tier = max((memory.tier for memory in made.sources), key=TIERS.index)
    return Changeset(
        VERB,
        writes=[
            write._replace(state=write.state._replace(tier=tier)),
            *(Write(held[one].state._replace(status="archived", reason=f"merged into {id}")) for one in ids),
        ],
        links=[
            *(LinkRow(new_id(), "memory", id, DRAWN_FROM, "memory", one, 1.0, None, None, "") for one in ids),
            *_taken_over(reader, ids, id),
        ],
        facts=list(facts_taken(reader, ids, id, filter)),
        usage=_uses(reader.usage(ids).values(), id),
    )


def ties(reader: Reader, ids: Sequence[str], weight: float) -> Changeset:
    """Return links between every two of them that are not linked yet."""
    ends = [End("memory", id) for id in ids]
    there = {frozenset((link.source, link.target)) for link in reader.links(ends, RELATION)}
    rows = [
        LinkRow(new_id(), *one, RELATION, *other, weight, None, None, "")
        for one, other in combinations(ends, 2)
        if frozenset((one, other)) not in there
    ]
    return Changeset("link", links=rows)


def _differs(memory: Memory, held: Stored | None) -> bool:
    if held is None:
        return True
    state = held.state
    return (state.row, state.ended, state.status, state.pinned) != (memory.row, "", memory.status, int(memory.pinned))


def _taken_over(reader: Reader, ids: Sequence[str], merged: str) -> Iterator[LinkRow]:
    """Yield copies of the links between members and others, each once, now ending at the merged memory. Lineage links
    stay with the members."""
    members = {End("memory", id) for id in ids}
    end = End("memory", merged)
    seen = set()
    for link in reader.links(list(members)):
        source, target = (end if one in members else one for one in (link.source, link.target))
        tie = (source, link.relation, target)
        if source == target or tie in seen or link.relation in LINEAGE:
            continue
        seen.add(tie)
        row = link_row(link)
        yield row._replace(
            id=new_id(), source_is=source.what, source=source.name, target_is=target.what, target=target.name
        )


def facts_taken(reader: Reader, ids: Sequence[str], into: str, filter: Filter) -> Iterator[FactRow]:
    """Yield the facts that only the sources state, each once: queries skip facts of archived memories."""
    seen = {_said(fact_row(fact)) for fact in reader.facts(FactQuery(memory=into), filter)}
    for id in ids:
        for fact in reader.facts(FactQuery(memory=id), filter):
            row = fact_row(fact)
            if fact.subject == id:
                row = row._replace(subject=into, subject_key=folded(into))
            if _said(row) not in seen:
                seen.add(_said(row))
                yield row._replace(id=new_id(), memory=into)


def _said(row: FactRow) -> tuple[object, ...]:
    return row.subject_key, row.predicate_key, row.object_key, row.valid_from, row.valid_until


def _uses(held: Iterable[Usage], id: str) -> list[Use]:
    counted = list(held)
    if all(usage == UNUSED for usage in counted):
        return []
    return [
        Use(
            id,
            sum(usage.accesses for usage in counted),
            max((micros(usage.last_access) for usage in counted if usage.last_access), default=None),
            sum(usage.reviews for usage in counted),
            max((micros(usage.last_review) for usage in counted if usage.last_review), default=None),
            sum(usage.crossings for usage in counted),
            sum(usage.rewards for usage in counted),
            sum(usage.rewarded for usage in counted),
        )
    ]


def _shared(values: Iterable[str | None]) -> str | None:
    """Return the value that all share, else None."""
    said = set(values)
    return said.pop() if len(said) == 1 else None


def _together(mappings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: value for mapping in mappings for name, value in mapping.items()}


def _labels(lists: Iterable[Sequence[str]]) -> list[str]:
    """Return each label once, ignoring case, in its first spelling."""
    spelt: dict[str, str] = {}
    for label in (label for labels in lists for label in labels):
        spelt.setdefault(label.casefold(), label)
    return sorted(spelt.values(), key=str.casefold)


def _joined(texts: Iterable[str | None], limit: int | None) -> str | None:
    """Return all texts joined; if that is too long, the latest that fit. The sources keep the others."""
    said = list(dict.fromkeys(text for text in texts if text))
    while limit is not None and len(said) > 1 and len(JOINED.join(said)) > limit:
        said = said[1:]
    return JOINED.join(said) or None
