"""Failures as text: `error:` and `hint:` lines on stderr, all violations of a call at once, and JSON on request."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import inert, inert_json
from pieria.errors import InputError, PieriaError, TransferError, UnknownError

SHOWN_PROBLEMS = 20
_AS_COMMANDS = (
    ("`restore`", "`pieria unforget`"),
    *((f"`{verb}`", f"`pieria {verb}`") for verb in ("list", "count", "recall", "changes", "backup", "neighbors")),
    ("`scratchpad.read`", "`pieria scratchpad read`"),
    ("`jobs.list`", "`pieria jobs list`"),
    *((f"`{verb}`", f"`pieria facts {verb}`") for verb in ("query", "timeline", "unalias", "aliases")),
    *((f"sessions_{verb} ", f"`pieria session {verb}` ") for verb in ("start", "close", "commit", "discard", "state")),
    ("as unless_changed_since", "as --unless-changed-since"),
    (" with dry_run ", " with --dry-run "),
    ("as as_told", "as --as-told"),
    ("or with replace,", "or with --replace,"),
    ('unless_exists="id"', "--unless-exists id"),
    ("without a cursor.", "without a cursor. To continue, write times in full: 7d is a different time in every call."),
)
"""Python and tool names in errors, with the command to type instead."""

_REPORT = "Run the command again with --debug for the traceback, and report it."


def tell(error: Exception, call: Call) -> None:
    """Print a failure on stderr."""
    if call.debug:
        sys.stderr.write(inert("".join(traceback.format_exception(error))))
    hints: list[str] = []
    for message, hint in _worded(error, call):
        _write("error", message, "red")
        if hint and hint not in hints:
            hints.append(hint)
    for hint in hints:
        _write("hint", hint, "cyan")
    if call.json:
        sys.stderr.write(inert_json(json.dumps({"error": _as_dict(error)})) + "\n")


def _has_colours() -> bool:
    """Return whether rich would colour stderr; rich is not loaded for errors."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    return sys.stderr.isatty() and not plain


def _write(label: str, text: str, colour: str) -> None:
    if _has_colours():
        label = click.style(label, fg=colour, bold=True)
    sys.stderr.write(f"{label}: {inert(text, one_line=True)}\n")


def _worded(error: Exception, call: Call) -> Iterator[tuple[str, str | None]]:
    """Yield each message of a failure with its hint."""
    if isinstance(error, click.ClickException):
        yield _usage(error)
    elif isinstance(error, PieriaError):
        yield from _violations(error, call)
    elif isinstance(error, OSError):
        about = f"{error.filename}" if error.filename else "the output"
        yield f"{about}: {error.strerror or error}", None
    else:
        said = f": {error}" if str(error) else ""
        yield f"an unexpected error, {type(error).__name__}{said}", _REPORT


def _usage(error: click.ClickException) -> tuple[str, str]:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "pieria"
    hint = f"`{path} --help` shows the usage."
    if isinstance(error, click.NoSuchOption):
        hint += " Put -- before a text that starts with a dash."
    return message[:1].lower() + message[1:], hint


def _violations(error: PieriaError, call: Call) -> Iterator[tuple[str, str | None]]:
    lists_others = bool(error.errors) and str(error) == error.message
    if not lists_others:
        yield _spoken(error, call)
    if isinstance(error, TransferError):
        for problem in error.problems[:SHOWN_PROBLEMS]:
            yield str(problem), getattr(problem, "hint", None)
        if len(error.problems) > SHOWN_PROBLEMS:
            yield f"and {len(error.problems) - SHOWN_PROBLEMS:,} more of these", None
    for other in error.errors:
        yield from _violations(other, call)


def _spoken(error: PieriaError, call: Call) -> tuple[str, str | None]:
    """Return message and hint in the command line's spelling: parameters as options, verbs as commands."""
    message, hint = error.message, error.hint
    parameter = getattr(error, "parameter", None)
    named, dot, rest = parameter.partition(".") if isinstance(parameter, str) else ("", "", "")
    known = next((known for known in call.parameters if named and _is_named(known, named)), None)
    if known is not None:
        spelt = _spelling(known)
        message = message.replace(f"{parameter}:", f"{spelt}{dot}{rest}:", 1)
        if isinstance(error, InputError) and error.expected.startswith(getattr(known.type, "expects", "\0")):
            hint = getattr(known.type, "hint", hint)
        hint = hint and hint.replace(f"eave {named} out", f"eave {spelt} out")
        for other in call.parameters:
            message = message.replace(f"a time after {other.name} (", f"a time after {_spelling(other)} (")
    for python, typed in _AS_COMMANDS:
        message = message.replace(python, typed)
        hint = hint and hint.replace(python, typed)
    return message, hint


def _is_named(parameter: click.Parameter, name: str) -> bool:
    """Return whether an error's parameter is this one. An option may have another name inside, such as a plural."""
    return parameter.name == name or f"--{name.replace('_', '-')}" in parameter.opts


def _spelling(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name


def _as_dict(error: Exception) -> dict[str, Any]:
    if isinstance(error, PieriaError):
        return error.as_dict()
    if isinstance(error, click.ClickException):
        message, hint = _usage(error)
        return {"code": "usage", "message": message, "retryable": False, "hint": hint}
    return UnknownError(error).as_dict()
