"""The request was sound, the surroundings were not: all but what a store says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import ClassVar, Unpack

from pieria.errors.description import counted, described, described_id
from pieria.errors.root import Framework, More, Reasoned


class NotFoundError(Framework):
    """Nothing bears this id, or nothing that may be seen from here."""

    code = "not_found"
    fields = ("resource", "id")

    def __init__(self, resource: str = "resource", id: object = None, **more: Unpack[More]) -> None:
        self.resource = resource
        self.id = id
        named = f"{resource} {described_id(id)}" if id is not None else resource
        super().__init__(f"{named} not found", **more)


class AccessError(Reasoned, Framework):
    """Whoever asks may not do this."""

    code = "access"
    about = "access"
    reasons: ClassVar[Mapping[str, str]] = {
        "no_token": "a token is needed",
        "unknown_token": "this token is not known",
        "expired": "the token has expired",
        "wrong_bank": "that bank is not open to this caller",
        "read_only": "only reading is allowed here",
        "not_admin": "only an administrator may do this",
        "foreign_origin": "a page from elsewhere may not ask here",
        "not_a_person": "only a person may do this",
    }
    hints: ClassVar[Mapping[str, str]] = {
        "wrong_bank": "Make one that names it: pieria token create NAME --banks BANKS.",
        "read_only": "Show a token made with --access write, or start the server without --read-only.",
        "not_admin": "Show a token made with: pieria token create NAME --access admin.",
        "not_a_person": "Do it at a terminal, or on the page once you are signed in as a person.",
    }
    """Unless whoever raises it knows better."""

    def __init__(self, reason: object = None, **more: Unpack[More]) -> None:
        if isinstance(reason, str):
            more.setdefault("hint", self.hints.get(reason))
        super().__init__(reason, **more)


class LimitError(Framework):
    """Too much was asked in too short a time; after ``seconds`` there is room again."""

    code = "limit"
    fields = ("what", "limit", "seconds")
    retryable = True

    def __init__(self, what: str, limit: str, seconds: int, **more: Unpack[More]) -> None:
        self.what = what
        self.limit = limit
        self.seconds = seconds
        more.setdefault("hint", f"Wait {counted(seconds, 'second')}, then go on more slowly.")
        super().__init__(f"{what}: at most {limit}", **more)


class ConflictError(Framework):
    """What is there already stands against the change; ``ids`` says which records."""

    code = "conflict"
    fields = ("reason", "ids")

    def __init__(self, reason: str, ids: Iterable[str] = (), **more: Unpack[More]) -> None:
        self.reason = reason
        self.ids = (ids,) if isinstance(ids, str) else tuple(ids)
        listed = ", ".join(self.ids[:5]) + (", …" if len(self.ids) > 5 else "")
        super().__init__(f"{reason} ({listed})" if listed else reason, **more)


class QuarantinedError(ConflictError):
    """The memory is in quarantine: it is there, and nothing that reads shows it."""

    code = "quarantined"


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
        "invalid_queued_operation": "what comes before it leads to a state that does not allow this",
        "extraction_failed": "extraction failed, so what waited for it was dropped",
        "preceding_op_failed": "what came before it in the queue failed",
        "pending_queue_full": "too much is waiting already",
        "session_stopping": "it is being stopped",
        "held_elsewhere": "another process, or another object of this one, has it open",
    }
    hints: ClassVar[Mapping[object, str]] = {
        "not_ready": "Close the episode first. With auto_commit, what it taught is committed by itself.",
        "not_collecting": "Start an episode first.",
        "not_idle": "End it first: close it, then commit or discard what it came to.",
        "not_discardable": "Only what was extracted, or could not be, is discarded; close the episode first.",
        "invalid_operation": "An idle session starts, a collecting one closes, a ready one commits or discards.",
        "extraction_in_progress": "It ends by itself; ask again when it has.",
        "append_in_progress": "Ask again when it is in.",
        "session_stopping": "Start another session.",
    }

    def __init__(self, reason: object = None, state: object = None, **more: Unpack[More]) -> None:
        self.reason = reason
        self.state = state
        if isinstance(reason, str):
            more.setdefault("hint", self.hints.get(reason))
        about = "session" if state is None else f"session, {getattr(state, 'value', state)}"
        super().__init__(self._worded(about, reason), **more)


class PipelineError(Reasoned, Framework):
    """Learning or recall broke off; where another error is the cause it stands in ``errors``."""

    code = "pipeline"
    about = "pipeline"
    reasons: ClassVar[Mapping[str, str]] = {
        "extraction_failed": "extraction failed at every attempt",
        "extraction_timeout": "extraction did not finish in time",
        "task_crashed": "a task broke off",
    }

    def __str__(self) -> str:
        return ": ".join(map(str, (self.message, *self.errors[:1])))


class AdapterError(Framework):
    """A model's adapter failed; ``retryable`` is set by the adapter, which knows."""

    code = "adapter"
    fields: ClassVar[tuple[str, ...]] = ("adapter", "operation", "reason")

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


