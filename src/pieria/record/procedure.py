"""What a procedure is for, which whoever is told what to do should be told as well."""

from __future__ import annotations

from pieria.record.memory import Memory

KIND = "procedural"


def condition(memory: Memory) -> str | None:
    """When it is to be done; None for what is no procedure."""
    told = memory.body.get("condition")
    return told if memory.kind == KIND and isinstance(told, str) and told.strip() else None


def purpose(memory: Memory) -> str | None:
    """The same, where its own text does not say so."""
    told = condition(memory)
    return None if told is None or told in memory.text else told
