"""Lists of several values, the turns around a memory, and the list of sessions."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.store_helpers import HandClock

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    with pieria.open("b", data=tmp_path, session="s", clock=clock) as bank:
        yield bank


def said(bank: Bank, number: int, **more: object) -> list[str]:
    items = [{"text": f"Heron {n}.", "id": f"h{n}", **more} for n in range(number)]
    return [memory.id for memory in bank.remember_many(items)]


def sessions(bank: Bank, **asked: object) -> list[str | None]:
    return [session.id for session in bank.sessions.list(**asked)]  # type: ignore[arg-type]


def test_as_many_as_asked_stand_around_a_memory(bank: Bank) -> None:
    ids = said(bank, 9)
    for before, after in ((0, 0), (2, 0), (0, 3), (1, 1), (20, 20)):
        found = bank.around("h4", before=before, after=after)
        assert [memory.id for memory in found.before] == ids[max(0, 4 - before) : 4]
        assert found.memory.id == "h4"
        assert [memory.id for memory in found.after] == ids[5 : 5 + after]
    newest = bank.revise("h0", text="A stork.")
    found = bank.around("h0", before=2)
    assert (found.memory.id, [memory.id for memory in found.before]) == (newest.id, ["h7", "h8"])
    bank.remove("h8")
    for gone, problem in (("h8", ConflictError), ("h9", NotFoundError)):
        with pytest.raises(problem):
            bank.around(gone)


def test_filters_scopes_and_sessions_narrow_what_stands_around(bank: Bank, tmp_path: Path) -> None:
    said(bank, 2, scope="session")
    bank.remember("A diary.", kind="diary")
    bank.remember("To itself.", session="t", scope="session")
    theirs = bank.remember("To all.", session="t")
    one, two = (bank.remember(text, scope="user", session="u") for text in ("Mine.", "Mine, too."))
    here = bank.remember("Here.")

    def before(id: str, bank: Bank = bank, **narrow: Any) -> list[str]:
        return [memory.text for memory in bank.around(id, **narrow).before]

    assert before(here.id, kinds="diary") == ["A diary."]
    assert before(here.id, session="t") == ["To itself.", "To all."]
    # To name a session is not to speak for it.
    assert (before(theirs.id, session="t", scope="bank"), before(theirs.id, session="t")) == ([], ["To itself."])
    assert [session.memories for session in bank.sessions.list(session="t", scope="bank")] == [1]
    assert before(two.id, session="u") == [one.text]
    assert (sessions(bank, scope="user"), set(sessions(bank))) == (["u"], {"s", "t"})
    with pieria.open("b", data=tmp_path, session="other") as other:
        assert before(here.id, other) == ["A diary.", "To all."]
        with pytest.raises(NotFoundError):
            other.around("h0")


def test_sessions_are_listed_with_their_begin_and_end(bank: Bank, clock: HandClock, tmp_path: Path) -> None:
    begun = clock()
    first, second = said(bank, 2, session="old")
    clock.move(minutes=5)
    last = bank.remember("Last.", session="old").id
    clock.move(hours=1)
    bank.remember("Third.", kind="diary")
    [young, old] = bank.sessions.list()
    assert (young.id, young.memories, young.active) == ("s", 1, True)
    assert (old.id, old.memories, old.active, old.last - old.first) == ("old", 3, False, timedelta(minutes=5))
    assert (sessions(bank, session="old"), sessions(bank, kinds="diary")) == (["old"], ["s"])
    page = bank.sessions.list(limit=1)
    for wrong in (page.cursor, "x", ""):
        with pytest.raises(InputError, match="cursor"):
            bank.sessions.list(kinds="diary", cursor=wrong)
    clock.move(hours=1)
    revised = bank.revise(first, text="First, put right.")
    for gone in (second, last):
        bank.remove(gone)
    # The cursor keeps the time of the first page. A new list shows what is left now.
    [then], [_, now] = bank.sessions.list(limit=1, cursor=page.cursor), bank.sessions.list()
    assert [(old.id, old.first, old.memories) for old in (then, now)] == [("old", begun, 3), ("old", begun, 1)]
    bank.remove(revised.id)
    assert sessions(bank) == ["s"]
    with pieria.open("b", data=tmp_path) as outside:
        outside.remember("Nobody's.")
        assert {session.id: session.memories for session in outside.sessions.list()} == {None: 1, "s": 1}


def test_pages_hold_every_session_once(bank: Bank, clock: HandClock) -> None:
    for number in range(5):
        for name in (f"a{number}", f"b{number}"):
            bank.remember("Said.", session=name)
        clock.move(hours=1)
    whole = sessions(bank, limit=100)
    assert whole == [f"{letter}{number}" for number in reversed(range(5)) for letter in "ba"]
    firsts = {limit: bank.sessions.list(limit=limit) for limit in (1, 2, 7)}
    for limit, first in firsts.items():
        pages = [first]
        while pages[-1].cursor:
            bank.remember("More.", session="a0")
            bank.remember("Begun meanwhile.", session=f"new {limit} {len(pages)}")
            pages.append(bank.sessions.list(limit=limit, cursor=pages[-1].cursor))
        assert [session.id for page in pages for session in page] == whole


def test_type_with_a_minus_is_left_out(bank: Bank) -> None:
    for type in ("bugfix", "decision", "change"):
        bank.remember("The mill.", id=type, kind="observation", body={"type": type})
    bank.remember("The mill.", id="plain")
    cases: dict[Any, set[str]] = {
        "-bugfix": {"decision", "change", "plain"}, ("-bugfix", "-change"): {"decision", "plain"},
        ("bugfix", "change", "-change"): {"bugfix"},
    }  # fmt: skip
    for types, expected in cases.items():
        assert {memory.id for memory in bank.list(types=types)} == expected
        assert {hit.memory.id for hit in bank.recall("mill", types=types)} == expected
        assert bank.count(types=types) == len(expected)


def test_list_begins_at_an_offset_in_every_order(bank: Bank) -> None:
    for number in range(7):
        bank.remember(f"Mill {number}.", importance=number % 3 / 2, at=f"2026-01-0{1 + number % 4}", place="w/r")
    for order in ("newest", "oldest", "changed", "important"):
        asked: dict[str, Any] = {"order": order, "place": "w/r"}
        every = [*bank.list(**asked)]
        assert len(every) == 7
        for offset in range(9):
            page = bank.list(**asked, limit=3, offset=offset)
            assert [*page] == every[offset : offset + 3]
            if page.cursor is not None:
                assert [*bank.list(**asked, cursor=page.cursor)] == every[offset + 3 :]
        with pytest.raises(InputError, match="offset"):
            bank.list(**asked, offset=1, cursor=bank.list(**asked, limit=1).cursor)


VALUES: dict[str, list[Any]] = {
    "tags": ["Birds", "birds ", "zoo", "nobody's"], "entities": ["Maya", "MAYA", "Ada"],
    "files": ["src/a.py", "src/b.py"],
    "place": ["attic/birds", " attic / birds", pieria.Place("cellar/birds")],
}  # fmt: skip


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
        known = bank.history("m17")[0].known_from
        bank.remember("Later.", tags=["zoo"], entities=["Ada"], at="2026-01-02")
        ways: list[dict[str, Any]] = [
            {}, {"limit": 2}, {"order": "oldest", "kinds": ["diary"], "limit": 3}, {"since": "2026-01-03", "limit": 1},
            {"order": "changed", "include": ["removed", "invalid"]}, {"known_at": known, "order": "important"},
            {"valid_at": "2026-01-20", "limit": 4}, {"scope": "session"},
        ]  # fmt: skip
        more = 0
        for way, (by, values) in product(ways, VALUES.items()):
            each = bank.list_each(by, values, **way)
            assert each == {value: bank.list(**{by: as_one(by, value)}, **way) for value in values}
            assert list(each) == values
            for value, page in each.items():
                if page.cursor is not None:
                    rest = bank.list(**{by: as_one(by, value)}, **way, cursor=page.cursor)
                    assert not {memory.id for memory in rest} & {memory.id for memory in page}
                    more += len(rest)
        assert more > 10


def test_scopes_sessions_and_other_filters_narrow_the_lists(bank: Bank, tmp_path: Path) -> None:
    def ids(bank: Bank, value: str, **narrow: Any) -> list[str]:
        return [memory.id for memory in bank.list_each("tags", value, **narrow)[value]]

    fill(bank)
    bank.remember("I like birds.", id="mine", scope="user", tags=["birds"])
    assert ids(bank, "birds", scope="user") == ["mine"]
    with pieria.open("b", data=tmp_path, session="s1") as told:
        told.remember("Psst.", id="own", scope="session", tags=["zoo"])
        assert ids(told, "zoo", limit=1) == ["own"]
    assert not {"mine", "own"} & {*ids(bank, "birds"), *ids(bank, "zoo")}
    assert ids(bank, "zoo", place="attic") == [memory.id for memory in bank.list(tags=["zoo"], place="attic")] != []
    for by, values in VALUES.items():
        with pytest.raises(InputError) as refused:
            bank.list_each(by, values, **{by: as_one(by, values[0])})
        assert refused.value.parameter == by
    with pytest.raises(InputError, match="wing/room"):
        bank.list_each("place", "attic")
