"""The number of SQL statements of one recall. Each is a round trip to the server."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.bank.recalling import embed

import pieria
from pieria.bank import Bank
from pieria.store.postgres.session import PostgresSession
from pieria.store.sqlite.session import SQLiteSession

NOTES, ASKED = 60, "What did Maya say about the heron?"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects all statements of this thread. The background thread is left out."""
    noted: list[str] = []
    me = threading.get_ident()

    def noting(execute: Callable[..., Any]) -> Callable[..., Any]:
        def executed(*given: Any, **how: Any) -> Any:
            if threading.get_ident() == me:
                noted.append(next(value for value in given if isinstance(value, str)))
            return execute(*given, **how)

        return executed

    begun = SQLiteSession.__init__

    def begins(self: SQLiteSession, *given: Any, **how: Any) -> None:
        begun(self, *given, **how)
        self.execute = noting(self.execute)

    monkeypatch.setattr(SQLiteSession, "__init__", begins)
    for name in ("execute", "execute_once"):
        monkeypatch.setattr(PostgresSession, name, noting(getattr(PostgresSession, name)))
    return noted


@pytest.fixture
def bank(kept: Kept, asked: list[str]) -> Iterator[Bank]:
    settings = {**kept.settings, "count_uses": False}
    with pieria.Workspace(data=kept.data, settings=settings, embedder=embed) as workspace:
        yield filled(workspace.open("notes"))


def filled(bank: Bank) -> Bank:
    bank.remember_many(
        [{"text": f"Maya saw heron {number} by the river.", "session": f"s{number // 10}"} for number in range(NOTES)]
    )
    assert bank.sync(30)
    bank.recall(ASKED)
    return bank


def test_a_recall_asks_its_store_few_times_however_many_it_finds(bank: Bank, asked: list[str]) -> None:
    counts = []
    for k in (1, 10, 20):
        with bank.core.embedding.aside():
            asked.clear()
            assert len(bank.recall(ASKED, k=k)) == k
            counts.append(len(asked))
    assert max(counts) <= 14, (counts, _told(asked))


def test_what_is_not_in_a_bank_is_not_looked_for(bank: Bank, asked: list[str]) -> None:
    def statements() -> int:
        with bank.core.embedding.aside():
            asked.clear()
            bank.recall(ASKED)
            return len(asked)

    before = statements()
    bank.link(*[hit.memory.id for hit in bank.recall(ASKED, k=2)])
    bank.facts.add("Maya", "likes", "the heron")
    bank.remember("Always answer in metric units.", entities=["Maya"])
    assert bank.sync(30)
    statements()
    assert statements() >= before + 4, _told(asked)


def _told(asked: Sequence[str]) -> str:
    return "\n".join(" ".join(statement.split())[:100] for statement in asked)
