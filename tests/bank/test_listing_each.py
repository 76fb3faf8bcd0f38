"""Listing the memories of several tags, entities or places in one call."""

from pathlib import Path
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


def fill(bank: Bank) -> None:
    for n in range(18):
        bank.remember(
            f"text {n}", id=f"m{n}", kind=("note", "diary")[n % 2], tags=["birds", "zoo"][: n % 3],
            entities=["Ada", "maya"][n % 2 :], files=VALUES["files"][: n % 3],
            place=("attic/birds", "cellar/birds")[n % 2], at=f"2026-01-{1 + n // 2:02}",
        )  # fmt: skip
    bank.remove("m3")
    bank.invalidate("m4", at="2026-02-01")
    bank.purge("m8")


def as_one(by: str, value: Any) -> Any:
    return value if by == "place" else [value]


def test_each_value_is_listed_as_it_is_alone(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        fill(bank)
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


def test_scopes_sessions_and_other_filters_narrow_the_lists(bank: Bank, tmp_path: Path) -> None:
    def ids(bank: Bank, value: str, **narrow: Any) -> list[str]:
        return [memory.id for memory in bank.list_each("tags", value, **narrow)[value]]

    fill(bank)
    bank.remember("I like birds.", id="mine", scope="user", tags=["birds"])
    assert ids(bank, "birds", scope="user") == ["mine"]
    assert "mine" not in ids(bank, "birds")
    with pieria.open("notes", data=tmp_path, session="s1") as told:
        told.remember("Psst.", id="own", scope="session", tags=["zoo"])
        assert ids(told, "zoo", limit=1) == ["own"]
    assert "own" not in ids(bank, "zoo")
    assert ids(bank, "zoo", place="attic") == [memory.id for memory in bank.list(tags=["zoo"], place="attic")] != []
    for by, values in VALUES.items():
        with pytest.raises(InputError) as refused:
            bank.list_each(by, values, **{by: as_one(by, values[0])})
        assert refused.value.parameter == by
    with pytest.raises(InputError, match="wing/room"):
        bank.list_each("place", "attic")
