"""Comparing a whole text with the bank's memories."""

from pathlib import Path

import pytest

import pieria
from pieria.errors import InputError

LONG = " ".join(
    f"Sentence {number} speaks of harbours, ferries and {number * 7} crates of tea." for number in range(60)
)


@pytest.fixture(params=["none", "hashing"])
def bank(request: pytest.FixtureRequest, tmp_path: Path) -> pieria.Bank:
    return pieria.open("notes", data=tmp_path, settings={"embedder": request.param, "durability": "off"})


def test_what_says_the_same_is_found_and_nothing_is_counted(bank: pieria.Bank) -> None:
    with bank:
        same = bank.remember("The ferry leaves at nine from the old pier.")
        bank.remember("Maya prefers tea.")
        bank.sync()
        before = bank.changes()
        [first, *_] = bank.similar("The ferry leaves at nine from the old pier.")
        assert (first.memory.id, first.similarity) == (same.id, 1.0)
        [near] = bank.similar("The ferry leaves at ten from the old pier.", least=0.6)
        assert near.memory.id == same.id
        assert near.similarity < 1
        assert bank.similar("Quarterly numbers are due.", least=0.6) == []
        bank.sync()
        assert bank.changes() == before
        assert bank.usage(same.id)[same.id].accesses == 0


def test_all_of_a_long_text_is_compared(bank: pieria.Bank) -> None:
    with bank:
        whole = bank.remember(f"{LONG} The end is as it was.")
        part = bank.remember(LONG[:800])
        bank.sync()
        found = {one.memory.id: one.similarity for one in bank.similar(LONG)}
        assert found[whole.id] > 0.9
        assert found.get(part.id, 0.0) < found[whole.id]


def test_by_what_it_was_compared_is_told(tmp_path: Path) -> None:
    for embedder, by in (("none", "words"), ("hashing", "vectors")):
        with pieria.open(embedder, data=tmp_path, settings={"embedder": embedder}) as bank:
            bank.remember("The ferry leaves at nine.")
            bank.sync()
            assert [one.by for one in bank.similar("The ferry leaves at ten.")] == [by]


def test_what_is_still_to_be_embedded_is_compared_by_its_words(tmp_path: Path) -> None:
    texts = [f"Crate {number} holds {number * 7} kestrels and a map of town {number % 7}." for number in range(300)]
    with pieria.open("notes", data=tmp_path, settings={"embedder": "hashing"}) as bank:
        bank.remember("Maya prefers tea.")
        bank.sync()
        with bank.core.embedding.aside():
            bank.remember("The ferry leaves at nine from the old pier.")
            for text in texts:
                bank.remember(text)
            [near] = bank.similar("The ferry leaves at ten from the old pier.", least=0.6)
            assert (near.memory.text[:9], near.by) == ("The ferry", "words")
        bank.sync()
        [near] = bank.similar("The ferry leaves at ten from the old pier.", least=0.6)
        assert near.by == "vectors"


def test_what_cannot_be_asked_is_refused(bank: pieria.Bank) -> None:
    with bank, pytest.raises(InputError):
        bank.similar(" ")
    with pytest.raises(InputError):
        bank.similar("x", k=0)
