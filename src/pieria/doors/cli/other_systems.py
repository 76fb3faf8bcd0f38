"""`pieria import --from` and `pieria export --to`: memories from other systems, and for them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.health import show_written
from pieria.doors.cli.commands.mine import wait_for_vectors
from pieria.doors.cli.console import Parts, line, pairs
from pieria.doors.cli.run import REFUSED
from pieria.importers.offers import settle
from pieria.importers.report import KINDS, SHOWN, Report

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.exporters import Report as ExportReport

ORDER = ("new", "changed", "back", "unchanged", "told", "corrected", "purged", "removed", "nameless", "refused")
SPELT = {
    "told": "captured before",
    "corrected": "corrected here, so kept",
    "purged": "purged here, so skipped",
    "removed": "removed here, so skipped",
    "nameless": "between memories that are not here",
}


def import_system(
    call: Call, system: str, source: str, *, user: str | None, token: str | None, dry_run: bool, force: bool
) -> None:
    from pieria.importers import prepare

    # Read before a bank is opened: a wrong path must not create one.
    prepared = prepare(system, source, user=user, token=token)
    with _bank(call, dry_run) as bank:
        with call.progress("importing") as progress:
            report = prepared.into(bank, dry_run=dry_run, force=force, progress=progress)
        if not dry_run:
            with call.workspace() as workspace:
                settle(workspace.data, system)
            wait_for_vectors(call, bank, report)
        ids = [f"{what} {number}" for what, number in sorted(report.memories.items())]
        call.reply(report.as_dict(), show_imported(report), ids)
    if not report.well:
        click.get_current_context().exit(REFUSED)


@contextmanager
def _bank(call: Call, dry_run: bool) -> Iterator[Bank]:
    """Yield the bank of the call. A dry run into a bank that does not exist gets an empty one, and leaves no trace."""
    if dry_run:
        import pieria

        with call.workspace() as workspace:
            name = workspace.resolved.settings.bank
            is_there = workspace.place.at(name).is_there
        if not is_there:
            with tempfile.TemporaryDirectory() as folder, pieria.open(name, data=folder) as bank:
                yield bank
            return
    with call.opened(reading=dry_run) as bank:
        yield bank


def export_format(call: Call, format: str, path: str, *, replace: bool) -> None:
    from pieria.exporters import export_to

    with call.opened(reading=True) as bank, call.progress("exporting") as progress:
        report = export_to(bank, format, path, replace=replace, progress=progress)
    call.reply(report.as_dict(), _exported(report), [str(report.path)])


def _exported(report: ExportReport) -> Parts:
    yield from show_written("exported to", report.path, report.bytes, report.counts)
    for reason, number in report.left.items():
        yield line((f"left out: {number:,} {reason}", "dim"))


def show_imported(report: Report) -> Parts:
    done = "would import from " if report.dry_run else "imported from "
    yield line((done, "green"), (report.system, "bold"), f"  {report.source}", (f"  into {report.bank}", "dim"))
    yield pairs(
        [
            *((kind, _tally(report.counted(kind))) for kind in KINDS if report.counted(kind)),
            ("left out", ", ".join(f"{number:,} {why}" for why, number in report.left.most_common()) or None),
            ("took", f"{report.seconds:,.1f} s"),
            ("vectors", None if report.embedded else "pending; search by words already works"),
        ]
    )
    for problem in report.problems:
        yield line(("problem ", "red"), str(problem))
    if report.problem_count > SHOWN:
        yield line((f"and {report.problem_count - SHOWN:,} more", "dim"))


def _tally(counts: Mapping[str, int]) -> str:
    words = [*(word for word in ORDER if counts.get(word)), *(word for word in counts if word not in ORDER)]
    return "  ".join(f"{counts[word]:,} {SPELT.get(word, word)}" for word in words if counts[word])
