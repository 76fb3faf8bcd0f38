"""Lessons: what sessions taught, as memories. By which kind, type and tag they are known, in every layer.

What makes a lesson, and what becomes of it, is told elsewhere.
"""

from __future__ import annotations

from typing import Final

PROCEDURE: Final = "procedure"
RULE: Final = "rule"
TYPES: Final = (RULE, PROCEDURE)
KINDS: Final = {PROCEDURE: "procedural", RULE: "note"}
TAG: Final = "lesson"
HARMFUL: Final = "it may lower security"
"""Why a lesson waits for a person, however often it is borne out."""
WORTH_A_LOOK: Final = 0.5
"""The confidence from which on somebody is told that a proposal waits; the rest is there for who asks."""
PROPOSED: Final = "proposed"
ACCEPTED: Final = "accepted"
DECLINED: Final = "declined"
SUPERSEDED: Final = "superseded"
STATES: Final = (PROPOSED, ACCEPTED, DECLINED, SUPERSEDED)
"""How a lesson stands; the first and the third are statuses of its memory as well."""
