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


def test_memory_that_nobody_may_see_is_refused_or_removed(bank: Bank, tuesday: Bank) -> None:
    own, theirs = of_session(bank, "monday", "office"), of_session(bank, "tuesday", "kitchen")
    with pytest.raises(ConflictError, match="no caller may see both"):
        bank.link(own.id, theirs.id, "provenance")
    assert tuesday.get(own.id) is None
    assert bank.get(own.id) == own
    derived, source = bank.remember("a summary"), bank.remember("said on tuesday", session="tuesday", channel="kitchen")
    bank.link(derived.id, own.id, "provenance")
    bank.link(derived.id, source.id, "provenance")
    bank.update(source.id, scope="session")
    gone = bank.get(derived.id, include_removed=True)
    assert gone is not None and gone.removed
    assert gone.reason == "no caller may see both it and one of its sources"


def test_memory_from_two_sessions_belongs_to_their_channel(bank: Bank, tuesday: Bank) -> None:
    derived = bank.remember("a summary of both")
    for session in ("monday", "tuesday"):
        bank.link(derived.id, of_session(bank, session, "kitchen").id, "provenance")
    assert tuesday.get(derived.id) is None
    kept = bank.get(derived.id)
    assert kept is not None
    assert (kept.session, kept.channel) == (None, "kitchen")


def test_memory_never_valid_with_its_source_is_not_restored(bank: Bank) -> None:
    source, derived = bank.remember("until spring", valid_until="2026-03-01"), bank.remember("a summary")
    tie = bank.link(derived.id, source.id, "provenance")
    bank.remove(derived.id)
    bank.update(source.id, valid_from="2026-04-01", valid_until=None)
    changes = bank.changes()
    with pytest.raises(ConflictError, match="never valid at the same time"):
        bank.restore(derived.id)
    assert bank.changes() == changes
    bank.unlink(tie.id)
    assert not bank.restore(derived.id).removed


def test_link_of_the_users_own_is_removed_by_its_id(bank: Bank) -> None:
    one, other = (bank.remember(text, scope="user") for text in ("in French", "in English"))
    tie = bank.link(one.id, other.id)
    assert [link.id for link in bank.unlink(tie.id)] == [tie.id]
    assert bank.neighbors(one.id) == []
