"""`pieria stats`, `doctor` and `where`: the bank's health and counts, and the bank in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command

if TYPE_CHECKING:
    from rich.console import RenderableType


@click.command(cls=Command)
@click.pass_obj
def stats(call: Call, /) -> None:
    """Show counts and sizes, and no text of any memory."""
    with call.opened(reading=True) as bank:
        found = bank.stats()

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.health import counts

        yield from counts(found)

    call.reply(found.as_dict(), people, [found.bank])


@click.command(cls=Command)
@click.option("--repair", is_flag=True, help="Rebuild damaged parts that can be rebuilt, such as the text index.")
@click.pass_context
def doctor(ctx: click.Context, repair: bool) -> None:
    """Check the bank's file, its index, the disk and the clock, and show every setting with its origin.

    Exits with 1 if a check fails. Shows no text of any memory.
    """
    call: Call = ctx.obj
    with call.opened(reading=True) as bank, call.progress("checking") as progress:
        diagnosis = bank.doctor(repair=repair, progress=progress)

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.health import checked

        yield from checked(diagnosis)

    call.reply(diagnosis.as_dict(), people, [f.check for f in diagnosis.findings if not f.well])
    _capture_told(call)
    _web_told(call)
    if not diagnosis.well:
        ctx.exit(1)


def _capture_told(call: Call) -> None:
    """Note events that were refused. They belong to no bank, so no bank's report shows them."""
    from pieria.capture.spool import spool_of

    with call.workspace() as workspace:
        refused = spool_of(workspace).standing().refused
    if refused:
        call.note("some captured events were refused: `pieria hooks status` shows how many")


def _web_told(call: Call) -> None:
    """Note missing web files. They belong to no bank either."""
    from pieria.doors.web import vendor

    if vendor.missing():
        call.note(f"the web page works as plain HTML, but does not update live without its scripts: {vendor.ADVICE}")


@click.command(cls=Command)
@click.pass_obj
def where(call: Call, /) -> None:
    """Show which bank and data folder are used, and why. The command opens no bank and creates none."""
    from pieria.workspace import doubts_about

    with call.workspace() as workspace:
        resolved = workspace.resolved
        settings = resolved.settings
        spot = workspace.place.at(settings.bank)
        found: dict[str, Any] = {
            "bank": {"value": settings.bank, "from": resolved.origins["bank"]},
            "data": {"value": str(workspace.place), "from": resolved.origins["data"]},
            "file": str(spot),
            "exists": spot.is_there,
            "sealed": workspace.is_sealed(settings.bank),
            "project": str(resolved.project.root) if resolved.project else None,
            "banks": workspace.banks(),
            "untrusted": [
                {"what": remark.what, "remedy": remark.remedy}
                for remark in (*resolved.ignored, *doubts_about(resolved, spot))
            ],
        }

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.health import located

        yield from located(found)

    call.reply(found, people, [settings.bank])
