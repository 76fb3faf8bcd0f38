"""Sessions of the lesson book as events, and the lessons that rules learn from them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.learning.session_events import Session

from pieria.learning.lessons.finder import Found, learned
from pieria.models.minds.rules import RuleMind
from pieria.record.event import AgentEvent

Line = Sequence[Any]
"""The kind of event, then its words."""

FAILED = "E   OperationalError: no such table: invoices\n1 failed, 3 passed in 0.2s"
MIGRATED: list[Line] = [
    ["prompt", "run the tests"],
    ["ran", "pytest tests/api", FAILED, True],
    ["ran", "alembic upgrade head", "1a -> 2b"],
    ["ran", "pytest tests/api", "4 passed in 0.2s"],
]
PUT_RIGHT: list[Line] = [
    ["prompt", "add zod"],
    ["ran", "npm install zod", "added"],
    ["prompt", "no, use pnpm, not npm"],
]
BOOK = Path(__file__).with_name("lessonbook")


def session(name: str, told: Iterable[Line], **more: Any) -> list[AgentEvent]:
    """Return an event for each line: its kind, then its words."""
    one = Session(name, **more)
    return [_event(one, what, *words) for what, *words in told]


def _event(one: Session, what: str, *words: Any) -> AgentEvent:
    if what == "searched":
        return one.event("tool", tool="Grep", input={"pattern": words[0]}, text="".join(words[1:]))
    if what == "called":
        return one.event("tool", tool=words[0], input=words[1], text=words[2])
    if what == "refused":
        given = {"file_path": words[0], "old_string": "a", "new_string": "b"}
        return one.event("tool", tool="Edit", input=given, text=words[1], failed=True)
    made: AgentEvent = getattr(one, what)(*words)
    return made


def lessons(told: Iterable[Line], name: str = "s1") -> list[Found]:
    return list(learned(session(name, told), RuleMind(), scope="bank").found)


def texts(told: Iterable[Line]) -> list[str]:
    return [each.new.text for each in lessons(told)]


def tallied(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return for each type how many wanted lessons of these books were found, and how many were found and wanted.

    A session names under `procedure` and `rule` the words that its lesson must contain.
    """
    tally: dict[str, tuple[int, ...]] = {"procedure": (0, 0, 0), "rule": (0, 0, 0)}
    for one in (one for name in names for one in tomllib.loads((BOOK / f"{name}.toml").read_text("utf-8"))["session"]):
        learnt = lessons(one["events"], one["name"])
        for type, so_far in tally.items():
            found = [each.new.text.casefold() for each in learnt if each.type == type]
            hit = type in one and any(all(word.casefold() in text for word in one[type]) for text in found)
            tally[type] = tuple(map(sum, zip(so_far, (hit, len(found), type in one), strict=True)))
    return tally
