"""`pieria context`, also `pieria wake-up`: an agent's context at the start, for a person, a program, or a host's
hook.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, chdir, nullcontext, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, line, verbatim
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import NUMBER, TIME, WHOLE, OneOf, given
from pieria.errors import InputError, Invalid, PieriaError
from pieria.language.consent import is_consent
from pieria.language.typed import typed
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
START, PROMPT = "start", "prompt"
TOKENS = {START: 2_000, PROMPT: 800}
UNSURE = 0.3
"""Below this confidence, a prompt gets context only if files go with it."""
ASKING = 1_500
"""Milliseconds that recall may take for a prompt."""
ASKED = 8_000
"""Characters of a prompt that are used: as many as a model embeds, and more than a query needs."""
PAYLOAD = 16 << 20
COMPACTED = ("compact",)
"""How a session continues after its model lost its context."""
NOT_ASKED = ("query", "session", "keep", "anew", "known_at")
"""Options whose values come from the payload."""
_SPOKEN = {"SessionStart": START, "UserPromptSubmit": PROMPT}


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


@dataclass(frozen=True, slots=True)
class Host:
    """A host's payload: its field names, the events that are answered (`events`), and the format of answers
    (`said`).
    """

    events: Mapping[str, str]
    said: Callable[[str, Context | None, str], dict[str, Any]]
    event: str = "hook_event_name"
    session: str = "session_id"
    folder: str = "cwd"
    prompt: str = "prompt"
    source: str = "source"
    files: str = "files"


def _specific(event: str, told: Context | None, notice: str) -> dict[str, Any]:
    """Return Claude Code's format. `systemMessage` is shown to the person, not to the model."""
    shown = {"systemMessage": notice} if notice else {}
    if told is None or not told.text:
        return shown
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": told.text}, **shown}


def _plainly(event: str, told: Context | None, notice: str) -> dict[str, Any]:
    shown = {"notice": notice} if notice else {}
    return shown if told is None or not told.text else {"context": told.text, "tokens": told.tokens, **shown}


FORMATS: Mapping[str, Host] = {
    "claude-code": Host(_SPOKEN, _specific),
    "codex": Host(_SPOKEN, _specific),
    "gemini": Host({"SessionStart": START, "BeforeAgent": PROMPT}, _specific),
    "generic": Host({START: START, PROMPT: PROMPT}, _plainly, event="event", session="session", folder="folder"),
}


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
        payload = _read()
        host = FORMATS[name]
        event = payload.get(host.event)

        def say(told: Context | None, notice: str) -> None:
            answered = host.said(str(event), told, notice)
            if answered:
                call.print_json(answered)
            if answered and within is not None:
                _leave()

        _tell(call, host, payload, {"fallback": fallback, **values}, say)
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


def _tell(
    call: Call,
    host: Host,
    payload: Mapping[str, Any],
    values: Mapping[str, Any],
    say: Callable[[Context | None, str], None],
) -> None:
    """Answer the event. Stay silent if it is not handled, or if there is neither a bank nor a notice about the
    folder.
    """
    what = host.events.get(str(payload.get(host.event)))
    if what is None:
        return
    for name in NOT_ASKED:
        if values.get(name):
            raise InputError(name, "nothing with --hook", values[name], hint="The hook's payload sets this value.")
    given = {"budget_tokens": TOKENS[what], "files": (), "place": None, **values}
    given = {name: value for name, value in given.items() if name not in (*NOT_ASKED, "fallback")}
    given["files"] = (*given["files"], *_texts(payload.get(host.files)))
    session = payload.get(host.session)
    named = session if isinstance(session, str) and session.strip() else None
    with _there(payload.get(host.folder), call), _workspace(call, values["fallback"]) as workspace:
        notice = ""
        if what == START:
            call.drain(workspace)
            notice = _notice(workspace)
        if not workspace.place.at(workspace.resolved.settings.bank).is_there:
            say(None, notice)
            return
        with workspace.open(who="cli", create=False) as bank:
            if what == START:
                call.distil(bank)
                told: Context | None = _begun(call, bank, named, payload.get(host.source) in COMPACTED, given)
            else:
                told = _asked(bank, named, payload.get(host.prompt), given)
            say(told, notice)


def _notice(workspace: Workspace) -> str:
    """Return the notice about settings of an untrusted folder, shown once at the start of a session."""
    from pieria.workspace import doubts_about

    resolved = workspace.resolved
    remarks = (*resolved.ignored, *doubts_about(resolved, workspace.place.at(resolved.settings.bank)))
    return " ".join(f"Pieria: {remark.what}. {remark.remedy}." for remark in remarks)


def _there(folder: object, call: Call) -> AbstractContextManager[object]:
    """Change to the payload's folder. Relative paths keep their meaning."""
    if call.data is not None and "://" not in call.data:
        call.data = os.path.abspath(os.path.expanduser(call.data))
    there = isinstance(folder, str) and os.path.isdir(folder)
    return chdir(str(folder)) if there else nullcontext()


def _workspace(call: Call, fallback: str | None) -> Workspace:
    workspace = call.workspace()
    if fallback is not None and workspace.resolved.is_default("data"):
        workspace.close()
        call.data = fallback
        workspace = call.workspace()
    return workspace


def _begun(call: Call, bank: Bank, session: str | None, anew: bool, given: dict[str, Any]) -> Context:
    if session is None or given["files"]:
        return bank.context(session=session, **given)
    try:
        return bank.context(session=session, keep=True, anew=anew, **given)
    except InputError:
        raise
    except PieriaError as problem:
        # The bank is not writable now, but it can be read.
        call.note(f"the session's moment was not stored: {problem.message}")
        return bank.context(session=session, anew=anew, **given)


def _asked(bank: Bank, session: str | None, prompt: object, given: dict[str, Any]) -> Context | None:
    asked = typed(prompt) if isinstance(prompt, str) else ""
    if not asked.strip() or (is_consent(asked) and not given["files"]):
        return None
    told = bank.context(asked[:ASKED], session=session, deadline_ms=ASKING, **given)
    sure = told.confidence is not None and told.confidence >= UNSURE
    return told if sure or given["files"] else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
