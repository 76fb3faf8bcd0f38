"""Consolidation: merge facts that share a tag, and procedures that share an intent, if they say nearly the same."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.graph.backend import GraphBackend
from pieria.graph.similarity import EXACT, directions
from pieria.graph.view import Look, Pair, Statement, Tended, tended
from pieria.learning.likeness import ROUTES, StatementWords, may_join, routes, words_of
from pieria.learning.upkeep import GraphCleanup, Progress, Telling, Worth, idle, spanned
from pieria.record import check
from pieria.record.time import Clock, system_clock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.config import Config

    Lines = NDArray[np.float32]

BLOCK = 2_048
HELD = 8
"""Blocks of one group kept in memory while the group is compared."""
NEAREST = 16
"""The nearest nodes of a block whose words are compared with those of a node."""

NOTHING = Statement("")

Vectors = Callable[[Sequence[int]], Mapping[int, Any]]


def consolidate(
    backend: GraphBackend,
    config: Config | None = None,
    threshold: float = 0.85,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    repo_id: str | None = None,
    clock: Clock = system_clock,
) -> GraphCleanup:
    """Fold each fact or procedure into a better one that is more similar than the threshold; on a tie the older stays.

    Nodes that differ in a name, a number, a time, a path, a negation or an opposite are never merged. A procedure needs
    the same condition, too. Ties and uses go to the final winner. A bank archives the loser and links the winner to it;
    every other backend deletes the loser. Tags and intents left without ties go too. `skipped` counts nodes that were
    changed meanwhile.
    """
    check.number(threshold, "threshold")
    check.flag(dry_run, "dry_run")
    graph = tended(backend)
    with spanned("consolidator.consolidate", repo_id, "checked", "deleted") as summary:
        ranked, told = _ranked(graph, Worth(config, graph, clock))
        groups = _by_route(graph, ranked)
        telling = Telling(progress, len(groups) + len(ranked))
        winners = _winners(graph, ranked, told, groups, threshold, telling)
        pairs = [Pair(ranked[loser], ranked[winner]) for loser, winner in winners.items()]
        orphans = idle(graph)
        gone = [look.id for look in (*(pair.loser for pair in pairs), *orphans)]
        if not dry_run:
            gone = [*telling.done_with(graph.fold, pairs), *telling.done_with(graph.put_away_idle, orphans)]
        skipped = len(pairs) + len(orphans) - len(gone)
        done = GraphCleanup(checked=len(ranked), deleted=len(gone), deleted_ids=gone, skipped=skipped)
        summary.update(done)
    return done


def _ranked(graph: Tended, worth: Worth) -> tuple[list[Look], list[StatementWords]]:
    """Return the knowledge best first, and what it says; nodes that must stay come before all others."""
    found = []
    for page in graph.looks(tuple(ROUTES)):
        statements = graph.statements(page)
        for look, (value, _) in zip(page, worth.of(page), strict=True):
            told = words_of(statements.get(look.id, NOTHING))
            # Use counts are recomputed when they are added to another node.
            light = look._replace(metadata=None, apart=(look.apart, told.marks))
            found.append((not _lasts(look), -value, look.created_at, look.id, light, told))
    found.sort(key=lambda entry: entry[:4])
    return [entry[4] for entry in found], [entry[5] for entry in found]


def _lasts(look: Look) -> bool:
    return look.stays or not look.fades


def _by_route(graph: Tended, ranked: Sequence[Look]) -> list[array[int]]:
    """Return the ranks of each tag's facts and of each intent's procedures, best first; leave out single ones."""
    ranks = {look.id: rank for rank, look in enumerate(ranked)}
    types = {look.id: look.node_type for look in ranked}
    leading = tuple(route.node_type for route in ROUTES.values())
    types |= {look.id: look.node_type for page in graph.looks(leading) for look in page}
    found: defaultdict[Any, array[int]] = defaultdict(lambda: array("l"))
    for route, id in routes(graph.ties(), types):
        found[route, ranked[ranks[id]].apart].append(ranks[id])
    return [array("l", sorted(group)) for group in found.values() if len(group) > 1]


def _winners(
    graph: Tended,
    ranked: Sequence[Look],
    told: Sequence[StatementWords],
    groups: Sequence[array[int]],
    threshold: float,
    telling: Telling,
) -> dict[int, int]:
    """Map the rank of each node to fold to the rank of its winner, which stays."""

    def vectors(ranks: Sequence[int]) -> Mapping[int, Any]:
        held = graph.vectors([ranked[rank] for rank in ranks])
        return {rank: held[ranked[rank].id] for rank in ranks if ranked[rank].id in held}

    known = frozenset().union(*(each.sure for each in told))

    def is_near(one: str, other: str) -> bool:
        return graph.likeness(one, other) > threshold + EXACT

    def may(rank: int, other: int) -> bool:
        return may_join(told[rank], told[other], known, is_near)

    better: dict[int, int] = {}
    for group in groups:
        for rank, best in best_alike(group, vectors, threshold, may):
            if not _lasts(ranked[rank]):
                better[rank] = min(best, better.get(rank, best))
        telling.more(1)
    return _final(better, may)


def _final(better: Mapping[int, int], may: Callable[[int, int], bool]) -> dict[int, int]:
    """Return the final winners. A node that may not join the winner of its better one stays until the next run."""
    final: dict[int, int] = {}
    # A better node always has a lower rank, so its own winner is known.
    for rank in sorted(better):
        winner = final.get(better[rank], better[rank])
        if winner == better[rank] or may(rank, winner):
            final[rank] = winner
    return final


def best_alike(
    ranks: Sequence[int], vectors: Vectors, threshold: float, may: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Yield (rank, first earlier rank it may join whose cosine is above the threshold), in order."""
    import numpy as np

    read = _Blocks(ranks, vectors)
    for row in range(len(read)):
        left, lines = read[row]
        places = np.arange(len(left))
        for column in range(row + 1):
            others, across = read[column]
            if not len(places) or not others:
                continue
            cosines = _cosines(lines[places], across)
            if row == column:
                # Within one block, compare only with earlier rows.
                cosines[np.arange(len(others)) >= places[:, None]] = -1.0
            found = np.zeros(len(places), dtype=np.bool_)
            for n in np.flatnonzero((cosines > threshold + EXACT).any(axis=1)).tolist():
                rank = left[places[n]]
                first = next((at for at in _nearest(cosines[n], threshold) if may(rank, others[at])), None)
                if first is not None:
                    found[n] = True
                    yield rank, others[first]
            places = places[~found]


