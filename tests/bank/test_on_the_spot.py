"""A memory written a moment ago is compared by meaning before the background embeds it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria.bank import Bank
from pieria.bank.embedding.on_the_spot import OnTheSpot
from pieria.language.passages import LEAD
from pieria.models import Embedder
from pieria.models.embedding import EmbeddingResponse, Identity
from pieria.models.meter import UNMETERED

MEANINGS = (("doctor", "physician"), ("car", "automobile"), ("boat", "vessel"))
SOON = 20.0
FILLING = "The meeting went on and on, and nobody said anything at all. " * 40


class Counting:
    """An embedding that treats words of one meaning alike. It records every text."""

    def __init__(self, *, at_hand: bool) -> None:
        self.is_at_hand = self.is_loaded = at_hand
        self.identity = Identity("test:meanings", 1 + len(MEANINGS))
        self.seen: list[str] = []

    def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        return self.embed_batch([text])

    def embed_batch(self, texts: Sequence[str], opts: Mapping[str, Any] | None = None) -> EmbeddingResponse:
        self.seen += texts
        return EmbeddingResponse([vector(text) for text in texts], "test:meanings")


def vector(text: str) -> list[float]:
    words = "".join(letter if letter.isalpha() else " " for letter in text.lower()).split()
    return [0.3, *(float(sum(word in meaning for word in words)) for meaning in MEANINGS)]


@pytest.fixture(params=[True, False], ids=["at hand", "elsewhere"])
def model(request: pytest.FixtureRequest) -> Counting:
    return Counting(at_hand=request.param)


@pytest.fixture
def bank(tmp_path: Path, model: Counting) -> Iterator[Bank]:
    with pieria.Workspace(data=tmp_path, embedder=model) as workspace:
        bank = workspace.open("notes")
        bank.remember_many([{"text": f"Nothing of note, number {number}."} for number in range(30)])
        assert bank.sync(SOON)
        yield bank


def test_new_memory_without_a_shared_word_is_found_at_once(bank: Bank, model: Counting) -> None:
    with bank.core.embedding.aside():
        bank.remember("A physician came by.", id="new")
        bank.remember("A physician came by, too.", id="hidden", scope="session", session="other")
        model.seen.clear()
        found = bank.recall("doctor")
        assert found.plan["embedding"]["pending"] > 0
        assert found[0].memory.id == "new" and found[0].why["dense"] > 0.9
        assert bank.recall("doctor")[0].memory.id == "new"
        assert "hidden" not in [hit.memory.id for hit in found]
    assert bank.sync(SOON)
    assert model.seen.count("A physician came by.") == 1
    assert bank.recall("doctor")[0].why["dense"] == pytest.approx(found[0].why["dense"], abs=1e-3)


def test_best_passage_of_a_long_text_is_compared(bank: Bank) -> None:
    with bank.core.embedding.aside():
        bank.remember(f"{FILLING}\n\nThe harbour has a vessel for sale.\n\n{FILLING}", id="long")
        found = bank.recall("Which boat is for sale in the harbour?")
    assert found[0].memory.id == "long"
    assert "harbour has a vessel" in found[0].snippet
    # The text's beginning is off topic.
    assert 0.9 > found[0].why["dense"] > 0.3


def test_leads_of_all_texts_come_before_their_passages(bank: Bank, model: Counting) -> None:
    embedding = bank.core.embedding
    with embedding.aside():
        for number in range(3):
            bank.remember(f"Day {number} on the vessel. {FILLING}\n\nThe physician left a note.", id=f"d{number}")
        model.seen.clear()
        found = bank.recall("What did the doctor leave on the boat?")
        texts = [text for text in model.seen if "doctor" not in text]
        assert [text.startswith("Day ") for text in texts[:4]] == [True, True, True, False]
        assert all(len(text) <= LEAD for text in texts[:3])
        assert {hit.memory.id for hit in found[:3]} == {"d0", "d1", "d2"}
        embedding._on_the_spot.let_go(model.seen)
        model.seen.clear()
        embedding._rested.clear()
    embedding.wake()
    assert embedding._rested.wait(SOON)
    leads = [text.startswith("Day ") and len(text) <= LEAD for text in model.seen]
    # A remote model embeds leads and passages in one call.
    assert all(leads[:3]) is model.is_at_hand
    assert sum(leads) == 3
    # The passages have vectors now, so the kept leads are dropped.
    assert embedding._on_the_spot.kept(model.seen) == {}


def test_short_texts_have_no_leads(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    embedding, parts = bank.core.embedding, list[int]()
    monkeypatch.setattr(embedding, "_put", lambda vectors, *more: parts.append(len(vectors)))
    with embedding.aside():
        for number in range(3):
            bank.remember(f"A physician came by on day {number}.")
        assert embedding._lead(None)
    assert parts == []


def test_text_of_a_foreign_bank_is_not_sent_elsewhere(
    bank: Bank, model: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bank.core.embedding, "_is_foreign", True)
    bank.remember("A physician came by.", id="new")
    model.seen.clear()
    bank.recall("doctor")
    assert ("A physician came by." in model.seen) is model.is_at_hand


def test_nothing_is_embedded_where_there_is_no_time() -> None:
    model = Counting(at_hand=True)
    spot, embedder = OnTheSpot(), Embedder(model)
    texts = [f"{number} " + "x" * 1_000 for number in range(3)]
    assert spot.made(embedder, texts, float("inf"), UNMETERED).keys() == set(texts)
    # It has measured how long a text takes, and there is less time than that.
    model.seen.clear()
    assert spot.made(embedder, ["another"], 0.0, UNMETERED) == {}
    assert spot.made(embedder, texts[:1], 0.0, UNMETERED).keys() == {texts[0]}
    assert model.seen == []
    spot.let_go(texts)
    assert spot.kept(texts) == {}
