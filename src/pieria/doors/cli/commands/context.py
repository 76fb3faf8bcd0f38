"""`pieria context`, also `pieria wake-up`: an agent's context at the start, for a person, a program, or a host's
hook.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, chdir, nullcontext, suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, line, verbatim
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import NUMBER, TIME, WHOLE, OneOf, given
from pieria.errors import InputError, Invalid, PieriaError
from pieria.record.json_text import parsed

if TYPE_CHECKING:
    from pieria import Bank, Context
    from pieria.workspace import Workspace


HOSTS = ("claude-code", "codex", "gemini", "generic")
NOTHING = (
    "There is no context yet: the bank holds no matching memories. `pieria hooks install` records agents' sessions, "
    "`pieria mine` imports files."
)
NO_ROOM = "The budget is too small for any memory: raise it with --budget."
PAYLOAD = 16 << 20
NOT_ASKED = ("query", "session", "keep", "anew", "known_at")
"""Options whose values come from the payload."""


@click.command(cls=Command)
@click.option("--query", metavar="TEXT", help="Select memories on this topic, such as a prompt.")
@click.option(
    "--file", "--files", "files", metavar="PATH", multiple=True, help="Select memories on this file; may be repeated."
)
@click.option("--place", metavar="WING[/ROOM]", help="Only memories of this place; standing rules always appear.")
@click.option(
    "--budget", "budget_tokens", type=WHOLE, metavar="TOKENS", help="At most this many tokens; 2,000 by default."
)
@click.option(
    "--session", metavar="ID", help="The session that gets the context, as of its stored moment if --keep stored one."
)
@click.option("--keep", is_flag=True, help="Give this session the same context from now on.")
@click.option("--anew", is_flag=True, help="Ignore the stored moment of the session.")
@click.option("--known-at", type=TIME, help="Use what the bank knew at this time.")
@click.option(
    "--hook",
    type=OneOf(*HOSTS),
    metavar="HOST",
    help="Act as a hook of this host: claude-code, codex, gemini or generic.",
)
@click.option(
    "--within",
    type=NUMBER,
    metavar="SECONDS",
    help="With --hook: end after this time, without context if none is ready.",
)
@click.option(
    "--fallback-data",
    metavar="FOLDER",
    help="With --hook: the folder of the banks, if neither the environment nor the project sets one.",
)
@click.pass_obj
def context(call: Call, /, hook: str | None, within: float | None, fallback_data: str | None, **values: Any) -> None:
    """Print what an agent should know before it asks: rules, pinned memories, open threads, an index, details.

    The text is fenced as data and fits a budget of tokens. With --hook, the command reads the host's payload from
    standard input and prints the text for its model in the host's format. The exit code is then always 0. Only --keep
    writes to the bank.
    """
    if hook is not None:
        answer(call, hook, given(values), within, fallback_data)
        return
    if within is not None or fallback_data is not None:
        raise click.UsageError("--within and --fallback-data go with --hook", click.get_current_context())
    with call.opened(reading=True) as bank:
        told = bank.context(**given(values))
    call.reply(told.as_dict(), _shown(told), [item.id for item in told.items])


wake_up = copy(context)
wake_up.name = "wake-up"


def _shown(told: Context) -> Parts:
    yield verbatim(told.text) if told.text else line(NO_ROOM if told.left_out else NOTHING)


def answer(
    call: Call, name: str, values: Mapping[str, Any], within: float | None = None, fallback: str | None = None
) -> None:
    """Answer a hook. With `within`, the process ends after so many seconds, or once it has answered; it leaves
    background work to others.

    `fallback` is the data folder if neither environment nor project names one.
    """
    if within is not None:
        # The process ends before there is garbage worth collecting, and collection takes a tenth of its time.
        gc.disable()
        late = threading.Timer(within, _give_up, (call, name, within))
        late.daemon = True
        late.start()
    try:
        _answer(call, name, _read(), {"fallback": fallback, **values}, leaves=within is not None)
    except PieriaError as problem:
        _say(call, name, f"{problem.message} {problem.hint or ''}".strip(), _without_value(problem))
    except Exception as problem:
        if call.debug:
            raise
        _say(call, name, f"{type(problem).__name__}: {problem}", type(problem).__name__)


def _without_value(problem: PieriaError) -> str | None:
    """Return the error without the received value, which may be private payload."""
    if isinstance(problem, InputError):
        return f"{problem.parameter}: expected {problem.expected}"
    return problem.code if isinstance(problem, Invalid) else None


def _say(call: Call, name: str, problem: str, kept: str | None = None) -> None:
    """Report a problem. `kept` is the part that may be logged: an error's text may quote the payload."""
    from pieria.capture.hook import note

    call.note(f"no context: {problem}")
    # There is no other place to report it, and the host must not see a failure.
    with suppress(OSError, PieriaError):
        note(str(_spool(call)), f"{name}: no context: {kept or problem}")


def _spool(call: Call) -> Path:
    from pieria.capture.spool import spool_of

    with call.workspace() as workspace:
        return spool_of(workspace).folder


def _give_up(call: Call, name: str, within: float) -> None:
    try:
        _say(call, name, f"the answer took more than {within:g} s")
    finally:
        _leave()


def _leave() -> NoReturn:
    """Exit at once: a bank survives that at any moment, and the host need not wait for the cleanup."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _read() -> dict[str, Any]:
    written = sys.stdin.buffer.read(PAYLOAD)
    try:
        payload = parsed(written.decode("utf-8", "replace"))
    except ValueError as problem:
        raise InputError("standard input", "the payload of a hook, as JSON", None, hint=str(problem)) from problem
    if not isinstance(payload, dict):
        raise InputError("standard input", "a JSON object", payload)
    return payload


def _answer(call: Call, name: str, payload: Mapping[str, Any], values: Mapping[str, Any], *, leaves: bool) -> None:
    from pieria.doors import hook_answers

    if not hook_answers.is_answered(name, payload):
        return
    for option in NOT_ASKED:
        if values.get(option):
            raise InputError(option, "nothing with --hook", values[option], hint="The hook's payload sets this value.")
    options = {option: value for option, value in values.items() if option not in (*NOT_ASKED, "fallback")}
    with _there(hook_answers.folder_of(name, payload), call), _workspace(call, values["fallback"]) as workspace:
        answered = hook_answers.answer(name, payload, options, workspace, _opened, call.note)
        if answered:
            call.print_json(answered)
        if answered and leaves:
            _leave()


def _opened(workspace: Workspace) -> AbstractContextManager[Bank]:
    """Return the bank, which the workspace closes."""
    return nullcontext(workspace.open(who="cli", create=False))


def _there(folder: str | None, call: Call) -> AbstractContextManager[object]:
    """Change to the payload's folder. Relative paths keep their meaning."""
    if call.data is not None and "://" not in call.data:
        call.data = os.path.abspath(os.path.expanduser(call.data))
    return chdir(folder) if folder is not None and os.path.isdir(folder) else nullcontext()


def _workspace(call: Call, fallback: str | None) -> Workspace:
    workspace = call.workspace()
    if fallback is not None and workspace.resolved.is_default("data"):
        workspace.close()
        call.data = fallback
        workspace = call.workspace()
    return workspace
