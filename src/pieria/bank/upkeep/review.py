"""The part of `bank.upkeep` about fading: reinforcement, reviews due, ranking by retention, and a memory's curve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.core import Core
from pieria.bank.filters import Names
from pieria.bank.read.usage import Noted, spaced_uses, with_noted
from pieria.errors import ConflictError, NotFoundError
from pieria.language.index_terms import compared
from pieria.recall.past import drawn_on
from pieria.record import check
from pieria.record.changeset import Changeset, Write
from pieria.record.decay import Wear, may_go
from pieria.record.draft import Instant
from pieria.record.filter import Filter
from pieria.record.memory import LISTED_KINDS, End
from pieria.record.usage import UNUSED, Use
from pieria.store.parts import Outline
from pieria.store.protocol import Reader, Writer
from pieria.upkeep.faded import Worn, worn
from pieria.upkeep.review import Curve, Retained, curve, due, is_foreign, retained, strengthened

if TYPE_CHECKING:
    from pieria.bank import Bank

__all__ = ["Curve", "Reinforced", "Reinforcement", "Retained", "Reviewing"]
OFF = "the setting reinforce is off"
AT_ONCE = 5_000
EVERY = 2**31


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """The result for one memory. If it could not be reinforced, only `missing` is set, with the reason."""

    id: str
    missing: str | None = None
    crossing: bool = False
    before: Retained | None = None
    after: Retained | None = None

    def as_dict(self) -> dict[str, Any]:
        if self.before is None or self.after is None:
            return {"id": self.id, "reinforced": False, "missing": self.missing}
        return {
            "id": self.id,
            "reinforced": True,
            "crossing": self.crossing,
            "before": round(self.before.score, 6),
            "after": round(self.after.score, 6),
            "uses": self.after.used.accesses,
            "reviews": self.after.used.reviews,
            "strength": self.after.memory.strength,
        }


@dataclass(frozen=True, slots=True)
class Reinforced:
    """The results of a call. `reason` says why nothing was done at all."""

    results: tuple[Reinforcement, ...] = ()
    reason: str | None = None

    @property
    def count(self) -> int:
        return sum(one.missing is None for one in self.results)

    @property
    def crossings(self) -> int:
        return sum(one.crossing for one in self.results)

    def as_dict(self) -> dict[str, Any]:
        return {
            "reinforced": self.count > 0,
            "count": self.count,
            "crossings": self.crossings,
            "reason": self.reason,
            "results": [one.as_dict() for one in self.results],
        }


class Reviewing:
    _bank: Bank

    def reinforce(
        self, ids: str | Iterable[str], *, context_tags: Iterable[str] = (), boost: bool = False
    ) -> Reinforced:
        """Count that memories were useful in an answer: an access and a review each, written at once.

        A memory useful in a context with other tags than its own becomes stronger; with `boost`, every one does. A
        missing memory is reported and not counted. With the setting `reinforce` off nothing changes.
        """
        bank = self._bank
        wanted = check.identifiers(ids, "ids")
        context = frozenset(compared(tag) for tag in check.names(context_tags, "context_tags"))
        check.flag(boost, "boost")
        if not bank.core.habits.reinforce:
            return Reinforced(reason=OFF)
        return self._reinforced(wanted, context, boost)

    def review(self, ids: str | Iterable[str]) -> Reinforced:
        """Count a review of these memories: an access and a review each, regardless of the setting `reinforce`."""
        return self._reinforced(check.identifiers(ids, "ids"), frozenset(), boost=False)

    def _reinforced(self, ids: Sequence[str], context: frozenset[str], boost: bool) -> Reinforced:
        found: dict[str, Reinforcement] = {}
        for holder, theirs in self._bank.core.holders(ids).items():
            with holder.writing() as writer:
                found |= _reinforced(holder, writer, theirs, context, boost)
        return Reinforced(tuple(found[id] for id in ids))

    def retained(self, ids: str | Iterable[str]) -> dict[str, Retained]:
        """Return the retention of each memory, of any status."""
        bank = self._bank
        wanted = check.identifiers(ids, "ids")
        found: dict[str, Retained] = {}
        for holder, theirs in bank.core.holders(wanted).items():
            noted = holder.uses.noted(theirs)
            with holder.reading() as reader:
                left = [
                    retained(one, bank.core.fading, bank.core.now()) for one in _worn(holder, reader, theirs, noted)
                ]
            found |= {one.memory.id: one for one in left}
        return {id: found[id] for id in wanted}

    def due(self, k: int = 20) -> tuple[Retained, ...]:
        """Return the memories about to be forgotten, most urgent first; `review` counts that they were reviewed."""
        bank = self._bank
        check.whole(k, "k", 1, 10_000)
        with bank.core.reading() as reader:
            return tuple(due(reader, bank.core.fading, bank.core.now(), bank.core.fades, k))

    def curve(self, id: str) -> Curve:
        """Return how a memory has faded and will fade without use: when a review is due, and when it is forgotten."""
        bank = self._bank
        holder = bank.core.holder(check.identifier(id, "id"))
        noted = holder.uses.noted([id])
        with holder.reading() as reader:
            [one] = _worn(holder, reader, [id], noted)
            goes = may_go(one.memory, bank.core.fades) and not drawn_on(reader, [id])
        return curve(one, bank.core.fading, bank.core.now(), may_go=goes)


def _worn(
    holder: Core, reader: Reader, ids: Sequence[str], noted: Mapping[str, Sequence[Noted]] | None = None
) -> list[Worn]:
    """Return the memories with their usage, unwritten counts included."""
    holder.check_known(reader, ids)
    found, seq = worn(reader, holder.all_at_hand(reader, ids)), reader.head().seq
    used = [with_noted(one.wear.used, (noted or {}).get(one.memory.id, ()), seq) for one in found]
    return [one._replace(wear=one.wear._replace(used=each)) for one, each in zip(found, used, strict=True)]


def _reinforced(
    holder: Core, writer: Writer, ids: Sequence[str], context: frozenset[str], boost: bool
) -> dict[str, Reinforcement]:
    now, by = holder.now(), holder.habits.crossing_boost
    found, before, writes = dict[str, Reinforcement](), dict[str, Worn](), list[Write]()
    crossed: set[str] = set()
    for id in ids:
        try:
            held = holder.standing(writer, id)
        except (NotFoundError, ConflictError) as problem:
            found[id] = Reinforcement(id, problem.message)
            continue
        [before[id]] = _worn(holder, writer, [id])
        if is_foreign(frozenset(before[id].wear.tags), context):
            crossed.add(id)
        write = strengthened(held, by) if boost or id in crossed else None
        writes += [] if write is None else [write]
    uses = spaced_uses(writer, [Use(id, 1, now, 1, now, int(id in crossed)) for id in before])
    holder.write_changes(writer, lambda _: Changeset("reinforce", writes=writes, usage=uses))
    for (id, one), new in zip(before.items(), _worn(holder, writer, list(before)), strict=True):
        after = retained(new, holder.fading, now)
        found[id] = Reinforcement(id, None, id in crossed, retained(one, holder.fading, now), after)
    return found


class _Scored(NamedTuple):
    score: float
    last_used: int
    row: int


class Ranking:
    _bank: Bank

    def ranked(
        self,
        *,
        k: int = 10,
        tags: Names | None = None,
        status: Names | None = None,
        place: str | End | None = None,
        used_since: Instant | None = None,
        least: float = 0.0,
    ) -> list[Retained]:
        """Return the memories with the highest retention, of any listed kind, the user's own included.

        Among equals, the last used comes first.
        """
        check.whole(k, "k", 1, 10_000)
        check.number(least, "least")
        core = self._bank.core
        filter = core.filter(kinds=LISTED_KINDS, tags=tags, status=status, place=place, used_since=used_since)
        holders = [core] if core.is_user_bank else [core, core.user_core(False)]
        found = [one for holder in holders if holder is not None for one in self._best(holder, filter, k, least)]
        return sorted(found, key=lambda one: (-one.score, -one.last_used))[:k]

    def _best(self, holder: Core, filter: Filter, k: int, least: float) -> list[Retained]:
        with holder.reading() as reader:
            best = nlargest(k, (one for one in self._scored(reader, filter) if one.score >= least))
            shown = reader.memories([one.row for one in best], filter)
            found = worn(reader, [shown[one.row] for one in best])
        return [retained(one, self._bank.core.fading, filter.now) for one in found]

    def _scored(self, reader: Reader, filter: Filter) -> Iterator[_Scored]:
        """Yield the scores of all memories, without reading their texts."""
        rows = reader.rows(filter, "newest", EVERY)
        for start in range(0, len(rows), AT_ONCE):
            yield from self._part(reader, list(reader.outlines(rows[start : start + AT_ONCE], filter).values()))

    def _part(self, reader: Reader, part: Sequence[Outline]) -> Iterator[_Scored]:
        fading, now = self._bank.core.fading, self._bank.core.now()
        used = reader.usage([one.id for one in part])
        written = reader.written([one.row for one in part])
        for one in part:
            wear = Wear(one.at, one.kind, one.strength, used.get(one.id, UNUSED), *written[one.row])
            yield _Scored(fading.of(wear, now), wear.last_used, one.row)
