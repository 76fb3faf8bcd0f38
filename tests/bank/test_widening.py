"""Merging values into a memory without lowering any."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Bank
from pieria.errors import ConflictError, InputError

SETTINGS = {"durability": "off"}


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with pieria.open("b", data=tmp_path, session="s", settings=SETTINGS) as bank:
        yield bank


def test_what_is_more_is_taken(bank: Bank) -> None:
    id = bank.remember("One.", importance=0.2, scope="session", valid_until="2096-04-01").id
    wide = bank.widen(id, importance=0.7, scope="bank", valid_until="2096-05-01T00:00:00Z")
    assert (wide.importance, wide.scope, wide.version) == (0.7, "bank", 1)
    assert wide.as_dict()["valid_until"].startswith("2096-05-01")
    assert bank.changes(last=1)[0].what == "update"


@pytest.mark.parametrize(
    "less", [{"importance": 0.2}, {"importance": 0.5}, {"scope": "session"}, {"valid_until": "2096-03-01"}]
)
def test_what_is_less_or_the_same_changes_nothing(bank: Bank, less: dict[str, Any]) -> None:
    memory = bank.remember("One.", valid_until="2096-04-01")
    before = bank.changes()
    assert bank.widen(memory.id, **less) == memory
    assert bank.changes() == before


def test_what_never_ends_gets_no_end(bank: Bank) -> None:
    assert bank.widen(bank.remember("One.").id, valid_until="2096-04-01").valid_until is None


def test_of_many_at_once_the_highest_stands(bank: Bank) -> None:
    id = bank.remember("One.", importance=0.0).id
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda tenths: bank.widen(id, importance=tenths / 10), [8, 3, 7, 1, 6, 2, 5, 4]))
    memory = bank.get(id)
    assert memory is not None and memory.importance == 0.8


def test_what_cannot_be_is_refused(bank: Bank) -> None:
    memory = bank.remember("One.")
    for wrong in ({}, {"importance": 2.0}, {"scope": "user"}, {"valid_until": "soon"}):
        with pytest.raises(InputError):
            bank.widen(memory.id, **wrong)
    bank.remove(memory.id)
    with pytest.raises(ConflictError):
        bank.widen(memory.id, importance=0.9)
