"""Helpers for tests of recall: walks through all pages, and banks with an embedding by hand."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank
from pieria.recall.answer import Recall

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
"""This is a Wednesday."""
MEANINGS = (("doctor", "physician"), ("car", "automobile"), ("bread", "loaf"), ("boat", "vessel"), ("rain", "drizzle"))
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def embed(texts: list[str]) -> list[list[float]]:
    """Return vectors that are alike for words of one meaning. Letters distinguish the rest a little."""
    return [_vector(text.lower()) for text in texts]


def _vector(text: str) -> list[float]:
    words = "".join(letter if letter.isalnum() else " " for letter in text).split()
    meant = [float(sum(word in meaning for word in words)) for meaning in MEANINGS]
    return [*meant, *(0.1 * text.count(letter) / (1 + len(text)) + 0.001 for letter in LETTERS)]


@pytest.fixture
def embedding(tmp_path: Path, clock: HandClock) -> Iterator[Callable[..., Bank]]:
    """Yield a function that opens a bank with an embedder, as often as called."""
    with ExitStack() as stack:

        def opened(embedder: object = embed, name: str = "notes", **settings: Any) -> Bank:
            workspace = pieria.Workspace(tmp_path, settings, embedder=embedder, clock=clock)
            return stack.enter_context(workspace).open(name)

        yield opened


def fill(bank: Bank, *items: Mapping[str, Any]) -> None:
    bank.remember_many([dict(item) for item in items])
    assert bank.sync(20)


def session(name: str, *texts: str, **values: Any) -> list[dict[str, Any]]:
    """Return the turns of a session."""
    turn = {"kind": "turn", "session": name, **values}
    return [{"id": f"{name}{n}", "text": text, **turn} for n, text in enumerate(texts)]


def numbered(bank: Bank, number: int, text: str, prefix: str = "m", **values: Any) -> None:
    """Remember so many memories whose texts differ in a number."""
    fill(bank, *({"id": f"{prefix}{n}", "text": text.format(n), **values} for n in range(number)))


def ids(found: Recall) -> list[str]:
    return [hit.memory.id for hit in found]


def walk(
    bank: Bank, question: str, k: int, between: Callable[[int], object] = lambda page: None, **asked: Any
) -> list[Recall]:
    """Return all pages. `between` is called before each later page, with the number of pages so far."""
    pages = [bank.recall(question, k=k, **asked)]
    while pages[-1].cursor is not None:
        assert len(pages[-1].cursor) < 2_500
        between(len(pages))
        pages.append(bank.recall(question, k=k, cursor=pages[-1].cursor, **asked))
    return pages


def shown(pages: list[Recall]) -> list[str]:
    return [id for page in pages for id in ids(page)]
