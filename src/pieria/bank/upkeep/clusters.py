"""`bank.upkeep.clusters`, `duplicates`, `merge` and `relate`: find similar memories, and merge or link them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from pieria.bank.core import Core
from pieria.bank.filters import Names
from pieria.bank.read.links import common_holder
from pieria.bank.read.recall import CAUGHT_UP
from pieria.bank.results.upkeep import Clusters, Duplicates, Merged, Related
from pieria.errors import InputError, NotFoundError
from pieria.record import check
from pieria.record.changeset import Changeset, Record
from pieria.record.draft import Draft
from pieria.record.draft import checked as checked_draft
from pieria.record.filter import Filter
from pieria.record.ids import new_id
from pieria.record.link import End
from pieria.record.memory import KINDS, LISTED_KINDS, Memory
from pieria.record.time import micros
from pieria.store.protocol import Reader, Writer
from pieria.upkeep import clusters
from pieria.upkeep import clusters as clustering
from pieria.upkeep.sleep import SUMMARY, said, selected

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.bank import Bank

    Vectors = dict[int, NDArray[np.float32]]

EXAMINED, MOST_EXAMINED = 10_000, 100_000
"""The number of latest memories that are compared: the default, and the most."""
PAIRS = 100
LARGEST, AT_A_TIME = 1_000, 100
"""The most members of a cluster, and the most memories to merge or link at once."""
AT_ONCE = 500
LEAST_LENGTH = 1e-9
FOUND, LAST = "clusters", "last"
"""The record of clusters found with `keep`, by id."""
REMEMBERED = 500


class Clustering:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def clusters(
        self,
        *,
        by: str = clustering.STRATEGIES[0],
        least: float | None = None,
        most: int | None = None,
        kinds: Names | None = None,
        limit: int = EXAMINED,
        keep: bool = False,
    ) -> Clusters:
        """Return clusters of memories: by `similarity` of their text, or by their `tags` or `entities`.

        By default only of kinds that may fade, because these can be merged. With `keep` the clusters keep their ids
        despite later writes. `least` and `most` default to settings.
        """
        least = self._bank.core.habits.cluster_threshold if least is None else least
        most = self._bank.core.habits.cluster_most if most is None else most
        check.one_of(by, "by", clustering.STRATEGIES)
        check.number(least, "least")
        check.whole(most, "most", 2, LARGEST)
        check.whole(limit, "limit", 2, MOST_EXAMINED)
        check.flag(keep, "keep")
        chosen = self._merged_kinds if kinds is None else check.choices(kinds, "kinds", KINDS)
        memories, left, vectors = self._compared(self._bank.core.filter(kinds=chosen, status="active"), limit)
        found = clustering.clustered(memories, vectors, by, least, most)
        if keep:
            self._remember_clusters(found)
        return Clusters(tuple(found), by, least, len(memories), left)

    def duplicates(
        self,
        *,
        least: float | None = None,
        kinds: Names | None = None,
        limit: int = EXAMINED,
        most: int = PAIRS,
    ) -> Duplicates:
        """Return pairs with nearly the same text, most similar first; by default of every kind except summaries."""
        least = self._bank.core.habits.duplicate_threshold if least is None else least
        check.number(least, "least")
        check.whole(limit, "limit", 2, MOST_EXAMINED)
        check.whole(most, "most", 1, 10_000)
        every = tuple(kind for kind in LISTED_KINDS if kind != SUMMARY)
        chosen = every if kinds is None else check.choices(kinds, "kinds", KINDS)
        memories, left, vectors = self._compared(self._bank.core.filter(kinds=chosen, status="active"), limit)
        pairs, whole = clustering.duplicates(memories, vectors, least, most)
        return Duplicates(tuple(pairs), whole, least, len(memories), left)

    def members(self, cluster: str) -> tuple[str, ...]:
        """Return the ids of a cluster that was found with `keep`, or that `clusters` finds now."""
        check.identifier(cluster, "cluster")
        with self._bank.core.reading() as reader:
            known = _known(reader)
        if cluster in known:
            return tuple(known[cluster])
        for by in clustering.STRATEGIES:
            for one in self.clusters(by=by):
                if one.id == cluster:
                    return tuple(memory.id for memory in one.memories)
        raise NotFoundError("cluster", cluster, hint="`clusters` lists the clusters.")

    def merge(self, ids: Iterable[str], *, text: str | None = None, dry_run: bool = False) -> Merged:
        """Merge memories that say the same into one.

        The originals are archived; the new memory links to them, and `undo` reverts it. The mind words the new text,
        unless `text` is given.
        """
        wanted = _several(ids)
        check.flag(dry_run, "dry_run")
        core = common_holder(self._bank.core, [End("memory", id) for id in wanted])
        with core.reading() as reader:
            memories = _in_time(core, reader, wanted)
            vectors = _vectors(reader, memories)
        clusters.checked(memories, core.fades)
        alike = clustering.cohesion(memories, vectors)
        worded = core.mind.merge_statements([said(memory) for memory in memories]) if text is None else text
        made = clusters.merging(memories, check.text(worded, "text").strip(), alike)
        draft = core.screening.draft(checked_draft(made.new))
        id = new_id()
        return Merged(dry_run, id, draft.text, made, None if dry_run else _merged(core, made, draft, id))

    def relate(self, ids: Iterable[str], *, dry_run: bool = False) -> Related:
        """Link every two of the memories as `related`, unless they are already; the weight is their similarity."""
        wanted = _several(ids)
        check.flag(dry_run, "dry_run")
        core = common_holder(self._bank.core, [End("memory", id) for id in wanted])
        with core.reading() as reader:
            memories = _in_time(core, reader, wanted)
            alike = clustering.cohesion(memories, _vectors(reader, memories))
            ties = len(clusters.ties(reader, wanted, alike).links)
        change = None if dry_run else core.apply(lambda writer: clusters.ties(writer, wanted, alike))
        return Related(dry_run, wanted, alike, ties, None if change is None else change.seq)

    @property
    def _merged_kinds(self) -> tuple[str, ...]:
        """The kinds that may be archived, without summaries, which each have their own sources."""
        return tuple(kind for kind in self._bank.core.fades if kind != SUMMARY)

    def _compared(self, filter: Filter, limit: int) -> tuple[list[Memory], int, Vectors]:
        """Return the latest memories, the number beyond them, and their vectors."""
        bank = self._bank
        bank.core.embedding.catch_up(CAUGHT_UP, math.inf)
        with bank.core.reading() as reader:
            whole = sum(reader.count(filter).values())
            memories = list(islice(chain.from_iterable(selected(reader, filter, order="newest")), limit))
            return memories, whole - len(memories), _vectors(reader, memories)

    def _remember_clusters(self, found: Sequence[clustering.Cluster]) -> None:
        fresh = {one.id: [memory.id for memory in one.memories] for one in found}

        def plan(writer: Writer) -> Changeset:
            known = _known(writer)
            kept = list({**fresh, **known}.items())[:REMEMBERED]
            return Changeset("clusters", records=[Record(FOUND, LAST, kept)] if fresh.keys() - known.keys() else [])

        self._bank.core.apply(plan)


def _known(reader: Reader) -> dict[str, list[str]]:
    """Return the members of kept clusters, latest first."""
    return dict(reader.records(FOUND, LAST).get(LAST, ()))


def _several(ids: Iterable[str]) -> tuple[str, ...]:
    wanted = check.identifiers(ids, "ids")
    if not 2 <= len(wanted) <= AT_A_TIME:
        raise InputError("ids", f"2 to {AT_A_TIME} different ids", f"{len(wanted)}")
    return wanted


def _in_time(core: Core, reader: Reader, ids: Sequence[str]) -> list[Memory]:
    """Return the memories, oldest first. Raise if one is not visible."""
    rows = [core.standing(reader, id).state.row for id in ids]
    memories = reader.memories(rows, core.filter())
    return sorted((memories[row] for row in rows), key=lambda memory: (micros(memory.at), memory.row))


def _merged(core: Core, made: clusters.Merging, draft: Draft, id: str) -> int:
    place = f"{core.name}/{made.new.kind}"
    change = core.apply(lambda writer: clusters.changes(writer, made, draft, id, core.filter(), core.now(), place))
    assert change is not None
    return change.seq


def _vectors(reader: Reader, memories: Sequence[Memory]) -> Vectors:
    """Return the mean of each memory's passage vectors, if there are any."""
    import numpy as np

    found: Vectors = {}
    for start in range(0, len(memories), AT_ONCE):
        part = memories[start : start + AT_ONCE]
        for row, passages in reader.vectors([memory.row for memory in part], "passage").items():
            whole = np.stack([vector for _, vector in passages]).sum(axis=0)
            found[row] = (whole / max(float(np.linalg.norm(whole)), LEAST_LENGTH)).astype(np.float32)
    return found
