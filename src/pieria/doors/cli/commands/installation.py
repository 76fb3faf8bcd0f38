"""`pieria upgrade` and `pieria uninstall`: change this installation, with the program that made it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import click

from pieria.doors.cli import programs
from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, inert, line, unbroken
from pieria.doors.cli.installation import Arguments, Installation, installation, traces
from pieria.doors.cli.parser import Command
from pieria.doors.cli.person import check_person, confirm
from pieria.errors import ConfigError, ConflictError

_DRY = click.option("--dry-run", is_flag=True, help="Only show what would be run.")
_YES = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command(cls=Command)
@_YES
@_DRY
@click.pass_obj
def upgrade(call: Call, /, yes: bool, dry_run: bool) -> None:
    """Upgrade Pieria with the program that installed it: pipx, uv, pip, or git for a checkout.

    The command shows what it runs, and asks. Restart servers and agents afterwards. Banks are migrated when they are
    next opened, after a backup.
    """
    found = installation(traces())
    document = _document(found, found.upgrade, dry_run)
    _check(found, found.upgrade, dry_run)
    call.reply(document, _shown(found, found.upgrade), _lines(found.upgrade))
    _run(found.upgrade, "Upgrade Pieria?", yes=yes, dry_run=dry_run)


@click.command(cls=Command)
@_YES
@_DRY
@click.pass_obj
def uninstall(call: Call, /, yes: bool, dry_run: bool) -> None:
    """Remove the agents' entries, the service, and then Pieria, with the program that installed it. The banks stay.

    The command shows what it removes, and asks before each step. If it cannot remove an entry, it says so, and --yes
    then leaves Pieria installed and exits with 1. An unreadable file that does not name Pieria is shown, and stops
    nothing.
    """
    from pieria.doors.cli.commands import service
    from pieria.doors.cli.host_setup import Setup

    found = installation(traces())
    with call.workspace() as workspace:
        data = str(workspace.place)
        agents = Setup(workspace, (), remove=True)
    files = [str(file) for plan in agents.plans for file in plan.todo]
    served = service.installed(call)
    unit = None if served is None else str(served.file)
    left = agents.problems
    document = _document(found, found.uninstall, dry_run)
    document |= {"agents": files, "problems": left, "unrelated": agents.unrelated, "service": unit, "data": data}
    _check(found, found.uninstall, dry_run)

    def people() -> Parts:
        for file in files:
            yield line(("entries in: ", "cyan"), (file, "bold"))
        for problem in left:
            yield line(("not removed: ", "red"), problem)
        for problem in agents.unrelated:
            yield line(("does not name Pieria: ", "yellow"), problem)
        if unit is not None:
            yield line(("service: ", "cyan"), (unit, "bold"))
        yield from _shown(found, found.uninstall)
        yield line(("stays: ", "green"), (data, "bold"), "  (your memories; remove the folder yourself if you must)")

    call.reply(document, people(), _lines(found.uninstall))
    if files and not dry_run and programs.agrees("Remove Pieria from these files?", yes=yes):
        agents.remove()
    if served is not None and not dry_run and programs.agrees(f"Stop the service, and remove {unit}?", yes=yes):
        service.take_away(served)
    _run(found.uninstall, "Uninstall Pieria?", yes=yes, dry_run=dry_run, problems=agents.problems)


def _check(found: Installation, commands: Sequence[Arguments], dry_run: bool) -> None:
    """Raise `ConfigError` if nothing can be run; a dry run shows the reason instead."""
    if not commands and not dry_run:
        raise ConfigError(found.why_not or "nothing is to be run", hint=f"Pieria is in {found.where}.")


def _run(
    commands: Sequence[Arguments], question: str, *, yes: bool, dry_run: bool, problems: Sequence[str] = ()
) -> None:
    """Run the commands. With problems, `--yes` is not enough: agents may still start what is removed."""
    if dry_run or not commands:
        return
    if problems and yes:
        reason = f"Pieria was not uninstalled, since agents may still start it: {'; '.join(problems)}"
        raise ConflictError(reason, hint="Repair these files, or remove Pieria's entries there, and run this again.")
    if not yes:
        check_person(click.get_current_context().command_path, can_ask=True)
        confirm(
            (inert(f"not removed: {problem}", one_line=True) for problem in problems), question, "Pieria stays as it is"
        )
    for command in commands:
        programs.run(command)


def _document(found: Installation, commands: Sequence[Arguments], dry_run: bool) -> dict[str, Any]:
    about = {"installed_by": found.how, "where": str(found.where), "why_not": None if commands else found.why_not}
    return {**about, "commands": _lines(commands), "dry_run": dry_run}


def _lines(commands: Sequence[Arguments]) -> list[str]:
    return [shlex.join(command) for command in commands]


def _shown(found: Installation, commands: Sequence[Arguments]) -> Parts:
    yield line(("installed by ", "dim"), (found.how, "bold"), (f"  {found.where}", "dim"))
    for command in _lines(commands):
        yield unbroken(("runs: ", "cyan"), command)
    if not commands:
        yield line(("nothing to run: ", "yellow"), found.why_not or "")
