"""`bank.upkeep.ranked`: the memories with the highest retention, without a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from pieria.bank.core import Core
from pieria.bank.filters import Names
from pieria.record import check
from pieria.record.decay import Wear
from pieria.record.draft import Instant
from pieria.record.end import End
from pieria.record.filter import Filter
from pieria.record.memory import LISTED_KINDS
from pieria.record.usage import UNUSED
from pieria.store.parts import Outline
from pieria.store.protocol import Reader
from pieria.upkeep.faded import worn
from pieria.upkeep.review import Retained, retained

if TYPE_CHECKING:
    from pieria.bank import Bank

AT_ONCE = 5_000
EVERY = 2**31


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
