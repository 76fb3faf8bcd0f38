"""A derived memory is visible only to readers of its source, and is valid no longer than its source."""

from collections.abc import Iterator

import pytest

import pieria
from pieria import Bank, Memory
from pieria.errors import ConflictError


@pytest.fixture
def bank() -> Iterator[Bank]:
    with pieria.open("bank", session="monday", channel="kitchen") as bank:
        yield bank


@pytest.fixture
def tuesday() -> Iterator[Bank]:
    with pieria.open("bank", session="tuesday") as bank:
        yield bank


def of_session(bank: Bank, session: str, channel: str) -> Memory:
    return bank.remember(f"{session} in the {channel}", scope="session", session=session, channel=channel)


def test_a_session_s_own_does_not_move_to_the_session_of_its_source(bank: Bank, tuesday: Bank) -> None:
    derived = of_session(bank, "monday", "office")
    source = of_session(bank, "tuesday", "kitchen")
    with pytest.raises(ConflictError, match="no caller may see both"):
        bank.link(derived.id, source.id, "provenance")
    assert tuesday.get(derived.id) is None
    assert bank.get(derived.id) == derived


def test_what_is_drawn_from_two_sessions_is_for_the_channel_they_share(bank: Bank, tuesday: Bank) -> None:
    derived = bank.remember("a summary of both")
    for session in ("monday", "tuesday"):
        bank.link(derived.id, of_session(bank, session, "kitchen").id, "provenance")
    assert tuesday.get(derived.id) is None
    kept = bank.get(derived.id)
    assert kept is not None
    assert (kept.session, kept.channel) == (None, "kitchen")


def test_what_nobody_may_see_any_more_is_removed(bank: Bank) -> None:
    derived, source = bank.remember("a summary"), bank.remember("said on tuesday", session="tuesday", channel="kitchen")
    bank.link(derived.id, of_session(bank, "monday", "office").id, "provenance")
    bank.link(derived.id, source.id, "provenance")
    bank.update(source.id, scope="session")
    gone = bank.get(derived.id, include_removed=True)
    assert gone is not None
    assert gone.removed
    assert gone.reason == "no caller may see both it and one of its sources"


def test_what_stands_on_nothing_is_not_restored(bank: Bank) -> None:
    source = bank.remember("until spring", valid_until="2026-03-01")
    derived = bank.remember("a summary")
    tie = bank.link(derived.id, source.id, "provenance")
    bank.remove(derived.id)
    bank.update(source.id, valid_from="2026-04-01", valid_until=None)
    changes = bank.changes()
    with pytest.raises(ConflictError, match="never valid at the same time"):
        bank.restore(derived.id)
    assert bank.changes() == changes
    bank.unlink(tie.id)
    assert not bank.restore(derived.id).removed


def test_a_tie_of_the_user_s_own_is_untied_by_its_id(bank: Bank) -> None:
    one, other = (bank.remember(text, scope="user") for text in ("in French", "in English"))
    tie = bank.link(one.id, other.id)
    assert [link.id for link in bank.unlink(tie.id)] == [tie.id]
    assert bank.neighbors(one.id) == []
