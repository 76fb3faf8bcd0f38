"""Listing the memories of several tags, entities or places in one call."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.bank.kept import Kept

import pieria
from pieria.bank import Bank
from pieria.errors import InputError

VALUES: dict[str, list[Any]] = {
    "tags": ["Birds", "birds ", "zoo", "nobody's"],
    "entities": ["Maya", "MAYA", "Ada"],
    "files": ["src/a.py", "src/b.py"],
    "place": ["attic/birds", " attic / birds", pieria.Place("cellar/birds")],
}


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("notes", settings={"durability": "off"}) as bank:
        bank.remember_many(
            {
                "id": f"m{n}",
                "text": f"text {n}",
                "kind": ("note", "diary")[n % 2],
                "tags": ["birds", "zoo"][: n % 3],
                "entities": ["Ada", "maya"][n % 2 :],
                "files": VALUES["files"][: n % 3],
                "place": ("attic/birds", "cellar/birds")[n % 2],
                "at": f"2026-01-{1 + n // 2:02}",
            }
            for n in range(18)
        )
        bank.remove("m3")
        bank.invalidate("m4", at="2026-02-01")
        bank.purge("m8")
        yield bank


def as_one(by: str, value: Any) -> Any:
    return value if by == "place" else [value]


def test_of_several_each_is_listed_as_it_is_alone_and_goes_on_from_its_cursor(bank: Bank) -> None:
    known = bank.get("m17").known_from  # type: ignore[union-attr]
    bank.remember("Later.", tags=["zoo"], entities=["Ada"], at="2026-01-02")
    ways: list[dict[str, Any]] = [
        {}, {"limit": 2}, {"order": "oldest", "kinds": ["diary"], "limit": 3}, {"since": "2026-01-03", "limit": 1},
        {"order": "changed", "include": ["removed", "invalid"]}, {"known_at": known, "order": "important"},
        {"valid_at": "2026-01-20", "limit": 4}, {"scope": "session"},
    ]  # fmt: skip
    more = 0
    for by, values in VALUES.items():
        for way in ways:
            each = bank.list_each(by, values, **way)
            alone = {value: bank.list(**{by: as_one(by, value)}, **way) for value in values}
            assert each == alone and list(each) == values, (by, way)
            for value, page in each.items():
                if page.cursor is not None:
                    asked = {by: as_one(by, value), **way, "cursor": page.cursor}
                    assert bank.list(**asked) == bank.list(**{**asked, "cursor": alone[value].cursor})
                    more += 1
    assert more > 10


def test_what_is_the_users_own_is_listed_from_its_bank(bank: Bank) -> None:
    mine = bank.remember("I like birds.", scope="user", tags=["birds"])
    assert [memory.id for memory in bank.list_each("tags", "birds", scope="user")["birds"]] == [mine.id]
    assert mine.id not in [memory.id for memory in bank.list_each("tags", "birds")["birds"]]


def test_what_a_session_said_to_itself_is_listed_for_it_alone(bank: Bank, kept: Kept) -> None:
    with kept.opened("notes", session="s1") as told:
        told.remember("Psst.", id="own", scope="session", tags=["zoo"])
        assert [memory.id for memory in told.list_each("tags", "zoo", limit=1)["zoo"]] == ["own"]
    assert "own" not in [memory.id for memory in bank.list_each("tags", "zoo")["zoo"]]


def test_it_is_listed_by_one_field_which_no_filter_names_as_well(bank: Bank) -> None:
    both = bank.list_each("tags", ["zoo"], place="attic")["zoo"]
    assert both == bank.list(tags=["zoo"], place="attic") and len(both) > 0
    for by, values in VALUES.items():
        with pytest.raises(InputError) as refused:
            bank.list_each(by, values, **{by: as_one(by, values[0])})
        assert refused.value.parameter == by
    with pytest.raises(InputError, match="wing/room"):
        bank.list_each("place", "attic")
