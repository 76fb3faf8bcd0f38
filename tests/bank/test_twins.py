"""Finding memories with exactly the same text, and merging values into a memory without lowering any."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pieria import Bank
from pieria.errors import ConflictError, InputError

CUT = "Call me. <private>{}</private> password: tern-9Wq!fjord"


def test_memories_of_exactly_this_text_are_found(opened: Callable[..., Bank]) -> None:
    bank, text = opened(session="s", secrets="redact"), "Dogs travel free."
    first = bank.remember(text, at="2026-01-02").id
    second = bank.remember(text, at="2026-01-01", kind="turn", scope="session").id
    bank.remember_many(["Dogs travel free", "Free dogs travel."])
    mine = bank.remember(text, scope="user").id

    def twins(text: str = text, bank: Bank = bank, **filters: Any) -> list[str]:
        return [twin.id for twin in bank.identical(text, **filters)]

    assert (twins(), twins("Cats travel free."), twins(bank=opened())) == ([first, second], [], [first])
    cases: dict[str, list[str]] = {"bank": [first], "user": [mine], "session": [second]}
    assert {scope: twins(scope=scope) for scope in cases} == cases
    assert twins(kinds="turn") == [second]
    bank.invalidate(first)
    assert twins() == [second]
    # Texts are screened before they are compared.
    assert twins(CUT.format("777")) == [] != [bank.remember(CUT.format("555")).id] == twins(CUT.format("7"))
    with pytest.raises(InputError, match="use two calls"):
        bank.identical("One.", scope=["bank", "user"])
    wrong: list[Any] = ["", " ", 5, None]
    for nothing in wrong:
        with pytest.raises(InputError, match="text"):
            bank.identical(nothing)


def test_widening_takes_more_and_never_less(opened: Callable[..., Bank]) -> None:
    bank = opened(session="s")
    id = bank.remember("One.", importance=0.2, scope="session", valid_until="2096-04-01").id
    wide = bank.widen(id, importance=0.7, scope="bank", valid_until="2096-05-01T00:00:00Z")
    assert (wide.importance, wide.scope, wide.version) == (0.7, "bank", 1)
    assert wide.as_dict()["valid_until"].startswith("2096-05-01")
    before = bank.changes()
    assert before[-1].what == "update"
    for less in ({"importance": 0.2}, {"importance": 0.7}, {"scope": "session"}, {"valid_until": "2096-03-01"}):
        assert bank.widen(id, **less) == wide
    assert bank.changes() == before
    assert bank.widen(bank.remember("One.").id, valid_until="2096-04-01").valid_until is None
    for wrong in ({}, {"importance": 2.0}, {"scope": "user"}, {"valid_until": "soon"}):
        with pytest.raises(InputError):
            bank.widen(id, **wrong)
    bank.remove(id)
    with pytest.raises(ConflictError):
        bank.widen(id, importance=0.9)


def test_highest_of_many_widenings_at_once_stands(bank: Bank) -> None:
    id = bank.remember("One.", importance=0.0).id
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda tenths: bank.widen(id, importance=tenths / 10), [8, 3, 7, 1, 6, 2, 5, 4]))
    assert [memory.importance for memory in bank.list()] == [0.8]
