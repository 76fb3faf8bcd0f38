"""`pieria remove-bank`: removes a whole bank for good, after a confirmation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.record.banks import check_bank_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.transfer import RemovalReport


@click.command("remove-bank", cls=Command)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask. Required without a terminal.")
@click.pass_obj
def remove_bank(call: Call, /, dry_run: bool, yes: bool) -> None:
    """Remove the whole bank that --bank names for good, with its history.

    The command shows what the bank holds and asks first. The only way back is a backup: run `pieria backup` before.
    Afterwards it lists what it removed, and the places that it could not clean. It fails while another process has
    the bank's file open.
    """
    if call.bank is None:
        raise click.UsageError("name the bank to remove with --bank", click.get_current_context())
    name = check_bank_name(call.bank)
    is_asked = sys.stdin.isatty() and sys.stderr.isatty()
    if not (dry_run or yes or is_asked):
        hint = "there is no terminal to ask at: pass --yes to remove the bank, or --dry-run for a preview"
        raise click.UsageError(hint, click.get_current_context())
    from pieria.capture.bank_removal import remove_bank as removed

    with call.workspace() as workspace:
        call.check_there(workspace)
        report = removed(workspace, name, dry_run=True)
        if not dry_run:
            if not yes:
                _ask(report)
            report = removed(workspace, name)
    call.reply(report.as_dict(), lambda: _removed(report), [report.bank])


def _ask(report: RemovalReport) -> None:
    from pieria.doors.cli.inert import inert

    for line in _lines(report):
        sys.stderr.write(f"  {inert(line, one_line=True)}\n")
    if not click.confirm(f"Remove the bank {report.bank} and all of this for good?", err=True):
        sys.stderr.write("nothing was removed\n")
        click.get_current_context().exit(1)


def _lines(report: RemovalReport) -> Iterator[str]:
    yield str(report.path)
    yield "  ".join(f"{what} {number:,}" for what, number in report.erased.items() if number) or "the bank is empty"
    for place in report.unreached:
        yield f"not reached: {place}"


def _removed(report: RemovalReport) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, pairs

    yield line(("would be removed: " if report.dry_run else "removed for good: ", "bold red"), str(report.path))
    yield pairs([(name, f"{number:,}") for name, number in report.erased.items()])
    for place in report.unreached:
        yield line(("not reached: ", "yellow"), place)
