"""`pieria sleep`, which is also `pieria upkeep sleep`: sum up quiet memories, and show what earlier sleeps did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, age, counted, day_and_age, line, row, table
from pieria.doors.cli.parser import Command
from pieria.errors import JobError
from pieria.record.time import iso, system_clock

if TYPE_CHECKING:
    from pieria.bank.results.sleeps import SleepLog, SleepRun
    from pieria.bank.results.upkeep import Slept

DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
LISTED = 2
"""Ids of summaries in a row of the log; JSON has them all."""


@click.command(cls=Command)
@DRY_RUN
@click.option("--force", is_flag=True, help="Also process memories that are less than a day old.")
@click.option("--limit", type=click.IntRange(min=1), default=100_000, show_default=True,
              help="Process at most this many memories; the next run continues.")  # fmt: skip
@click.option("--log", is_flag=True, help="Show the last sleeps instead, and when the bank sleeps automatically.")
@click.pass_context
def sleep(ctx: click.Context, /, dry_run: bool, force: bool, limit: int, log: bool) -> None:
    """Summarize memories that are a day old, settle proven ones, and shorten old summaries.

    A dry run shows the texts that would be written. Exits with 1 if a group failed, and with 4 if a budget was used up
    or a model was unreachable. The next run tries these groups again.

    A bank also sleeps automatically when it is idle, unless the setting sleep is off.
    """
    call: Call = ctx.obj
    if log:
        _show_log(ctx, call)
        return
    with call.opened(reading=True) as bank, call.progress("sleeping") as report:
        slept = bank.upkeep.sleep(dry_run=dry_run, force=force, limit=limit, progress=report)
    call.reply(slept.as_dict(), show_slept(slept), [summary.id for summary in slept.summaries])
    if slept.stopped or slept.failed:
        ctx.exit(4 if slept.stopped else 1)


def _show_log(ctx: click.Context, call: Call) -> None:
    if any(ctx.get_parameter_source(name) is not ParameterSource.DEFAULT for name in ("dry_run", "force", "limit")):
        raise click.UsageError("--dry-run, --force and --limit are for a sleep, and --log does none", ctx)
    with call.opened(reading=True) as bank:
        found = bank.upkeep.sleep_log()
    call.reply(found.as_dict(), show_log(found), [id for run in found for id in run.summaries])


def show_slept(reply: Slept) -> Parts:
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
    for reason in reply.reasons:
        yield line((f"  {reason}", "dim"))
    if reply.stopped:
        yield line(("stopped: ", "yellow"), reply.stopped)
    if reply.left:
        yield line(f"{reply.left:,} left for the next run")


def show_log(log: SleepLog) -> Parts:
    now = system_clock()
    counts = ("examined", "covered", "settled", "left")
    made = table("when", "by", *counts, "summaries and reasons", wide=("summaries and reasons",), right=counts)
    for run in log:
        numbers = (f"{number:,}" for number in (run.examined, run.consolidated, run.settled, run.left))
        row(made, age(run.at, now), run.by, *numbers, (_told(run), "dim"))
    yield made if made.row_count else line("No sleep yet.")
    if log.held_back:
        yield line(("does not sleep automatically: ", "yellow"), log.held_back)
    else:
        yield line("sleeps automatically when it is idle, from ", day_and_age(log.next_at, now) or "now")


def _told(run: SleepRun) -> str:
    shown = run.summaries[:LISTED]
    more = [f"and {run.made - len(shown):,} more"] if run.made > len(shown) else []
    ended = [JobError.reasons.get(run.stopped, run.stopped)] if run.stopped else []
    failed = [f"{run.failed:,} failed"] if run.failed else []
    return "; ".join(filter(None, [" ".join([*shown, *more]), *ended, *failed, *run.reasons]))
