"""Questions to short notes with the installed model: answers that exist or not, and two-part questions."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import pytest
from tests.models.conftest import INSTALLED

import pieria
from pieria.bank import Bank

ASKED = json.loads((Path(__file__).parents[1] / "data" / "asked_notes.json").read_text(encoding="utf-8"))[::3]
"""Banks of eight to twelve notes, with questions that a note answers and questions that none answers."""
NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], Bank]]:
    settings = {"embedder": "local", "models": str(INSTALLED)}
    with pieria.Workspace(data=tmp_path, settings=settings, clock=lambda: NOW) as workspace:
        yield workspace.open


def test_confidence_says_whether_an_answer_is_there(opened: Callable[[str], Bank]) -> None:
    """The weights were fitted on these notes: a lower share is a fault, a higher one proves nothing."""
    together = opened("all")
    together.remember_many([{"text": text} for asked in ASKED for text in asked["notes"]])
    banks = []
    for number, asked in enumerate(ASKED):
        banks.append(opened(f"bank{number}"))
        banks[-1].remember_many([{"text": text} for text in asked["notes"]])
    for holding in (banks, [together] * len(ASKED)):
        sure, unsure = [], []
        for bank, asked in zip(holding, ASKED, strict=True):
            bank.sync()
            sure += [not bank.recall(each["question"], k=1).is_doubtful for each in asked["answered"]]
            unsure += [bank.recall(question, k=1).is_doubtful for question in asked["unanswered"]]
        assert fmean(sure) >= 0.75
        assert fmean(unsure) >= 0.65


def test_both_halves_of_a_question_are_found(opened: Callable[[str], Bank]) -> None:
    bank = opened("dog")
    bank.remember_many([{"text": f"Otto weighs {5 + n / 10:.1f} kilos.", "id": f"weight{n}"} for n in range(12)])
    bank.remember("The dog licence is due at the town hall by the end of March.", id="licence")
    bank.remember_many(["The clock is slow.", "Limp lettuce again.", "A new lead."])
    found = bank.recall("how much does Otto weigh, and by when is the dog licence due?", k=5)
    named = [hit.memory.id for hit in found]
    assert "licence" in named
    assert any(id.startswith("weight") for id in named)
