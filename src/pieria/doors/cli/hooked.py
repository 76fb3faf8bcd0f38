"""`pieria context --hook HOST`: a host's payload comes in, and out comes what the host puts before its model.

A session begins: it is told all, and the moment is kept for it. A prompt comes: it is told what bears on it and was not
told at the beginning, or nothing. The host waits for it and may take a failure for a refusal, so whatever goes wrong is
said on stderr and in the log of the hooks, and the exit code is 0.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, chdir, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pieria.doors.cli.call import Call
from pieria.errors import InputError, Invalid, PieriaError
from pieria.record.consent import is_consent
from pieria.record.json_text import parsed
from pieria.record.typed import typed

if TYPE_CHECKING:
    from pieria import Bank, Context
    from pieria.workspace import Workspace

START, PROMPT = "start", "prompt"
TOKENS = {START: 2_000, PROMPT: 800}
UNSURE = 0.3
"""Where recall is less confident, a prompt is told nothing that does not name one of its files."""
ASKING = 1_500
"""Milliseconds that recall may take for a prompt."""
ASKED = 8_000
"""Characters of a prompt that are looked at: all that a model embeds, and more words than tell two questions apart."""
PAYLOAD = 16 << 20
COMPACTED = ("compact",)
"""How a session goes on whose model has lost what it was told."""
NOT_ASKED = ("query", "session", "keep", "anew", "known_at")
"""Options whose values come from the payload."""


@dataclass(frozen=True, slots=True)
class Host:
    """Where a payload says what: `events` are those that are answered, and `said` is how."""

    events: Mapping[str, str]
    said: Callable[[str, Context | None, str], dict[str, Any]]
    event: str = "hook_event_name"
    session: str = "session_id"
    folder: str = "cwd"
    prompt: str = "prompt"
    source: str = "source"
    files: str = "files"


def _specific(event: str, told: Context | None, notice: str) -> dict[str, Any]:
    """`systemMessage` is shown to the person, and not to the model."""
    shown = {"systemMessage": notice} if notice else {}
    if told is None or not told.text:
        return shown
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": told.text}, **shown}


def _plainly(event: str, told: Context | None, notice: str) -> dict[str, Any]:
    shown = {"notice": notice} if notice else {}
    return shown if told is None or not told.text else {"context": told.text, "tokens": told.tokens, **shown}


_SPOKEN = {"SessionStart": START, "UserPromptSubmit": PROMPT}
HOSTS: Mapping[str, Host] = {
    "claude-code": Host(_SPOKEN, _specific),
    "codex": Host(_SPOKEN, _specific),
    "gemini": Host({"SessionStart": START, "BeforeAgent": PROMPT}, _specific),
    "generic": Host({START: START, PROMPT: PROMPT}, _plainly, event="event", session="session", folder="folder"),
}


def answer(
    call: Call, name: str, values: Mapping[str, Any], within: float | None = None, fallback: str | None = None
) -> None:
    """`within` so many seconds the process ends, and as soon as all is said: what it would do behind is left to others.
    `fallback` is the folder of the banks where neither environment nor project names one."""
    if within is not None:
        # It ends before there is anything worth collecting, and to look for it takes a tenth of its time.
        gc.disable()
        late = threading.Timer(within, _give_up, (call, name, within))
        late.daemon = True
        late.start()
    try:
        payload = _read()
        host = HOSTS[name]
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
    """What was expected may be written down, and not what came: that is the payload's."""
    if isinstance(problem, InputError):
        return f"{problem.parameter}: expected {problem.expected}"
    return problem.code if isinstance(problem, Invalid) else None


def _say(call: Call, name: str, problem: str, kept: str | None = None) -> None:
    """`kept` is what may be written down of it: what an error says may hold some of the payload."""
    from pieria.capture.hook import note

    call.note(f"nothing is told: {problem}")
    # Nowhere else is left to say it, and the host must not hear of it.
    with suppress(OSError, PieriaError):
        note(str(_spool(call)), f"{name}: nothing is told: {kept or problem}")


def _spool(call: Call) -> Path:
    from pieria.capture.spool import spool_of

    with call.workspace() as workspace:
        return spool_of(workspace).folder


def _give_up(call: Call, name: str, within: float) -> None:
    try:
        _say(call, name, f"it took more than {within:g} s")
    finally:
        _leave()


def _leave() -> NoReturn:
    """A bank bears that at any moment, and whoever waits need not wait for what comes after."""
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
    """Nothing where the event is none that is answered, or there is no bank and nothing of the folder's is ignored."""
    what = host.events.get(str(payload.get(host.event)))
    if what is None:
        return
    for name in NOT_ASKED:
        if values.get(name):
            raise InputError(name, "nothing with --hook", values[name], hint="The payload says it.")
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
    """What an untrusted folder may not say, for the person at the host: once, as a session begins."""
    from pieria.workspace import doubts_about

    resolved = workspace.resolved
    remarks = (*resolved.ignored, *doubts_about(resolved, workspace.place.at(resolved.settings.bank)))
    return " ".join(f"Pieria: {remark.what}. {remark.remedy}." for remark in remarks)


def _there(folder: object, call: Call) -> AbstractContextManager[object]:
    """In the folder that the payload names, with what was named from here still meaning the same."""
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
        # It cannot be written to now; it can be read all the same.
        call.note(f"the session's moment is not kept: {problem.message}")
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
