"""Every error Pieria raises, in one tree: one ``except pieria.errors.PieriaError`` covers the library.

    PieriaError
    ├── Invalid                       what was asked for cannot be right
    │   ├── InputError                a parameter is out of its bounds
    │   ├── UnavailableError          a parameter whose effect this bank does not offer
    │   ├── PrivacyError              the text holds secrets and the bank refuses them
    │   ├── TransferError             a file to import, export or restore is not as expected
    │   ├── ConfigError               the configuration is missing or wrong
    │   ├── EpisodeError              the episode is in the wrong standing for this step
    │   └── PromptError               a model's reply could not be read
    ├── Framework                     the request was sound, the surroundings were not
    │   ├── NotFoundError             nothing bears this id
    │   ├── ConflictError             what is there already stands against it
    │   ├── ClosedError               the bank or workspace was closed
    │   ├── SessionError              the session's state does not allow it
    │   ├── PipelineError             learning or recall broke off
    │   ├── AdapterError              a model's adapter failed
    │   ├── RepoError                 the bank cannot be opened under this name
    │   └── StorageError              the store could not read or write
    │       ├── ReadOnlyError         no permission to write
    │       ├── DiskFullError         no space left
    │       ├── BusyError             another writer held the bank too long
    │       ├── CorruptError          the file is damaged
    │       ├── ForeignFileError      the file is not a bank
    │       └── NewerVersionError     the bank was written by a newer Pieria
    └── Unknown                       anything else
        └── UnknownError              a failure nobody foresaw, wrapped

Each knows its ``code``, whether a new try may help (``retryable``) and what to do (``hint``). Messages carry
no remembered text: they reach logs. This module imports nothing of Pieria, since every layer raises these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import PurePath
from typing import Any, ClassVar, TypedDict, Unpack

_SHOWN_WHOLE = 40
_SHOWN_START = 12
_LARGEST_SHOWN_INTEGER = 10**20
_NEVER_SHOWN = frozenset({"text", "title", "body", "content", "query", "password", "secret", "token", "api_key"})


def _described(value: object, parameter: str = "") -> str:
    """A received value in at most about 80 characters, never giving away remembered text or a secret."""
    hidden = parameter.rpartition(".")[2].partition("[")[0] in _NEVER_SHOWN
    if isinstance(value, PurePath):
        value = str(value)
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return _described_text(value, hidden)
    if isinstance(value, int) and abs(value) > _LARGEST_SHOWN_INTEGER:
        return f"an integer of {value.bit_length():,} bits"
    if isinstance(value, int | float | date) and not hidden:
        return str(value)
    return _described_kind(value)


def _described_text(value: str, hidden: bool) -> str:
    if not value:
        return "empty text"
    if hidden:
        blank = "blank " if value.isspace() else ""
        return f"{blank}text of {_counted(len(value), 'character')}"
    if len(value) <= _SHOWN_WHOLE and len(ascii(value)) <= 80:
        return repr(value) if value.isprintable() else ascii(value)
    return f"{ascii(value[:_SHOWN_START])[:_SHOWN_WHOLE]}… ({len(value):,} characters)"


def _described_kind(value: object) -> str:
    name = type(value).__name__[:_SHOWN_WHOLE]
    if isinstance(value, bytes | bytearray):
        return _counted(len(value), "byte")
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return f"a {name} of {_counted(len(value), 'item')}"
    return f"a value of type {name}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _jsonable(value: object) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str | PurePath):
        return str(value).encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, PieriaError):
        return value.as_dict()
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_jsonable(item) for item in value]
    return _described(value)


def _remade(kind: type[PieriaError], arguments: tuple[object, ...], state: dict[str, object]) -> PieriaError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


class More(TypedDict, total=False):
    """The keywords every error takes beside its own fields."""

    hint: str | None
    errors: Iterable[PieriaError]


class PieriaError(Exception):
    """The root; ``errors`` holds what else was found wrong in the same call."""

    code: ClassVar[str] = "error"
    fields: ClassVar[tuple[str, ...]] = ()
    reasons: ClassVar[Mapping[str, str]] = {}
    advice: ClassVar[str | None] = None
    retryable: bool = False

    def __init__(self, message: str = "", *, hint: str | None = None, errors: Iterable[PieriaError] = ()) -> None:
        self.errors: tuple[PieriaError, ...] = tuple(errors)
        self.hint: str | None = hint or self.advice
        super().__init__(message or self._default_message())
        if self.hint:
            self.add_note(f"hint: {self.hint}")

    def _worded(self, about: str, reason: object) -> str:
        """The message about a reason: in words where it is a known one, as it is otherwise."""
        if reason is None:
            return about
        words = self.reasons.get(reason, reason) if isinstance(reason, str) else _jsonable(reason)
        return f"{about}: {words}"

    def _default_message(self) -> str:
        if self.errors:
            return f"{_counted(len(self.errors), 'problem')}: " + "; ".join(map(str, self.errors))
        return str(type(self).__doc__).partition("\n")[0].rstrip(".")

    @property
    def message(self) -> str:
        return str(self.args[0])

    def __str__(self) -> str:
        if not self.errors or self.message == self._default_message():
            return self.message
        return f"{self.message} (and {_counted(len(self.errors), 'further problem')})"

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON: code, message, retryable, hint, its own fields, and any further ``errors``."""
        shown: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "hint": self.hint,
        }
        shown.update({name: _jsonable(getattr(self, name)) for name in self.fields})
        if self.errors:
            shown["errors"] = [error.as_dict() for error in self.errors]
        return shown

    def __reduce__(self) -> tuple[Any, ...]:
        """Exceptions are rebuilt from ``args`` alone by default, which fails for keyword fields."""
        return _remade, (type(self), self.args, dict(self.__dict__))


