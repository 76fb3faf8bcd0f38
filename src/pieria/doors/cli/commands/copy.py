"""`pieria copy`: a whole bank to another folder or server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.transfer import CopyReport


@click.command(cls=Command)
@click.option("--to", required=True, metavar="WHERE",
              help="The target folder or server address, written as for --data.")  # fmt: skip
@click.option("--as", "name", metavar="NAME", help="The name of the copy; the bank's name by default.")
@click.pass_obj
def copy(call: Call, /, to: str, name: str | None) -> None:
    """Copy a whole bank, with its history, to another folder or server.

    Before the copy gets its name, every row and vector is compared, and some questions are asked of both banks. An
    existing bank is never overwritten. The original does not change, and may be in use.
    """
    from pieria import copy as copy_bank
    from pieria.workspace import refuse_doubted

    with call.workspace() as workspace:
        if workspace.resolved.is_bank_named:
            call.check_there(workspace)
        bank = workspace.resolved.settings.bank
        refuse_doubted(workspace.resolved, workspace.place.at(bank))
    with call.progress("copying") as progress:
        report = copy_bank(bank, to=to, data=call.data, name=name, progress=progress)
    call.reply(report.as_dict(), lambda: _copied(report), [report.name])


def _copied(report: CopyReport) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, pairs

    yield line((f"copied {report.bank} to ", "green"), (report.target, "bold"))
    yield pairs(
        [
            ("rows", "  ".join(f"{table} {number:,}" for table, number in report.rows.items() if number)),
            ("the same in both", ", ".join(report.sha256)),
            ("questions", f"{report.questions} found the same in both" if report.questions else None),
        ]
    )
