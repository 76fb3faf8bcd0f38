"""The next morning: the work of the day before answers new questions, in few tokens.

One of the two days was held out: its questions were written before there were any rules, and asked for the first time
when the rules were finished.
"""

import json
from typing import Any

import pytest
from tests.learning.replay import DAYS, events

from pieria import Bank
from pieria.models.mind import TITLE
from pieria.record.memory import Memory

TOKENS = 2_000
ENOUGH = 8
"""The minimum of answered questions, of ten."""


def answers(memory: Memory, question: dict[str, Any]) -> bool:
    told = " ".join([memory.title or "", memory.text, *memory.files])
    is_wanted = memory.kind == "observation" and memory.body["type"] in question["types"]
    return is_wanted and all(part in told for part in question["holds"])


@pytest.mark.parametrize("day", ["shop", "gateway"])
def test_next_morning_most_questions_are_answered(day: str, bank: Bank) -> None:
    questions = json.loads((DAYS / f"{day}.json").read_text("utf-8"))["questions"]
    assert len(questions) == 10
    bank.observe(events(day))
    bank.distil()
    assert all(len(each.title or "") <= TITLE for each in bank.list(kinds="observation", limit=200))
    missed = []
    for question in questions:
        hits = bank.recall(question["ask"], k=50, budget_tokens=TOKENS)
        missed += [] if any(answers(hit.memory, question) for hit in hits) else [question["ask"]]
    assert len(questions) - len(missed) >= ENOUGH, missed
