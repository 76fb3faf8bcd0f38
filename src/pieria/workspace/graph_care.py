"""Graph maintenance of repositories: calls run one at a time for each repository, report and notify.

They run in the order of the requests; writes and recalls do not wait for them. `pieria.learning` has the algorithms.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pieria import telemetry
from pieria.notifier import fitting
from pieria.record.time import Clock
from pieria.runtime.fair_lock import Turns
from pieria.workspace.behind import Callback, checked_callback, run_behind

if TYPE_CHECKING:
    from pieria.learning.upkeep import GraphCleanup, GraphRepair, GraphValidation
    from pieria.store.protocol import Progress
    from pieria.workspace.repositories import Repository

KNOWLEDGE = ("semantic", "procedural")
Done = TypeVar("Done", bound=Mapping[str, Any])
Care = Callable[["Repository"], Done]


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
    ) -> GraphCleanup:
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
    ) -> GraphCleanup:
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

    def validate_episodic(
        self, repo_id: str, *, dry_run: bool = False, progress: Progress | None = None
    ) -> GraphValidation:
        """Lower the reward of knowledge that has no sources or differs from them: `checked`, `grounded`, `penalized`,
        `orphaned`.
        """
        return self._cared(repo_id, self._validating(dry_run=dry_run, progress=progress))

    def validate_episodic_async(self, repo_id: str, callback: Callback | None = None, *, dry_run: bool = False) -> None:
        """Do the same in the background."""
        self._cared_behind(repo_id, self._validating(dry_run=dry_run), callback)

    def repair_graph(self, repo_id: str, *, dry_run: bool = False, progress: Progress | None = None) -> GraphRepair:
        """Remove dangling ties: `checked`, `repaired_nodes`, `dangling_refs`, `orphans_deleted`, `orphan_ids`."""
        return self._cared(repo_id, self._repairing(dry_run=dry_run, progress=progress))

    def repair_graph_async(self, repo_id: str, callback: Callback | None = None, *, dry_run: bool = False) -> None:
        """Do the same in the background."""
        self._cared_behind(repo_id, self._repairing(dry_run=dry_run), callback)

    # --- what each comes to

    def _consolidating(self, threshold: float, **told: Any) -> Care[GraphCleanup]:
        from pieria.learning.semantic_consolidator import consolidate

        return self._care("consolidation_completed", partial(consolidate, threshold=threshold, clock=self.clock), told)

    def _decaying(self, threshold: float, node_types: Sequence[str], **told: Any) -> Care[GraphCleanup]:
        from pieria.learning.decay import decay

        asked = partial(decay, threshold=threshold, node_types=node_types, clock=self.clock)
        return self._care("decay_completed", asked, told)

    def _validating(self, **told: Any) -> Care[GraphValidation]:
        from pieria.learning.episodic_validation import validate

        return self._care("validation_completed", validate, told)

    def _repairing(self, **told: Any) -> Care[GraphRepair]:
        from pieria.learning.graph_repair import repair

        return self._care("repair_completed", lambda backend, _, **more: repair(backend, **more), told)

    def _care(self, event: str, run: Callable[..., Done], told: dict[str, Any]) -> Care[Done]:
        def care(found: Repository) -> Done:
            done = run(found.backend, found.config, repo_id=found.id, **told)
            if not told["dry_run"]:
                tell = found.tell if found.bank is None else found.bank.core.tell
                tell(event, **fitting(event, done))
            return done

        return care

    # --- whose turn it is

    def _cared(self, repo_id: str, care: Care[Done]) -> Done:
        self._repository(repo_id)
        return self._in_turn(repo_id, self._turn(repo_id), care)

    def _cared_behind(self, repo_id: str, care: Care[Any], callback: Callback | None) -> None:
        checked_callback(callback)
        self._repository(repo_id)
        turn = self._turn(repo_id)
        run_behind(f"graph upkeep of {repo_id}", partial(self._in_turn, repo_id, turn, care), callback)

    def _turn(self, repo_id: str) -> tuple[Turns, object]:
        with self._turns_lock:
            turns = self._turns.setdefault(repo_id, Turns())
        _tell(repo_id, "enqueue", active=0)
        return turns, turns.take()

    def _in_turn(self, repo_id: str, turn: tuple[Turns, object], care: Care[Done]) -> Done:
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
