"""From a query to its candidates: asks every arm, then fills in the evidence that an arm lacks for a candidate.

Every candidate gets the evidence of every arm. Nothing is scored here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pieria.errors import PieriaError
from pieria.recall.arms import ARMS, LENDING, QUOTA, REACH, Look
from pieria.recall.bm25 import Corpus
from pieria.recall.echoes import find_echoes
from pieria.recall.part import Part, Source
from pieria.recall.past import find_overturning, find_past, has_facts
from pieria.recall.pool import Pool, Told, pooled
from pieria.recall.query import Asked, Reading, without_named
from pieria.record.decay import DAY
from pieria.record.usage import UNUSED
from pieria.runtime import effort
from pieria.store.protocol import Kind, TextMatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COMPARED: Mapping[str, tuple[Kind, ...]] = {"dense": ("passage", "lead"), "window": ("window",)}
WORTH_FOLDING = 60
"""Least length of a duplicate text that is worth folding, in characters."""
LATE = "there was no time left for it"
OFF = "none of its features has a weight"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to gather: which arms, how many candidates from each, until when.

    `further` are rows of each source that must be candidates. If there are any, the arms choose no others.
    """

    needs: Callable[[Sequence[str]], bool]
    want: int = QUOTA
    budget: int = 5_000
    deadline: float = math.inf
    by_use: bool = True
    by_fading: bool = True
    further: Mapping[int, Sequence[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Gathered:
    """The pool, and for the plan the work of each arm and why others were left out."""

    asked: Asked
    pool: Pool
    arms: dict[str, dict[str, Any]]
    left_out: dict[str, str]


class Gathering:
    """The look-ups of one query, over every source."""

    def __init__(
        self, sources: Sequence[Source], reading: Reading, known: Corpus, matches: Sequence[TextMatch]
    ) -> None:
        self._parts = [Part(which, source, matches[which] if matches else None) for which, source in enumerate(sources)]
        self._reading = reading
        self._known = known
        self._arms: dict[str, dict[str, Any]] = {}
        self._left_out: dict[str, str] = {}

    def gathered(self, wanted: Wanted) -> Gathered:
        for part in self._parts:
            part.add(wanted.further.get(part.which, ()))
        arms = frozenset([name for name, arm in ARMS.items() if wanted.needs(arm.features)])
        look = Look(self._reading, self._known, self._parts, wanted.want, wanted.budget, not wanted.further, arms)
        for name in ARMS:
            if name not in arms:
                self._left_out[name] = OFF
            elif name != "text" and _is_late(wanted.deadline):
                self._left_out[name] = LATE
            else:
                self._ask(name, look)
        self._fill(wanted, look)
        told = [self._told(part, wanted) for part in self._parts]
        pool = pooled(self._parts, told, look.named, self._reading)
        return Gathered(self._asked(look), pool, self._arms, self._left_out)

    def _ask(self, name: str, look: Look) -> None:
        """Run one arm on every source; record its number of candidates and its time."""
        arm = ARMS[name]
        effort.pause()
        begun = perf_counter()
        brought = 0
        without = [part for part in self._parts if arm.by_vector and part.source.vector is None]
        if without:
            self._left_out[name] = without[-1].source.without or "there is no vector of the question"
        if len(without) == len(self._parts):
            return
        for part in self._parts:
            if brought and effort.is_late():
                self._left_out[name] = LATE
                break
            if part in without or (arm.only_chooses and not look.first):
                continue
            rows = list(arm.look(look, part))
            if look.first:
                part.add(rows)
                brought += len(rows)
        ms = round(1000 * (perf_counter() - begun), 3)
        self._arms[name] = {"features": list(arm.features), "candidates": brought, "ms": ms}
        newest = [part.newest[name] for part in self._parts if name in part.newest]
        if newest:
            self._arms[name]["newest"] = max(newest)

    def _fill(self, wanted: Wanted, look: Look) -> None:
        effort.pause()
        kinds = [what for arm, of in COMPARED.items() if arm in self._arms for what in of]
        for part in self._parts:
            if "context" in self._arms:
                part.line_up(REACH, LENDING)
            part.hold(self._reading.considered, self._reading.runs, LENDING)
        matter = self._matter(wanted, look) if "dense" in self._arms and wanted.needs(("matter",)) else None
        bare = self._bare(look) if "dense" in self._arms else None
        for part in self._parts:
            if kinds:
                part.compare(kinds, matter, bare)
            if "rules" in self._arms:
                part.alike["rule"] = part.rule_fits([*part.rules, *part.wishes])

    def _matter(self, wanted: Wanted, look: Look) -> NDArray[np.float32] | None:
        """Return the vector of the query without authors. The author field already tells who spoke, and a name in the
        query attracts every text that mentions it."""
        meant = next((part.source.meant for part in self._parts if part.source.meant is not None), None)
        if look.matter is None or meant is None:
            return None
        if _is_late(wanted.deadline):
            self._left_out["matter"] = LATE
            return None
        try:
            vector = meant(look.matter)
        except PieriaError as problem:
            self._left_out["matter"] = problem.message
            return None
        self._arms["dense"]["matter"] = look.matter
        return vector

    def _bare(self, look: Look) -> NDArray[np.float32] | None:
        """Return the vector of the query without all names. It was embedded in the same batch as the query."""
        meant = next((part.source.meant for part in self._parts if part.source.meant is not None), None)
        bare = without_named(self._reading)
        if meant is None or not bare or not look.first:
            return None
        try:
            return meant(bare[0])
        except PieriaError:
            return None

    def _asked(self, look: Look) -> Asked:
        read = self._reading
        of_authors = frozenset[str]().union(*look.authors.values())
        return Asked(
            known=self._known,
            now=read.now,
            spans=read.spans,
            entities=[entity for entity in read.named if not entity <= of_authors],
            wants_done=read.wants_done,
            is_overview=read.is_overview,
            is_when=read.is_when,
            looks_back=read.looks_back,
            expects=read.expects,
            is_past=read.is_past,
            heeds_rules=look.heeds_rules,
        )

    def _told(self, part: Part, wanted: Wanted) -> Told:
        met = part.look_at_found()
        reader, filter = part.source.reader, part.source.filter
        stated = has_facts(dict(zip(met.ids, met.kinds, strict=True)), part.spoken)
        facts = find_past(reader, filter, stated, self._reading.considered)
        return Told(
            used=met.used if wanted.by_use else [UNUSED] * len(met.rows),
            written=reader.written(met.rows) if wanted.by_fading else {},
            copies=_copies(part),
            overturned={**facts.overturned, **find_overturning(reader, filter, met.ids)},
            stated=facts.stated,
            echoes=find_echoes(part, self._reading.text) if wanted.needs(("echo",)) else frozenset(),
        )


def _is_late(deadline: float) -> bool:
    return perf_counter() >= deadline or effort.is_late()


def _copies(part: Part) -> dict[int, Hashable]:
    """Return a key for each row, equal for copies: the same content on the same occasion. Read only texts that may
    match."""
    met, glances = part.met, part.glances
    seen = Counter((one.length, one.ending) for one in glances.values() if one.length >= WORTH_FOLDING)
    alike: dict[Hashable, list[int]] = {}
    for line, row in enumerate(met.rows):
        glance = glances.get(row)
        if glance is not None and seen[glance.length, glance.ending] > 1:
            occasion = (
                *(part.which, met.authors[line], met.kinds[line], met.sessions[line], met.scopes[line]),
                *(met.at[line] // DAY, met.valid_from[line], glance.length, glance.ending),
            )
            alike.setdefault(occasion, []).append(row)
    several = {row: occasion for occasion, of in alike.items() if len(of) > 1 for row in of}
    found = part.source.reader.contents(list(several)) if several else {}
    return {row: (several[row], content.title, content.body, content.text) for row, content in found.items()}
