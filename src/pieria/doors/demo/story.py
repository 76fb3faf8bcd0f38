"""Tells the story to a bank: every line of `story.jsonl` on its day, through the verbs that anybody has.

The story is data, one JSON object a line: `on` is the day, `do` the verb (`remember` where there is none), and
the rest its arguments. What is said about it afterwards is no business of this module.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from pieria.bank import Bank
from pieria.record.time import instant
from pieria.workspace import open as open_bank

BANK = "tidewater"


class Calendar:
    """The clock of the story's banks. It stands still until it is set, so that every run tells the same days."""

    def __init__(self) -> None:
        self.now = datetime(2025, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def set(self, day: str) -> None:
        self.now = instant(day, "day")


@dataclass
class Story:
    """The bank of the story, where it lies, a folder for what is made aside, and the banks that were opened."""

    data: Path
    aside: Path
    lines: Iterable[Mapping[str, Any]]
    calendar: Calendar = field(default_factory=Calendar)
    opened: list[Bank] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bank = self.open()

    def open(self, name: str = BANK, *, data: Path | None = None, secrets: str = "flag", **values: Any) -> Bank:
        """`secrets` is always given, so that a setting of the user's cannot refuse a line of the story."""
        folder = self.data if data is None else data
        settings = {"secrets": secrets}
        bank = open_bank(name, data=folder, clock=self.calendar, who="demo", settings=settings, **values)
        self.opened.append(bank)
        return bank

    def close(self) -> None:
        for bank in self.opened:
            bank.close()


def lines() -> list[dict[str, Any]]:
    told = files("pieria.doors.demo").joinpath("story.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in told.splitlines()]


def tell(story: Story) -> Counter[str]:
    """Does what the lines say, each on its day and as a change of its own. Returns how often each verb was called."""
    verbs = _verbs(story.bank)
    called: Counter[str] = Counter()
    for line in story.lines:
        values = dict(line)
        story.calendar.set(values.pop("on"))
        verb = values.pop("do", "remember")
        verbs[verb](**values)
        called[verb] += 1
    return called


def _verbs(bank: Bank) -> dict[str, Callable[..., object]]:
    return {
        "remember": bank.remember,
        "revise": bank.revise,
        "update": bank.update,
        "link": bank.link,
        "fact": bank.facts.add,
        "supersede": bank.facts.supersede,
        "declare": bank.facts.declare,
        "alias": bank.facts.alias,
    }
