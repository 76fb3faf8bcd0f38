"""Memories with similar text or labels: clusters that may be merged, pairs of duplicates, and the merge.

The similarity matrix is computed one block at a time. Many equal texts cost no more memory than different ones. A
merged memory links to its sources and takes over their links; a mind only words it. One changeset writes everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pieria.errors import ConflictError
from pieria.language.analyser import STOP_WORDS, terms
from pieria.record.changeset import Changeset, Stored, Write
from pieria.record.check import NAME_LIMIT
from pieria.record.draft import Draft, NewMemory
from pieria.record.fact import FactQuery, FactRow, folded
from pieria.record.fact import row_of as fact_row
from pieria.record.filter import Filter
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, REVISES, End, LinkRow
from pieria.record.link import row_of as link_row
from pieria.record.memory import TIERS, Memory
from pieria.record.time import micros
from pieria.record.usage import UNUSED, Usage, Use
from pieria.runtime.lazy import cached_property
from pieria.store.protocol import Reader
from pieria.store.rows import first_write
from pieria.upkeep.groups import audience_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Places = NDArray[np.intp]

STRATEGIES = ("similarity", "tags", "entities")
READ = 2_000
"""Characters of a text whose terms are compared."""
BEND = 2.75
"""Maps term overlap to the scale of vectors: six shared terms of ten give 0.83. One threshold serves both."""
BLOCK = 256
DIGITS = 6
"""Arithmetic differs between machines in further digits, and the order must not."""
VERB = "merge"
RELATION = "related"
LINEAGE = (DRAWN_FROM, REVISES)
STRONGER, MOST_STRONGER, STRONGEST = 0.1, 0.5, 2.0
"""Strength added per member, the most that all members add, and the limit for any memory."""
JOINED = "; "


@dataclass(frozen=True, slots=True)
class Cluster:
    """Similar memories, oldest first. `cohesion` is the mean similarity of two members."""

    memories: tuple[Memory, ...]
    cohesion: float

    @property
    def id(self) -> str:
        return cluster_id(memory.id for memory in self.memories)

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "cohesion": round(self.cohesion, DIGITS),
            "ids": [memory.id for memory in self.memories],
            "texts": [memory.text for memory in self.memories],
        }


@dataclass(frozen=True, slots=True)
class Pair:
    one: Memory
    other: Memory
    similarity: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "ids": [self.one.id, self.other.id],
            "similarity": round(self.similarity, DIGITS),
            "texts": [self.one.text, self.other.text],
        }


def cluster_id(members: Iterable[str]) -> str:
    """Return the id. It depends only on the members."""
    said = "\n".join(sorted(members))
    return f"cluster-{hashlib.sha256(said.encode()).hexdigest()[:16]}"


def clustered(
    memories: Sequence[Memory], vectors: Mapping[int, Vector], by: str, least: float, most: int
) -> list[Cluster]:
    """Return the clusters, largest first. A memory is in one cluster at most; those over `most` form another one."""
    found = []
    for apart in _apart(memories):
        likeness = Likeness(apart, vectors, by)
        for places in likeness.groups(least, most):
            members = tuple(apart[place] for place in places)
            found.append(Cluster(members, likeness.cohesion(places)))
    return sorted(found, key=lambda one: (-len(one.memories), -round(one.cohesion, DIGITS), one.id))


def duplicates(
    memories: Sequence[Memory], vectors: Mapping[int, Vector], least: float, most: int
) -> tuple[list[Pair], int]:
    """Return the most similar pairs first, at most `most`, and the number of all pairs."""
    ordered = _in_time(memories)
    likeness = Likeness(ordered, vectors, STRATEGIES[0])
    found, whole = likeness.pairs(least, most)
    return [Pair(ordered[one], ordered[other], share) for one, other, share in found], whole


def cohesion(memories: Sequence[Memory], vectors: Mapping[int, Vector]) -> float:
    return Likeness(memories, vectors, STRATEGIES[0]).cohesion(range(len(memories)))


def _apart(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    """Yield the memories of each audience: a merged memory must not show a reader what another session keeps
    private."""
    audiences: dict[Any, list[Memory]] = {}
    for memory in _in_time(memories):
        audiences.setdefault(audience_of(memory), []).append(memory)
    yield from audiences.values()


def _in_time(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (micros(memory.at), memory.row))


class Likeness:
    """Similarity of memories, 0 to 1: by vectors if both have one, else by terms, or by labels."""

    def __init__(self, memories: Sequence[Memory], vectors: Mapping[int, Vector], by: str) -> None:
        import numpy as np

        self._memories = memories
        self._by = by
        held = [vectors.get(memory.row) if by == STRATEGIES[0] else None for memory in memories]
        self._bare = np.array([vector is None for vector in held], bool)
        self._any_bare = bool(self._bare.any())
        dimension = next((len(vector) for vector in held if vector is not None), 0)
        self._matrix = np.zeros((len(held), dimension), np.float32)
        for place, vector in enumerate(held):
            if vector is not None:
                self._matrix[place] = vector

    def groups(self, least: float, most: int) -> Iterator[list[int]]:
        """Yield groups: each memory not in a group yet, with the nearest others not in a group."""
        import numpy as np

        free = np.ones(len(self._memories), bool)
        for start in range(0, len(free), BLOCK):
            places = np.flatnonzero(free[start : start + BLOCK]) + start
            for place, products in zip(places.tolist(), self._products(places), strict=True):
                if not free[place]:
                    continue
                row = self._row(place, products)
                near = np.flatnonzero(free & (row >= least))
                near = near[near != place]
                if len(near):
                    nearest = near[np.lexsort((near, -row[near]))][: most - 1]
                    members = np.sort(np.append(nearest, place))
                    free[members] = False
                    yield members.tolist()

    def pairs(self, least: float, most: int) -> tuple[list[tuple[int, int, float]], int]:
        """Return the most similar pairs, and the number of all pairs above `least`."""
        import numpy as np

        best = np.empty((0, 3))
        whole = 0
        for start in range(0, len(self._memories), BLOCK):
            block = self._block(np.arange(start, min(start + BLOCK, len(self._memories))))
            later = np.arange(block.shape[1]) > np.arange(start, start + len(block))[:, None]
            ones, others = np.nonzero(later & (block >= least))
            whole += len(ones)
            found = np.column_stack((ones + start, others, block[ones, others]))
            best = np.concatenate((best, found))
            best = best[np.lexsort((best[:, 1], best[:, 0], -best[:, 2]))][:most]
        return [(int(one), int(other), float(share)) for one, other, share in best], whole

    def cohesion(self, places: Sequence[int]) -> float:
        import numpy as np

        block = self._block(np.array(places))
        shares = [float(block[number][other]) for number, other in _pairs(places)]
        return sum(shares) / len(shares) if shares else 1.0

    def _block(self, places: Places) -> Vector:
        """Return the similarity of each of these memories to every memory."""
        import numpy as np

        products = self._products(places)
        rows = [self._row(place, row) for place, row in zip(places.tolist(), products, strict=True)]
        return np.stack(rows)

    def _products(self, places: Places) -> Vector:
        found: Vector = self._matrix[places] @ self._matrix.T
        return found

    def _row(self, place: int, products: Vector) -> Vector:
        """Return similarities by vector where both have one, and by terms elsewhere."""
        import numpy as np

        if self._bare[place]:
            products = self._words.shares(place).astype(np.float32)
        elif self._any_bare:
            products[self._bare] = self._words.shares(place)[self._bare]
        row: Vector = np.clip(products, 0.0, 1.0).round(DIGITS)
        return row

    @cached_property
    def _words(self) -> _Words:
        return _Words([self._said(memory) for memory in self._memories])

    def _said(self, memory: Memory) -> frozenset[str]:
        if self._by == STRATEGIES[0]:
            said = frozenset(terms(memory.text[:READ]))
            return said - STOP_WORDS or said
        return frozenset(label.casefold() for label in getattr(memory, self._by))


def _pairs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of (index in `places`, place of the other memory)."""
    for number in range(len(places)):
        for other in places[number + 1 :]:
            yield number, other


class _Words:
    """The share of terms, or labels, that two memories have in common."""

    def __init__(self, said: Sequence[frozenset[str]]) -> None:
        import numpy as np

        holders: dict[str, list[int]] = {}
        for place, words in enumerate(said):
            for word in words:
                holders.setdefault(word, []).append(place)
        self._said = said
        self._holders = {word: np.array(places) for word, places in holders.items()}
        self._sizes = np.array([len(words) for words in said])

    def shares(self, place: int) -> NDArray[np.float64]:
        import numpy as np

        held = [self._holders[word] for word in self._said[place]]
        if not held:
            return np.zeros(len(self._said))
        shared = np.bincount(np.concatenate(held), minlength=len(self._said))
        every = self._sizes[place] + self._sizes - shared
        share: NDArray[np.float64] = (shared / every) ** (1 / BEND)
        return share


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