class Invalid(PieriaError):
    """What was asked for cannot be right; asking again will not help."""

    code = "invalid"


class Framework(PieriaError):
    """The request was sound, but the surroundings did not allow it."""

    code = "framework"


class Unknown(PieriaError):
    """A failure that belongs to no other class."""

    code = "unknown"


class InputError(Invalid):
    """A parameter is out of its bounds; ``received`` is a short description, never the value itself."""

    code = "invalid_input"
    fields = ("parameter", "expected", "received")

    def __init__(self, parameter: str, expected: str, received: object, **more: Unpack[More]) -> None:
        self.parameter = parameter
        self.expected = expected
        self.received = _described(received, parameter)
        super().__init__(f"{parameter}: expected {expected}, got {self.received}", **more)


class UnavailableError(Invalid):
    """A parameter whose effect this bank does not offer; refused rather than ignored."""

    code = "unavailable"
    fields = ("parameter", "reason")

    def __init__(self, parameter: str, reason: str, **more: Unpack[More]) -> None:
        self.parameter = parameter
        self.reason = reason
        more.setdefault("hint", f"Leave {parameter} out.")
        super().__init__(f"{parameter}: not available, {reason}", **more)


class PrivacyError(Invalid):
    """It holds what may not be written; ``found`` names the kinds of secrets, and ``private`` for a marked part."""

    code = "privacy"
    fields = ("parameter", "found")
    advice = "Take the secret out, wrap it in <private>…</private>, or let the bank redact secrets."

    def __init__(self, parameter: str, found: Iterable[str], **more: Unpack[More]) -> None:
        self.parameter = parameter
        self.found = (found,) if isinstance(found, str) else tuple(found)
        kinds = ", ".join(dict.fromkeys(self.found))
        why = "a part of it is marked <private>" if kinds == "private" else f"it seems to hold a secret ({kinds})"
        super().__init__(f"{parameter}: refused, for {why}", **more)


class TransferError(Invalid):
    """A file to import, export or restore is not as expected; ``problems`` lists them record by record."""

    code = "transfer"
    fields = ("path", "reason", "problems")

    def __init__(
        self, path: str | PurePath, reason: str, problems: Iterable[object] = (), **more: Unpack[More]
    ) -> None:
        self.path = path
        self.reason = reason
        self.problems = tuple(problems)
        listed = f" ({_counted(len(self.problems), 'problem')})" if self.problems else ""
        super().__init__(f"{path}: {reason}{listed}", **more)


