"""Notes on an agent's work, by rules: `noticed` serves `RuleMind.notice`."""

from pieria.models.minds.rules.notice.tasks import noticed

__all__ = ["noticed"]
