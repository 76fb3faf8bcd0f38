"""Events for a workspace's notifier about its banks. No verb waits for the notifier or fails with it."""

import threading
from pathlib import Path

import pytest
from tests.contract.making import HandClock

from pieria import Event, Workspace
from pieria.errors import InputError, NotFoundError


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

    workspace = Workspace(tmp_path, notifier=Stubborn())
    bank = workspace.open("b")
    ids = [bank.remember(text).id for text in ("Herons nest.", "Terns dive.")]
    bank.remove(ids[0])
    assert begun.wait(30)
    bank.remove(ids[1])
    assert bank.count() == 0
    go_on.set()
    workspace.close()
