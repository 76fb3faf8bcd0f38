"""Waiting for changes, following them, and the events for a workspace's notifier. No verb waits for a notifier."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept
from tests.contract.store_helpers import HandClock

from pieria import Bank, Event, Workspace
from pieria.errors import ClosedError, InputError, NotFoundError

LONG = 60.0
"""Seconds. No test waits that long, because each wait is woken before."""


@pytest.fixture
def bank(folder: Kept) -> Iterator[Bank]:
    with folder.opened("notes") as opened:
        yield opened


def test_changes_of_one_memory_or_fact_are_told_apart(kept: Kept) -> None:
    with kept.opened("notes") as bank:
        one, other = bank.remember("one"), bank.remember("other")
        fact = bank.facts.add("Maya", "leads", "search", memory=one.id)
        bank.update(one.id, text="one more")
        bank.facts.invalidate("Maya", "leads", "search")
        bank.remove(one.id)
        bank.undo(bank.changes(last=1)[0].seq)

        def of(id: str, **asked: Any) -> list[str]:
            return [change.what for change in bank.changes(of=id, **asked)]

        whole = ["remember", "update", "remove", f"undo {bank.changes(of=one.id)[2].seq}"]
        assert (of(one.id), of(other.id), of(fact.id)) == (whole, ["remember"], ["facts add", "facts invalidate"])
        assert (of(one.id, last=1), of(one.id, limit=2)) == (whole[-1:], whole[:2])
        assert of(one.id, since=bank.changes(of=one.id)[1].seq) == whole[2:]
        bank.purge(other.id)
        for wrong, error in (("nobody", NotFoundError), (other.id, NotFoundError), ("", InputError)):
            with pytest.raises(error):
                bank.changes(of=wrong)


def test_changes_of_other_processes_are_heard_once_and_in_order(kept: Kept) -> None:
    write = """if True:
        import pieria, sys
        with pieria.open('notes', data=sys.argv[1]) as bank:
            for text in sys.argv[2:]: bank.remember(text)"""
    with kept.opened("notes") as bank, ThreadPoolExecutor() as threads:
        bank.remember("before")
        bank.remember("also before")
        heard = threads.submit(lambda: [change.seq for change in islice(bank.follow(1), 4)])
        woken = threads.submit(bank.wait, 2, LONG)
        command = [sys.executable, "-c", write, kept.data, "one", "two", "three"]
        subprocess.run(command, env=kept.environment, timeout=LONG, check=True)
        assert (heard.result(LONG), woken.result(LONG)) == ([2, 3, 4, 5], True)


def test_existing_change_is_not_waited_for(bank: Bank) -> None:
    assert not bank.wait(0, 0)
    bank.remember("first")
    assert bank.wait(0, LONG)
    assert not bank.wait(1, 0.05)
    # Without a number, it begins now and ends when the time is over.
    following = bank.follow(seconds=0.2)
    bank.remember("after", id="after")
    assert [change.ids for change in following] == [("after",)]
    assert next(bank.follow(0, seconds=0)).seq == 1


def test_following_ends_when_the_bank_is_closed(kept: Kept) -> None:
    with kept.opened("notes") as other, kept.opened("notes") as bank, ThreadPoolExecutor() as threads:
        other.remember("a word")
        following = bank.follow(0)
        assert next(following).seq == 1
        rest = threads.submit(list, following)
        bank.close()
        assert rest.result(LONG) == []
        with pytest.raises(ClosedError):
            bank.wait(0, 0)


def test_wrong_number_or_time_is_refused_at_once(bank: Bank) -> None:
    text: Any = "soon"
    wrong: list[Callable[[], object]] = [
        lambda: bank.wait(-1, 1), lambda: bank.wait(text, 1), lambda: bank.wait(0, -1),
        lambda: bank.wait(0, float("inf")), lambda: bank.follow(1), lambda: bank.follow(0, seconds=text),
    ]  # fmt: skip
    for ask in wrong:
        with pytest.raises(InputError):
            ask()


class Listening:
    def __init__(self) -> None:
        self.heard: list[tuple[str, Event]] = []

    def notify(self, repo_id: str, event: Event) -> None:
        self.heard.append((repo_id, event))


def deleted(*ids: str) -> Event:
    return Event("nodes_deleted", {"node_ids": [*ids]})


def test_notifier_hears_what_is_removed_purged_and_faded(tmp_path: Path) -> None:
    clock = HandClock()
    with Workspace(tmp_path, notifier=(listening := Listening()), clock=clock) as workspace:
        notes, mine = workspace.open("notes"), workspace.open("billing")
        removed, purged = notes.remember("Herons nest."), mine.remember("Terns dive.")
        users = notes.remember("I like terns.", scope="user")
        drawn = mine.remember("They dive.", kind="summary")
        mine.link(drawn.id, purged.id, "provenance")
        notes.remove(removed.id)
        mine.purge(purged.id)
        notes.remove(users.id)
        with pytest.raises(NotFoundError):
            notes.remove("nobody")
        old = notes.remember("Herons nest.")
        for archive in (True, False):
            clock.move(days=300)
            [faded] = notes.upkeep.gc(dry_run=False, archive=archive).faded
            assert faded.memory.id == old.id
    assert listening.heard == [
        ("notes", deleted(removed.id)), ("billing", deleted(purged.id, drawn.id)), ("@me", deleted(users.id)),
        ("notes", deleted(old.id)),
    ]  # fmt: skip


def test_bank_may_have_a_notifier_of_its_own(tmp_path: Path) -> None:
    shared, own = Listening(), Listening()
    with Workspace(tmp_path, notifier=shared) as workspace:
        bank = workspace.open("b", notifier=own)
        bank.remove(bank.remember("Herons nest.").id)
    assert (len(shared.heard), len(own.heard)) == (0, 1)
    with pytest.raises(InputError, match="notify"):
        Workspace(tmp_path / "none", notifier=print)
    assert not (tmp_path / "none").exists()


def test_no_verb_waits_for_a_notifier_or_fails_with_it(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Stubborn:
        def notify(self, repo_id: str, event: Event) -> None:
            begun.set()
            assert go_on.wait(30)
            raise RuntimeError("out of order")

    with Workspace(tmp_path, notifier=Stubborn()) as workspace:
        bank = workspace.open("b")
        bank.remove(bank.remember("Herons nest.").id)
        assert begun.wait(30)
        bank.remove(bank.remember("Terns dive.").id)
        go_on.set()
