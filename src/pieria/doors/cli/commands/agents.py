"""`pieria hooks`: installs the hooks that capture agents' sessions, and shows the status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, line
from pieria.doors.cli.parser import Command, Group
from pieria.doors.cli.run import REFUSED
from pieria.doors.cli.values import OneOf, decoded
from pieria.errors import Framework, InputError, Invalid
from pieria.record.event import AgentEvent
from pieria.record.json_text import parsed
from pieria.record.time import iso, system_clock

if TYPE_CHECKING:
    from pieria.capture.install.actions import Found, Where
    from pieria.capture.spool_line import Told


_WELL = ("installed", "missing", "absent")

_HOSTS = click.option("--host", "hosts", type=OneOf("claude-code", "codex", "opencode", "gemini"), multiple=True,
                      help="The agent; may be repeated. Default: all on this machine.")  # fmt: skip
_SCOPE = click.option("--scope", type=OneOf("user", "project"), default="user", show_default=True,
                      help="All your sessions, or only those in this project.")  # fmt: skip
_DRY = click.option("--dry-run", is_flag=True, help="Only show what would be done.")
MOST = 64 << 20
HOST = "generic"


@click.group(cls=Group)
def hooks() -> None:
    """Install hooks that record agents' sessions: prompts, replies, and the inputs and outputs of tools.

    A hook writes one line to a spool and ends. A server, a worker or the next command moves it to the project's bank.
    docs/capture.md says what is stored.
    """


@hooks.command()
@_HOSTS
@_SCOPE
@click.option("--context/--no-context", default=True, show_default=True,
              help="Also give agents context from memory, at the start of a session and with each prompt.")  # fmt: skip
@_DRY
@click.pass_obj
def install(call: Call, /, hosts: tuple[str, ...], scope: str, context: bool, dry_run: bool) -> None:
    """Write the hooks into the agents' own settings, and change no other setting.

    Hooks that are up to date do not change. A settings file that is not in its agent's format does not change either.
    """
    from pieria.capture.install import actions as doing
    from pieria.capture.install.hosts import INSTALLED

    _each(
        call, hosts, scope, dry_run, partial(doing.install, context=context), ("would write", "written", "unchanged"),
        lambda before: before.state == INSTALLED and bool(before.context) == context,
    )  # fmt: skip


@hooks.command()
@_HOSTS
@_SCOPE
@_DRY
@click.pass_obj
def uninstall(call: Call, /, hosts: tuple[str, ...], scope: str, dry_run: bool) -> None:
    """Remove the hooks from the agents' settings, and nothing else. Captured memories stay."""
    from pieria.capture.install import actions as doing
    from pieria.capture.install.hosts import FOREIGN, MISSING

    _each(
        call, hosts, scope, dry_run, doing.uninstall,
        ("would remove the hooks from", "removed the hooks from", "unchanged"),
        lambda before: before.state in (MISSING, doing.ABSENT, FOREIGN), next_step=False,
    )  # fmt: skip


@hooks.command()
@_HOSTS
@_SCOPE
@click.pass_obj
def status(call: Call, /, hosts: tuple[str, ...], scope: str) -> None:
    """Show which agents have the hooks, the events in the spool, refused events, and the last problem.

    Exits with 1 if hooks are installed and do not work.
    """
    from pieria.capture.install import actions as doing
    from pieria.capture.install.hosts import HOOKED

    where = _where(call, scope)
    found = [doing.status(host, where) for host in (doing.chosen(hosts, where) if hosts else HOOKED.values())]
    spool = _spool(call).standing()
    document = {"hosts": [one.as_dict() for one in found], "spool": spool.as_dict()}
    call.reply(document, _status(document), [f"{one.host} {one.state}" for one in found])
    if any(one.problems or one.state not in _WELL for one in found):
        click.get_current_context().exit(REFUSED)


@hooks.command()
@click.argument("host", type=OneOf("claude-code", "codex", "opencode", "gemini"))
@click.argument("what", type=OneOf("capture", "context"))
@click.pass_obj
def run(call: Call, /, host: str, what: str) -> None:
    """Run as the hook of a plug-in: capture the event on standard input, or print the context for it.

    The hooks of docs/plugins.md call this. It always exits with 0 and opens no bank itself.
    """
    from pieria.capture import plugin_hook

    given = {"PIERIA_BANK": call.bank, "PIERIA_DATA": call.data}
    os.environ.update({name: value for name, value in given.items() if value is not None})
    plugin_hook.run(host, what)


@hooks.command()
@click.option("--refused", is_flag=True, help="Also try events again that were refused before.")
@click.pass_obj
def drain(call: Call, /, refused: bool) -> None:
    """Store all events of the spool in their banks now, and distill the sessions that have ended or are idle."""
    from pieria.capture.drain import Drain

    with call.workspace() as workspace:
        drain = Drain(workspace, distils=True)
        again = drain.spool.again() if refused else 0
        done = drain.drain()
    document = {**done.as_dict(), "again": again}
    call.reply(document, _drained(document), [str(done.kept)])


