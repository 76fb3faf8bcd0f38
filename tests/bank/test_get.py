"""Opening by id and version, also if an id ends like a version."""

from collections.abc import Iterator

import pytest

import pieria
from pieria import Bank
from pieria.errors import InputError, NotFoundError


@pytest.fixture
def bank() -> Iterator[Bank]:
    with pieria.open("notes") as bank:
        bank.remember("first of k1", id="k1")
        bank.update("k1", text="second of k1")
        yield bank


def text(bank: Bank, reference: str, version: int | None = None) -> str | None:
    memory = bank.get(reference, version=version)
    return None if memory is None else memory.text


def test_an_id_that_ends_like_a_version_comes_before_the_version(bank: Bank) -> None:
    assert text(bank, "k1@1") == "first of k1"
    bank.remember("an id of its own", id="k1@1")
    assert text(bank, "k1@1") == "an id of its own"


def test_with_a_version_the_reference_is_the_id(bank: Bank) -> None:
    bank.remember("an id of its own", id="k1@1")
    bank.update("k1@1", text="its second version")
    assert [text(bank, "k1", number) for number in (1, 2, 3)] == ["first of k1", "second of k1", None]
    assert [text(bank, "k1@1", number) for number in (1, 2)] == ["an id of its own", "its second version"]
    assert text(bank, "k1@2", 1) is None


def test_a_version_of_what_the_user_keeps_is_opened_from_any_bank(bank: Bank) -> None:
    mine = bank.remember("mine", scope="user")
    assert text(bank, mine.id, 1) == text(bank, f"{mine.id}@1") == "mine"


def test_a_removed_version_is_shown_when_asked_for(bank: Bank) -> None:
    bank.remove("k1")
    assert bank.get("k1", version=2, include_removed=True) is not None


@pytest.mark.parametrize("version", [0, -1, 1.0, True, "1"])
def test_what_is_no_version_is_refused(bank: Bank, version: int) -> None:
    with pytest.raises(InputError) as refused:
        bank.get("k1", version=version)
    assert refused.value.parameter == "version"


def test_where_ids_are_to_be_found_is_said_where_there_is_none(bank: Bank) -> None:
    for act in (lambda: bank.history("nope"), lambda: bank.remove("nope"), lambda: bank.scratchpad.update("nope", "x")):
        with pytest.raises(NotFoundError) as refused:
            act()
        assert " ids" in str(refused.value.hint)
