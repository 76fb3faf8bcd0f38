"""Decay: archive knowledge whose value has dropped with age and lack of use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from pieria.graph.backend import GraphBackend
from pieria.graph.value_function import checked_types
from pieria.graph.view import Look, tended
from pieria.learning.upkeep import GraphCleanup, Progress, Telling, Worth, idle, spanned, used_of
from pieria.record import check
from pieria.record.time import Clock, system_clock

if TYPE_CHECKING:
    from pieria.config import Config

KNOWLEDGE = ("semantic", "procedural")
WEEK_HOURS = 168.0
LONGEST_HOURS = 1e6


def decay(
    backend: GraphBackend,
    config: Config | None = None,
    threshold: float = 0.1,
    node_types: Sequence[str] = KNOWLEDGE,
    *,
    min_age_hours: float = WEEK_HOURS,
    dry_run: bool = False,
    progress: Progress | None = None,
    repo_id: str | None = None,
    clock: Clock = system_clock,
) -> GraphCleanup:
    """Archive nodes of these types whose value is below the threshold, then the tags and intents left without ties.

    Nodes younger than `min_age_hours`, sources of other nodes and nodes that upkeep may not forget stay. A node's
    threshold is never above the value of a new node. A bank archives; every other backend deletes. `skipped` counts
    nodes that were changed or used meanwhile.
    """
    check.number(threshold, "threshold")
    types = checked_types(node_types)
    check.number(min_age_hours, "min_age_hours", 0, LONGEST_HOURS)
    check.flag(dry_run, "dry_run")
    graph = tended(backend)
    with spanned("decay.prune", repo_id, "checked", "deleted") as summary:
        oldest = clock() - timedelta(hours=min_age_hours)
        worth, checked, faded = Worth(config, graph, clock), 0, list[Look]()
        for page in graph.looks(types):
            checked += len(page)
            due = [look for look in page if look.fades and not look.stays and used_of(look).created_at <= oldest]
            values = zip(due, worth.of(due), strict=True)
            faded += [look for look, (value, new) in values if value < min(threshold, new)]
        needed = graph.drawn_on(faded)
        faded = [look for look in faded if look.id not in needed]
        orphans = idle(graph, {look.id for look in faded})
        gone = [look.id for look in (*faded, *orphans)]
        if not dry_run:
            telling = Telling(progress, len(gone))
            gone = [
                *telling.done_with(graph.put_away, faded),
                *telling.done_with(graph.put_away_idle, orphans),
            ]
        skipped = len(faded) + len(orphans) - len(gone)
        done = GraphCleanup(checked=checked, deleted=len(gone), deleted_ids=gone, skipped=skipped)
        summary.update(done)
    return done
