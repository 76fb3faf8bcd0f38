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
PROPOSED: Final = "proposed"
ACCEPTED: Final = "accepted"
DECLINED: Final = "declined"
SUPERSEDED: Final = "superseded"
STATES: Final = (PROPOSED, ACCEPTED, DECLINED, SUPERSEDED)
"""How a lesson stands; the first and the third are statuses of its memory as well."""
