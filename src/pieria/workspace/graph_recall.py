"""Recall from a repository by its graph: candidates, answers and uses.

`learning` has the algorithms; this module chooses mind, embedder and notifier.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria import telemetry
from pieria.errors import NotFoundError, PieriaError, PipelineError
from pieria.notifier import Event
from pieria.record import check
from pieria.record.time import Clock
from pieria.workspace.repositories import Repository, Serving
from pieria.workspace.sessions import Sessions

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.graph import GraphBackend
    from pieria.learning.recalled import RecallResult
    from pieria.learning.retrieval import Looking

log = logging.getLogger(__name__)

HOPS, MOST_HOPS = 2, 100
LAST_STEPS = 3
"""Last steps of a session that go with a question."""


class Recalling(Sessions):
    """The workspace's functions that query a repository."""

    clock: Clock

    def recall(self, repo_id: str, query: str, max_hops: int = HOPS) -> RecallResult:
        """Return what the repository knows about a question, by node type, as text and as nodes.

        The search starts near the question and follows tags and intents for up to `max_hops` hops. If a model fails,
        its part is skipped and the trace says so. Raise `NotFoundError` for a repository that is not open, and
        `AdapterError` if the question cannot be embedded and the backend cannot search by words.
        """
        return _recalled(self._repository(repo_id), _Asking(query, None, None, max_hops), self.clock)

    def recall_in_context(self, repo_id: str, session_id: str, query: str, max_hops: int = HOPS) -> RecallResult:
        """Recall for a question of a session, with its goal and last steps.

        Without such a session, or without steps in it, the question is asked alone.
        """
        named = check.identifier(session_id, "session_id")
        context = in_context(self._context_of(named), query)
        return _recalled(self._repository(repo_id), _Asking(query, context, named, max_hops), self.clock)

    def _context_of(self, session_id: str) -> Mapping[str, Any] | None:
        """Return the goal of a session and its recent steps; None if there is no such session."""
        try:
            return self._in_any(session_id, lambda sessions: sessions.context(session_id))
        except NotFoundError:
            return None


class _Asking(NamedTuple):
    """`context` is the question with its session context; `verbosity` None means as configured."""

    query: str
    context: str | None
    session_id: str | None
    hops: int
    verbosity: str | None = None


def recalled_as_seen(
    workspace: Recalling, bank: Bank, query: str, session_id: str | None, max_hops: int, verbosity: str
) -> RecallResult:
    """Recall through this opening of the bank, which may belong to a session."""
    repository = workspace._repository(bank.name)
    if repository.bank is not None:
        repository = repository._replace(bank=bank)
    context = None if session_id is None else in_context(workspace._context_of(session_id), query)
    return _recalled(repository, _Asking(query, context, session_id, max_hops, verbosity), workspace.clock)


def _recalled(repository: Repository, asking: _Asking, clock: Clock) -> RecallResult:
    asking = asking._replace(
        query=check.text(asking.query, "query", too_long="ask for the part that matters"),
        hops=check.whole(asking.hops, "max_hops", 0, MOST_HOPS),
    )
    serving = repository.serving()
    told: dict[str, Any] = {"session_id": asking.session_id}
    asked = {"query": asking.context or asking.query}
    begun = perf_counter()
    try:
        result = _answered(repository, serving, asking, clock)
    except PieriaError as problem:
        serving.tell(Event("recall_failed", {**asked, "reason": problem}, told))
        raise
    except Exception as problem:
        failure = PipelineError("task_crashed", hint=f"What went wrong: {type(problem).__name__}: {problem}")
        serving.tell(Event("recall_failed", {**asked, "reason": failure}, told))
        raise failure from problem
    if telemetry.is_heard():
        _measured(repository.id, asking, result, perf_counter() - begun)
    told["trace"] = result.trace
    serving.tell(Event("recall_executed", {**asked, "results": result}, told))
    if serving.counts_uses and result.trace.withheld is None:
        _note_uses(repository, [touched.id for touched in result.touched_nodes], clock)
    return result


