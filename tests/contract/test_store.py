"""A store as a whole: its checks, its copies, its removal, and waiting for its changes."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.contract.conftest import Opens, sqlite_sealed
from tests.contract.single_calls import read, write
from tests.contract.store_helpers import ALL, HandClock, apply, everything, memory, next_version, tie
from tests.contract.test_copy import lived_in
from tests.contract.test_vectors import well

from pieria.errors import BusyError, ClosedError, ConflictError, NotFoundError
from pieria.store.protocol import Reader, Store


def test_checks_of_a_healthy_bank_pass_and_change_nothing(store: Store) -> None:
    well(store)
    first = memory("heron", "m")
    apply(store, first, memory("stork", "n"), links=[tie("l", "m", "n")])
    apply(store, next_version(first, "heron again"))
    before = everything(store)
    findings = store.check()
    assert len(findings) >= 5
    assert all(finding.well and finding.detail and finding.remedy is None for finding in findings)
    assert everything(store) == before


def test_description_of_a_store_shows_no_content(store: Store) -> None:
    apply(store, memory("heron", "m", title="stork", tags=["crane"]), memory("gone", "n", state={"ended": "removed"}))
    described = store.describe()
    assert described["engine"]
    assert described["bytes"] > 0
    assert read(store).totals() == {"versions": 2, "links": 0, "facts": 0, "changes": 1, "purged": 0, "quarantined": 0}
    assert not any(word in repr(described) for word in ("heron", "stork", "crane"))


def test_copy_of_an_open_bank_is_the_bank_of_that_moment(opens: Opens, tmp_path: Path) -> None:
    """The copy is a file for every kind of store, and replaces an earlier copy."""
    store, other = opens(), opens()
    first = memory("heron", "m")
    apply(store, first, memory("stork", "n"))
    apply(other, next_version(first, "heron again"))
    before, seen = everything(store), list[tuple[int, int]]()
    copied = tmp_path / "copies" / "copy.db"
    opens(name="empty").backup(copied)
    with store.reading() as reader:
        reader.head()
        store.backup(copied, lambda done, whole: seen.append((done, whole)))
    apply(other, memory("later", "later"))
    assert [path.name for path in copied.parent.iterdir()] == ["copy.db"]
    assert seen[-1][0] == seen[-1][1]
    with closing(sqlite_sealed(copied.parent, "copy", HandClock())) as copy:
        assert everything(copy) == before
        well(copy)
        assert len(read(copy).text(["heron"], ALL, 10, 10).candidates) == 1
        apply(copy, memory("goes its own way", "copy"))
    assert "copy" not in [row["id"] for row in everything(store)["state"]]


def test_removal_leaves_nothing_and_frees_the_name(opens: Opens) -> None:
    store, other = opens(), opens(name="other")
    empty = read(opens(name="empty")).tables()
    lived_in(store)
    apply(other, memory("theirs"))
    theirs, before, seen = everything(other), read(store).tables(), list[int]()

    def refuse(reader: Reader) -> None:
        raise ConflictError("not now")

    with pytest.raises(ConflictError):
        store.remove(refuse)
    store = opens()
    assert read(store).tables() == before
    assert store.remove(lambda reader: seen.append(reader.head().documents)) == []
    assert seen[0] > 1_000
    assert store.is_over
    for use in (read(store).head, write(store).head):
        with pytest.raises((ClosedError, NotFoundError)):
            use()
    again = opens()
    assert read(again).tables() == empty
    apply(again, memory("anew"))
    assert not again.is_over
    assert everything(other) == theirs


def test_open_store_blocks_a_removal_or_learns_of_it(opens: Opens) -> None:
    """With a file, an open store blocks the removal. On a server, open stores get `NotFoundError`."""
    held, store = opens(), opens()
    apply(held, memory("theirs"))
    try:
        store.remove(lambda reader: None)
    except BusyError:
        assert not held.is_over
        apply(held, memory("and more", "n"))
        held.close()
        opens().remove(lambda reader: None)
    else:
        apply(opens(), memory("anew"))
        for use in 2 * (read(held).head, lambda: apply(held, memory("lost?", "n")), lambda: held.wait(0, 5)):
            with pytest.raises(NotFoundError):
                use()
        assert held.is_over


LONG = 60.0
"""Seconds. A wait that does not end would fail the test by its time limit."""


def seq(store: Store) -> int:
    return read(store).head().seq


def test_wait_ends_with_its_time_or_a_change(opens: Opens) -> None:
    one, other = opens(), opens()
    apply(one, memory())
    assert one.wait(0, LONG)
    assert one.wait(seq(one) - 1, 0)
    assert not one.wait(seq(one), 0)
    assert not one.wait(seq(one), 0.05)
    with ThreadPoolExecutor() as threads:
        for n in range(3):
            waiting = threads.submit(one.wait, seq(one), LONG)
            apply(other, memory(f"m{n}", f"m{n}"))
            assert waiting.result(LONG)


def test_other_banks_and_rollbacks_end_no_wait(opens: Opens) -> None:
    one, again, other = opens(), opens(), opens(name="other")
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(one.wait, 0, 0.5)
        apply(other, memory())
        with suppress(ZeroDivisionError), again.writing():
            raise ZeroDivisionError
        assert not waiting.result(LONG)
        waiting = threads.submit(one.wait, 0, LONG)
        apply(other, memory("b", "b"))
        apply(one, memory())
        assert waiting.result(LONG)


def test_closing_the_store_ends_its_waits(opens: Opens) -> None:
    store = opens()
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(store.wait, 0, LONG)
        store.close()
        error = waiting.exception(LONG)
        assert type(error).__name__ == "ClosedError" if error else not waiting.result(LONG)
