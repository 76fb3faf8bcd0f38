"""Comparing a whole text with the bank's memories."""

from collections.abc import Callable

import pytest

from pieria import Bank
from pieria.errors import InputError

LONG = " ".join(
    f"Sentence {number} speaks of harbours, ferries and {number * 7} crates of tea." for number in range(60)
)
FERRY = "The ferry leaves at nine from the old pier."
LATER = "The ferry leaves at ten from the old pier."


@pytest.mark.parametrize(("embedder", "by"), [("none", "words"), ("hashing", "vectors")])
def test_whole_texts_are_compared_and_nothing_is_counted(opened: Callable[..., Bank], embedder: str, by: str) -> None:
    bank = opened(embedder=embedder)
    same, whole = bank.remember(FERRY), bank.remember(f"{LONG} The end is as it was.")
    part = bank.remember(LONG[:800])
    bank.remember("Maya prefers tea.")
    bank.sync()
    before = bank.changes()
    [first, *_] = bank.similar(FERRY)
    assert (first.memory.id, first.similarity) == (same.id, 1.0)
    [near] = bank.similar(LATER, least=0.6)
    assert (near.memory.id, near.by, near.similarity < 1) == (same.id, by, True)
    assert bank.similar("Quarterly numbers are due.", least=0.6) == []
    found = {one.memory.id: one.similarity for one in bank.similar(LONG)}
    assert found[whole.id] > 0.9
    assert found.get(part.id, 0.0) < found[whole.id]
    bank.sync()
    assert bank.changes() == before
    assert bank.usage(same.id)[same.id].accesses == 0
    for wrong in ({"text": " "}, {"text": "x", "k": 0}):
        with pytest.raises(InputError):
            bank.similar(**wrong)  # type: ignore[arg-type]


def test_memory_without_a_vector_yet_is_compared_by_words(opened: Callable[..., Bank]) -> None:
    bank = opened(embedder="hashing")
    bank.remember("Maya prefers tea.")
    bank.sync()
    with bank.core.embedding.aside():
        bank.remember(FERRY)
        for number in range(300):
            bank.remember(f"Crate {number} holds {number * 7} kestrels and a map of town {number % 7}.")
        [near] = bank.similar(LATER, least=0.6)
        assert (near.memory.text, near.by) == (FERRY, "words")
    bank.sync()
    [near] = bank.similar(LATER, least=0.6)
    assert near.by == "vectors"
