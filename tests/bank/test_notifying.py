"""Events for a workspace's notifier about its banks. No verb waits for the notifier or fails with it."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pieria import Event, Workspace
from pieria.errors import InputError, NotFoundError


class Listening:
    def __init__(self) -> None:
        self.heard: list[tuple[str, Event]] = []

    def notify(self, repo_id: str, event: Event) -> None:
        self.heard.append((repo_id, event))


def deleted(*ids: str) -> Event:
    return Event("nodes_deleted", {"node_ids": [*ids]})


def test_a_notifier_is_told_of_what_is_removed_and_purged_under_the_name_of_the_bank(tmp_path: Path) -> None:
    with Workspace(tmp_path, notifier=(listening := Listening())) as workspace:
        notes, mine = workspace.open("notes"), workspace.open("billing")
        removed, purged = notes.remember("Herons nest."), mine.remember("Terns dive.")
        users = notes.remember("I like terns.", scope="user")
        drawn = mine.remember("They dive.", kind="summary")
        mine.link(drawn.id, purged.id, "provenance")
        notes.remove(removed.id)
        mine.purge(purged.id)
        notes.remove(users.id)
    assert listening.heard == [
        ("notes", deleted(removed.id)),
        ("billing", deleted(purged.id, drawn.id)),
        ("@me", deleted(users.id)),
    ]


def test_a_notifier_is_told_of_what_faded(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with Workspace(tmp_path, notifier=(listening := Listening()), clock=lambda: now[0]) as workspace:
        bank = workspace.open("b")
        old = bank.remember("Herons nest.")
        for archive in (True, False):
            now[0] += timedelta(days=300)
            [faded] = bank.upkeep.gc(dry_run=False, archive=archive).faded
            assert faded.memory.id == old.id
    assert listening.heard == [("b", deleted(old.id))]


def test_nothing_is_told_of_what_was_refused(tmp_path: Path) -> None:
    with Workspace(tmp_path, notifier=(listening := Listening())) as workspace, pytest.raises(NotFoundError):
        workspace.open("b").remove("nobody")
    assert listening.heard == []


def test_a_bank_may_have_a_notifier_of_its_own(tmp_path: Path) -> None:
    shared, own = Listening(), Listening()
    with Workspace(tmp_path, notifier=shared) as workspace:
        bank = workspace.open("b", notifier=own)
        kept = bank.remember("Herons nest.")
        bank.remove(kept.id)
    assert (len(shared.heard), len(own.heard)) == (0, 1)


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


def test_a_notifier_that_cannot_be_told_anything_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="notify"):
        Workspace(tmp_path / "data", notifier=print)
    assert list(tmp_path.iterdir()) == []
