"""`bank.graph.consolidate`, `decay`, `validate` and `repair`: the maintenance of a graph, each with a dry run.

`learning` implements them; this module applies them to a bank, with its clock, and reports to its notifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pieria.notifier import fitting
from pieria.store.protocol import Progress

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.config import Config


class GraphUpkeep:
    """The maintenance verbs. `config` defaults to the bank's configuration."""

    _bank: Bank

    def consolidate(
        self,
        threshold: float = 0.85,
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Merge facts with a common tag and nearly the same meaning into the best one; archive the others."""
        from pieria.learning.semantic_consolidator import consolidate

        graph, bank = self._bank.graph, self._bank
        done = consolidate(
            graph,
            config or bank.core.config,
            threshold,
            dry_run=dry_run,
            progress=progress,
            repo_id=bank.name,
            clock=bank.clock,
        )
        return self._told("consolidation_completed", done, dry_run)

    def decay(
        self,
        threshold: float = 0.1,
        node_types: Sequence[str] = ("semantic", "procedural"),
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Archive nodes of little value, and tags and intents without edges."""
        from pieria.learning.decay import decay

        graph, bank = self._bank.graph, self._bank
        done = decay(
            graph,
            config or bank.core.config,
            threshold,
            node_types,
            dry_run=dry_run,
            progress=progress,
            repo_id=bank.name,
            clock=bank.clock,
        )
        return self._told("decay_completed", done, dry_run)

    def validate(
        self, *, config: Config | None = None, dry_run: bool = False, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Lower the rewards of knowledge without sources or far from them, for as long as this lasts."""
        from pieria.learning.episodic_validation import validate

        graph, bank = self._bank.graph, self._bank
        done = validate(graph, config or bank.core.config, dry_run=dry_run, progress=progress, repo_id=bank.name)
        return self._told("validation_completed", done, dry_run)

    def repair(self, *, dry_run: bool = False, progress: Progress | None = None) -> dict[str, Any]:
        """Remove edges to missing nodes, and archive tags and intents without edges."""
        from pieria.learning.graph_repair import repair

        done = repair(self._bank.graph, dry_run=dry_run, progress=progress, repo_id=self._bank.name)
        return self._told("repair_completed", done, dry_run)

    def _told(self, event: str, done: dict[str, Any], dry_run: bool) -> dict[str, Any]:
        """Notify of the result, except for a dry run."""
        if not dry_run:
            self._bank.core.tell(event, **fitting(event, done))
        return done
