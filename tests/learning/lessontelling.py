"""Sessions of the lesson book as events, and the lessons that rules learn from them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.learning.working import Session

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


@dataclass(frozen=True)
class Told:
    """A session of the book; `wanted` are the words that its lesson of each type must contain."""

    name: str
    events: Sequence[Line]
    wanted: dict[str, list[str]]


def book(name: str) -> list[Told]:
    read = tomllib.loads((BOOK / f"{name}.toml").read_text("utf-8"))["session"]
    return [
        Told(one["name"], one["events"], {type: one[type] for type in ("procedure", "rule") if type in one})
        for one in read
    ]


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


@dataclass
class Tally:
    """`hit` of `wanted` were found, among `found` in all."""

    hit: int = 0
    found: int = 0
    wanted: int = 0

    def count(self, found: Sequence[Found], wanted: list[str] | None) -> None:
        self.found += len(found)
        self.wanted += wanted is not None
        self.hit += any(all(word.casefold() in one.new.text.casefold() for word in wanted or ["\0"]) for one in found)


def tallied(names: Iterable[str]) -> dict[str, Tally]:
    tally = {"procedure": Tally(), "rule": Tally()}
    for name in names:
        for one in book(name):
            found = lessons(one.events, one.name)
            for type, counted in tally.items():
                counted.count([each for each in found if each.type == type], one.wanted.get(type))
    return tally
