"""The turns around a memory, and the list of sessions."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.contract.making import HandClock

import pieria
from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def bank(tmp_path: Path, clock: HandClock) -> Iterator[Bank]:
    with pieria.open("b", data=tmp_path, session="s", settings={"durability": "off"}, clock=clock) as bank:
        yield bank


def said(bank: Bank, number: int, **more: object) -> list[str]:
    items = [{"text": f"Heron {n}.", "id": f"h{n}", **more} for n in range(number)]
    return [memory.id for memory in bank.remember_many(items)]


# --- around


@pytest.mark.parametrize(("before", "after"), [(0, 0), (2, 0), (0, 3), (1, 1), (20, 20)])
def test_just_so_many_stand_around_it_even_where_all_were_said_at_once(bank: Bank, before: int, after: int) -> None:
    ids = said(bank, 9)
    found = bank.around("h4", before=before, after=after)
    assert [memory.id for memory in found.before] == ids[max(0, 4 - before) : 4]
    assert found.memory.id == "h4"
    assert [memory.id for memory in found.after] == ids[5 : 5 + after]


def test_a_revised_one_leads_to_its_newest(bank: Bank) -> None:
    said(bank, 3)
    newest = bank.revise("h0", text="A stork.")
    found = bank.around("h0", before=5)
    assert (found.memory.id, [memory.id for memory in found.before]) == (newest.id, ["h1", "h2"])


def test_kinds_and_a_session_narrow_what_stands_around(bank: Bank) -> None:
    said(bank, 2)
    bank.remember("A diary.", kind="diary")
    bank.remember("Elsewhere.", session="other")
    here = bank.remember("Here.")
    assert [memory.text for memory in bank.around(here.id, kinds="diary").before] == ["A diary."]
    assert [memory.text for memory in bank.around(here.id, session="other").before] == ["Elsewhere."]


def test_the_user_s_own_stand_among_themselves(bank: Bank) -> None:
    said(bank, 2)
    one, two = (bank.remember(text, scope="user") for text in ("Mine.", "Mine, too."))
    found = bank.around(two.id)
    assert [memory.id for memory in found.before] == [one.id]


def test_what_another_session_keeps_to_itself_is_not_shown(bank: Bank, tmp_path: Path) -> None:
    said(bank, 3, scope="session")
    shown = bank.remember("For all.")
    with pieria.open("b", data=tmp_path, session="t", settings={"durability": "off"}) as other:
        assert other.around(shown.id).before == ()
        with pytest.raises(NotFoundError):
            other.around("h0")


def test_what_is_removed_or_unknown_has_no_place_in_time(bank: Bank) -> None:
    said(bank, 1)
    bank.remove("h0")
    with pytest.raises(ConflictError):
        bank.around("h0")
    with pytest.raises(NotFoundError):
        bank.around("h9")


# --- sessions


def test_sessions_are_told_with_when_they_began_and_ended(bank: Bank, clock: HandClock) -> None:
    bank.remember("First.", session="old")
    clock.move(minutes=5)
    bank.remember("Second.", session="old")
    clock.move(hours=1)
    bank.remember("Third.")
    [young, old] = bank.sessions.list()
    assert (young.id, young.memories, young.active) == ("s", 1, True)
    assert (old.id, old.memories, old.active, old.last - old.first) == ("old", 2, False, timedelta(minutes=5))


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_pages_hold_every_session_once_whatever_comes_meanwhile(bank: Bank, clock: HandClock, limit: int) -> None:
    for number in range(5):
        for name in (f"a{number}", f"b{number}"):
            bank.remember("Said.", session=name)
        clock.move(hours=1)
    whole = [session.id for session in bank.sessions.list(limit=100)]
    assert whole == [f"{letter}{number}" for number in reversed(range(5)) for letter in "ba"]
    page = bank.sessions.list(limit=limit)
    seen = [session.id for session in page]
    while page.cursor:
        bank.remember("More.", session="a0")
        bank.remember("Begun meanwhile.", session=f"new {len(seen)}")
        page = bank.sessions.list(limit=limit, cursor=page.cursor)
        seen += [session.id for session in page]
    assert seen == whole


def test_a_session_began_when_it_began_whatever_became_of_what_was_said_first(bank: Bank, clock: HandClock) -> None:
    begun = clock()
    first, second = (bank.remember(text, session="old").id for text in ("First.", "Second."))
    clock.move(hours=1)
    bank.remember("Later.", session="new")
    page = bank.sessions.list(limit=1)
    clock.move(hours=1)
    revised = bank.revise(first, text="First, put right.")
    bank.remove(second)
    [old] = bank.sessions.list(limit=1, cursor=page.cursor)
    # The cursor keeps the time of the first page. A new list shows what is left now.
    assert (old.id, old.first, old.memories) == ("old", begun, 2)
    assert [(session.id, session.first, session.memories) for session in bank.sessions.list()][1] == ("old", begun, 1)
    bank.remove(revised.id)
    assert [session.id for session in bank.sessions.list()] == ["new"]


def test_what_was_said_outside_of_any_session_is_one(tmp_path: Path) -> None:
    with pieria.open("b", data=tmp_path, settings={"durability": "off"}) as bank:
        bank.remember("Nobody's.")
        bank.remember("Somebody's.", session="s")
        assert {session.id: session.memories for session in bank.sessions.list()} == {None: 1, "s": 1}


def test_sessions_are_narrowed_and_a_cursor_belongs_to_its_filters(bank: Bank) -> None:
    bank.remember("One.", session="a")
    bank.remember("Two.", session="b", kind="diary")
    assert [session.id for session in bank.sessions.list(session="a")] == ["a"]
    assert [session.id for session in bank.sessions.list(kinds="diary")] == ["b"]
    cursor = bank.sessions.list(limit=1).cursor
    for wrong in (cursor, "x", ""):
        with pytest.raises(InputError, match="cursor"):
            bank.sessions.list(kinds="diary", cursor=wrong)


# --- types that are left out


def test_a_type_with_a_minus_before_it_is_left_out(bank: Bank) -> None:
    for type in ("bugfix", "decision", "change"):
        bank.remember("The mill.", id=type, kind="observation", body={"type": type})
    bank.remember("The mill.", id="plain")
    assert {memory.id for memory in bank.list(types="-bugfix")} == {"decision", "change", "plain"}
    assert {memory.id for memory in bank.list(types=["-bugfix", "-change"])} == {"decision", "plain"}
    assert {memory.id for memory in bank.list(types=["bugfix", "change", "-change"])} == {"bugfix"}
    assert {hit.memory.id for hit in bank.recall("mill", types="-bugfix")} == {"decision", "change", "plain"}
    assert bank.count(types="-decision") == 3


def test_the_user_s_own_memories_have_sessions_of_their_own(bank: Bank) -> None:
    bank.remember("Mine.", scope="user", session="u")
    bank.remember("Ours.")
    assert [session.id for session in bank.sessions.list(scope="user")] == ["u"]
    assert [session.id for session in bank.sessions.list()] == ["s"]


def test_who_names_a_session_need_not_speak_for_it(bank: Bank) -> None:
    bank.remember("To itself.", session="t", scope="session")
    seen = bank.remember("To all.", session="t")
    assert [session.memories for session in bank.sessions.list(session="t", scope="bank")] == [1]
    assert bank.around(seen.id, session="t", scope="bank").before == ()
    assert len(bank.around(seen.id, session="t").before) == 1


@pytest.mark.parametrize("order", ["newest", "oldest", "changed", "important"])
def test_a_list_passes_over_as_many_as_it_is_told(bank: Bank, order: str) -> None:
    for number in range(7):
        bank.remember(f"Mill {number}.", importance=number % 3 / 2, at=f"2026-01-0{1 + number % 4}", place="w/r")
    every = bank.list(order=order, place="w/r")
    assert len(every) == 7
    for offset in range(9):
        page = bank.list(order=order, place="w/r", limit=3, offset=offset)
        assert [*page] == [*every][offset : offset + 3]
        if page.cursor is not None:
            assert [*bank.list(order=order, place="w/r", cursor=page.cursor)] == [*every][offset + 3 :]
    with pytest.raises(InputError, match="offset"):
        bank.list(order=order, place="w/r", offset=1, cursor=bank.list(order=order, place="w/r", limit=1).cursor)
