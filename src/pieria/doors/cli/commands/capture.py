"""`pieria capture`: events of any agent, as JSON on stdin, straight into the bank."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import decoded
from pieria.errors import Framework, InputError, Invalid
from pieria.record.event import AgentEvent
from pieria.record.json_text import parsed
from pieria.record.time import iso, system_clock

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.capture.spool_line import Told

MOST = 64 << 20
HOST = "generic"


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
            problems.append(_numbered(problem, number))
    with call.workspace() as workspace:
        done = Drain(workspace, distils=True).hand_over(told)
    document = done.as_dict()

    def people() -> Iterator[RenderableType]:
        from pieria.doors.cli.shown.console import line

        yield line((f"{done.kept:,} kept", "green"), (f", {done.repeated:,} already stored", "dim"))

    call.reply(document, people, [str(done.kept)])
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


def _numbered(problem: Invalid, number: int) -> Invalid:
    return problem.renamed(f"events[{number}].{problem.parameter}") if isinstance(problem, InputError) else problem
