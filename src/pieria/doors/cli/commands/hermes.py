"""`pieria hermes`: registers Pieria with the Hermes Agent, and shows the status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, line
from pieria.doors.cli.parser import Group
from pieria.doors.cli.run import REFUSED

_NEXT = "hermes config set memory.provider pieria"
_HOME = click.option("--home", type=click.Path(path_type=Path), metavar="FOLDER",
                     help="The home folder of Hermes; by default HERMES_HOME, or ~/.hermes.")  # fmt: skip


@click.group(cls=Group)
def hermes() -> None:
    """Connect the Hermes Agent to Pieria, as its memory provider.

    Hermes finds Pieria without help if both are installed in the same Python. Otherwise it needs a small folder among
    its plugins.
    """


@hermes.command()
@_HOME
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.pass_obj
def install(call: Call, /, home: Path | None, dry_run: bool) -> None:
    """Write the plugin folder through which Hermes finds Pieria, and save --bank and --data for the agent.

    A folder that is up to date does not change. Files that Pieria did not write are an error, and do not change. If
    Hermes is not installed, nothing is written, unless --home is given.
    """
    from pieria.hermes import install as installing
    from pieria.hermes import options

    folder = _home(home)
    if home is None:
        installing.check_there(folder)
    chosen = {name: value for name, value in (("bank", call.bank), ("data", call.data)) if value is not None}
    before = installing.install(folder, dry_run=True)
    if not dry_run:
        if chosen:
            options.save(folder, chosen)
        installing.install(folder)
    document = {
        "folder": str(before.folder),
        "was": before.state,
        "options": {"file": str(folder / options.FILE), **chosen} if chosen else None,
        "dry_run": dry_run,
        "next": _NEXT,
    }
    word = "would write" if dry_run else "unchanged" if before.state == installing.INSTALLED else "written"
    call.reply(document, _done(word, document), [str(before.folder)])


@hermes.command()
@_HOME
@click.pass_obj
def status(call: Call, /, home: Path | None) -> None:
    """Show whether the folder exists, which options apply, and which bank the agent uses.

    Exits with 1 if the options cannot be read: Hermes then runs without Pieria.
    """
    from pieria.hermes import install as installing

    folder = _home(home)
    found = installing.plugin(folder)
    document = {"home": str(folder), "folder": str(found.folder), "state": found.state, **_held(folder)}
    call.reply(document, _status(document), [found.state])
    if document["problems"]:
        click.get_current_context().exit(REFUSED)


@hermes.command()
@_HOME
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.pass_obj
def uninstall(call: Call, /, home: Path | None, dry_run: bool) -> None:
    """Remove the plugin folder. Memories and options stay."""
    from pieria.hermes import install as installing

    before = installing.uninstall(_home(home), dry_run=dry_run)
    document = {"folder": str(before.folder), "was": before.state, "dry_run": dry_run}
    word = "would remove" if dry_run else "unchanged" if before.state == installing.MISSING else "removed"
    call.reply(document, _done(word, document), [str(before.folder)])


def _home(given: Path | None) -> Path:
    from pieria.hermes.options import home_folder

    return home_folder() if given is None else given.expanduser().absolute()


def _held(folder: Path) -> dict[str, Any]:
    """Return the options, or all their errors."""
    from dataclasses import asdict

    from pieria.errors import ConfigError
    from pieria.hermes import options

    try:
        held = options.options_in(folder)
    except ConfigError as problem:
        every = [{"message": one.message, "hint": one.hint} for one in problem.all_errors()]
        return {"bank": None, "options": None, "problems": every}
    return {"bank": held.bank_for("", "", ""), "options": asdict(held), "problems": []}


def _done(word: str, document: dict[str, Any]) -> Parts:
    yield line((f"{word}: ", "green"), (document["folder"], "bold"), (f"  ({document['was']} before)", "dim"))
    if document.get("options"):
        yield line(("options: ", "green"), document["options"]["file"])
    if "next" in document:
        yield line(("then: ", "cyan"), document["next"])


def _status(document: dict[str, Any]) -> Parts:
    style = "green" if document["state"] == "installed" else "yellow"
    yield line((document["state"], style), (f"  {document['folder']}", "dim"))
    for problem in document["problems"]:
        yield line(("wrong: ", "red"), problem["message"], (f"  {problem['hint'] or ''}".rstrip(), "cyan"))
    if document["options"] is None:
        return
    yield line(("bank ", "dim"), (document["bank"], "bold"))
    for name, value in document["options"].items():
        yield line((f"{name} ", "dim"), "" if value is None else str(value))
