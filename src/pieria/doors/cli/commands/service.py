"""`pieria service`: has the system start `pieria serve` at login, for those who want a server always there."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from pieria.capture.install import files
from pieria.doors import serve_address
from pieria.doors.cli import programs
from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.serve import PORT
from pieria.doors.cli.console import Parts, line, pairs, verbatim
from pieria.doors.cli.parser import Group
from pieria.doors.cli.values import WHOLE
from pieria.doors.service_file import MARK, ServiceFile, command, service_file
from pieria.errors import ConfigError, ConflictError

_DRY = click.option("--dry-run", is_flag=True, help="Only show what would be done.")
_YES = click.option("--yes", is_flag=True, help="Do not ask.")
_PORT = click.option("--port", type=WHOLE, default=PORT, show_default=True, metavar="N", help="The server's port.")


@click.group(cls=Group)
def service() -> None:
    """Have the system run `pieria serve` at each login: by systemd on Linux, by launchd on macOS.

    You need this only for clients that use HTTP, and for the web page. Agents start `pieria mcp` themselves.
    """


@service.command()
@_PORT
@_YES
@_DRY
@click.pass_obj
def install(call: Call, /, port: int, yes: bool, dry_run: bool) -> None:
    """Write the file of the service, and ask whether to start it now and at each login.

    The server gets no variables of this shell: put settings into the data folder's pieria.toml.
    """
    with call.workspace() as workspace:
        if workspace.place.is_shared:
            reason = "the service's file would hold the address of the database, which may have a password"
            raise ConfigError(reason, hint="Write a service of your own, which sets PIERIA_DATA.")
    made = _service(call, port)
    before = files.read(made.file)
    if before is not None and MARK not in before:
        raise ConflictError(f"{made.file} is not Pieria's", hint="Move that file away, and install again.")
    changed = before != made.text
    if changed and not dry_run:
        files.write(made.file, made.text)
    started = not dry_run and made.can_run and programs.agrees(f"Run `{shlex.join(made.start)}`?", yes=yes)
    if started:
        programs.run(made.start)
    document: dict[str, Any] = {
        **{"file": str(made.file), "changed": changed, "started": started, "dry_run": dry_run},
        **{"text": made.text, "start": shlex.join(made.start), "log": made.log},
    }
    call.reply(document, _shown(document), [document["file"]])


@service.command()
@_YES
@_DRY
@click.pass_obj
def remove(call: Call, /, yes: bool, dry_run: bool) -> None:
    """Stop the service, and remove its file. The banks stay."""
    made = _service(call, PORT)
    is_ours = _is_ours(made)
    removed = is_ours and not dry_run and programs.agrees(f"Stop the service, and remove {made.file}?", yes=yes)
    if removed:
        take_away(made)
    document: dict[str, Any] = {
        "file": str(made.file),
        "installed": is_ours,
        "removed": removed,
        "stop": shlex.join(made.stop),
    }

    def people() -> Parts:
        word = "removed" if removed else "would remove" if dry_run and is_ours else "unchanged"
        yield line((f"{word}: ", "green"), (document["file"], "bold"))
        if is_ours and not made.can_run:
            yield line(("then: ", "cyan"), document["stop"])

    call.reply(document, people(), [document["file"]])


@service.command()
@click.pass_obj
def status(call: Call, /) -> None:
    """Show whether the service is installed and starts at login, and the address of the running server."""
    made = _service(call, PORT)
    with call.workspace() as workspace:
        url = serve_address.address(workspace.data)
    document: dict[str, Any] = {
        "file": str(made.file),
        "installed": _is_ours(made),
        "enabled": _is_enabled(made),
        "server": url,
        "log": made.log,
    }
    rows = [(name, "yes" if value is True else str(value or "no")) for name, value in document.items()]
    call.reply(document, [pairs(rows)], [document["file"]])


def installed(call: Call) -> ServiceFile | None:
    """Return the service of this user, or None if there is none."""
    if sys.platform not in ("linux", "darwin"):
        return None
    made = _service(call, PORT)
    return made if _is_ours(made) else None


def take_away(made: ServiceFile) -> None:
    """Stop the service if it starts at login, and remove its file."""
    if _is_enabled(made):
        programs.run(made.stop)
    files.remove(made.file)


def _service(call: Call, port: int) -> ServiceFile:
    """Return the file for the data folder of this call."""
    with call.workspace() as workspace:
        data = None if workspace.resolved.is_default("data") else workspace.data
    return service_file(command(data, port), os.environ, Path.home())


def _is_enabled(made: ServiceFile) -> bool:
    return made.can_run and subprocess.run(made.enabled, capture_output=True, check=False).returncode == 0  # noqa: S603 - ours


def _is_ours(made: ServiceFile) -> bool:
    return MARK in (files.read(made.file) or "")


def _shown(document: dict[str, Any]) -> Parts:
    word = "unchanged" if not document["changed"] else "would write" if document["dry_run"] else "written"
    yield line((f"{word}: ", "green"), (document["file"], "bold"))
    if document["dry_run"]:
        yield verbatim(document["text"])
    if not document["started"]:
        yield line(("to start it: ", "cyan"), document["start"])
    yield line(("its log: ", "dim"), document["log"])
