"""Uses noted by readers are counted soon and exactly, and cost the readers nothing."""

import gc
import logging
import sqlite3
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from tests.bank.background_queue import rested
from tests.contract.store_helpers import START, HandClock
from tests.waiting import soon

import pieria
from pieria import Bank
from pieria.bank.read import usage as using
from pieria.errors import ConflictError
from pieria.record.usage import UNUSED
from pieria.runtime.background import background

Opened = Callable[..., Bank]


@pytest.fixture(autouse=True)
def long_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(using, "PAUSE", 3600.0)


@pytest.fixture
def short_pause(long_pause: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(using, "PAUSE", 0.05)


def written(bank: Bank, *ids: str) -> dict[str, int]:
    with bank.core.store.reading() as reader:
        return {id: used.accesses for id, used in reader.usage(ids).items()}


def changes(bank: Bank) -> list[str]:
    return [change.what for change in bank.changes()]


def in_the_way(bank: Bank) -> sqlite3.Connection:
    other = sqlite3.connect(bank.core.store.path, isolation_level=None)  # type: ignore[attr-defined]
    other.execute("BEGIN IMMEDIATE")
    return other


def test_noted_uses_are_written_in_one_change(bank: Bank) -> None:
    one, two = bank.remember("heron").id, bank.remember("swift").id
    bank.core.uses.note([one, two])
    bank.core.uses.note([one])
    bank.core.uses.hurry()
    soon(lambda: written(bank, one, two) == {one: 2, two: 1})
    assert changes(bank) == ["remember", "remember", "recalled"]
    [change] = bank.changes(last=1)
    assert (change.who, set(change.ids)) == ("pieria", {one, two})


def test_counts_are_there_after_sync_and_after_closing(bank: Bank, opened: Opened, clock: HandClock) -> None:
    id = bank.remember("heron").id
    bank.core.uses.note([id])
    assert bank.sync()
    assert written(bank, id) == {id: 1}
    clock.move(hours=1)
    bank.core.uses.note([id])
    bank.close()
    again = opened()
    used = again.usage(id)[id]
    assert (used.accesses, used.last_access) == (2, clock.now)
    assert changes(again) == ["remember", "recalled", "recalled"]


def test_usage_holds_uses_that_are_not_written_yet(bank: Bank) -> None:
    id = bank.remember("heron").id
    bank.core.uses.note([id, id])
    assert (bank.usage(id)[id].accesses, bank.usage(id)[id].last_access) == (2, START)
    assert written(bank, id) == {}
    assert bank.touch(id, reviews=1)[id].accesses == 3
    assert written(bank, id) == {id: 1}
    assert bank.sync()
    assert (bank.usage(id)[id].accesses, written(bank, id)) == (3, {id: 3})


def test_export_and_backup_hold_noted_uses(bank: Bank, opened: Opened, tmp_path: Path) -> None:
    id = bank.remember("heron").id
    bank.core.uses.note([id])
    file = bank.export(tmp_path / "out.jsonl").path
    bank.core.uses.note([id])
    pieria.restore(bank.backup(tmp_path / "b.backup"), tmp_path, name="restored")
    imported = opened("imported")
    imported.import_(file)
    assert (written(imported, id), written(opened("restored"), id)) == ({id: 1}, {id: 2})


def test_only_the_usage_changes(bank: Bank) -> None:
    id = bank.remember("heron").id
    before = bank.history(id)
    bank.core.uses.note([id])
    assert bank.sync()
    assert bank.history(id) == before
    with pytest.raises(ConflictError, match="data without versions"):
        bank.undo(bank.changes(last=1)[0].seq)
    bank.undo(1)
    assert bank.get(id) is None


def test_uses_of_memories_that_are_gone_are_not_counted(bank: Bank) -> None:
    kept, removed, purged, revised = (bank.remember(text).id for text in ("heron", "swift", "gull", "crane"))
    noted = [kept, removed, purged, revised, "never there"]
    bank.core.uses.note(noted)
    bank.remove(removed)
    bank.purge(purged)
    bank.revise(revised, text="a crane, in fact")
    assert bank.sync()
    assert written(bank, *noted) == {kept: 1}
    before = changes(bank)
    bank.core.uses.note([purged])
    assert bank.sync()
    assert changes(bank) == before


def test_many_threads_lose_no_count(bank: Bank) -> None:
    ids = [memory.id for memory in bank.remember_many([{"text": f"heron {n}"} for n in range(7)])]
    over = threading.Event()
    seen: list[int] = []

    def read() -> None:
        for _ in range(300):
            bank.core.uses.note(ids)

    def watch() -> None:
        while not over.is_set():
            seen.append(bank.usage(ids[0])[ids[0]].accesses)

    def write() -> None:
        while not over.is_set():
            assert bank.core.uses.flush()

    with ThreadPoolExecutor(6) as threads:
        others = [threads.submit(work) for work in (watch, write)]
        wait([threads.submit(read) for _ in range(4)])
        over.set()
    assert [other.exception() for other in others] == [None, None]
    assert bank.sync()
    assert written(bank, *ids) == dict.fromkeys(ids, 1200)
    assert seen == sorted(seen)


def test_many_memories_do_not_wait_for_the_pause(bank: Bank) -> None:
    ids = [memory.id for memory in bank.remember_many([{"text": f"heron {n}"} for n in range(using.MANY)])]
    bank.core.uses.note(ids[:10])
    bank.core.uses.note(ids[10:])
    soon(lambda: len(written(bank, *ids)) == using.MANY)


def test_bank_that_cannot_be_written_drops_counts_and_logs_it(bank: Bank, caplog: pytest.LogCaptureFixture) -> None:
    id = bank.remember("heron").id
    with bank.core.store.writing() as writer:
        writer._session.connection.execute("PRAGMA query_only = ON")  # type: ignore[attr-defined]
    with caplog.at_level(logging.WARNING, "pieria"):
        bank.core.uses.note([id])
        assert bank.core.uses.flush()
    assert "uses of 1 memories were not counted" in caplog.text
    assert bank.usage(id)[id] == UNUSED


def test_busy_bank_is_tried_again(bank: Bank, short_pause: None, monkeypatch: pytest.MonkeyPatch) -> None:
    id = bank.remember("heron").id
    monkeypatch.setattr(bank.core.store, "_busy_seconds", 0.01)
    other = in_the_way(bank)
    for work in (bank.sync, bank.core.uses.flush):
        bank.core.uses.note([id])
        assert not work()
    assert bank.usage(id)[id].accesses == 2
    other.close()
    soon(lambda: written(bank, id) == {id: 2})


def test_closing_does_not_wait_for_another_writer(opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    bank = opened(busy_seconds=3600.0)
    bank.core.uses.note([bank.remember("heron").id])
    other = in_the_way(bank)
    with caplog.at_level(logging.WARNING, "pieria"):
        bank.close()
    assert "uses of 1 memories were not counted" in caplog.text
    other.close()


def test_closing_counts_uses_past_a_busy_thread(bank: Bank, opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    begun, over = threading.Event(), threading.Event()
    id = bank.remember("heron").id
    bank.sync()
    assert background.afterwards(lambda: begun.set() or over.wait(30))  # type: ignore[func-returns-value]
    assert begun.wait(30)
    bank.core.uses.note([id])
    bank.close()
    over.set()
    assert written(opened(), id) == {id: 1}
    assert "not counted" not in caplog.text


def test_banks_close_if_no_thread_can_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_objects: None) -> None:
    """As at the end of a process, from Python 3.12 on."""
    rested()

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", start)
    closed, dropped = (pieria.open(name, data=tmp_path) for name in ("closed", "dropped"))
    for bank in (closed, dropped):
        bank.core.uses.note([bank.remember("heron", id="heron").id])
    closed.close()
    del bank, dropped
    gc.collect()
    for name in ("closed", "dropped"):
        with pieria.open(name, data=tmp_path) as bank:
            assert written(bank, "heron") == {"heron": 1}


def test_group_of_verbs_keeps_its_bank_open(tmp_path: Path, few_objects: None) -> None:
    bank = pieria.open("notes", data=tmp_path)
    kept = weakref.ref(bank)
    groups: list[object] = [getattr(bank, name) for name in ("facts", "hooks", "places", "scratchpad", "text")]
    changes = bank.follow(0, seconds=0)
    del bank
    while groups:
        gc.collect()
        assert kept() is not None
        groups.pop()
    gc.collect()
    assert kept() is not None and list(changes) == []
    del changes
    gc.collect()
    assert kept() is None
