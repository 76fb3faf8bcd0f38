"""Repair: remove dangling ties, tags and intents without ties, and metadata of missing nodes."""

from __future__ import annotations

from pieria.graph.backend import GraphBackend
from pieria.graph.changeset import Tie
from pieria.graph.nodes import NODE_TYPES
from pieria.graph.view import Tended, pages, tended
from pieria.learning.upkeep import GraphRepair, Progress, Telling, idle, spanned
from pieria.record import check


def repair(
    backend: GraphBackend, *, dry_run: bool = False, progress: Progress | None = None, repo_id: str | None = None
) -> GraphRepair:
    """Remove ties to missing nodes, archive tags and intents without ties, and delete metadata of missing nodes.

    A bank archives; every other backend deletes. `leftovers` counts metadata without a node.
    """
    check.flag(dry_run, "dry_run")
    graph = tended(backend)
    told = ("checked", "repaired_nodes", "dangling_refs", "orphans_deleted")
    with spanned("graph_repair.repair", repo_id, *told) as summary:
        known = {look.id for page in graph.looks(NODE_TYPES) for look in page}
        dangling = _dangling(graph, known)
        orphans, leftovers = idle(graph), graph.leftovers()
        refs, gone, forgotten = len(dangling), [look.id for look in orphans], leftovers
        if not dry_run:
            telling = Telling(progress, len(dangling) + len(orphans) + len(leftovers))
            refs = 0
            for page in pages(dangling):
                refs += graph.untie(page)
                telling.more(len(page))
            gone = telling.done_with(graph.put_away_idle, orphans)
            forgotten = telling.done_with(graph.forget, leftovers)
        done = GraphRepair(
            checked=len(known),
            repaired_nodes=len({one for one, _, _ in dangling if one in known}),
            dangling_refs=refs,
            orphans_deleted=len(gone),
            orphan_ids=gone,
            leftovers=len(forgotten),
        )
        summary.update(done)
    return done


def _dangling(graph: Tended, known: set[str]) -> list[Tie]:
    """Return the ties to missing nodes, with the missing id second."""
    unknown = {end for one, other, _ in graph.ties() for end in (one, other) if end not in known}
    missing = {id for page in pages(unknown) for id in graph.missing(page)}
    return [
        (one, other, edge) if other in missing else (other, one, edge)
        for one, other, edge in (graph.ties() if missing else ())
        if one in missing or other in missing
    ]
