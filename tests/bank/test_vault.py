"""A vault of Markdown notes in step with a bank, in a folder and on a server."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from tests.bank.kept import Kept

import pieria
from pieria import Bank
from pieria.bank.results.transfer import Synced
from pieria.errors import BusyError, ConflictError, InputError, NotFoundError, StorageError, UnavailableError
from pieria.store.protocol import Store

JWT = "We chose JWT for all new APIs."


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def bank(kept: Kept, vault: Path) -> Iterator[Bank]:
    with kept.opened("vaulted", settings={"vault": str(vault), "secrets": "flag"}) as bank:
        yield bank


@pytest.fixture
def local(folder: Kept, vault: Path) -> Iterator[Bank]:
    """Yield a bank in a folder, for tests that are the same for all stores."""
    with folder.opened("vaulted", settings={"vault": str(vault)}) as bank:
        yield bank


def noted(bank: Bank, text: str = JWT, **more: Any) -> str:
    """Remember and promote a memory, and return its id."""
    memory = bank.remember(text, **{"title": "JWT for all APIs", **more})
    bank.vault.promote(memory.id)
    return memory.id


def note_of(bank: Bank, vault: Path, id: str) -> Path:
    path = bank.vault.path_of(id)
    assert path is not None
    return vault / path


def edit(note: Path, before: str, after: str) -> None:
    text = note.read_text()
    assert before in text
    note.write_text(text.replace(before, after))


def events(synced: Synced) -> list[tuple[str, str]]:
    return [(event.path, event.what) for event in synced.events]


def front(note: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(note.read_text().split("---\n")[1])
    return found


# --- promoting


def test_a_promoted_memory_has_a_note_that_says_all_of_it(bank: Bank, vault: Path) -> None:
    maya = noted(bank, "Maya leads billing.", title="Maya")
    memory = bank.remember(
        JWT, title="JWT: yes/no?", tags=["auth", "machine learning"], entities=["JWT"], context="standup", source="chat"
    )
    bank.link(memory.id, maya, "decided_by")
    bank.touch(memory.id, accesses=3)
    promoted = bank.vault.promote(memory.id)
    [note] = promoted.notes
    assert (note.path, note.what, note.id) == ("Pieria/JWT yes no.md", "written", memory.id)
    held = bank.get(memory.id)
    assert held is not None
    assert (held.status, held.tier) == ("promoted", "settled")
    written = (vault / note.path).read_text()
    values = front(vault / note.path)
    assert values["created"] and values["last_used"]
    said = {
        "id": memory.id, "title": "JWT: yes/no?", "use_count": 3, "strength": 1.0,
        "tags": ["auth", "machine learning"], "entities": ["JWT"], "source": "chat", "context": "standup",
    }  # fmt: skip
    assert {name: values[name] for name in said} == said
    assert f"\n\n{JWT}\n\n" in written
    assert "- [[Pieria/Maya|Maya]] (decided_by)\n- [[JWT]]\n" in written
    assert written.endswith("\n#auth #machine-learning\n")
    assert bank.vault.sync().events == []


def test_as_plain_markdown_links_are_of_markdown(local: Bank, vault: Path) -> None:
    maya = noted(local, "Maya leads billing.", title="Maya (billing)")
    memory = local.remember(JWT, title="JWT", entities=["JWT"], tags=["auth"])
    local.link(memory.id, maya)
    local.vault.promote(memory.id, target="markdown")
    written = note_of(local, vault, memory.id).read_text()
    assert "- [Maya (billing)](../Pieria/Maya%20%28billing%29.md)\n" in written
    assert "[[" not in written
    assert "#auth" not in written


def test_a_dry_run_says_where_notes_would_be_and_writes_none(local: Bank, vault: Path) -> None:
    one, two = (local.remember(JWT, title="JWT").id for _ in range(2))
    promoted = local.vault.promote([one, two], dry_run=True)
    assert [note.path for note in promoted.notes] == ["Pieria/JWT.md", "Pieria/JWT 2.md"]
    assert list(vault.iterdir()) == []
    assert {memory.status for memory in local.list()} == {"active"}
    assert [note.path for note in local.vault.promote([one, two]).notes] == [note.path for note in promoted.notes]
    assert [note.what for note in local.vault.promote([one, two]).notes] == ["there", "there"]


def test_without_ids_what_was_used_enough_is_promoted(local: Bank, vault: Path) -> None:
    used, _ = local.remember(JWT), local.remember("Lunch was late.")
    local.touch(used.id, accesses=9)
    assert [note.id for note in local.vault.promote().notes] == [used.id]
    assert [path.name for path in (vault / "Pieria").iterdir()] == ["We chose JWT for all new APIs.md"]


def test_what_was_promoted_elsewhere_gets_its_note_with_the_next_sync(bank: Bank, vault: Path) -> None:
    memory = bank.remember(JWT, title="JWT")
    bank.upkeep.promote(memory.id)
    assert bank.vault.status().without_note == 1
    assert events(bank.vault.sync(dry_run=True)) == [("Pieria/JWT.md", "written")]
    assert not (vault / "Pieria").exists()
    assert events(bank.vault.sync()) == [("Pieria/JWT.md", "written")]
    assert bank.vault.sync().memories == {"unchanged": 1}
    assert bank.vault.status().without_note == 0


def test_without_a_vault_it_is_said_what_to_set(folder: Kept, tmp_path: Path) -> None:
    with folder.opened("plain") as bank:
        for verb in (bank.vault.sync, bank.vault.status, bank.vault.promote):
            with pytest.raises(UnavailableError, match="no vault is set"):
                verb()
        assert not bank.vault.is_set
    with (
        folder.opened("gone", settings={"vault": str(tmp_path / "nowhere")}) as bank,
        pytest.raises(NotFoundError, match="nowhere"),
    ):
        bank.vault.sync()


def test_what_cannot_be_is_refused(local: Bank) -> None:
    with pytest.raises(InputError, match="one of obsidian, markdown"):
        local.vault.promote(target="notion")
    with pytest.raises(NotFoundError):
        local.vault.promote("nobody")


# --- both ways


def test_what_is_edited_by_hand_is_the_next_version(bank: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth", "old"])
    note = note_of(bank, vault, id)
    edit(note, "all new APIs.", "all APIs, says [[Maya]]. #security")
    edit(note, "- old\n", "- new\n")
    edit(note, "title: JWT for all APIs\n", "title: JWT everywhere\naliases: [tokens]  # mine\n")
    with note.open("a") as file:
        file.write("\nRotated daily.\n")
    before = note.read_bytes()
    assert events(bank.vault.sync()) == [("Pieria/JWT for all APIs.md", "edited")]
    memory = bank.get(id)
    assert memory is not None
    assert memory.text == "We chose JWT for all APIs, says [[Maya]]. #security\n\nRotated daily."
    assert (memory.title, memory.tags, memory.version) == ("JWT everywhere", ("auth", "new", "security"), 2)
    assert bank.history(id)[0].text == JWT
    assert note.read_bytes() == before
    assert bank.vault.sync().memories == {"unchanged": 1}


def test_what_is_changed_in_the_bank_is_written_and_what_others_wrote_stays(bank: Bank, vault: Path) -> None:
    id = noted(bank)
    note = note_of(bank, vault, id)
    mine = 'aliases: [tokens, "a: b"]  # mine\ncssclasses:\n  - wide\n\n# a comment\n'
    edit(note, "created:", f"{mine}created:")
    bank.vault.sync()
    bank.update(id, text="JWT, rotated daily.", tags=["auth"])
    bank.touch(id)
    assert events(bank.vault.sync()) == [("Pieria/JWT for all APIs.md", "rewritten")]
    written = note.read_text()
    assert mine in written
    assert "\n\nJWT, rotated daily.\n\n" in written
    assert front(note)["tags"] == ["auth"]
    assert front(note)["use_count"] == 1
    assert bank.vault.sync().memories == {"unchanged": 1}


def test_of_two_changes_the_notes_wins_and_nothing_is_lost(bank: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth"])
    note = note_of(bank, vault, id)
    edit(note, "all new APIs", "all APIs")
    bank.update(id, text="We chose tokens.", tags=["auth", "tokens"])
    synced = bank.vault.sync()
    assert events(synced) == [("Pieria/JWT for all APIs.md", "conflict")]
    assert synced.events[0].detail == "text; what the memory said is version 2"
    memory = bank.get(id)
    assert memory is not None
    assert (memory.text, memory.tags) == ("We chose JWT for all APIs.", ("auth", "tokens"))
    assert [one.text for one in bank.history(id)][-2:] == ["We chose tokens.", "We chose JWT for all APIs."]
    assert front(note)["tags"] == ["auth", "tokens"]
    assert bank.vault.sync().memories == {"unchanged": 1}


class Interrupted:
    """A store in which another caller acts right before the first write."""

    def __init__(self, store: Store, act: Callable[[], object]) -> None:
        self._store = store
        self._acts = [act]

    def writing(self, seconds: float | None = None) -> AbstractContextManager[Any]:
        while self._acts:
            self._acts.pop()()
        return self._store.writing(seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def synced_while(bank: Bank, kept: Kept, act: Callable[[Bank], object]) -> Synced:
    """Run a sync in which another caller acts between reading the memories and changing them."""
    with kept.opened("vaulted") as other:
        store = bank.core.store
        bank.core.store = Interrupted(store, lambda: act(other))
        try:
            return bank.vault.sync()
        finally:
            bank.core.store = store


def test_who_changes_the_same_part_while_it_syncs_is_the_other_side_of_a_conflict(
    kept: Kept, bank: Bank, vault: Path
) -> None:
    id = noted(bank, tags=["auth"])
    edit(note_of(bank, vault, id), "all new APIs", "all APIs")
    synced = synced_while(bank, kept, lambda other: other.update(id, text="We chose tokens."))
    assert events(synced) == [("Pieria/JWT for all APIs.md", "conflict")]
    assert synced.events[0].detail == "text; what the memory said is version 2"
    assert [one.text for one in bank.history(id)][-2:] == ["We chose tokens.", "We chose JWT for all APIs."]
    assert bank.vault.sync().memories == {"unchanged": 1}


def test_so_they_are_where_the_note_was_not_known_of(kept: Kept, bank: Bank, vault: Path) -> None:
    id = noted(bank)
    note = note_of(bank, vault, id)
    said = note.read_text().replace("all new APIs", "all APIs")
    note.unlink()
    bank.vault.sync()
    bank.update(id, status="active")
    note.write_text(said)
    synced = synced_while(bank, kept, lambda other: other.update(id, text="We chose tokens."))
    assert [what for _, what in events(synced)] == ["found", "conflict"]
    assert [one.text for one in bank.history(id)][-2:] == ["We chose tokens.", "We chose JWT for all APIs."]
    assert bank.vault.sync().memories == {"unchanged": 1}


def test_who_changes_another_part_while_it_syncs_loses_nothing(kept: Kept, bank: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth"])
    note = note_of(bank, vault, id)
    edit(note, JWT, "We chose JWT for all #apis.")
    synced = synced_while(bank, kept, lambda other: other.update(id, tags=["auth", "tokens"], title="Tokens"))
    assert [what for _, what in events(synced)] == ["edited"]
    memory = bank.get(id)
    assert memory is not None
    assert (memory.title, memory.text) == ("Tokens", "We chose JWT for all #apis.")
    assert set(memory.tags) == {"auth", "tokens", "apis"}
    assert front(note)["title"] == "Tokens" and "tokens" in front(note)["tags"]
    assert bank.vault.sync().memories == {"unchanged": 1}


def test_what_is_removed_while_it_syncs_is_told_and_the_edited_note_kept(kept: Kept, bank: Bank, vault: Path) -> None:
    id = noted(bank)
    note = note_of(bank, vault, id)
    edit(note, "all new APIs", "all APIs")
    [problem] = synced_while(bank, kept, lambda other: other.remove(id)).problems
    assert "it was removed" in problem.reason
    assert bank.vault.sync().memories == {"kept": 1}
    assert "all APIs" in note.read_text()


def test_what_the_bank_does_not_keep_stays_in_the_note_alone(bank: Bank, vault: Path) -> None:
    id = noted(bank)
    note = note_of(bank, vault, id)
    edit(note, JWT, "We chose JWT. <private>The key is under the mat.</private>")
    assert events(bank.vault.sync()) == [("Pieria/JWT for all APIs.md", "edited")]
    memory = bank.get(id)
    assert memory is not None
    assert memory.text.strip() == "We chose JWT."
    assert bank.vault.sync().events == []
    bank.touch(id)
    bank.update(id, tags=["auth"])
    assert events(bank.vault.sync()) == [("Pieria/JWT for all APIs.md", "rewritten")]
    assert "under the mat" in note.read_text()
    assert front(note)["tags"] == ["auth"]
    assert bank.vault.sync().events == []
    bank.update(id, text="We chose tokens.")
    synced = bank.vault.sync()
    assert "has text that the bank does not store" in str(synced.problems[0])
    assert "under the mat" in note.read_text()
    edit(note, "We chose JWT.", "We chose tokens.")
    assert [what for _, what in events(bank.vault.sync())] == ["conflict"]
    assert "under the mat" in note.read_text()
    assert bank.vault.sync().problems == []


def test_changes_of_different_parts_go_together(local: Bank, vault: Path) -> None:
    id = noted(local)
    edit(note_of(local, vault, id), "title: JWT for all APIs", "title: Tokens")
    local.update(id, text="We chose tokens.")
    assert [what for _, what in events(local.vault.sync())] == ["edited"]
    memory = local.get(id)
    assert memory is not None
    assert (memory.title, memory.text) == ("Tokens", "We chose tokens.")
    assert "We chose tokens." in note_of(local, vault, id).read_text()


def test_a_note_that_is_moved_is_followed(bank: Bank, vault: Path) -> None:
    id = noted(bank)
    (vault / "Work").mkdir()
    note_of(bank, vault, id).rename(vault / "Work" / "Tokens.md")
    assert events(bank.vault.sync()) == [("Work/Tokens.md", "moved")]
    assert bank.vault.path_of(id) == "Work/Tokens.md"
    assert bank.vault.sync().memories == {"unchanged": 1}


def test_two_notes_that_change_names_are_told_apart(local: Bank, vault: Path) -> None:
    one, two = noted(local, title="One"), noted(local, "Lunch is at noon.", title="Two")
    (vault / "Pieria/One.md").rename(vault / "Pieria/aside.md")
    (vault / "Pieria/Two.md").rename(vault / "Pieria/One.md")
    (vault / "Pieria/aside.md").rename(vault / "Pieria/Two.md")
    assert [what for _, what in events(local.vault.sync())] == ["moved", "moved"]
    assert local.vault.paths([one, two]) == {one: "Pieria/Two.md", two: "Pieria/One.md"}
    assert [memory.version for memory in local.list()] == [1, 1]


def test_a_copy_is_a_note_of_its_own(local: Bank, vault: Path) -> None:
    id = noted(local)
    note = note_of(local, vault, id)
    (vault / "Copy.md").write_text(note.read_text())
    synced = local.vault.sync()
    assert (synced.notes, synced.memories) == ({"new": 1}, {"unchanged": 1})
    assert [problem.path for problem in synced.problems] == ["Copy.md"]
    assert local.vault.path_of(id) == "Pieria/JWT for all APIs.md"


def test_the_memory_of_a_deleted_note_is_put_away_and_back_with_it(bank: Bank, vault: Path) -> None:
    id = noted(bank)
    note = note_of(bank, vault, id)
    trash = note.read_bytes()
    note.unlink()
    assert events(bank.vault.sync()) == [("Pieria/JWT for all APIs.md", "archived")]
    assert [(one.status, one.reason) for one in bank.list(include="archived")] == [("archived", "its note was deleted")]
    assert bank.vault.sync().events == []
    note.write_bytes(trash)
    assert events(bank.vault.sync()) == [("Pieria/JWT for all APIs.md", "found")]
    assert [one.status for one in bank.list()] == ["promoted"]


def test_the_note_of_a_removed_memory_goes_unless_it_was_edited(bank: Bank, vault: Path) -> None:
    plain, edited = noted(bank, title="Plain"), noted(bank, "Lunch is at noon.", title="Edited")
    edit(vault / "Pieria/Edited.md", "noon", "one")
    bank.remove(plain)
    bank.remove(edited)
    synced = bank.vault.sync()
    assert synced.memories == {"deleted": 1, "kept": 1}
    assert [(problem.path, "kept" in problem.reason) for problem in synced.problems] == [("Pieria/Edited.md", True)]
    assert [path.name for path in (vault / "Pieria").iterdir()] == ["Edited.md"]
    assert bank.count() == 0
    assert bank.vault.sync().memories == {"kept": 1}
    bank.restore(edited)
    assert [what for _, what in events(bank.vault.sync())] == ["found", "edited"]
    memory = bank.get(edited)
    assert memory is not None
    assert memory.text == "Lunch is at one."


def test_what_is_purged_leaves_the_vault_as_well(bank: Bank, vault: Path) -> None:
    id = noted(bank, title="Secret plan")
    receipt = bank.purge(id)
    assert "the note Pieria/Secret plan.md in the vault: `pieria vault sync` deletes it" in receipt.unreached
    with bank.core.store.reading() as reader:
        assert "title" not in str(reader.records("vault"))
    kept = (vault / "Pieria/Secret plan.md").read_bytes()
    assert events(bank.vault.sync()) == [("Pieria/Secret plan.md", "deleted")]
    assert list((vault / "Pieria").iterdir()) == []
    (vault / "Pieria/Secret plan.md").write_bytes(kept)
    assert bank.vault.sync().memories == {"kept": 1}
    assert bank.count() == 0


def test_what_was_purged_and_is_brought_back_has_its_note_again(local: Bank, vault: Path, tmp_path: Path) -> None:
    id = noted(local)
    local.export(tmp_path / "bank.jsonl")
    local.purge(id)
    local.import_(tmp_path / "bank.jsonl", force=True)
    assert local.vault.sync().problems == []
    assert local.vault.path_of(id) == "Pieria/JWT for all APIs.md"
    assert local.vault.sync().events == []


def test_a_copy_of_a_bank_shares_its_notes(folder: Kept, vault: Path) -> None:
    settings = {"vault": str(vault)}
    with folder.opened("one", settings=settings) as one:
        id = noted(one)
    pieria.copy("one", data=folder.data, to=folder.data, name="two")
    for _ in range(2):
        for name in ("one", "two"):
            with folder.opened(name, settings=settings) as bank:
                bank.vault.sync()
                assert [(memory.id, memory.status) for memory in bank.list()] == [(id, "promoted")]


def test_of_two_that_sync_at_once_one_is_told_to_wait(kept: Kept, bank: Bank, vault: Path) -> None:
    (vault / "One.md").write_text("One is a number.")
    bank.update(bank.remember(JWT).id, status="promoted")

    def meanwhile(done: int, whole: int) -> None:
        with kept.opened("vaulted", settings={"vault": str(vault), "secrets": "flag"}) as other:
            other.vault.sync(dry_run=True)
            with pytest.raises(BusyError, match="another process is using the vault"):
                other.vault.sync()
            with pytest.raises(BusyError, match="another process is using the vault"):
                other.vault.promote()

    assert bank.vault.sync(progress=meanwhile).memories == {"written": 1}
    assert len(list((vault / "Pieria").iterdir())) == 1
    assert bank.vault.sync().well


def test_copies_of_a_vault_on_two_machines_lose_nothing(kept: Kept, bank: Bank, vault: Path, tmp_path: Path) -> None:
    (vault / "One.md").write_text("One is a number.")
    (vault / "Two.md").write_text("Two is a number.")
    id = noted(bank)
    bank.vault.sync()
    away = tmp_path / "away"
    shutil.copytree(vault, away, ignore=shutil.ignore_patterns("Pieria", "Two.md"))
    with kept.opened("vaulted", settings={"vault": str(away), "secrets": "flag"}) as other:
        late = other.vault.sync()
        assert (late.memories, late.notes) == ({"archived": 1}, {"unchanged": 1, "vanished": 1})
        shutil.copytree(vault, away, dirs_exist_ok=True)
        arrived = other.vault.sync()
        assert (arrived.memories, arrived.notes) == ({"found": 1, "unchanged": 1}, {"back": 1, "unchanged": 1})
    assert bank.vault.sync().well
    memory = bank.get(id)
    assert memory is not None
    assert (memory.status, memory.text, bank.count()) == ("promoted", JWT, 3)


def test_the_note_follows_a_revision(bank: Bank, vault: Path) -> None:
    id = noted(bank)
    revised = bank.revise(id, text="JWT, rotated daily.")
    assert [what for _, what in events(bank.vault.sync())] == ["rewritten"]
    assert bank.vault.paths() == {revised.id: "Pieria/JWT for all APIs.md"}
    assert front(vault / "Pieria/JWT for all APIs.md")["id"] == revised.id
    edit(vault / "Pieria/JWT for all APIs.md", "daily", "weekly")
    bank.vault.sync()
    assert [memory.text for memory in bank.list()] == ["JWT, rotated weekly."]


def test_a_note_that_cannot_be_read_any_more_is_told_and_left_alone(local: Bank, vault: Path) -> None:
    id = noted(local)
    note = note_of(local, vault, id)
    edit(note, "tags:", "tags: [")
    before = note.read_bytes()
    local.update(id, text="We chose tokens.")
    synced = local.vault.sync()
    assert [problem.path for problem in synced.problems] == ["Pieria/JWT for all APIs.md"]
    assert note.read_bytes() == before
    assert [memory.text for memory in local.list()] == ["We chose tokens."]


def test_what_a_killed_sync_left_is_found_by_the_next(local: Bank, vault: Path) -> None:
    """The sync wrote the file but died before it wrote to the bank."""
    memory = local.remember(JWT, title="JWT")
    local.vault.promote(memory.id)
    with local.core.store.writing() as writer:
        from pieria.record.changeset import Changeset, Record

        writer.apply(Changeset("vault", "test", records=[Record("vault", memory.id, None)]))
    local.update(memory.id, status="active")
    assert events(local.vault.sync()) == [("Pieria/JWT.md", "found")]
    assert local.vault.path_of(memory.id) == "Pieria/JWT.md"
    assert [one.version for one in local.list(status="promoted")] == [1]


# --- notes by hand


def test_notes_come_in_as_memories_that_do_not_fade(bank: Bank, vault: Path) -> None:
    (vault / "People").mkdir()
    (vault / "People/Maya.md").write_text(
        "---\ntags: [team, no, 2024]\ndate: 2024-03-01\nrole: lead\n---\n"
        "Maya leads billing, see [[Rates#May|here]]. #eu\n"
    )
    (vault / "Rates.md").write_text("# Rates\nRates rise in May: [Maya](People/Maya.md). #fff https://x.eu/#top\n")
    assert bank.vault.sync().notes == {"new": 2}
    maya, rates = sorted(bank.list(kinds="drawer"), key=lambda memory: str(memory.title))
    assert (maya.title, maya.tags, maya.source, maya.place) == (
        "Maya", ("team", "no", "2024", "eu"), "People/Maya.md", "vault/People",
    )  # fmt: skip
    assert (maya.at.isoformat()[:10], maya.body) == ("2024-03-01", {"front_matter": {"role": "lead"}})
    assert (rates.title, rates.tags, rates.place) == ("Rates", (), "vault/general")
    assert rates.text.startswith("# Rates\nRates rise")
    tied = {(link.source.name, link.target.name) for link in bank.links(relation="links_to")}
    assert tied == {(maya.id, rates.id), (rates.id, maya.id)}
    assert [hit.memory.title for hit in bank.recall("who leads billing", place="vault")][:1] == ["Maya"]
    assert bank.vault.path_of(maya.id) == "People/Maya.md"
    assert bank.upkeep.gc(threshold=1.0).faded == ()


def test_only_what_has_changed_is_read_again(local: Bank, vault: Path) -> None:
    for name in ("One", "Two"):
        (vault / f"{name}.md").write_text(f"{name} says [[Two]].")
        os.utime(vault / f"{name}.md", (1_700_000_000, 1_700_000_000))
    local.vault.sync()
    seq = local.changes()[-1].seq
    (vault / "One.md").chmod(0o000)
    assert local.vault.sync().notes == {"unchanged": 2}
    assert [change.ids for change in local.changes(since=seq)] == [("vault state",)]
    (vault / "One.md").chmod(0o600)
    (vault / "One.md").write_text("One says nothing.")
    synced = local.vault.sync()
    assert (synced.notes, synced.untied) == ({"changed": 1, "unchanged": 1}, 1)
    assert {str(one.title): one.version for one in local.list()} == {"One": 2, "Two": 1}


def test_notes_that_go_and_come_back(bank: Bank, vault: Path) -> None:
    for name in ("One", "Two", "Three"):
        (vault / f"{name}.md").write_text(f"{name} is a number.")
    bank.vault.sync()
    (vault / "One.md").unlink()
    assert bank.vault.sync().notes == {"vanished": 1, "unchanged": 2}
    assert bank.count() == 2
    (vault / "One.md").write_text("One is a number.")
    assert bank.vault.sync().notes == {"back": 1, "unchanged": 2}
    bank.purge(next(memory.id for memory in bank.list() if memory.title == "Two"))
    bank.remove(next(memory.id for memory in bank.list() if memory.title == "Three"))
    for name in ("Two", "Three"):
        (vault / f"{name}.md").write_text(f"{name} is a number still.")
    assert bank.vault.sync().notes == {"purged": 1, "removed": 1, "unchanged": 1}
    assert [memory.title for memory in bank.list()] == ["One"]


def test_a_note_that_comes_back_says_what_it_says_now(bank: Bank, vault: Path) -> None:
    for name in ("One", "Two"):
        (vault / f"{name}.md").write_text(f"{name} is a number.")
    bank.vault.sync()
    (vault / "One.md").unlink()
    bank.vault.sync()
    (vault / "One.md").write_text("One is a story. #told")
    os.utime(vault / "One.md", (1_700_000_000, 1_700_000_000))
    assert bank.vault.sync().notes == {"back": 1, "unchanged": 1}
    [one] = [memory for memory in bank.list() if memory.title == "One"]
    assert (one.text, one.tags, one.version) == ("One is a story. #told", ("told",), 2)
    assert bank.vault.sync().notes == {"unchanged": 2}


def test_what_a_refused_note_said_before_goes_with_the_note(folder: Kept, vault: Path) -> None:
    for name in ("One", "Two"):
        (vault / f"{name}.md").write_text(f"{name} is a number.")
    with folder.opened("strict", settings={"vault": str(vault), "secrets": "refuse"}) as bank:
        bank.vault.sync()
        (vault / "One.md").write_text("One is AKIA5DZVPRX2QWMNK7TB.")
        for _ in range(2):
            synced = bank.vault.sync()
            assert synced.notes == {"refused": 1, "unchanged": 1}
            assert [(problem.path, problem.taken) for problem in synced.problems] == [("One.md", False)]
            assert {memory.text for memory in bank.list()} == {"One is a number.", "Two is a number."}
        (vault / "One.md").unlink()
        assert bank.vault.sync().notes == {"vanished": 1, "unchanged": 1}
        assert [memory.text for memory in bank.list()] == ["Two is a number."]


def test_a_note_that_is_moved_keeps_its_memory_and_its_place_is_free(bank: Bank, vault: Path) -> None:
    (vault / "One.md").write_text("One is a number. #first")
    (vault / "Two.md").write_text("After [[One]].")
    bank.vault.sync()
    one = next(memory.id for memory in bank.list() if memory.title == "One")
    bank.touch(one, accesses=3)
    (vault / "Old").mkdir()
    (vault / "One.md").rename(vault / "Old" / "First.md")
    assert bank.vault.sync().notes == {"moved": 1, "unchanged": 1}
    (vault / "One.md").write_text("One is a story now.")
    assert bank.vault.sync().notes == {"new": 1, "unchanged": 2}
    memory = bank.get(one)
    assert memory is not None
    said = (memory.title, memory.source, memory.files, memory.place, memory.tags)
    assert said == ("First", "Old/First.md", ("Old/First.md",), "vault/Old", ("first",))
    assert bank.usage(one)[one].accesses == 3
    assert {memory.title for memory in bank.list()} == {"First", "One", "Two"}
    assert bank.vault.sync().events == []
    (vault / "One.md").write_text("One is a story still.")
    assert bank.vault.sync().notes == {"changed": 1, "unchanged": 2}


def test_what_a_session_keeps_to_itself_is_not_changed_by_others(folder: Kept, vault: Path) -> None:
    settings = {"vault": str(vault)}
    with folder.opened("private", settings=settings, session="s") as bank:
        id = noted(bank, scope="session")
    edit(vault / "Pieria/JWT for all APIs.md", "all new", "all")
    with folder.opened("private", settings=settings) as bank:
        assert [problem.path for problem in bank.vault.sync().problems] == ["Pieria/JWT for all APIs.md"]
    with folder.opened("private", settings=settings, session="s") as bank:
        assert events(bank.vault.sync()) == [("Pieria/JWT for all APIs.md", "edited")]
        memory = bank.get(id)
        assert memory is not None
        assert memory.text == "We chose JWT for all APIs."


def test_promoting_what_came_from_a_note_writes_no_second_one(local: Bank, vault: Path) -> None:
    (vault / "Maya.md").write_text("Maya leads billing.")
    local.vault.sync()
    [memory] = local.list()
    [note] = local.vault.promote(memory.id).notes
    assert (note.what, note.path) == ("by hand", "Maya.md")
    assert [one.status for one in local.list()] == ["promoted"]
    assert local.vault.sync().events == []
    assert [path.name for path in vault.iterdir()] == ["Maya.md"]


def test_every_part_of_a_long_note_is_of_that_note(local: Bank, vault: Path) -> None:
    (vault / "Long.md").write_text("Kestrels nest.\n\n" * 70_000)
    local.vault.sync()
    ids = [memory.id for memory in local.list()]
    assert len(ids) == 2
    assert local.vault.by_hand() == frozenset(ids)
    assert local.vault.paths() == dict.fromkeys(ids, "Long.md")
    assert {note.what for note in local.vault.promote(ids).notes} == {"by hand"}
    assert not (vault / "Pieria").exists()


def test_a_vault_that_is_suddenly_empty_is_not_taken_for_deleted(local: Bank, vault: Path) -> None:
    for name in ("One", "Two"):
        (vault / f"{name}.md").write_text(f"{name} is a number.")
    local.vault.sync()
    for note in vault.iterdir():
        note.unlink()
    with pytest.raises(ConflictError, match="the vault is empty"):
        local.vault.sync()
    assert local.count() == 2
    assert local.vault.sync(force=True).notes == {"vanished": 2}


def test_banks_that_share_a_vault_keep_apart(folder: Kept, vault: Path) -> None:
    settings = {"vault": str(vault)}
    with folder.opened("one", settings=settings) as one, folder.opened("two", settings=settings) as two:
        noted(one)
        synced = two.vault.sync()
        assert (synced.notes, synced.left) == ({}, {"notes of other banks": 1})
        assert two.count() == 0


# --- files


def test_nothing_is_written_outside_the_vault(folder: Kept, vault: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault / "Pieria").symlink_to(outside)
    with folder.opened("linked", settings={"vault": str(vault)}) as bank:
        memory = bank.remember(JWT)
        with pytest.raises(StorageError, match="outside the vault"):
            bank.vault.promote(memory.id)
        assert list(outside.iterdir()) == []
        assert [one.status for one in bank.list()] == ["active"]


@pytest.mark.parametrize(
    "named", ["../escape", "/etc", "a/../../b", "C:\\x", "con", "a/nul.txt", ".hidden", "a?b", " "]
)
def test_a_folder_that_is_not_inside_is_refused(folder: Kept, vault: Path, named: str) -> None:
    with pytest.raises(InputError, match="inside the vault"):
        folder.opened("bad", settings={"vault": str(vault), "vault_folder": named})


def test_links_in_the_vault_are_not_followed(local: Bank, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "private.md").write_text("The code is 1234.")
    (vault / "linked.md").symlink_to(tmp_path / "private.md")
    (vault / "round").symlink_to(vault)
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian/plugin.md").write_text("A plugin.")
    (vault / ".trash").mkdir()
    (vault / ".trash/old.md").write_text("Thrown away.")
    (vault / "image.png").write_bytes(b"\x89PNG")
    assert local.vault.sync().left == {"links": 2}
    assert local.count() == 0


def test_notes_are_for_their_owner_unless_the_others_are_not(local: Bank, vault: Path) -> None:
    def mode(name: str) -> int:
        return (vault / name).stat().st_mode & 0o777

    noted(local, title="One")
    assert (mode("Pieria"), mode("Pieria/One.md")) == (0o700, 0o600)
    (vault / "Mine.md").write_text("Mine.")
    (vault / "Mine.md").chmod(0o644)
    id = noted(local, title="Two")
    assert mode("Pieria/Two.md") == 0o644
    (vault / "Pieria/Two.md").chmod(0o660)
    local.update(id, text="Changed.")
    local.vault.sync()
    assert mode("Pieria/Two.md") == 0o660


@pytest.mark.parametrize("named", ["agents", "notes/agents"])
def test_settings_say_where_the_vault_is_and_where_in_it(folder: Kept, tmp_path: Path, named: str) -> None:
    for root in ("one", "two"):
        (tmp_path / root).mkdir()
        settings = {"vault": str(tmp_path / root), "vault_folder": named}
        with folder.opened(root, settings=settings) as bank:
            assert note_of(bank, tmp_path / root, noted(bank, title="JWT")) == tmp_path / root / named / "JWT.md"
        assert (tmp_path / root / named / "JWT.md").exists()
