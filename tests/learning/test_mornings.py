"""The next morning: the work of the day before answers new questions, in few tokens.

One of the two days was held out: its questions were written before there were any rules, and asked for the first time
when the rules were finished.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.learning.replay import DAYS, events

import pieria
from pieria.record.memory import Memory

TOKENS = 2_000
ENOUGH = 8
"""The minimum of answered questions, of ten."""


def answers(memory: Memory, question: dict[str, Any]) -> bool:
    told = " ".join([memory.title or "", memory.text, *memory.files])
    return (
        memory.kind == "observation"
        and memory.body["type"] in question["types"]
        and all(part in told for part in question["holds"])
    )


@pytest.mark.parametrize("day", ["shop", "gateway"])
def test_the_next_morning_is_answered(day: str, tmp_path: Path) -> None:
    questions = json.loads((DAYS / f"{day}.json").read_text("utf-8"))["questions"]
    assert len(questions) == 10
    with pieria.Workspace(tmp_path, {"durability": "off"}) as workspace, workspace.open("work") as bank:
        bank.observe(events(day))
        bank.distil()
        assert all(len(each.title or "") <= 80 for each in bank.list(kinds="observation", limit=200))
        missed = [
            question["ask"]
            for question in questions
            if not any(
                answers(hit.memory, question) for hit in bank.recall(question["ask"], k=50, budget_tokens=TOKENS)
            )
        ]
    assert len(questions) - len(missed) >= ENOUGH, missed
