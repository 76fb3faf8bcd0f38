"""What upkeep did, or would do, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line, row, table
from pieria.doors.cli.shown.words import counted
from pieria.record.time import iso

if TYPE_CHECKING:
    from pieria.bank.results.upkeep import Clusters, Collected, Duplicates, Merged, Promoted, Slept, Validated


def slept(reply: Slept) -> Iterator[RenderableType]:
    for summary in reply.summaries:
        span = f"{iso(summary.sources[0].at)[:10]} to {iso(summary.last.at)[:10]}"
        yield line((f"{len(summary.sources)} memories, {span}", "dim"))
        yield line(f"  {summary.text}")
    for promotion in reply.settled:
        yield line(("settled ", "green"), promotion.memory.text, (f" ({promotion.why})", "dim"))
    for one in reply.shortened:
        yield line(("shortened ", "green"), one.text)
    for failure in reply.failed:
        yield line((f"failed for {counted(len(failure.ids), 'memory', 'memories')}: ", "bold red"), failure.reason)
    would = "would summarize" if reply.dry_run else "summarized"
    due = counted(reply.examined, "memory", "memories")
    yield line(f"{would} {reply.consolidated:,} of {due} that were due, by {reply.mind}")
    if reply.stopped:
        yield line(("stopped: ", "yellow"), reply.stopped)
    if reply.left:
        yield line(f"{reply.left:,} left for the next run")


def collected(reply: Collected) -> Iterator[RenderableType]:
    if reply.faded:
        made = table("retained", "id", "text", wide=("text",), right=("retained",))
        for one in reply.faded:
            row(made, f"{one.retained:.3f}", (one.memory.id, "dim"), one.memory.text)
        yield made
    done = ("would be " if reply.dry_run else "") + ("archived" if reply.archived else "removed")
    yield line(f"{counted(len(reply.faded), 'memory', 'memories')} {done}")
    if reply.left:
        yield line(f"{reply.left:,} more have faded")


def promoted(reply: Promoted) -> Iterator[RenderableType]:
    if reply.promoted:
        made = table("why", "id", "text", wide=("text",))
        for promotion in reply.promoted:
            row(made, promotion.why, (promotion.memory.id, "dim"), promotion.memory.text)
        yield made
    done = "would be promoted" if reply.dry_run else "promoted"
    yield line(f"{counted(len(reply.promoted), 'memory', 'memories')} {done}")


def clusters(reply: Clusters) -> Iterator[RenderableType]:
    for cluster in reply:
        yield line((cluster.id, "dim"), f" {len(cluster.memories)} memories, similarity {cluster.cohesion:.2f}")
        for memory in cluster.memories:
            yield line("  ", (memory.id, "dim"), f" {memory.text}")
    yield line(f"{counted(len(reply), 'cluster')} among {counted(reply.examined, 'memory', 'memories')}")
    if reply.left:
        yield line(f"{reply.left:,} older ones were not compared")


def duplicates(reply: Duplicates) -> Iterator[RenderableType]:
    if len(reply):
        made = table("similarity", "id", "text", wide=("text",), right=("similarity",))
        for pair in reply:
            row(made, f"{pair.similarity:.2f}", (pair.one.id, "dim"), pair.one.text)
            row(made, "", (pair.other.id, "dim"), pair.other.text)
        yield made
    yield line(f"{counted(reply.whole, 'pair')} among {counted(reply.examined, 'memory', 'memories')}")
    if reply.left:
        yield line(f"{reply.left:,} older ones were not compared")


def merged(reply: Merged) -> Iterator[RenderableType]:
    yield line(reply.text)
    sources = counted(len(reply.made.sources), "memory", "memories")
    if reply.change is None:
        yield line(f"would replace {sources}")
    else:
        yield line(f"replaces {sources} as ", (reply.id, "dim"), f"; pieria undo {reply.change} reverts this")


def validated(reply: Validated) -> Iterator[RenderableType]:
    for finding in reply.findings:
        if not finding.well:
            yield line((f"{finding.check}: ", "bold red"), finding.detail)
            yield line(("  what to do: ", "cyan"), finding.remedy or "pieria upkeep repair")
    for problem in reply.problems:
        yield line((f"{problem.kind}: ", "bold red"), (problem.id, "dim"), f" {problem.detail}")
    for name in reply.repaired:
        yield line(("repaired ", "green"), name)
    yield line(("all checks passed", "green") if reply.ok else ("some checks failed", "bold red"))
