"""The request was sound, the surroundings were not: all but what a store says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import ClassVar, Unpack

from pieria.errors.describing import described
from pieria.errors.root import Framework, More, Reasoned


class NotFoundError(Framework):
    """Nothing bears this id, or nothing that may be seen from here."""

    code = "not_found"
    fields = ("resource", "id")

    def __init__(self, resource: str = "resource", id: object = None, **more: Unpack[More]) -> None:
        self.resource = resource
        self.id = id
        named = f"{resource} {described(id)}" if id is not None else resource
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


class PipelineError(Reasoned, Framework):
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
