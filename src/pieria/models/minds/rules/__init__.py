"""The mind that judges by rules. Its word lists are data packs beside the code."""

from pieria.models.minds.rules.mind import RuleMind

__all__ = ["RuleMind"]