def _measured(repo_id: str, asking: _Asking, result: RecallResult, seconds: float) -> None:
    """Send the measurements: sizes, names and ids. Never terms, answers or model output."""
    trace, touched = result.trace, result.touched_nodes
    found = Counter((one.phase, one.hop, one.type) for one in touched)
    telemetry.point(
        "retrieval.answered",
        {"duration": int(1e9 * seconds), "candidates": len(touched)},
        {
            "repo_id": repo_id,
            "session_id": asking.session_id,
            "mode": trace.mode,
            "max_hops": trace.hops,
            "phases": trace.phase_timings,
            "found": [(*how, count) for how, count in found.items()],
            "rejected": trace.rejected,
            "refinements": [{**each, "tags": len(each["tags"])} for each in trace.refinements],
            "calls": trace.model_calls,
            "failures": trace.failures,
            "touched": [(one.id, one.type, one.score, one.phase, one.hop) for one in touched],
            "cited": result.reasoned.cited,
        },
    )


def in_context(context: Mapping[str, Any] | None, query: str) -> str | None:
    """Return the question with its session context; None without context."""
    if context is None or not context["recent_steps"]:
        return None
    steps = "\n".join(f"- {step}" for step in context["recent_steps"][-LAST_STEPS:])
    return f"Goal: {context['goal']}\nRecent context:\n{steps}\n\nQuery: {query}"


def _answered(repository: Repository, serving: Serving, asking: _Asking, clock: Clock) -> RecallResult:
    from pieria.learning.reasoning import reasoned
    from pieria.learning.recalled import RecallResult, TouchedNode

    looking = _looking(repository, serving, asking, clock)
    found, trace = looking.find(asking.query, asking.context)
    begun = perf_counter()
    memory = reasoned(
        found,
        asking.context or asking.query,
        serving.mind,
        repository.config,
        repo_id=repository.id,
        session_id=asking.session_id,
        in_context=asking.context is not None,
    )
    trace = replace(
        trace,
        phase_timings={**(trace.phase_timings or {}), "reasoning": int(1e6 * (perf_counter() - begun))},
        problems=[*trace.problems, *memory.problems],
        failures=[*trace.failures, *memory.failures],
        withheld=memory.withheld,
        llm_calls=serving.tally.calls,
        tokens=dict(serving.tally.tokens),
        model_calls=serving.tally.by_step,
    )
    touched = [TouchedNode.from_tagged(each, trace.verbosity) for each in found.all]
    return RecallResult(memory, touched, trace, found.candidates, found.confidence or 0.0)


def _looking(repository: Repository, serving: Serving, asking: _Asking, clock: Clock) -> Looking:
    """Return the search. In a bank every memory is a node, and unembedded ones are found by words."""
    from pieria.graph.search import searching_of
    from pieria.graph.value_function import values_of
    from pieria.learning.models import embedder_of
    from pieria.learning.retrieval import Looking

    bank = repository.bank
    backend: GraphBackend = repository.backend if bank is None else bank.graph.everything
    return Looking(
        mind=serving.mind,
        embedder=embedder_of(serving.embedder) if bank is None else None,
        searching=searching_of(backend, clock),
        values=values_of(None, repository.config),
        config=repository.config,
        max_hops=asking.hops,
        repo_id=repository.id,
        session_id=asking.session_id,
        verbosity=asking.verbosity,
    )


def _note_uses(repository: Repository, used: list[str], clock: Clock) -> None:
    """Count the found nodes as used. A bank writes that later, with its other uses."""
    if repository.bank is not None:
        repository.bank.graph._note_uses(used)
        return
    from pieria.graph.view import alone

    try:
        with alone(repository.backend):
            held = repository.backend.get_metadata(used) if used else {}
            counted = {id: metadata.record_access(clock()) for id, metadata in held.items()}
            if counted:
                repository.backend.update_metadata(counted)
    except Exception:
        # A failed count must not lose the answer.
        log.warning("uses of %d nodes were not counted", len(used), exc_info=True)
