"""Errors of the surroundings, not of the request, except storage errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import ClassVar, Unpack

from pieria.errors.description import counted, described, described_id
from pieria.errors.root import Framework, More, Reasoned


class NotFoundError(Framework):
    """No record has this id, or the caller may not see it."""

    code = "not_found"
    fields = ("resource", "id")

    def __init__(self, resource: str = "resource", id: object = None, **more: Unpack[More]) -> None:
        self.resource = resource
        self.id = id
        named = f"{resource} {described_id(id)}" if id is not None else resource
        super().__init__(f"{named} not found", **more)


class AccessError(Reasoned, Framework):
    """The caller may not do this."""

    code = "access"
    about = "access"
    reasons: ClassVar[Mapping[str, str]] = {
        "no_token": "a token is needed",
        "unknown_token": "the token is unknown",
        "expired": "the token has expired",
        "wrong_bank": "the caller has no access to this bank",
        "read_only": "only reading is allowed",
        "not_admin": "only an administrator may do this",
        "foreign_origin": "requests from pages of other sites are refused",
        "not_a_person": "only a person may do this",
    }
    hints: ClassVar[Mapping[str, str]] = {
        "wrong_bank": "Create a token for the bank: pieria token create NAME --banks BANKS.",
        "read_only": "Use a token created with --access write, or start the server without --read-only.",
        "not_admin": "Use a token created with: pieria token create NAME --access admin.",
        "not_a_person": "Do it in a terminal, or sign in to the web page as a person.",
    }
    """Default hints for some reasons."""

    def __init__(self, reason: object = None, **more: Unpack[More]) -> None:
        if isinstance(reason, str):
            more.setdefault("hint", self.hints.get(reason))
        super().__init__(reason, **more)


class LimitError(Framework):
    """The caller sent too many requests; try again after ``seconds``."""

    code = "limit"
    fields = ("what", "limit", "seconds")
    retryable = True

    def __init__(self, what: str, limit: str, seconds: int, **more: Unpack[More]) -> None:
        self.what = what
        self.limit = limit
        self.seconds = seconds
        more.setdefault("hint", f"Wait {counted(seconds, 'second')}, then send requests more slowly.")
        super().__init__(f"{what}: at most {limit}", **more)


class ConflictError(Framework):
    """The change conflicts with existing records; ``ids`` names them."""

    code = "conflict"
    fields = ("reason", "ids")

    def __init__(self, reason: str, ids: Iterable[str] = (), **more: Unpack[More]) -> None:
        self.reason = reason
        self.ids = (ids,) if isinstance(ids, str) else tuple(ids)
        listed = ", ".join(self.ids[:5]) + (", …" if len(self.ids) > 5 else "")
        super().__init__(f"{reason} ({listed})" if listed else reason, **more)


class QuarantinedError(ConflictError):
    """The memory is in quarantine: it exists, but no read shows it."""

    code = "quarantined"


class ClosedError(Framework):
    """The bank or workspace is closed."""

    code = "closed"
    fields = ("what",)
    advice = "Open it again, or use it inside the with block."

    def __init__(self, what: str, **more: Unpack[More]) -> None:
        self.what = what
        super().__init__(f"{what} is closed", **more)


class ForkedError(Framework):
    """It was opened before this process was forked, and belongs to the process ``opened_in``."""

    code = "forked"
    fields = ("what", "opened_in", "process")
    advice = "Open it again in this process. A server that forks opens its banks in each worker: pieria.open(...)."
    hints: ClassVar[Mapping[str, str]] = {
        "bank": "Open it again in this process: pieria.open(...).",
        "workspace": "Make another one in this process: pieria.Workspace(...).",
        "session": "Begin another session in this process, in a bank opened here. The other process has this one.",
    }

    def __init__(self, what: str, opened_in: int, process: int, **more: Unpack[More]) -> None:
        self.what = what
        self.opened_in = opened_in
        self.process = process
        more.setdefault("hint", self.hints.get(what.partition(" ")[0]))
        super().__init__(f"{what} was opened in process {opened_in}, and this is its child {process}", **more)


class SessionError(Framework):
    """The session's state does not allow the step."""

    code = "session"
    fields = ("reason", "state")
    reasons: ClassVar[Mapping[str, str]] = {
        "not_ready": "there is no extracted knowledge to commit",
        "not_collecting": "the session accepts no steps now",
        "not_idle": "an episode is open",
        "not_discardable": "there is nothing to discard",
        "invalid_operation": "the session's state does not allow this",
        "extraction_in_progress": "extraction is running",
        "append_in_progress": "a step is being appended",
        "append_crashed": "appending the step failed",
        "session_failed": "extraction failed; commit to try again, or discard",
        "invalid_queued_operation": "the operations queued before it lead to a state that does not allow this",
        "extraction_failed": "extraction failed, so the operations waiting for it were dropped",
        "preceding_op_failed": "an earlier operation in the queue failed",
        "pending_queue_full": "the queue is full",
        "session_stopping": "the session is being stopped",
        "held_elsewhere": "another process, or another object in this process, has the session open",
    }
    hints: ClassVar[Mapping[object, str]] = {
        "not_ready": "Close the episode first. With auto_commit, its knowledge is committed automatically.",
        "not_collecting": "Start an episode first.",
        "not_idle": "Close the episode first, then commit or discard its knowledge.",
        "not_discardable": "Close the episode first. Discard works only after extraction, also if that failed.",
        "invalid_operation": "Start an idle session, close a collecting one, commit or discard a ready one.",
        "extraction_in_progress": "Wait until the extraction has ended, then try again.",
        "append_in_progress": "Wait until the step is appended, then try again.",
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
    """Learning or recall failed; ``errors`` has the cause, if it is another error."""

    code = "pipeline"
    about = "pipeline"
    reasons: ClassVar[Mapping[str, str]] = {
        "extraction_failed": "extraction failed at every attempt",
        "extraction_timeout": "extraction did not finish in time",
        "task_crashed": "a task failed",
    }

    def __str__(self) -> str:
        return ": ".join(map(str, (self.message, *self.errors[:1])))


class AdapterError(Framework):
    """A model's adapter failed. The adapter sets ``retryable``.

    ``wait`` has the seconds to wait before a retry, if the server asks for more than the call may take.
    """

    code = "adapter"
    fields: ClassVar[tuple[str, ...]] = ("adapter", "operation", "reason")

    def __init__(
        self,
        adapter: object = None,
        operation: object = None,
        reason: object = None,
        *,
        retryable: bool = False,
        wait: float | None = None,
        **more: Unpack[More],
    ) -> None:
        self.adapter = adapter
        self.operation = operation
        self.reason = reason
        self.retryable = retryable
        self.wait = wait
        named = [str(getattr(part, "__name__", part)) for part in (adapter, operation) if part is not None]
        about = f"adapter {'.'.join(named)}" if named else "adapter"
        super().__init__(self._worded(about, reason), **more)


class ModelMissingError(AdapterError):
    """The model is not installed; ``path`` is the missing folder."""

    code = "model_missing"
    fields = ("adapter", "operation", "reason", "model", "path")

    def __init__(self, model: str, path: str | PurePath, **more: Unpack[More]) -> None:
        self.model = model
        self.path = path
        more.setdefault("hint", f"Run: pieria models install {model}")
        super().__init__(model, "load", f"not installed (there is no {path})", **more)


class ModelDamagedError(AdapterError):
    """A file of the model differs from its checksum or format; ``path`` names it. The file was not used."""

    code = "model_damaged"
    fields = ("adapter", "operation", "reason", "path")
    advice = "Run pieria models install: it replaces the damaged files."

    def __init__(self, path: str | PurePath, reason: str, **more: Unpack[More]) -> None:
        self.path = path
        super().__init__("model", "load", f"{path}: {reason}", **more)


class ReplyError(AdapterError):
    """A language model's answer cannot be used; ``usage`` is what the answer cost.

    Pieria does not repeat the call: a second answer costs again and may be no better.
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
    """The model, or a filter in front of it, refused to answer."""

    code = "reply_refused"
    usual_reason = "the model refused to answer"
    advice = "Use another model, or leave out the content that it refuses."


class ReplyCutError(ReplyError):
    """The answer reached the limit of tokens and was cut off. It was not used."""

    code = "reply_cut"
    usual_reason = "the answer was cut off at the token limit"
    advice = "Raise max_tokens, or ask for less at once."


class ReplyUnreadableError(ReplyError):
    """The answer is not the requested JSON."""

    code = "reply_unreadable"
    usual_reason = "the answer is not JSON"
    advice = "The model or its server returns invalid JSON. Try another model."


class JobError(Reasoned, Framework):
    """A job failed, or this worker lost its lease."""

    code = "job"
    about = "job"
    reasons: ClassVar[Mapping[str, str]] = {
        "unknown_kind": "no handler for jobs of this kind",
        "unreadable_payload": "its payload is not a JSON object",
        "crashed": "every worker that ran it crashed",
        "superseded": "the same work was queued again for newer content",
        "changed": "its content has changed since",
        "lease_lost": "another worker has the job, or it was cancelled",
        "stopped": "the worker is being stopped",
        "time_is_up": "the time of one run is over",
        "called": "the server is in use",
    }


class BudgetError(Framework):
    """The day's budget of model calls or tokens is used up; ``until`` is the start of the next day."""

    code = "budget"
    fields = ("budget", "limit", "used", "until")
    retryable = True

    def __init__(self, budget: str, limit: int, used: int, until: datetime, **more: Unpack[More]) -> None:
        self.budget = budget
        self.limit = limit
        self.used = used
        self.until = until.isoformat().replace("+00:00", "Z")
        more.setdefault("hint", f"Wait until {self.until}, or raise {budget}.")
        super().__init__(f"{budget}: {used:,} of {limit:,} used", **more)


class RepoError(Framework):
    """The bank cannot be opened under this name."""

    code = "repo"
    fields = ("repo_id", "reason")
    reasons: ClassVar[Mapping[str, str]] = {"already_open": "the bank is open already"}

    def __init__(self, repo_id: object = None, reason: object = None, **more: Unpack[More]) -> None:
        self.repo_id = repo_id
        self.reason = reason
        about = "bank" if repo_id is None else f"bank {described(repo_id)}"
        super().__init__(self._worded(about, reason), **more)
