"""What a host's hook is told: the context at the start of a session, and for a prompt.

The command line answers with it in a process of its own, and a running server over the local socket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.doors.catching_up import Note, distil, drain
from pieria.errors import InputError, PieriaError
from pieria.language.consent import is_consent
from pieria.language.typed import typed

if TYPE_CHECKING:
    from pieria import Bank, Context
    from pieria.workspace import Workspace

START, PROMPT = "start", "prompt"
TOKENS = {START: 2_000, PROMPT: 800}
ASKING = 1_500
"""Milliseconds that recall may take for a prompt."""
ASKED = 8_000
"""Characters of a prompt that are used: as many as a model embeds, and more than a query needs."""
COMPACTED = ("compact",)
"""How a session continues after its model lost its context."""
_SPOKEN = {"SessionStart": START, "UserPromptSubmit": PROMPT}
Opened = Callable[["Workspace"], AbstractContextManager["Bank"]]
"""Opens the bank of a workspace."""


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


def is_answered(name: str, payload: Mapping[str, Any]) -> bool:
    """Return whether the host's event is one that gets context."""
    host = FORMATS[name]
    return str(payload.get(host.event)) in host.events


def folder_of(name: str, payload: Mapping[str, Any]) -> str | None:
    """Return the folder that the agent works in."""
    folder = payload.get(FORMATS[name].folder)
    return folder if isinstance(folder, str) else None


def answer(
    name: str, payload: Mapping[str, Any], options: Mapping[str, Any], workspace: Workspace, opened: Opened, note: Note
) -> dict[str, Any]:
    """Return the answer in the host's format, empty if there is neither a bank nor a notice about the folder.

    The event must be one that is answered. `options` are those of `Bank.context`.
    """
    host = FORMATS[name]
    event = str(payload.get(host.event))
    what = host.events[event]
    given = {"budget_tokens": TOKENS[what], "files": (), "place": None, **options}
    given["files"] = (*given["files"], *_texts(payload.get(host.files)))
    session = payload.get(host.session)
    named = session if isinstance(session, str) and session.strip() else None
    notice = ""
    if what == START:
        drain(workspace, note)
        notice = _notice(workspace)
    if not workspace.place.at(workspace.resolved.settings.bank).is_there:
        return host.said(event, None, notice)
    with opened(workspace) as bank:
        if what == START:
            distil(bank, note)
            told: Context | None = _begun(bank, named, payload.get(host.source) in COMPACTED, given, note)
        else:
            told = _asked(bank, named, payload.get(host.prompt), given)
        return host.said(event, told, notice)


def _notice(workspace: Workspace) -> str:
    """Return the notice about settings of an untrusted folder, shown once at the start of a session."""
    from pieria.workspace import doubts_about

    resolved = workspace.resolved
    remarks = (*resolved.ignored, *doubts_about(resolved, workspace.place.at(resolved.settings.bank)))
    return " ".join(f"Pieria: {remark.what}. {remark.remedy}." for remark in remarks)


def _begun(bank: Bank, session: str | None, anew: bool, given: dict[str, Any], note: Note) -> Context:
    if session is None or given["files"]:
        return bank.context(session=session, **given)
    try:
        return bank.context(session=session, keep=True, anew=anew, **given)
    except InputError:
        raise
    except PieriaError as problem:
        # The bank is not writable now, but it can be read.
        note(f"the session's moment was not stored: {problem.message}")
        return bank.context(session=session, anew=anew, **given)


def _asked(bank: Bank, session: str | None, prompt: object, given: dict[str, Any]) -> Context | None:
    asked = typed(prompt) if isinstance(prompt, str) else ""
    if not asked.strip() or (is_consent(asked) and not given["files"]):
        return None
    told = bank.context(asked[:ASKED], session=session, deadline_ms=ASKING, **given)
    return told if told.is_worth_telling or given["files"] else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
