"""`pieria mine`: imports a project's files or conversations, once or whenever they change."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, line, pairs, row, table
from pieria.doors.cli.parser import Command
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.values import NUMBER, WHOLE, OneOf
from pieria.errors import AdapterError, PieriaError
from pieria.mining.formats import FORMATS
from pieria.record import check

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.mining import Report


WHO = "mine"
EVERY = 2.0
LONGEST_WAIT = 86_400.0
SHOWN = 40
"""Most sources that a dry run lists."""
TOLD = 0.1
"""Shortest embedding time that is shown, in seconds."""


class Embedding(Protocol):
    """The part of a report that says how far its vectors are."""

    embedded: bool
    embedding_seconds: float


ORDER = (
    "new", "changed", "back", "superseded", "vanished", "unchanged", "told", "purged", "removed", "refused",
)  # fmt: skip
SPELT = {
    "told": "captured before",
    "purged": "purged, so skipped",
    "removed": "removed, so skipped",
}


@click.command(cls=Command)
@click.argument("path")
@click.option("--conversations", is_flag=True, help="PATH holds conversations, not a project.")
@click.option("--format", type=OneOf(*FORMATS), metavar="FORMAT",
              help=f"Only conversations of this format: {', '.join(FORMATS)}.")  # fmt: skip
@click.option("--wing", metavar="NAME", help="The wing for the memories; by default the name of the project or format.")
@click.option("--place", metavar="WING/ROOM", help="One place for all the memories.")
@click.option("--largest", type=WHOLE, metavar="BYTES", help="Skip larger files of a project; 1,048,576 by default.")
@click.option("--force", is_flag=True, help="Read everything again, and restore memories that were purged or removed.")
@click.option("--dry-run", is_flag=True, help="Show what would be done for each source, and do nothing.")
@click.option("--watch", is_flag=True, help="Keep running, and mine again after each change, until Ctrl-C.")
@click.option(
    "--every", type=NUMBER, metavar="SECONDS", help="With --watch: the time between two checks; 2 by default."
)
@click.pass_obj
def mine(call: Call, /, path: str, watch: bool, every: float | None, dry_run: bool, **values: Any) -> None:
    """Import the text files of the project at PATH, or with --conversations the messages there.

    Only new and changed files are read. Text that has disappeared from a file stays in the bank, but is no longer
    valid. Purged memories do not return. Exits with 1 if something could not be read; the rest is imported.
    """
    options = {name: value for name, value in values.items() if value not in (None, False)}
    if watch and (dry_run or options.pop("force", False)):
        raise click.UsageError("--watch goes with neither --dry-run nor --force", click.get_current_context())
    if every is not None and not watch:
        raise click.UsageError("--every goes with --watch", click.get_current_context())
    if watch:
        rest = check.number(EVERY if every is None else every, "every", 0.05, LONGEST_WAIT)
        _watched(call, path, rest, options)
        return
    from pieria.mining import mine as mined

    with call.opened(reading=dry_run) as bank:
        with call.progress("mining") as progress:
            report = mined(bank, path, dry_run=dry_run, progress=progress, **options)
        if not dry_run:
            wait_for_vectors(call, bank, report)
        _told(call, report, bank.name)
    if not report.well:
        click.get_current_context().exit(REFUSED)


def wait_for_vectors(call: Call, bank: Bank, report: Embedding) -> None:
    """Wait for the vectors of new memories. If the model fails or the bank is busy, they are made later."""
    begun = time.monotonic()
    with call.progress("embedding") as progress:
        try:
            report.embedded = bank.sync(progress=progress)
        except PieriaError as problem:
            if not (problem.retryable or isinstance(problem, AdapterError)):
                raise
            report.embedded = False
            call.note(f"everything is stored, but not embedded yet: {problem.message}")
    report.embedding_seconds = time.monotonic() - begun


def _watched(call: Call, path: str, rest: float, options: dict[str, Any]) -> None:
    from pieria.mining import watch

    refused = False
    with _until_stopped() as stop, call.opened() as bank:
        for report in watch(bank, path, wait=lambda: stop.wait(rest), **options):
            wait_for_vectors(call, bank, report)
            _told(call, report, bank.name)
            sys.stdout.flush()
            refused = not report.well
    if refused:
        click.get_current_context().exit(REFUSED)


class _Stop:
    """Stops a watch cleanly: at once while it rests, otherwise after the last commit."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._resting = False

    def ask(self, *_: object) -> None:
        self._asked.set()
        if not self._resting:
            raise KeyboardInterrupt

    def wait(self, rest: float) -> bool:
        self._resting = True
        try:
            return self._asked.wait(rest)
        finally:
            self._resting = False


def _told(call: Call, report: Report, bank: str) -> None:
    call.reply(
        {"bank": bank, **report.as_dict()},
        show_mined(report, bank),
        [f"{what} {n}" for what, n in sorted(report.memories.items())],
    )


@contextmanager
def _until_stopped() -> Iterator[_Stop]:
    stop = _Stop()
    before = {each: signal.signal(each, stop.ask) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        with suppress(KeyboardInterrupt):
            yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def show_mined(report: Report, bank: str) -> Parts:
    slow = report.embedding_seconds >= TOLD
    embedding = f"  and {report.embedding_seconds:,.1f} s to embed" if slow else ""
    done = "would mine " if report.dry_run else "mined "
    yield line((done, "green"), (report.path, "bold"), (f"  into {bank}", "dim"))
    yield pairs(
        [
            ("sources", _tally(report.sources)),
            ("formats", _tally(report.formats) if len(report.formats) > 1 else None),
            ("memories", _tally(report.memories)),
            ("left out", ", ".join(f"{number:,} {why}" for why, number in report.left.most_common())),
            ("took", f"{report.seconds:,.1f} s  {report.rate:,.0f} memories a second{embedding}"),
            ("vectors", None if report.embedded else "pending; search by words already works"),
        ]
    )
    yield from _planned(report)
    for refused in report.refused:
        yield line(("refused ", "red"), str(refused))
    if report.refusals > len(report.refused):
        yield line((f"and {report.refusals - len(report.refused):,} more", "dim"))


def _planned(report: Report) -> Parts:
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
