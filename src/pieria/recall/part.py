"""What one store contributes to the answer of one query, while it is collected.

Every arm writes its findings here, so that each look-up is made once per row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from pieria.language.glance import Glance
from pieria.record.filter import Filter
from pieria.store.parts import Holdings, Met, Run
from pieria.store.protocol import Kind, Reader, TextMatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Source:
    """One store that takes part, seen through one read transaction, with the query's vector in its space."""

    name: str
    reader: Reader
    filter: Filter
    vector: NDArray[np.float32] | None = None
    without: str | None = None
    """Why there is no vector."""
    meant: Callable[[str], NDArray[np.float32]] | None = None
    """Return the vector of another wording, in the same space. Raise `PieriaError` if the model fails."""
    embed: Callable[[Sequence[str]], Mapping[str, NDArray[np.float32]]] | None = None
    """Return vectors for texts that have none yet, in order, until the time is up."""
    is_foreign: bool = False
    """Whether other people may have written the whole bank."""


@dataclass(slots=True)
class Part:
    """`found` are the candidates, in the order of discovery. The other fields are keyed by row, candidate or not."""

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
    """How much more similar a candidate is to the query without authors than to the whole query."""
    bare: dict[int, float] = field(default_factory=dict)
    """Similarity to the query without all names."""
    facts: dict[int, float] = field(default_factory=dict)
    spoken: set[str] = field(default_factory=set)
    """Ids of memories with facts about an entity of the query, current or ended."""
    tied: dict[int, dict[int, None]] = field(default_factory=dict)
    rules: frozenset[int] = frozenset()
    wishes: frozenset[int] = frozenset()
    newest: dict[str, int] = field(default_factory=dict)
    """By arm that found too many rows: how many of the newest it read."""

    def add(self, rows: Iterable[int]) -> None:
        self.found.update(dict.fromkeys(rows))

    def line_up(self, reach: int, lending: int) -> dict[int, list[tuple[int, int]]]:
        """Load the order of turns around candidates that lack it. Return the neighbours just loaded.

        It covers the neighbours' own neighbours as well, up to `reach`.
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
        """Return the ranking columns of every candidate that the filter lets through."""
        missing = [row for row in self.found if row not in self.asked_of]
        if missing:
            self.asked_of.update(missing)
            met = self.source.reader.candidates(missing, self.source.filter)
            self.glances |= self.source.reader.glances(met.rows)
            self.met.extend(met)
        return self.met

    def speakers(self) -> list[str | None]:
        """Return each candidate's author, or the speaker at the start of its text if no author is known."""
        met = self.look_at_found()
        return [
            self.glances[row].speaker if author is None and row in self.glances else author
            for row, author in zip(met.rows, met.authors, strict=True)
        ]

    def hold(self, terms: Sequence[str], runs: Sequence[Run], lending: int) -> None:
        """Load the terms of the query that the candidates hold, and those of neighbours that lend them terms."""
        lenders: dict[int, None] = dict.fromkeys(self.look_at_found().rows)
        for way in (self.before, self.after):
            nearest = self.met.rows
            for _ in range(lending):
                nearest = [way[row] for row in nearest if row in way]
                lenders.update(dict.fromkeys(nearest))
        self.held = self.source.reader.holdings(list(lenders), terms, runs)

    def rows_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the visible rows of memories by id."""
        held = self.source.reader.states(ids, self.source.filter) if ids else {}
        return {id: stored.state.row for id, stored in held.items()}

    def compare(
        self, kinds: Sequence[Kind], matter: NDArray[np.float32] | None, bare: NDArray[np.float32] | None = None
    ) -> None:
        """Compare every candidate with the query. Compare it also with the query without authors (`matter`) and without
        all names (`bare`).
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
        """Store the mean rise over passage and window. A row without a window counts its passage twice."""
        import numpy as np

        mean = np.mean([np.where(np.isnan(rise), rises[0], rise) for rise in rises], axis=0)
        self.nearer.update((row, value) for row, value in zip(rows, mean.tolist(), strict=True) if value == value)

    def _windows_then(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Return window similarities at `known_at`. A window with members from later is skipped; only the search checks
        that."""
        import numpy as np

        assert self.source.vector is not None
        wanted = set(rows)
        ids = tuple(id for row, id in zip(self.met.rows, self.met.ids, strict=True) if row in wanted)
        then = self.source.reader.near(self.source.vector, self.source.filter.having(ids=ids), len(ids), "window")
        found = {near.row: near.similarity for near in then.candidates}
        return np.array([found.get(row, np.nan) for row in rows])

    def rule_fits(self, rows: Sequence[int]) -> dict[int, float]:
        """Return the similarity of these rules: of the sentence, or of its passage if the sentence has no vector."""
        vector = self.source.vector
        if vector is None or not rows:
            return {}
        near = self.source.reader.similarities(vector, rows, "rule")
        missing = [row for row in dict.fromkeys(rows) if row not in near]
        whole = self.source.reader.similarities(vector, missing, "passage")
        return {row: span.similarity for row, span in (near | whole).items()}
