"""Collecting candidates on a real bank: the pool, the features of each candidate, and no hidden memories."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pieria
from pieria.bank import Bank
from pieria.recall.bm25 import corpus
from pieria.recall.candidates import Gathered, Gathering, Wanted
from pieria.recall.part import Source
from pieria.recall.query import reading
from pieria.recall.scores import POLICIES

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
NONE: Mapping[int, Sequence[int]] = {}
SAID = (
    "Did the heron nest?",
    "Yes, by the mill.",
    "And the stork?",
    "It left in May.",
    "A pity.",
    "Well.",
    "Good night.",
)


def embed(texts: list[str]) -> list[list[float]]:
    return [[text.lower().count(letter) + 0.1 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Bank]]:
    settings = {"durability": "off"}
    with pieria.Workspace(data=tmp_path, settings=settings, embedder=embed) as workspace:
        yield workspace.open


@pytest.fixture
def bank(opened: Callable[..., Bank]) -> Bank:
    bank = opened("notes")
    turns: list[dict[str, Any]] = [
        {"text": text, "id": f"t{n}", "kind": "turn", "session": "s", "author": ("Maya", "Omar")[n % 2]}
        for n, text in enumerate(SAID)
    ]
    bank.remember_many(turns)
    assert bank.sync(20)
    return bank


def gathered(
    bank: Bank, question: str, *, vector: bool = True, further: Mapping[int, Sequence[int]] = NONE
) -> Gathered:
    read = reading(question, NOW)
    made = bank.core.embedding.question(question, 5) if vector else None
    with bank.core.reading() as reader:
        filter = bank.core.filter()
        match = reader.text(read.considered, filter, 120, 5_000)
        known = corpus(match.documents, match.terms, match.frequencies)
        gathering = Gathering([Source(bank.name, reader, filter, made)], read, known, [match])
        return gathering.gathered(Wanted(POLICIES["hybrid"].needs, further=further))


def lines(found: Gathered) -> dict[str, int]:
    return {id: number for number, id in enumerate(found.pool.ids)}


def test_by_words_alone_what_was_found_comes_with_its_neighbours_and_no_others(bank: Bank) -> None:
    found = gathered(bank, "heron", vector=False)
    pool, line = found.pool, lines(found)
    assert set(pool.ids) == {"t0", "t1", "t2"}
    assert dict(zip(pool.terms, pool.counts[:, line["t0"]], strict=True)) == {"heron": 1}
    assert pool.asks[line["t0"]]
    assert not pool.asks[line["t1"]]
    assert pool.beside[-1][line["t1"]] == line["t0"]
    assert [distance for distance, others in pool.beside.items() if others[line["t1"]] >= 0] == [-1, 1, 2, 3]
    assert np.isnan(pool.dense).all()
    assert np.isnan(pool.window).all()


def test_with_a_vector_each_is_compared_whichever_arm_found_it(bank: Bank) -> None:
    pool = gathered(bank, "where does the heron nest").pool
    assert set(pool.ids) == {f"t{n}" for n in range(len(SAID))}
    assert not np.isnan(pool.dense).any()
    assert not np.isnan(pool.window).any()


def test_the_author_who_is_named_is_known_unless_all_are(bank: Bank) -> None:
    found = gathered(bank, "what did Maya ask")
    assert {id for id, number in lines(found).items() if found.pool.by_named[number]} == {"t0", "t2", "t4", "t6"}
    assert not gathered(bank, "what did Maya and Omar say").pool.by_named.any()


def test_standing_rules_are_there_where_something_is_to_be_done(bank: Bank) -> None:
    bank.remember("Always answer in metric units.", id="rule")
    assert bank.sync(20)
    asking = gathered(bank, "Write a letter to the mill.", vector=False)
    rule = lines(asking)["rule"]
    assert not np.isnan(asking.pool.rule[rule])
    assert np.isnan(asking.pool.wish[rule])
    assert "rule" not in lines(gathered(bank, "When did the stork leave?", vector=False))


def test_nobody_is_in_the_pool_who_may_not_be_seen(bank: Bank, opened: Callable[..., Bank]) -> None:
    opened("notes", session="s").remember("The heron is a secret.", id="hidden", scope="session")
    bank.remember("The heron was removed.", id="gone")
    assert bank.sync(20)
    bank.remove("gone")
    assert not {"hidden", "gone"} & set(lines(gathered(bank, "heron secret removed")))
    seen = gathered(opened("notes", session="s"), "heron secret removed")
    assert "hidden" in lines(seen)


def test_where_rows_are_given_nobody_else_is_chosen(bank: Bank) -> None:
    found = gathered(bank, "good night", vector=False)
    _, row = found.pool.keys[lines(found)["t6"]]
    assert set(lines(gathered(bank, "heron", further={0: [row]}))) == {"t6"}