class _Reasoned(PieriaError):
    """What the errors share that say nothing but a reason out of a known list."""

    fields = ("reason",)
    about: ClassVar[str]

    def __init__(self, reason: object = None, **more: Unpack[More]) -> None:
        self.reason = reason
        super().__init__(self._worded(self.about, reason), **more)


class ConfigError(_Reasoned, Invalid):
    """The configuration is missing or wrong."""

    code = "config"
    about = "configuration"
    reasons: ClassVar[Mapping[str, str]] = {"no_config": "there is none"}


class EpisodeError(_Reasoned, Invalid):
    """The episode is in the wrong standing for this step."""

    code = "episode"
    about = "episode"
    reasons: ClassVar[Mapping[str, str]] = {
        "episode_closed": "it is closed and takes no more steps",
        "already_closed": "it was closed before",
        "episode_not_closed": "it must be closed before anything is extracted from it",
    }


class PromptError(Invalid):
    """A model's reply to one prompt could not be read."""

    code = "prompt"
    fields = ("prompt", "reason")
    reasons: ClassVar[Mapping[str, str]] = {
        "empty_response": "it was empty",
        "invalid_schema": "it does not fit the schema",
        "invalid_float": "a number was expected",
        "invalid_mode": "an unknown mode of recall",
        "invalid_tags": "the tags could not be read",
        "invalid_merge_result": "the merged text could not be read",
        "no_facts_extracted": "it named no facts",
        "no_instructions_extracted": "it named no instructions",
        "no_scores_extracted": "it named no scores",
        "no_tags_generated": "it named no tags",
    }

    def __init__(self, prompt: object = None, reason: object = None, **more: Unpack[More]) -> None:
        self.prompt = prompt
        self.reason = reason
        about = "model reply" if prompt is None else f"model reply to {prompt}"
        super().__init__(self._worded(about, reason), **more)


class NotFoundError(Framework):
    """Nothing bears this id, or nothing that may be seen from here."""

    code = "not_found"
    fields = ("resource", "id")

    def __init__(self, resource: str = "resource", id: object = None, **more: Unpack[More]) -> None:
        self.resource = resource
        self.id = id
        named = f"{resource} {_described(id)}" if id is not None else resource
        super().__init__(f"{named} not found", **more)


class ConflictError(Framework):
    """What is there already stands against the change; ``ids`` says which records."""

    code = "conflict"
    fields = ("reason", "ids")

    def __init__(self, reason: str, ids: Iterable[str] = (), **more: Unpack[More]) -> None:
        self.reason = reason
        self.ids = (ids,) if isinstance(ids, str) else tuple(ids)
        listed = ", ".join(self.ids[:5]) + (", …" if len(self.ids) > 5 else "")
        super().__init__(f"{reason} ({listed})" if listed else reason, **more)


class ClosedError(Framework):
    """The bank or workspace was closed before it was used."""

    code = "closed"
    fields = ("what",)
    advice = "Open it again, or keep the use of it inside the with block."

    def __init__(self, what: str, **more: Unpack[More]) -> None:
        self.what = what
        super().__init__(f"{what} is closed", **more)


class SessionError(Framework):
    """The session's state does not allow the step."""

    code = "session"
    fields = ("reason", "state")
    reasons: ClassVar[Mapping[str, str]] = {
        "not_ready": "nothing has been extracted that could be committed",
        "not_collecting": "it collects no steps now",
        "not_idle": "an episode is under way",
        "not_discardable": "there is nothing to discard",
        "invalid_operation": "its state does not allow this",
        "extraction_in_progress": "extraction is under way",
        "append_in_progress": "a step is being appended",
        "append_crashed": "appending the step broke off",
        "session_failed": "extraction failed; commit to try again, or discard",
        "invalid_queued_operation": "its state did not allow this when its turn came",
        "extraction_failed": "extraction failed, so what waited for it was dropped",
        "preceding_op_failed": "what came before it in the queue failed",
        "pending_queue_full": "too much is waiting already",
        "session_stopping": "it is being stopped",
    }

    def __init__(self, reason: object = None, state: object = None, **more: Unpack[More]) -> None:
        self.reason = reason
        self.state = state
        about = "session" if state is None else f"session, {getattr(state, 'value', state)}"
        super().__init__(self._worded(about, reason), **more)


