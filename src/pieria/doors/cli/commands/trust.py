"""`pieria trust`: accepts a folder's own settings, after a person has seen them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.settings.request import Request, Setting, Trusted

LONGEST = 200
"""Characters of a value that are shown."""


@click.command(cls=Command)
@click.argument("folder", required=False)
@click.option("--list", "listing", is_flag=True, help="List the trusted folders.")
@click.option("--revoke", is_flag=True, help="Stop trusting the folder.")
@click.option("--yes", is_flag=True, help="Do not ask. The command still needs a terminal.")
@click.pass_obj
def trust(call: Call, /, folder: str | None, listing: bool, revoke: bool, yes: bool) -> None:
    """Allow a project's settings file to apply: that of FOLDER, or of the current folder.

    The command shows what the file would change, and asks. An untrusted file can only restrict. Banks inside an
    untrusted project are read-only and count as hearsay, unless your own Pieria created them. If the file changes, the
    command has to be run again. Agents cannot run it for you.
    """
    if listing + revoke + yes > 1 or (listing and folder is not None):
        raise click.UsageError("give one of FOLDER, --list and --revoke; --yes goes with FOLDER alone")
    if listing:
        _list(call)
    elif revoke:
        _revoke(call, folder)
    else:
        _trust(call, folder, yes)


def _list(call: Call) -> None:
    from pieria.settings.request import trusted_folders

    found = trusted_folders()
    call.reply({"folders": [one._asdict() for one in found]}, lambda: _listed(found), [one.folder for one in found])


def _revoke(call: Call, folder: str | None) -> None:
    from pieria.settings.request import revoke

    gone = revoke(folder)
    call.reply({"folder": gone, "trusted": False}, lambda: _said("no longer trusts ", gone), [gone])


def _trust(call: Call, folder: str | None, yes: bool) -> None:
    from pieria.doors.cli.person import check_person
    from pieria.settings.request import request_for

    request = request_for(folder, {"data": call.data, "bank": call.bank})
    if request.standing != "trusted":
        check_person(f"pieria trust {quote(str(request.folder))}", can_ask=not yes)
        if not yes:
            _ask(request)
        request.grant()
    document = {**request.as_dict(), "trusted": True}
    call.reply(document, lambda: _said("trusts ", str(request.folder)), [str(request.folder)])


def _ask(request: Request) -> None:
    from pieria.doors.cli.inert import inert

    for line in _lines(request):
        sys.stderr.write(f"{inert(line, one_line=True)}\n")
    if not click.confirm("Trust this folder, with the current content of these files?", err=True):
        sys.stderr.write("nothing was changed\n")
        click.get_current_context().exit(1)


def _lines(request: Request) -> Iterator[str]:
    changed = " (changed since it was trusted)" if request.standing == "changed" else ""
    yield f"folder: {request.folder}{changed}"
    for one in request.settings:
        yield f"{one.file}: {_told(one)}"
    if not request.settings:
        yield "its files set nothing"
    yield f"banks would be in: {request.data}"
    yield "banks inside the folder would become writable, and agents would get their rules"


def _told(one: Setting) -> str:
    value, now = (str(each)[:LONGEST] for each in (one.value, one.now))
    if not one.counts:
        return f"{one.name} has no effect: {now} overrides it (from {one.origin})"
    return f"{one.name} = {value} (now {now}, from {one.origin})"


def _said(what: str, folder: str) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line

    yield line((what, "green"), (folder, "bold"))


def _listed(found: list[Trusted]) -> Iterator[RenderableType]:
    from pieria.doors.cli.shown.console import line, row, table

    if not found:
        yield line("No folder is trusted.")
        return
    made = table("folder", "files", "since", "standing", wide=("folder",))
    for one in found:
        row(made, one.folder, " ".join(one.files), one.at[:16].replace("T", " "), one.standing)
    yield made
