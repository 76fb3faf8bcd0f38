"""The mind that judges by rules. Its packs are data beside it; which rules use them is told in each."""

from pieria.models.minds.rules.mind import RuleMind

__all__ = ["RuleMind"]
