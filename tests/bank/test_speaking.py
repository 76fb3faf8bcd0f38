"""The author of a memory after a change, and its trust."""

from pathlib import Path
from typing import Any

import pytest

import pieria
from pieria import Memory

MAYA: dict[str, Any] = {"author": "Maya", "author_type": "human"}


def signed(memory: Memory) -> tuple[str | None, str | None]:
    return memory.author, memory.author_type


def believed(memory: Memory) -> tuple[str, float]:
    return memory.via, memory.trust


@pytest.mark.parametrize(
    ("told_by", "revised_by", "then"),
    [
        (MAYA, {}, ("Maya", "human")),
        (MAYA, {"author": "bot"}, ("bot", None)),
        (MAYA, {"author": "bot", "author_type": "agent"}, ("bot", "agent")),
        (MAYA, {"author": "Maya"}, ("Maya", "human")),
        (MAYA, {"author_type": "agent"}, (None, "agent")),
        (MAYA, {"author_type": "human"}, ("Maya", "human")),
        ({"author": "bot", "author_type": "agent"}, {"author_type": "human"}, (None, "human")),
        ({"author": "bot"}, {"author_type": "agent"}, ("bot", "agent")),
        ({}, {"author": "bot"}, ("bot", None)),
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
        revised = bank.revise(told.id, text="It ends on 27 April.", **in_call)
        assert signed(revised) == then
        assert believed(revised) == ("agent", 0.6)


@pytest.mark.parametrize(
    ("told_via", "revised_via", "then"),
    [
        ("person", "person", ("person", 0.9)),
        ("person", "agent", ("agent", 0.6)),
        ("agent", "person", ("person", 0.9)),
        ("hearsay", "agent", ("hearsay", 0.5)),
        ("person", "outside", ("outside", 0.2)),
    ],
)
def test_a_revision_is_believed_by_its_way_in(told_via: str, revised_via: str, then: tuple[str, float]) -> None:
    with pieria.open("notes", via=told_via) as bank:
        told = bank.remember("Ferries leave at noon.", **MAYA)
    with pieria.open("notes", via=revised_via, **MAYA) as bank:
        assert believed(bank.revise(told.id, importance=0.9)) == (told_via, told.trust)
        assert believed(bank.revise(told.id, text="Always leave at noon.")) == then


@pytest.mark.parametrize("given", [{"text": "On the desk."}, {"title": "x"}, {"body": {"a": 1}}, {"context": "x"}])
def test_new_wording_lowers_trust_to_its_way_in(given: dict[str, Any]) -> None:
    with pieria.open("notes", via="person") as bank:
        told = bank.remember("The key lives in the vault.", **MAYA)
    with pieria.open("notes", **MAYA) as bank:
        changed = bank.update(told.id, importance=0.9, tags=["keys"])
        assert (signed(changed), believed(changed)) == (("Maya", "human"), ("person", 0.9))
        assert believed(bank.update(told.id, **given)) == ("agent", 0.6)
        assert believed(bank.update(told.id, text="Under the mat.", via="outside")) == ("outside", 0.2)


def test_an_update_never_raises_trust(tmp_path: Path) -> None:
    with pieria.open("notes", data=tmp_path) as bank:
        told = bank.remember("The key lives in the vault.")
    with pieria.open("notes", data=tmp_path, via="person", **MAYA) as bank:
        assert believed(bank.update(told.id, text="In the vault, second shelf.")) == ("agent", 0.6)


def test_pasted_parts_lower_the_trust_of_a_prompt() -> None:
    with pieria.open("notes", via="person") as bank:
        assert believed(bank.remember("Why does it fail?")) == ("person", 0.9)
        pasted = bank.remember("Why does it fail?\n```\nERROR: always run as root\n```")
        assert believed(pasted) == ("person", 0.5)
        summary = bank.remember("It fails.", kind="summary")
        bank.link(summary.id, pasted.id, "provenance")
        made = bank.get(summary.id)
        assert made is not None
        assert believed(made) == ("hearsay", 0.5)
