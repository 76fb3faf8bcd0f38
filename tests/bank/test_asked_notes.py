"""Questions to short notes with the installed model: answers that exist or not, times, and two-part questions."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from tests.models.conftest import INSTALLED

import pieria
from pieria.bank import Bank

ASKED = json.loads((Path(__file__).parents[1] / "data" / "asked_notes.json").read_text(encoding="utf-8"))
"""Banks of eight to twelve notes, with questions that a note answers and questions that none answers."""
NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], Bank]]:
    settings = {"embedder": "local", "models": str(INSTALLED), "durability": "off"}
    with pieria.Workspace(data=tmp_path, settings=settings, clock=lambda: NOW) as workspace:
        yield workspace.open


def sure(bank: Bank, asked: dict[str, Any]) -> tuple[list[bool], list[bool]]:
    answered = [not bank.recall(each["question"], k=1).is_doubtful for each in asked["answered"]]
    return answered, [bank.recall(question, k=1).is_doubtful for question in asked["unanswered"]]


@pytest.mark.parametrize("size", ["small", "large"])
def test_confidence_tells_whether_an_answer_is_there_whatever_the_size_of_the_bank(
    opened: Callable[[str], Bank], size: str
) -> None:
    """The weights were fitted on these notes: a lower share is a fault, a higher one proves nothing."""
    found: list[tuple[list[bool], list[bool]]] = []
    for number, asked in enumerate(ASKED):
        bank = opened("all" if size == "large" else f"bank{number}")
        bank.remember_many([{"text": text} for text in asked["notes"]])
        bank.sync()
        if size == "small":
            found.append(sure(bank, asked))
    if size == "large":
        found = [sure(opened("all"), asked) for asked in ASKED]
    assert fmean(right for answered, _ in found for right in answered) >= 0.75
    assert fmean(right for _, unanswered in found for right in unanswered) >= 0.65


def test_what_we_did_last_week_is_what_was_noted_then(opened: Callable[[str], Bank]) -> None:
    bank = opened("notes")
    done = {
        30: "Hauled the boat out and scraped the hull.", 9: "Rewired the bilge pump.", 6: "Bent on the mainsail.",
        2: "Sailed the boat to the island and back.", 1: "Tightened the stuffing box of the boat.",
    }  # fmt: skip
    for days, text in done.items():
        bank.remember(text, id=str(days), at=NOW - timedelta(days=days))
    bank.sync()
    found = bank.recall("what did we do on the boat last week?", k=2)
    assert {hit.memory.id for hit in found} == {"9", "6"}


def test_both_halves_of_a_question_are_answered_however_often_one_was_noted(opened: Callable[[str], Bank]) -> None:
    bank = opened("notes")
    for number in range(12):
        bank.remember(f"Otto weighs {5 + number / 10:.1f} kilos.", id=f"weight{number}")
    bank.remember("The dog licence is due at the town hall by the end of March.", id="licence")
    bank.remember_many([{"text": text} for text in ("The clock is slow.", "Limp lettuce again.", "A new lead.")])
    bank.sync()
    found = bank.recall("how much does Otto weigh, and by when is the dog licence due?", k=5)
    named = [hit.memory.id for hit in found]
    assert "licence" in named
    assert any(id.startswith("weight") for id in named)