class ModelMissingError(AdapterError):
    """The model is not installed; ``path`` is the folder that was looked for."""

    code = "model_missing"
    fields = ("adapter", "operation", "reason", "model", "path")

    def __init__(self, model: str, path: str | PurePath, **more: Unpack[More]) -> None:
        self.model = model
        self.path = path
        more.setdefault("hint", f"Run: pieria models install {model}")
        super().__init__(model, "load", f"not installed (there is no {path})", **more)


class ModelDamagedError(AdapterError):
    """A file of the model is not what it should be; ``path`` says which one, and nothing of it was used."""

    code = "model_damaged"
    fields = ("adapter", "operation", "reason", "path")
    advice = "Run pieria models install: it puts sound files in their place."

    def __init__(self, path: str | PurePath, reason: str, **more: Unpack[More]) -> None:
        self.path = path
        super().__init__("model", "load", f"{path}: {reason}", **more)


class ReplyError(AdapterError):
    """A language model answered, but not with what it was asked for; ``usage`` is what the answer cost.

    Nobody asks again unbidden: a second answer costs again and may be no better.
    """

    code = "reply"
    fields = ("adapter", "operation", "reason", "usage")
    usual_reason: ClassVar[str | None] = None

    def __init__(
        self,
        adapter: object = None,
        operation: object = None,
        reason: object = None,
        *,
        usage: Mapping[str, int] | None = None,
        **more: Unpack[More],
    ) -> None:
        self.usage = dict(usage or {})
        super().__init__(adapter, operation, self.usual_reason if reason is None else reason, **more)


class ReplyRefusedError(ReplyError):
    """The model, or whoever filters what it says, refused to answer."""

    code = "reply_refused"
    usual_reason = "it refused to answer"
    advice = "Ask another model, or leave out what it objects to."


class ReplyCutError(ReplyError):
    """The answer was cut off before its end, for it was longer than was allowed; nothing of it was used."""

    code = "reply_cut"
    usual_reason = "the answer was cut off at the limit of tokens"
    advice = "Allow more with max_tokens, or ask for less at once."


class ReplyUnreadableError(ReplyError):
    """The answer is not the JSON that was asked for."""

    code = "reply_unreadable"
    usual_reason = "the answer is not JSON"
    advice = "The model, or its server, does not keep to JSON; another one may."


class JobError(Reasoned, Framework):
    """A job could not be done, or is not this worker's any more."""

    code = "job"
    about = "job"
    reasons: ClassVar[Mapping[str, str]] = {
        "unknown_kind": "nothing here knows how to do a job of this kind",
        "unreadable_payload": "its payload is not a JSON object",
        "crashed": "every worker that had it was lost in the middle of it",
        "superseded": "the same work was queued again for newer content",
        "changed": "the content it was for has changed",
        "lease_lost": "another worker has it, or it was cancelled",
        "stopped": "the worker is being stopped",
    }


class BudgetError(Framework):
    """The day's budget of model calls or tokens is used up; ``until`` says when the next day begins."""

    code = "budget"
    fields = ("budget", "limit", "used", "until")
    retryable = True

    def __init__(self, budget: str, limit: int, used: int, until: datetime, **more: Unpack[More]) -> None:
        self.budget = budget
        self.limit = limit
        self.used = used
        self.until = until.isoformat().replace("+00:00", "Z")
        more.setdefault("hint", f"Wait until {self.until}, or raise {budget}.")
        super().__init__(f"{budget}: {used:,} of {limit:,} are used up", **more)


class RepoError(Framework):
    """The bank cannot be opened under this name."""

    code = "repo"
    fields = ("repo_id", "reason")
    reasons: ClassVar[Mapping[str, str]] = {"already_open": "it is open already"}

    def __init__(self, repo_id: object = None, reason: object = None, **more: Unpack[More]) -> None:
        self.repo_id = repo_id
        self.reason = reason
        about = "bank" if repo_id is None else f"bank {described(repo_id)}"
        super().__init__(self._worded(about, reason), **more)
