"""Sentences with a standing rule have vectors of their own, made with the passages of their text."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.bank.embedding_server import vector
from tests.bank.recall_pages import embedding

from pieria import Bank, Memory
from pieria.bank.embedding.texts import MOST_RULES
from pieria.store.protocol import Reader

TEXT = "We were at the sea. Please always answer in metric units. It rained. I prefer tea to coffee."
RULES = ["Please always answer in metric units.", "I prefer tea to coffee."]


def letters(texts: list[str]) -> list[list[float]]:
    return [vector(text) for text in texts]


__all__ = ["embedding"]


@pytest.fixture
def bank(embedding: Callable[..., Bank]) -> Bank:
    return embedding(letters)


def rules(bank: Bank, row: int) -> list[int]:
    """Return the numbers of the row's rule vectors."""
    with bank.core.store.reading() as reader:
        return [number for number, _ in reader.vectors([row], "rule").get(row, [])]


def nearest(reader: Reader, text: str, row: int, what: Any = "rule") -> tuple[float, int, int]:
    span = reader.similarities(vector(text), [row], what)[row]
    return round(span.similarity, 3), span.start, span.stop


def kept(bank: Bank, text: str = TEXT, **values: Any) -> Memory:
    [memory] = bank.remember_many([{"text": text, **values}])
    return memory


def test_each_rule_of_a_text_has_a_vector(bank: Bank) -> None:
    plain, ruling = kept(bank, "We were at the sea."), kept(bank, title="Monday")
    assert (rules(bank, plain.row), rules(bank, ruling.row)) == ([], [0, 1])
    with bank.core.store.reading() as reader:
        for said in RULES:
            start = TEXT.index(said)
            assert nearest(reader, said, ruling.row) == (1.0, start, start + len(said))
        assert nearest(reader, RULES[0], ruling.row, "passage")[0] < 1
    assert bank.stats().pending == {"vectors": 0}
    bank.purge(ruling.id)
    with bank.core.store.reading() as reader:
        assert reader.near(vector(RULES[0]), bank.core.filter(), 5, "rule").candidates == []
    assert [finding.check for finding in bank.doctor().findings if not finding.well] == []


def test_sync_makes_them_and_counts_pending_texts(bank: Bank) -> None:
    with bank.core.embedding.aside():
        memory = bank.remember(TEXT)
        told: list[tuple[int, int]] = []
        assert bank.sync(progress=lambda done, of: told.append((done, of)))
    assert (rules(bank, memory.row), told) == ([0, 1], [(0, 1), (1, 1)])


def test_summaries_rule_books_and_supplied_vectors_have_none(bank: Bank) -> None:
    rule = "Always answer in metric units.\n"
    within = kept(bank, rule * MOST_RULES)
    without = [kept(bank, rule * (MOST_RULES + 1)), kept(bank, kind="summary"), kept(bank, vectors=vector(TEXT))]
    assert bank.sync()
    assert len(rules(bank, within.row)) == MOST_RULES
    assert [rules(bank, memory.row) for memory in without] == [[]] * 3


def test_new_version_has_the_rules_of_its_text_alone(bank: Bank) -> None:
    memory = kept(bank)
    changed = bank.update(memory.id, text="We were at the sea. Always answer in verse.")
    gone = bank.update(memory.id, text="We were at the sea.")
    assert bank.sync()
    assert (rules(bank, memory.row), rules(bank, gone.row)) == ([0, 1], [])
    again = bank.update(memory.id, text="Always answer in verse.")
    assert bank.sync()
    assert changed.row != again.row
    assert rules(bank, again.row) == [0]
