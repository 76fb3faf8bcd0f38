"""`pieria context --hook HOST`: a host's payload comes in, and out comes what the host puts before its model.

A session begins: it is told all, and the moment is kept for it. A prompt comes: it is told what bears on it and was not
told yet, or nothing. The host waits for it and may take a failure for a refusal, so whatever goes wrong is said on
stderr, and the exit code is 0.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.doors.cli.call import Call
from pieria.errors import InputError, PieriaError
from pieria.record.parsing import parsed

if TYPE_CHECKING:
    from pieria import Bank, Context

START, PROMPT = "start", "prompt"
TOKENS = {START: 2_000, PROMPT: 800}
UNSURE = 0.3
"""Where recall is less confident, a prompt is told nothing that does not name one of its files."""
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
    said: Callable[[str, Context], dict[str, Any]]
    event: str = "hook_event_name"
    session: str = "session_id"
    folder: str = "cwd"
    prompt: str = "prompt"
    source: str = "source"
    files: str = "files"


def _specific(event: str, told: Context) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": told.text}}


def _plainly(event: str, told: Context) -> dict[str, Any]:
    return {"context": told.text, "tokens": told.tokens}


_SPOKEN = {"SessionStart": START, "UserPromptSubmit": PROMPT}
HOSTS: Mapping[str, Host] = {
    "claude-code": Host(_SPOKEN, _specific),
    "codex": Host(_SPOKEN, _specific),
    "gemini": Host({"SessionStart": START, "BeforeAgent": PROMPT}, _specific),
    "generic": Host({START: START, PROMPT: PROMPT}, _plainly, event="event", session="session", folder="folder"),
}


def answer(call: Call, name: str, values: Mapping[str, Any]) -> None:
    try:
        payload = _read()
        host = HOSTS[name]
        event = payload.get(host.event)
        told = _told(call, host, payload, values)
        if told is not None and told.text:
            call.print_json(host.said(str(event), told))
    except PieriaError as problem:
        _say(call, f"{problem.message} {problem.hint or ''}".strip())
    except Exception as problem:
        if call.debug:
            raise
        _say(call, f"{type(problem).__name__}: {problem}")


def _say(call: Call, problem: str) -> None:
    call.note(f"nothing is told: {problem}")


def _read() -> dict[str, Any]:
    written = sys.stdin.buffer.read(PAYLOAD)
    try:
        payload = parsed(written.decode("utf-8", "replace"))
    except ValueError as problem:
        raise InputError("standard input", "the payload of a hook, as JSON", None, hint=str(problem)) from problem
    if not isinstance(payload, dict):
        raise InputError("standard input", "a JSON object", payload)
    return payload


def _told(call: Call, host: Host, payload: Mapping[str, Any], values: Mapping[str, Any]) -> Context | None:
    """None where the event is none that is answered, or there is no bank."""
    what = host.events.get(str(payload.get(host.event)))
    if what is None:
        return None
    for name in NOT_ASKED:
        if values.get(name):
            raise InputError(name, "nothing with --hook", values[name], hint="The payload says it.")
    given = {"budget_tokens": TOKENS[what], "files": (), "place": None, **values}
    given = {name: value for name, value in given.items() if name not in NOT_ASKED}
    given["files"] = (*given["files"], *_texts(payload.get(host.files)))
    session = payload.get(host.session)
    folder = payload.get(host.folder)
    if call.data is not None and "://" not in call.data:
        call.data = os.path.abspath(os.path.expanduser(call.data))
    there = isinstance(folder, str) and os.path.isdir(folder)
    with chdir(str(folder)) if there else nullcontext(), call.workspace() as workspace:
        if what == START:
            call.drain(workspace)
        if not workspace.place.at(workspace.resolved.settings.bank).is_there:
            return None
        with workspace.open(who="cli") as bank:
            named = session if isinstance(session, str) and session.strip() else None
            if what == START:
                return _begun(call, bank, named, payload.get(host.source) in COMPACTED, given)
            return _asked(bank, named, payload.get(host.prompt), given)


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
    if not isinstance(prompt, str) or not prompt.strip():
        return None
    told = bank.context(prompt[:ASKED], session=session, **given)
    sure = told.confidence is not None and told.confidence >= UNSURE
    return told if sure or given["files"] else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
