"""When a procedure applies. Show this with the procedure wherever an agent gets instructions."""

from __future__ import annotations

from pieria.record.memory import Memory

KIND = "procedural"


def condition(memory: Memory) -> str | None:
    """Return when the procedure applies. None if the memory is not a procedure."""
    told = memory.body.get("condition")
    return told if memory.kind == KIND and isinstance(told, str) and told.strip() else None


def purpose(memory: Memory) -> str | None:
    """Return the condition, or None if the memory's own text contains it."""
    told = condition(memory)
    return None if told is None or told in memory.text else told
