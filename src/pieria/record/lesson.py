"""The kinds, types and tags of lessons, which are memories that sessions taught, and when a procedure applies.

Show the condition with the procedure wherever an agent gets instructions.

How a lesson arises and what is done with it does not belong here.
"""

from __future__ import annotations

from typing import Final

from pieria.record.memory import Memory

PROCEDURE: Final = "procedure"
RULE: Final = "rule"
TYPES: Final = (RULE, PROCEDURE)
KINDS: Final = {PROCEDURE: "procedural", RULE: "note"}
TAG: Final = "lesson"
HARMFUL: Final = "it may lower security"
"""Why a lesson waits for a person, no matter how often it is confirmed."""
WORTH_A_LOOK: Final = 0.5
"""Least confidence at which a waiting proposal is announced. Others are shown on request."""
PROPOSED: Final = "proposed"
ACCEPTED: Final = "accepted"
DECLINED: Final = "declined"
SUPERSEDED: Final = "superseded"
STATES: Final = (PROPOSED, ACCEPTED, DECLINED, SUPERSEDED)
"""States of a lesson. `proposed` and `declined` are also statuses of its memory."""
KIND = "procedural"


def condition(memory: Memory) -> str | None:
    """Return when the procedure applies. None if the memory is not a procedure."""
    told = memory.body.get("condition")
    return told if memory.kind == KIND and isinstance(told, str) and told.strip() else None


def purpose(memory: Memory) -> str | None:
    """Return the condition, or None if the memory's own text contains it."""
    told = condition(memory)
    return None if told is None or told in memory.text else told
