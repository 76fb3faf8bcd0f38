"""What one store contributes to the answer of one question, while it is put together.

Exists so that every arm writes down what it found in the same place, and each look-up is made once a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pieria.record.filter import Filter
from pieria.record.glance import Glance
from pieria.store.parts import Holdings, Met, Run
from pieria.store.protocol import Kind, Reader, TextMatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Source:
    """One store that takes part, as one read transaction sees it, and the question's vector in its space."""

    name: str
    reader: Reader
    filter: Filter
    vector: NDArray[np.float32] | None = None
    without: str | None = None
    """Why there is no vector."""
    meant: Callable[[str], NDArray[np.float32]] | None = None
    """The vector of the question in other words, in the same space. Raises `PieriaError` where the model fails."""
    embed: Callable[[Sequence[str]], Mapping[str, NDArray[np.float32]]] | None = None
    """The vectors of texts that wait for theirs: of as many, in their order, as there is time for."""
    is_foreign: bool = False
    """Whether somebody else may have written all of it."""


@dataclass(slots=True)
class Part:
    """`found` are the candidates, in the order in which they came; all else is known of rows, candidates or not."""

    which: int
    source: Source
    match: TextMatch | None
    found: dict[int, None] = field(default_factory=dict)
    before: dict[int, int] = field(default_factory=dict)
    after: dict[int, int] = field(default_factory=dict)
    lined_up: set[int] = field(default_factory=set)
    asked_of: set[int] = field(default_factory=set)
    met: Met = field(default_factory=Met)
    glances: dict[int, Glance] = field(default_factory=dict)
    held: Holdings | None = None
    places: dict[int, int] = field(default_factory=dict)
    alike: dict[Kind, dict[int, float]] = field(default_factory=dict)
    compared: set[int] = field(default_factory=set)
    nearest: dict[int, int] = field(default_factory=dict)
    """Where in a text its most similar passage begins."""
    nearer: dict[int, float] = field(default_factory=dict)
    """By how much a candidate is more like the matter of the question than like the whole of it."""
    bare: dict[int, float] = field(default_factory=dict)
    """How near a candidate is to the question without all that it names."""
    facts: dict[int, float] = field(default_factory=dict)
    spoken: set[str] = field(default_factory=set)
    """Ids of memories with facts about what the question names, whether these hold or not."""
    tied: dict[int, dict[int, None]] = field(default_factory=dict)
    rules: frozenset[int] = frozenset()
    wishes: frozenset[int] = frozenset()
    newest: dict[str, int] = field(default_factory=dict)
    """Of an arm before which there was more than it looked at one by one: how many it did, the last written."""

    def add(self, rows: Iterable[int]) -> None:
        self.found.update(dict.fromkeys(rows))

    def line_up(self, reach: int, lending: int) -> dict[int, list[tuple[int, int]]]:
        """Learns who stands next to whom in a session, for candidates of whom that is not known yet.

        So far that it is known of their neighbours as well, up to that reach.
        """
        missing = [row for row in self.found if row not in self.lined_up]
        around = self.source.reader.around(missing, self.source.filter, reach + lending) if missing else {}
        for row, neighbours in around.items():
            for (_, one), (_, other) in pairwise(sorted([(0, row), *neighbours])):
                self.after[one], self.before[other] = other, one
            self.lined_up.update(other for distance, other in neighbours if abs(distance) <= reach)
        self.lined_up.update(missing)
        return around

    def look_at_found(self) -> Met:
        """What ranking looks at, of every candidate that the filter lets through."""
        missing = [row for row in self.found if row not in self.asked_of]
        if missing:
            self.asked_of.update(missing)
            met = self.source.reader.candidates(missing, self.source.filter)
            self.glances |= self.source.reader.glances(met.rows)
            self.met.extend(met)
        return self.met

    def speakers(self) -> list[str | None]:
        """Of each candidate its author or, where none is known, whom its text begins with."""
        met = self.look_at_found()
        return [
            self.glances[row].speaker if author is None and row in self.glances else author
            for row, author in zip(met.rows, met.authors, strict=True)
        ]

    def hold(self, terms: Sequence[str], runs: Sequence[Run], lending: int) -> None:
        """Learns what the candidates hold of the question, and the neighbours that lend them words."""
        lenders: dict[int, None] = dict.fromkeys(self.look_at_found().rows)
        for way in (self.before, self.after):
            nearest = self.met.rows
            for _ in range(lending):
                nearest = [way[row] for row in nearest if row in way]
                lenders.update(dict.fromkeys(nearest))
        self.held = self.source.reader.holdings(list(lenders), terms, runs)

    def rows_of(self, ids: Sequence[str]) -> dict[str, int]:
        """The visible rows of memories by id."""
        held = self.source.reader.states(ids, self.source.filter) if ids else {}
        return {id: stored.state.row for id, stored in held.items()}

    def compare_rules(self) -> None:
        """How near the rules and wishes among the candidates are."""
        self.alike["rule"] = self.rule_fits([*self.rules, *self.wishes])

    def compare(
        self, kinds: Sequence[Kind], matter: NDArray[np.float32] | None, bare: NDArray[np.float32] | None = None
    ) -> None:
        """How near every candidate is, whichever arm found it; how much nearer to the matter of the question; and how
        near to it without all that it names.
        """
        vector, reader = self.source.vector, self.source.reader
        rows = [row for row in self.found if row not in self.compared]
        if vector is None or not rows:
            return
        self.compared.update(rows)
        asked = [vector, *(each for each in (matter, bare) if each is not None)]
        told = reader.nearness(asked, rows, kinds)
        near = {kind: told[kind][:, 0] for kind in kinds}
        if "window" in near and self.source.filter.known_at is not None:
            near["window"] = self._windows_then(rows)
        for kind, column in near.items():
            known = zip(rows, column.tolist(), strict=True)
            self.alike.setdefault(kind, {}).update((row, value) for row, value in known if value == value)
        if matter is not None:
            self._note_nearer(rows, [told[kind][:, 1] - told[kind][:, 0] for kind in kinds if kind != "lead"])
        if bare is not None and "passage" in told:
            self.bare.update(zip(rows, told["passage"][:, -1].tolist(), strict=True))

    def _note_nearer(self, rows: Sequence[int], rises: Sequence[NDArray[np.float64]]) -> None:
        """The mean by passage and by window; what has no window is its own."""
        import numpy as np

        mean = np.mean([np.where(np.isnan(rise), rises[0], rise) for rise in rises], axis=0)
        self.nearer.update((row, value) for row, value in zip(rows, mean.tolist(), strict=True) if value == value)

    def _windows_then(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """A window that took in what was not known yet is none of then, and only the search looks at that."""
        import numpy as np

        assert self.source.vector is not None
        wanted = set(rows)
        ids = tuple(id for row, id in zip(self.met.rows, self.met.ids, strict=True) if row in wanted)
        then = self.source.reader.near(self.source.vector, self.source.filter.having(ids=ids), len(ids), "window")
        found = {near.row: near.similarity for near in then.candidates}
        return np.array([found.get(row, np.nan) for row in rows])

    def rule_fits(self, rows: Sequence[int]) -> dict[int, float]:
        """How near these rules are: their sentence or, where it was not embedded by itself, what it stands in."""
        vector = self.source.vector
        if vector is None or not rows:
            return {}
        near = self.source.reader.similarities(vector, rows, "rule")
        whole = self.source.reader.similarities(vector, missing_of(rows, near), "passage")
        return {row: span.similarity for row, span in (near | whole).items()}


def missing_of(rows: Iterable[int], held: Mapping[int, Any]) -> list[int]:
    return [row for row in dict.fromkeys(rows) if row not in held]
