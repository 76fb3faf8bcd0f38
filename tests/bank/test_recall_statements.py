"""The number of SQL statements of one recall. Each is a round trip to the server."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.bank.recall_pages import embed

import pieria
from pieria.bank import Bank
from pieria.store.postgres.session import PostgresSession
from pieria.store.sqlite.session import SQLiteSession

ASKED = "What did Maya say about the heron?"


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
    with pieria.Workspace(data=kept.data, settings=kept.settings, embedder=embed) as workspace:
        bank = workspace.open("notes")
        bank.remember_many([{"text": f"Maya saw heron {n} by the river.", "session": f"s{n // 10}"} for n in range(60)])
        assert bank.sync(30)
        bank.recall(ASKED)
        yield bank


def statements(bank: Bank, asked: list[str], k: int = 10) -> int:
    with bank.core.embedding.aside():
        asked.clear()
        assert len(bank.recall(ASKED, k=k)) == k
        return len(asked)


def test_recall_asks_few_statements_and_only_what_can_be_found(bank: Bank, asked: list[str]) -> None:
    before = [statements(bank, asked, k) for k in (1, 10, 20)]
    assert max(before) <= 14, (before, *asked)
    bank.link(*[hit.memory.id for hit in bank.recall(ASKED, k=2)])
    bank.facts.add("Maya", "likes", "the heron")
    bank.remember("Always answer in metric units.", entities=["Maya"])
    assert bank.sync(30)
    statements(bank, asked)
    assert statements(bank, asked) >= before[1] + 4, asked
