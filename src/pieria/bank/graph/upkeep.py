"""`bank.graph.consolidate`, `decay`, `validate` and `repair`: what keeps a graph in order, each with a dry run.

How it is done is told in `learning`; here it is done to a bank, by its clock, and its notifier is told.
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
    """`config` is that with which the bank was opened, where none is given."""

    _bank: Bank

    def consolidate(
        self,
        threshold: float = 0.85,
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Has the best of the facts that share a tag and say nearly the same stand for all; the others are archived."""
        from pieria.learning.semantic_consolidator import consolidate

        graph, bank = self._bank.graph, self._bank
        done = consolidate(
            graph,
            config or bank._config,
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
        """Archives what is worth little by itself, and the tags and intents that nothing is tied to."""
        from pieria.learning.decay import decay

        graph, bank = self._bank.graph, self._bank
        done = decay(
            graph,
            config or bank._config,
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
        """Takes of the rewards of knowledge that has no sources, or strays from them, for as long as it does."""
        from pieria.learning.episodic_validation import validate

        graph, bank = self._bank.graph, self._bank
        done = validate(graph, config or bank._config, dry_run=dry_run, progress=progress, repo_id=bank.name)
        return self._told("validation_completed", done, dry_run)

    def repair(self, *, dry_run: bool = False, progress: Progress | None = None) -> dict[str, Any]:
        """Unties what is tied to what is not there, and archives the tags and intents that nothing is tied to."""
        from pieria.learning.graph_repair import repair

        done = repair(self._bank.graph, dry_run=dry_run, progress=progress, repo_id=self._bank.name)
        return self._told("repair_completed", done, dry_run)

    def _told(self, event: str, done: dict[str, Any], dry_run: bool) -> dict[str, Any]:
        """A dry run is nobody's event."""
        if not dry_run:
            self._bank._tell(event, **fitting(event, done))
        return done
