"""Whose a memory is after somebody else changed it: nobody is lent another's name, type or trust."""

from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Memory

MAYA: dict[str, Any] = {"author": "Maya", "author_type": "human"}


def signed(memory: Memory) -> tuple[str | None, str | None, float]:
    return memory.author, memory.author_type, memory.trust


@pytest.mark.parametrize(
    ("told_by", "revised_by", "then"),
    [
        (MAYA, {}, ("Maya", "human", 0.9)),
        (MAYA, {"author": "bot"}, ("bot", None, 0.5)),
        (MAYA, {"author": "bot", "author_type": "agent"}, ("bot", "agent", 0.6)),
        (MAYA, {"author": "Maya"}, ("Maya", "human", 0.9)),
        (MAYA, {"author_type": "agent"}, (None, "agent", 0.6)),
        (MAYA, {"author_type": "human"}, ("Maya", "human", 0.9)),
        ({"author": "bot", "author_type": "agent"}, {"author_type": "human"}, (None, "human", 0.9)),
        ({"author": "bot"}, {"author_type": "agent"}, ("bot", "agent", 0.6)),
        ({}, {"author": "bot"}, ("bot", None, 0.5)),
    ],
)
@pytest.mark.parametrize("named_in", ["the call", "the bank"])
def test_a_revision_is_whose_it_is_said_to_be(
    told_by: dict[str, Any], revised_by: dict[str, Any], then: tuple[Any, ...], named_in: str
) -> None:
    in_bank, in_call = ({}, revised_by) if named_in == "the call" else (revised_by, {})
    with pieria.open("notes", **told_by) as bank:
        told = bank.remember("The winter timetable ends on 30 March.")
    with pieria.open("notes", **in_bank) as bank:
        assert signed(bank.revise(told.id, text="It ends on 27 April.", **in_call)) == then


def test_a_name_without_a_type_is_never_trusted_more_than_the_memory_was() -> None:
    with pieria.open("notes", **MAYA) as bank:
        source = bank.remember("A rumour.", author="stranger", author_type="agent")
        derived = bank.remember("A summary.")
        bank.link(derived.id, source.id, "provenance")
        assert bank.update(derived.id, importance=0.9).trust == 0.6
        bank.link(derived.id, bank.remember("Said by nobody.", author_type="system").id, "provenance")
    with pieria.open("notes") as bank:
        assert bank.revise(derived.id, text="Another.", author="bot").trust == 0.5
        assert bank.revise(derived.id, text="Yet another.", author="ola").trust == 0.5


@pytest.mark.parametrize(
    ("opened_for", "trust"),
    [
        ({}, 0.9),
        (MAYA, 0.9),
        ({"author": "bot"}, 0.5),
        ({"author_type": "agent"}, 0.6),
        ({"author_type": "human"}, 0.9),
    ],
)
def test_what_another_writes_into_a_memory_is_trusted_no_more_than_they_are(
    opened_for: dict[str, Any], trust: float
) -> None:
    with pieria.open("notes", **MAYA) as bank:
        told = bank.remember("The key lives in the vault.")
    with pieria.open("notes", **opened_for) as bank:
        assert signed(bank.update(told.id, importance=0.9)) == ("Maya", "human", 0.9)
        assert signed(bank.update(told.id, text="The key lives on the desk.")) == ("Maya", "human", trust)


def test_an_update_never_raises_trust(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path, author="bot", author_type="agent") as bank:
        told = bank.remember("The key lives in the vault.")
    with pieria.open("notes", data=tmp_path, **MAYA) as bank:
        assert signed(bank.update(told.id, text="In the vault, second shelf.")) == ("bot", "agent", 0.6)
