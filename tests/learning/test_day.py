"""A day's work in `tests/data/day`; its author saw no rules, and these tests keep its labels reliable."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

DAY = Path(__file__).parents[1] / "data" / "day"


def read(name: str) -> Any:
    return json.loads((DAY / f"{name}.json").read_text("utf-8"))


def test_the_cuts_of_a_day_are_where_its_topics_change() -> None:
    topics = [step["topic"] for step in read("day")["steps"]]
    changes = [number for number, (before, now) in enumerate(pairwise(topics), 1) if before != now]
    assert read("cuts") == changes
    assert (len(topics), len(set(topics))) == (60, 5)


def test_the_questions_of_a_day_lead_to_its_steps() -> None:
    questions = read("questions")
    assert len(questions) == 30
    assert all(one["steps"] and set(one["steps"]) <= set(range(60)) for one in questions)