def _cosines(lines: Lines, across: Lines) -> Lines:
    if lines.shape[1] != across.shape[1]:
        expected = f"as many numbers in all of them, {across.shape[1]}"
        raise InputError("embedding", expected, lines.shape[1], hint="Embed all with one model.")
    cosines: Lines = lines @ across.T
    return cosines


def _nearest(cosines: NDArray[np.float32], threshold: float) -> list[int]:
    """Return the places above the threshold, in order; of many, only the nearest."""
    import numpy as np

    places = np.flatnonzero(cosines > threshold + EXACT)
    if len(places) > NEAREST:
        places = np.sort(places[np.argpartition(-cosines[places], NEAREST)[:NEAREST]])
    found: list[int] = places.tolist()
    return found


class _Blocks:
    """The ranks that have vectors, with their unit vectors, in blocks."""

    def __init__(self, ranks: Sequence[int], vectors: Vectors) -> None:
        self._parts = [ranks[begin : begin + BLOCK] for begin in range(0, len(ranks), BLOCK)]
        self._vectors = vectors
        self._read: dict[int, tuple[list[int], Lines]] = {}

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: int) -> tuple[list[int], Lines]:
        if number not in self._read:
            if len(self._read) >= HELD:
                self._read.pop(max(self._read))
            self._read[number] = self._made(number)
        return self._read[number]

    def _made(self, number: int) -> tuple[list[int], Lines]:
        import numpy as np

        held = self._vectors(self._parts[number])
        ranks = [rank for rank in self._parts[number] if rank in held]
        if not ranks:
            return [], np.zeros((0, 0), dtype=np.float32)
        lengths = {len(held[rank]) for rank in ranks}
        if len(lengths) > 1:
            expected = f"as many numbers in all of them, {min(lengths)}"
            raise InputError("embedding", expected, max(lengths), hint="Embed all with one model.")
        return ranks, directions([held[rank] for rank in ranks])
