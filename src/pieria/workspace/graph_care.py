"""Graph maintenance of repositories: calls run one at a time for each repository, report and notify.

They run in the order of the requests; writes and recalls do not wait for them. `pieria.learning` has the algorithms.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pieria import telemetry
from pieria.errors import InputError, PieriaError
from pieria.notifier import fitting
from pieria.record.time import Clock
from pieria.runtime.fair_lock import Turns

if TYPE_CHECKING:
    from pieria.store.protocol import Progress
    from pieria.workspace.repositories import Repository

log = logging.getLogger(__name__)

KNOWLEDGE = ("semantic", "procedural")
Summary = dict[str, Any]
Callback = Callable[[Any], object]
"""Gets the summary, or the error if there is none."""
Care = Callable[["Repository"], Summary]


class GraphCare:
    """The workspace's functions that maintain a repository's graph. Each raises `NotFoundError` if the repository is
    not open; later errors go to the callback, if there is one.
    """

    clock: Clock

    def __init__(self) -> None:
        self._turns: dict[str, Turns] = {}
        self._turns_lock = threading.Lock()

    def consolidate_semantics(
        self, repo_id: str, threshold: float = 0.85, *, dry_run: bool = False, progress: Progress | None = None
    ) -> Summary:
        """Merge facts that share a tag, and procedures that share an intent, if they say nearly the same.

        The summary has `checked`, `deleted`, `deleted_ids` and `skipped`.
        """
        return self._cared(repo_id, self._consolidating(threshold, dry_run=dry_run, progress=progress))

    def consolidate_semantics_async(
        self, repo_id: str, threshold: float = 0.85, callback: Callback | None = None, *, dry_run: bool = False
    ) -> None:
        """Do the same in the background."""
        self._cared_behind(repo_id, self._consolidating(threshold, dry_run=dry_run), callback)

    def decay_nodes(
        self,
        repo_id: str,
        threshold: float = 0.1,
        node_types: Sequence[str] = KNOWLEDGE,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Summary:
        """Archive nodes of low value: `checked`, `deleted`, `deleted_ids`."""
        return self._cared(repo_id, self._decaying(threshold, node_types, dry_run=dry_run, progress=progress))

    def decay_nodes_async(
        self,
        repo_id: str,
        threshold: float = 0.1,
        node_types: Sequence[str] = KNOWLEDGE,
        callback: Callback | None = None,
        *,
        dry_run: bool = False,
    ) -> None:
        """Do the same in the background."""
        self._cared_behind(repo_id, self._decaying(threshold, node_types, dry_run=dry_run), callback)

    def validate_episodic(self, repo_id: str, *, dry_run: bool = False, progress: Progress | None = None) -> Summary:
        """Lower the reward of knowledge that has no sources or differs from them: `checked`, `grounded`, `penalized`,
        `orphaned`.
        """
        return self._cared(repo_id, self._validating(dry_run=dry_run, progress=progress))

    def validate_episodic_async(self, repo_id: str, callback: Callback | None = None, *, dry_run: bool = False) -> None:
        """Do the same in the background."""
        self._cared_behind(repo_id, self._validating(dry_run=dry_run), callback)

    def repair_graph(self, repo_id: str, *, dry_run: bool = False, progress: Progress | None = None) -> Summary:
        """Remove dangling ties: `checked`, `repaired_nodes`, `dangling_refs`, `orphans_deleted`, `orphan_ids`."""
        return self._cared(repo_id, self._repairing(dry_run=dry_run, progress=progress))

    def repair_graph_async(self, repo_id: str, callback: Callback | None = None, *, dry_run: bool = False) -> None:
        """Do the same in the background."""
        self._cared_behind(repo_id, self._repairing(dry_run=dry_run), callback)

    # --- what each comes to

    def _consolidating(self, threshold: float, **told: Any) -> Care:
        from pieria.learning.semantic_consolidator import consolidate

        return self._care("consolidation_completed", partial(consolidate, threshold=threshold, clock=self.clock), told)

    def _decaying(self, threshold: float, node_types: Sequence[str], **told: Any) -> Care:
        from pieria.learning.decay import decay

        asked = partial(decay, threshold=threshold, node_types=node_types, clock=self.clock)
        return self._care("decay_completed", asked, told)

    def _validating(self, **told: Any) -> Care:
        from pieria.learning.episodic_validation import validate

        return self._care("validation_completed", validate, told)

    def _repairing(self, **told: Any) -> Care:
        from pieria.learning.graph_repair import repair

        return self._care("repair_completed", lambda backend, _, **more: repair(backend, **more), told)

    def _care(self, event: str, run: Callable[..., Summary], told: dict[str, Any]) -> Care:
        def care(found: Repository) -> Summary:
            done = run(found.backend, found.config, repo_id=found.id, **told)
            if not told["dry_run"]:
                tell = found.tell if found.bank is None else found.bank.core.tell
                tell(event, **fitting(event, done))
            return done

        return care

    # --- whose turn it is

    def _cared(self, repo_id: str, care: Care) -> Summary:
        self._repository(repo_id)
        return self._in_turn(repo_id, self._turn(repo_id), care)

    def _cared_behind(self, repo_id: str, care: Care, callback: Callback | None) -> None:
        if callback is not None and not callable(callback):
            raise InputError("callback", "a function that takes the result", callback)
        self._repository(repo_id)
        turn = self._turn(repo_id)
        behind = partial(self._heard, repo_id, turn, care, callback)
        try:
            threading.Thread(target=behind, name="pieria-graph-care", daemon=True).start()
        except RuntimeError as problem:
            log.info(
                "graph upkeep of %s runs in the calling thread, since no other could be started: %s", repo_id, problem
            )
            behind()

    def _heard(self, repo_id: str, turn: tuple[Turns, object], care: Care, callback: Callback | None) -> None:
        outcome: Any
        try:
            outcome = self._in_turn(repo_id, turn, care)
        except PieriaError as problem:
            if callback is None:
                log.warning("graph upkeep of %s failed: %s", repo_id, problem)
            outcome = problem
        except Exception as problem:
            log.exception("graph upkeep of %s failed unexpectedly", repo_id)
            outcome = problem
        if callback is None:
            return
        try:
            callback(outcome)
        except Exception:
            log.exception("a callback failed on the result of graph upkeep of %s", repo_id)

    def _turn(self, repo_id: str) -> tuple[Turns, object]:
        with self._turns_lock:
            turns = self._turns.setdefault(repo_id, Turns())
        _tell(repo_id, "enqueue", active=0)
        return turns, turns.take()

    def _in_turn(self, repo_id: str, turn: tuple[Turns, object], care: Care) -> Summary:
        turns, place = turn
        with turns.at(place):
            _tell(repo_id, "maintenance_start", active=1)
            try:
                return care(self._repository(repo_id))
            finally:
                _tell(repo_id, "maintenance_complete", active=0)

    def _repository(self, repo_id: str) -> Repository:
        """Return the repository that is open under the id."""
        raise NotImplementedError


def _tell(repo_id: str, event: str, *, active: int) -> None:
    """Report the queue. Writes and recalls never wait here, so their counts are zero."""
    counts = {"write_queue_size": 0, "write_active": 0, "maintenance_active": active, "pending_recalls": 0}
    telemetry.point("memory_store.queue", counts, {"repo_id": repo_id, "event": event})
