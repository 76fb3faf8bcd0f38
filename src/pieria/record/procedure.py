"""What a procedure is for, which whoever is told what to do should be told as well."""

from __future__ import annotations

from pieria.record.memory import Memory

KIND = "procedural"


def purpose(memory: Memory) -> str | None:
    """When it is to be done, where its own text does not say so; None for what is no procedure."""
    condition = memory.body.get("condition")
    if memory.kind != KIND or not isinstance(condition, str) or not condition.strip() or condition in memory.text:
        return None
    return condition