class PipelineError(_Reasoned, Framework):
    """Learning or recall broke off; where another error is the cause it stands in ``errors``."""

    code = "pipeline"
    about = "pipeline"
    reasons: ClassVar[Mapping[str, str]] = {
        "extraction_failed": "extraction failed at every attempt",
        "extraction_timeout": "extraction did not finish in time",
        "task_crashed": "a task broke off",
    }


class AdapterError(Framework):
    """A model's adapter failed; ``retryable`` is set by the adapter, which knows."""

    code = "adapter"
    fields = ("adapter", "operation", "reason")

    def __init__(
        self,
        adapter: object = None,
        operation: object = None,
        reason: object = None,
        *,
        retryable: bool = False,
        **more: Unpack[More],
    ) -> None:
        self.adapter = adapter
        self.operation = operation
        self.reason = reason
        self.retryable = retryable
        named = [str(getattr(part, "__name__", part)) for part in (adapter, operation) if part is not None]
        about = f"adapter {'.'.join(named)}" if named else "adapter"
        super().__init__(self._worded(about, reason), **more)


class RepoError(Framework):
    """The bank cannot be opened under this name."""

    code = "repo"
    fields = ("repo_id", "reason")
    reasons: ClassVar[Mapping[str, str]] = {"already_open": "it is open already"}

    def __init__(self, repo_id: object = None, reason: object = None, **more: Unpack[More]) -> None:
        self.repo_id = repo_id
        self.reason = reason
        about = "bank" if repo_id is None else f"bank {_described(repo_id)}"
        super().__init__(self._worded(about, reason), **more)


class StorageError(Framework):
    """The store could not read or write; nothing of the change was kept."""

    code = "storage"
    fields = ("operation", "reason")
    usual_reason: ClassVar[str | None] = None

    def __init__(self, operation: object = None, reason: object = None, **more: Unpack[More]) -> None:
        self.operation = operation
        self.reason = self.usual_reason if reason is None else reason
        about = "store" if operation is None else f"store, during {operation}"
        super().__init__(self._worded(about, self.reason), **more)


class ReadOnlyError(StorageError):
    """The bank's file or folder may not be written."""

    code = "read_only"
    usual_reason = "no permission to write"
    advice = "Allow this user to write to the data folder and its files, or choose another folder."


class DiskFullError(StorageError):
    """There is no space left; the bank stands as it did before the change."""

    code = "disk_full"
    usual_reason = "no space left on the disk"
    advice = "Free some space on the disk of the data folder and repeat the call."


class BusyError(StorageError):
    """Another writer held the bank longer than the busy timeout; the call may be repeated."""

    code = "busy"
    retryable = True
    usual_reason = "another writer held the bank too long"
    advice = "Repeat the call; if it happens often, write in fewer, larger batches."


class CorruptError(StorageError):
    """The bank's file is damaged."""

    code = "corrupt"
    usual_reason = "the file is damaged"
    advice = "Keep the file as it is and bring back the latest backup with pieria restore."


class ForeignFileError(StorageError):
    """The file is a database or something else, but not a bank."""

    code = "foreign_file"
    usual_reason = "the file is not a bank"
    advice = "Choose another bank name or data folder; the file was left untouched."


class NewerVersionError(StorageError):
    """The bank was written by a newer Pieria than this one."""

    code = "newer_version"
    usual_reason = "the bank was written by a newer version of Pieria"
    advice = "Upgrade Pieria; the bank was left untouched."


class UnknownError(Unknown):
    """A failure nobody foresaw: ``error`` is what was raised, ``value`` what it happened to."""

    code = "unknown_error"
    fields = ("error", "value")

    def __init__(self, error: object = None, value: object = None, **more: Unpack[More]) -> None:
        self.error = error
        self.value = value
        shown = "" if error is None else f": {_jsonable(error)}"
        super().__init__(f"unexpected failure{shown}", **more)

    def as_dict(self) -> dict[str, Any]:
        """As for every error, but the value is only described: nobody knows what it holds."""
        return {**super().as_dict(), "value": None if self.value is None else _described(self.value)}
