"""Collecting candidates on a real bank: the pool, the features of each candidate, and no hidden memories."""

from collections.abc import Iterator, Mapping, Sequence
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
    "Did the heron nest?", "Yes, by the mill.", "And the stork?", "It left in May.", "A pity.", "Well.", "Good night.",
)  # fmt: skip


def embed(texts: list[str]) -> list[list[float]]:
    return [[text.lower().count(letter) + 0.1 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    turns: list[dict[str, Any]] = [
        {"text": text, "id": f"t{n}", "kind": "turn", "session": "s", "author": ("Maya", "Omar")[n % 2]}
        for n, text in enumerate(SAID)
    ]
    with pieria.Workspace(data=tmp_path, embedder=embed) as workspace:
        bank = workspace.open("notes")
        bank.remember_many(turns)
        yield bank


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


def test_words_alone_find_matches_with_their_neighbours(bank: Bank) -> None:
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
    # With a vector each is compared, whichever arm found it.
    pool = gathered(bank, "where does the heron nest").pool
    assert set(pool.ids) == {f"t{n}" for n in range(len(SAID))}
    assert not np.isnan(pool.dense).any()
    assert not np.isnan(pool.window).any()
    # Where rows are given, no other is chosen.
    found = gathered(bank, "good night", vector=False)
    _, row = found.pool.keys[lines(found)["t6"]]
    assert set(lines(gathered(bank, "heron", further={0: [row]}))) == {"t6"}


def test_named_author_is_known_unless_all_are_named(bank: Bank) -> None:
    found = gathered(bank, "what did Maya ask")
    assert {id for id, number in lines(found).items() if found.pool.by_named[number]} == {"t0", "t2", "t4", "t6"}
    assert not gathered(bank, "what did Maya and Omar say").pool.by_named.any()


def test_standing_rules_are_found_for_a_task(bank: Bank) -> None:
    bank.remember("Always answer in metric units.", id="rule")
    asking = gathered(bank, "Write a letter to the mill.", vector=False)
    rule = lines(asking)["rule"]
    assert not np.isnan(asking.pool.rule[rule])
    assert np.isnan(asking.pool.wish[rule])
    assert "rule" not in lines(gathered(bank, "When did the stork leave?", vector=False))


def test_unseen_and_removed_memories_are_in_no_pool(bank: Bank, tmp_path: Path) -> None:
    with pieria.Workspace(data=tmp_path, embedder=embed) as workspace:
        theirs = workspace.open("notes", session="s")
        theirs.remember("The heron is a secret.", id="hidden", scope="session")
        bank.remember("The heron was removed.", id="gone")
        assert bank.sync(20)
        bank.remove("gone")
        assert not {"hidden", "gone"} & set(lines(gathered(bank, "heron secret removed")))
        assert "hidden" in lines(gathered(theirs, "heron secret removed"))
