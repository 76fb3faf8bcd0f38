"""Consolidation: merge facts that share a tag and say nearly the same into the best one."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError
from pieria.graph.backend import GraphBackend
from pieria.graph.edge import Edge
from pieria.graph.similarity import EXACT, directions
from pieria.graph.view import Look, Pair, Tended, tended
from pieria.language.particulars import Particulars, are_apart, particulars
from pieria.learning.upkeep import Progress, Telling, Worth, idle, spanned
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
) -> dict[str, Any]:
    """Fold each fact into a better one that is more similar than the threshold; on a tie the older stays.

    Facts that differ in a name, a number, a path or a negation are never merged. Ties and uses go to the final winner.
    A bank archives the loser and links the winner to it; every other backend deletes the loser. Tags and intents left
    without ties go too. `skipped` counts nodes that were changed meanwhile.
    """
    check.number(threshold, "threshold")
    check.flag(dry_run, "dry_run")
    graph = tended(backend)
    with spanned("consolidator.consolidate", repo_id, "checked", "deleted") as summary:
        ranked, said = _ranked(graph, Worth(config, graph, clock))
        groups = _by_tag(graph, ranked)
        telling = Telling(progress, len(groups) + len(ranked))
        better = _better(graph, ranked, said, groups, threshold, telling)
        pairs = [Pair(ranked[loser], ranked[_last(better, loser)]) for loser in sorted(better)]
        orphans = idle(graph)
        gone = [look.id for look in (*(pair.loser for pair in pairs), *orphans)]
        if not dry_run:
            gone = [*telling.done_with(graph.fold, pairs), *telling.done_with(graph.put_away_idle, orphans)]
        skipped = len(pairs) + len(orphans) - len(gone)
        summary |= {"checked": len(ranked), "deleted": len(gone), "deleted_ids": gone, "skipped": skipped}
    return summary


def _ranked(graph: Tended, worth: Worth) -> tuple[list[Look], list[Particulars]]:
    """Return the facts best first with their particulars; facts that must stay come before all others."""
    found = []
    for page in graph.looks(("semantic",)):
        texts = graph.texts(page)
        for look, (value, _) in zip(page, worth.of(page), strict=True):
            said = particulars(texts.get(look.id, ""))
            # Use counts are recomputed when they are added to another node.
            light = look._replace(metadata=None, apart=(look.apart, said.marks))
            found.append((not _lasts(look), -value, look.created_at, look.id, light, said))
    found.sort(key=lambda entry: entry[:4])
    return [entry[4] for entry in found], [entry[5] for entry in found]


def _lasts(look: Look) -> bool:
    return look.stays or not look.fades


def _by_tag(graph: Tended, ranked: Sequence[Look]) -> list[array[int]]:
    """Return the ranks of each tag's facts, best first; tags with a single fact are left out."""
    ranks = {look.id: rank for rank, look in enumerate(ranked)}
    tags = {look.id for page in graph.looks(("tag",)) for look in page}
    found: defaultdict[Any, array[int]] = defaultdict(lambda: array("l"))
    for one, other, edge in graph.ties():
        if edge is Edge.MEMBERSHIP:
            tag, fact = (one, other) if one in tags else (other, one)
            if tag in tags and fact in ranks:
                found[tag, ranked[ranks[fact]].apart].append(ranks[fact])
    return [array("l", sorted(group)) for group in found.values() if len(group) > 1]


def _better(
    graph: Tended,
    ranked: Sequence[Look],
    said: Sequence[Particulars],
    groups: Sequence[array[int]],
    threshold: float,
    telling: Telling,
) -> dict[int, int]:
    """Map the rank of each fact to fold to the rank of the best similar one."""

    def vectors(ranks: Sequence[int]) -> Mapping[int, Any]:
        held = graph.vectors([ranked[rank] for rank in ranks])
        return {rank: held[ranked[rank].id] for rank in ranks if ranked[rank].id in held}

    known = frozenset().union(*(each.sure for each in said))

    def may(rank: int, other: int) -> bool:
        return not are_apart(said[rank], said[other], known)

    better: dict[int, int] = {}
    for group in groups:
        for rank, best in best_alike(group, vectors, threshold, may):
            if not _lasts(ranked[rank]):
                better[rank] = min(best, better.get(rank, best))
        telling.more(1)
    return better


def _last(better: Mapping[int, int], rank: int) -> int:
    """Return the final winner. A better fact always has a lower rank, so the loop ends."""
    while rank in better:
        rank = better[rank]
    return rank


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
            hits = _hits(lines[places], across, threshold)
            if row == column:
                # Within one block, compare only with earlier rows.
                hits &= np.arange(len(others)) < places[:, None]
            found = np.zeros(len(places), dtype=np.bool_)
            for n in np.flatnonzero(hits.any(axis=1)).tolist():
                rank = left[places[n]]
                first = next((at for at in np.flatnonzero(hits[n]).tolist() if may(rank, others[at])), None)
                if first is not None:
                    found[n] = True
                    yield rank, others[first]
            places = places[~found]


def _hits(lines: Lines, across: Lines, threshold: float) -> NDArray[np.bool_]:
    if lines.shape[1] != across.shape[1]:
        expected = f"as many numbers in all of them, {across.shape[1]}"
        raise InputError("embedding", expected, lines.shape[1], hint="Embed all with one model.")
    hits: NDArray[np.bool_] = lines @ across.T > threshold + EXACT
    return hits


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
