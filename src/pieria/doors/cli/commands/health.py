"""`pieria stats`, `doctor` and `where`: how the bank is, and which one it is."""

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
    """Show counts and sizes, and never a word of what is remembered."""
    with call.opened(reading=True) as bank:
        found = bank.stats()

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.health import counts

        yield from counts(found)

    call.reply(found.as_dict(), people, [found.bank])


@click.command(cls=Command)
@click.option("--repair", is_flag=True, help="Build what can be rebuilt again, such as the text index.")
@click.pass_context
def doctor(ctx: click.Context, repair: bool) -> None:
    """Check the bank's file, its index, the disk and the clock, and show every setting and where it came from.

    Exits with 1 when something is not well. Shows nothing of what is remembered.
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
    """What was set aside belongs to no bank, and would be missed in each."""
    from pieria.capture.spool import spool_of

    with call.workspace() as workspace:
        refused = spool_of(workspace).standing().refused
    if refused:
        call.note("not all that hooks captured came in: `pieria hooks status` says how much was set aside")


def _web_told(call: Call) -> None:
    """What is missing of the web page belongs to no bank either."""
    from pieria.doors.web import vendor

    if vendor.missing():
        call.note(f"the web page works as plain HTML, without scripts that make it live: {vendor.ADVICE}")


@click.command(cls=Command)
@click.pass_obj
def where(call: Call, /) -> None:
    """Show which bank and data folder are used, and where that was said. Opens and makes nothing."""
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
