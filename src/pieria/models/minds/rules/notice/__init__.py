"""What is worth keeping of an agent's work, by rules: `noticed` is what `RuleMind.notice` answers."""

from pieria.models.minds.rules.notice.tasks import noticed

__all__ = ["noticed"]
