"""The result of a mine, for people: counts of sources and memories, and the first refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pieria.doors.cli.shown.console import line, pairs, row, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.mining import Report

SHOWN = 40
"""Most sources that a dry run lists."""
TOLD = 0.1
"""Shortest embedding time that is shown, in seconds."""
ORDER = (
    "new", "changed", "back", "superseded", "vanished", "unchanged", "told", "purged", "removed", "refused",
)  # fmt: skip
SPELT = {
    "told": "captured before",
    "purged": "purged, so skipped",
    "removed": "removed, so skipped",
}


def mined(report: Report, bank: str) -> Iterator[RenderableType]:
    done = "would mine " if report.dry_run else "mined "
    yield line((done, "green"), (report.path, "bold"), (f"  into {bank}", "dim"))
    yield pairs(
        [
            ("sources", _tally(report.sources)),
            ("formats", _tally(report.formats) if len(report.formats) > 1 else None),
            ("memories", _tally(report.memories)),
            ("left out", ", ".join(f"{number:,} {why}" for why, number in report.left.most_common())),
            ("took", f"{report.seconds:,.1f} s  {report.rate:,.0f} memories a second{_embedding(report)}"),
            ("vectors", None if report.embedded else "pending; search by words already works"),
        ]
    )
    yield from _planned(report)
    for refused in report.refused:
        yield line(("refused ", "red"), str(refused))
    if report.refusals > len(report.refused):
        yield line((f"and {report.refusals - len(report.refused):,} more", "dim"))


def _embedding(report: Report) -> str:
    return f"  and {report.embedding_seconds:,.1f} s to embed" if report.embedding_seconds >= TOLD else ""


def _planned(report: Report) -> Iterator[RenderableType]:
    if not report.plan:
        return
    shown = table("source", "would be", "memories", wide=("source",))
    for entry in report.plan[:SHOWN]:
        row(shown, entry["source"], entry["what"], _tally(entry["memories"]))
    yield shown
    if len(report.plan) > SHOWN:
        yield line((f"and {len(report.plan) - SHOWN:,} more; --json shows all", "dim"))


def _tally(counts: Mapping[str, int]) -> str:
    words = [*(word for word in ORDER if counts.get(word)), *(word for word in counts if word not in ORDER)]
    return "  ".join(f"{counts[word]:,} {SPELT.get(word, word)}" for word in words if counts[word])