def _each(
    call: Call,
    names: tuple[str, ...],
    scope: str,
    dry_run: bool,
    verb: Callable[..., Found],
    words: tuple[str, str, str],
    is_so: Callable[[Found], bool],
    *,
    next_step: bool = True,
) -> None:
    from pieria.capture.install.actions import chosen

    where = _where(call, scope)
    document = []
    for host in chosen(names, where):
        before = verb(host, where, dry_run=dry_run)
        changed = not is_so(before)
        about: dict[str, Any] = {"host": host.name, "file": before.file, "scope": before.scope, "next": host.next_step}
        document.append({**about, "was": before.state, "changed": changed, "dry_run": dry_run})
    would, did, not_done = words

    def people() -> Parts:
        for one in document:
            word = not_done if not one["changed"] else would if dry_run else did
            yield line(
                (f"{word}: ", "green"), (one["file"], "bold"), (f"  ({one['host']}, {one['was']} before)", "dim")
            )
            if one["next"] and next_step:
                yield line(("then: ", "cyan"), one["next"])

    call.reply(document, people(), [one["file"] for one in document])


def _where(call: Call, scope: str) -> Where:
    from pieria.capture.install.actions import where

    with call.workspace() as workspace:
        return where(workspace, scope, os.environ)


def _spool(call: Call) -> Any:
    from pieria.capture.spool import spool_of

    with call.workspace() as workspace:
        return spool_of(workspace)


def _status(document: dict[str, Any]) -> Parts:
    for one in document["hosts"]:
        style = {"installed": "green", "absent": "dim", "missing": "dim"}.get(one["state"], "yellow")
        yield line((f"{one['host']}  ", "bold"), (one["state"], style), (f"  {one['file']}", "dim"))
        if one["state"] in ("installed", "outdated"):
            told = ", ".join(one["context"]) or "no: install without --no-context"
            yield line(("  gets context: ", "dim"), told)
        for problem in one["problems"]:
            yield line(("  wrong: ", "red"), problem)
        if one["next_step"]:
            yield line(("  needs: ", "cyan"), one["next_step"])
    spool = document["spool"]
    yield line(("spool  ", "bold"), f"{spool['waiting_bytes']:,} bytes wait", (f"  {spool['folder']}", "dim"))
    if spool["refused"]:
        what = "event was" if spool["refused"] == 1 else "events were"
        yield line((f"{spool['refused']:,} {what} refused: ", "yellow"), "`pieria hooks drain --refused` tries again")
    if spool["last_problem"]:
        yield line(("last problem of a hook: ", "yellow"), spool["last_problem"])


def _drained(document: dict[str, Any]) -> Parts:
    told = ", ".join(f"{document[name]:,} {name}" for name in ("kept", "turns", "repeated", "dropped", "refused"))
    yield line(("stored: ", "green"), told)
    for bank, kept in document["banks"].items():
        yield line((f"{bank}  ", "bold"), f"{kept:,}")


@click.command(cls=Command)
@click.option("--host", default=HOST, show_default=True, metavar="NAME", help="The agent's name.")
@click.option("--session", metavar="ID", help="The session of events that name none.")
@click.pass_obj
def capture(call: Call, /, host: str, session: str | None) -> None:
    """Store events of an agent's session. Standard input is JSON: one object, a list of them, or one a line.

    docs/capture.md describes the fields. A repeated event is stored once. Private parts and secrets are removed before
    anything is written. Invalid events are reported; the others are stored.
    """
    from pieria.capture.drain import Drain

    given = {"host": host, "session": session, "folder": os.getcwd(), "at": iso(system_clock())}
    told: list[Told] = []
    problems: list[Invalid] = []
    for number, read in enumerate(_read()):
        if isinstance(read, InputError):
            problems.append(read)
            continue
        try:
            told.append(_told(read, given, call.bank))
        except Invalid as problem:
            problems.append(
                problem.renamed(f"events[{number}].{problem.parameter}") if isinstance(problem, InputError) else problem
            )
    with call.workspace() as workspace:
        done = Drain(workspace, distils=True).hand_over(told)
    people = (f"{done.kept:,} kept", "green"), (f", {done.repeated:,} already stored", "dim")
    call.reply(done.as_dict(), [people], [str(done.kept)])
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise Framework(errors=problems)


def _read() -> list[Any]:
    """Return the events; a line that is not JSON is replaced by its error. Raise the errors if no line is JSON."""
    written = sys.stdin.buffer.read(MOST + 1)
    if len(written) > MOST:
        raise InputError(
            "standard input", f"at most {MOST:,} bytes", written, hint="Split the events into several calls."
        )
    text = decoded(written, "standard input")
    try:
        whole = parsed(text)
    except ValueError:
        read = [_line(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if read and all(isinstance(one, InputError) for one in read):
            raise read[0] from None
        return read
    return whole if isinstance(whole, list) else [whole]


def _line(line: str, number: int) -> Any:
    try:
        return parsed(line)
    except ValueError as problem:
        hint = f"Line {number} is not JSON: {problem}."
        return InputError("standard input", "JSON: an object, a list, or one object a line", line, hint=hint)


def _told(read: Any, given: Mapping[str, Any], bank: str | None) -> Told:
    from pieria.capture.hook import screened
    from pieria.capture.spool_line import Told, event_of

    if not isinstance(read, Mapping):
        raise InputError("event", "an object", read)
    filled = {name: value for name, value in given.items() if value is not None and read.get(name) is None}
    whole = {**read, **filled}
    AgentEvent.from_dict(whole)
    own = whole.pop("id", None)
    return Told(event_of(screened(whole), "" if own is None else str(own)), bank)
