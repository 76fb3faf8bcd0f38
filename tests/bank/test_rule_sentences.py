"""Sentences with a standing rule have vectors of their own, made with the passages of their text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bank.embedding_server import vector

from pieria import Bank, Workspace
from pieria.bank.embedding.texts import MOST_RULES
from pieria.store.protocol import Reader

TEXT = "We were at the sea. Please always answer in metric units. It rained. I prefer tea to coffee."
RULES = ["Please always answer in metric units.", "I prefer tea to coffee."]


def letters(texts: list[str]) -> list[list[float]]:
    return [vector(text) for text in texts]


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with Workspace(tmp_path, embedder=letters) as workspace:
        yield workspace.open("b")


def rules(bank: Bank, row: int) -> list[int]:
    """Return the numbers of the row's rule vectors."""
    with bank.core.store.reading() as reader:
        return [number for number, _ in reader.vectors([row], "rule").get(row, [])]


def nearest(reader: Reader, text: str, row: int, what: Any = "rule") -> tuple[float, int, int]:
    span = reader.similarities(vector(text), [row], what)[row]
    return round(span.similarity, 3), span.start, span.stop


def test_each_rule_of_a_text_has_a_vector_of_its_own(bank: Bank) -> None:
    plain, ruling = bank.remember_many([{"text": "We were at the sea."}, {"text": TEXT, "title": "Monday"}])
    assert (rules(bank, plain.row), rules(bank, ruling.row)) == ([], [0, 1])
    with bank.core.store.reading() as reader:
        for said in RULES:
            start = TEXT.index(said)
            assert nearest(reader, said, ruling.row) == (1.0, start, start + len(said))
        assert nearest(reader, RULES[0], ruling.row, "passage")[0] < 1
    assert bank.stats().pending == {"vectors": 0}


def test_sync_makes_them_too_and_counts_texts_as_they_were_pending(bank: Bank) -> None:
    with bank.core.embedding.aside():
        memory = bank.remember(TEXT)
        told: list[tuple[int, int]] = []
        assert bank.sync(progress=lambda done, of: told.append((done, of)))
    assert rules(bank, memory.row) == [0, 1]
    assert told == [(0, 1), (1, 1)]


def test_a_summary_has_no_rules_of_its_own(bank: Bank) -> None:
    [memory] = bank.remember_many([{"text": TEXT, "kind": "summary"}])
    assert rules(bank, memory.row) == []


def test_a_new_version_has_the_rules_of_its_text_alone(bank: Bank) -> None:
    [memory] = bank.remember_many([{"text": TEXT}])
    changed = bank.update(memory.id, text="We were at the sea. Always answer in verse.")
    gone = bank.update(memory.id, text="We were at the sea.")
    assert bank.sync()
    assert (rules(bank, memory.row), rules(bank, gone.row)) == ([0, 1], [])
    again = bank.update(memory.id, text="Always answer in verse.")
    assert bank.sync()
    assert changed.row != again.row
    assert rules(bank, again.row) == [0]


def test_a_rule_book_is_left_to_its_passages(bank: Bank) -> None:
    [within] = bank.remember_many([{"text": "Always answer in metric units.\n" * MOST_RULES}])
    [beyond] = bank.remember_many([{"text": "Always answer in metric units.\n" * (MOST_RULES + 1)}])
    assert (len(rules(bank, within.row)), len(rules(bank, beyond.row))) == (MOST_RULES, 0)


def test_supplied_vectors_stand_for_the_rules_as_well(bank: Bank) -> None:
    [memory] = bank.remember_many([{"text": TEXT, "vectors": vector(TEXT)}])
    assert bank.sync()
    assert rules(bank, memory.row) == []


def test_a_purge_takes_them_along(bank: Bank) -> None:
    [memory] = bank.remember_many([{"text": TEXT}])
    bank.purge(memory.id)
    with bank.core.store.reading() as reader:
        assert reader.near(vector(RULES[0]), bank.core.filter(), 5, "rule").candidates == []
    assert [finding.check for finding in bank.doctor().findings if not finding.well] == []
