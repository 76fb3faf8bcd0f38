"""A vault of Markdown notes in step with a bank."""

import os
import shutil
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from tests.bank.kept import Kept, held

import pieria
from pieria import Bank, Memory
from pieria.bank.results.transfer import Synced
from pieria.errors import BusyError, ConflictError, InputError, NotFoundError, StorageError, UnavailableError
from pieria.record.changeset import Changeset, Record
from pieria.store.protocol import Store
from pieria.vault.folder import Folder, digest_of

JWT = "We chose JWT for all new APIs."
NOTE = "Pieria/JWT for all APIs.md"
"""The note of a memory that `noted` made with the title it gives."""
SAME = {"unchanged": 1}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def bank(opened: Callable[..., Bank], vault: Path) -> Bank:
    return opened("vaulted", vault=str(vault))


def noted(bank: Bank, text: str = JWT, **more: Any) -> str:
    """Remember and promote a memory, and return its id."""
    memory = bank.remember(text, **{"title": "JWT for all APIs", **more})
    bank.vault.promote(memory.id)
    return memory.id


def numbers(vault: Path, *names: str) -> None:
    for name in names:
        (vault / f"{name}.md").write_text(f"{name} is a number.")


def edit(note: Path, before: str, after: str) -> None:
    text = note.read_text()
    assert before in text
    note.write_text(text.replace(before, after))


def events(synced: Synced) -> list[tuple[str, str]]:
    return [(event.path, event.what) for event in synced.events]


def front(note: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(note.read_text().split("---\n")[1])
    return found


def titled(bank: Bank, title: str) -> Memory:
    [memory] = [memory for memory in bank.list() if memory.title == title]
    return memory


def test_note_of_promoted_memory_holds_all_of_it(kept: Kept, vault: Path) -> None:
    with kept.opened("vaulted", settings={"vault": str(vault)}) as bank:
        maya = noted(bank, "Maya leads billing.", title="Maya")
        said: dict[str, Any] = {
            "title": "JWT: yes/no?", "tags": ["auth", "machine learning"], "entities": ["JWT"],
            "context": "standup", "source": "chat",
        }  # fmt: skip
        memory = bank.remember(JWT, **said)
        bank.link(memory.id, maya, "decided_by")
        bank.touch(memory.id, accesses=3)
        [note] = bank.vault.promote(memory.id).notes
        assert (note.path, note.what, note.id) == ("Pieria/JWT yes no.md", "written", memory.id)
        assert (held(bank, memory.id).status, held(bank, memory.id).tier) == ("promoted", "settled")
        written = (vault / note.path).read_text()
        values = front(vault / note.path)
        assert values.pop("created") and values.pop("last_used")
        assert values.items() >= {**said, "id": memory.id, "use_count": 3, "strength": 1.0}.items()
        assert f"\n\n{JWT}\n\n" in written
        assert "- [[Pieria/Maya|Maya]] (decided_by)\n- [[JWT]]\n" in written
        assert written.endswith("\n#auth #machine-learning\n")
        assert bank.vault.sync().events == []


def test_plain_markdown_notes_have_markdown_links(bank: Bank, vault: Path) -> None:
    maya = noted(bank, "Maya leads billing.", title="Maya (billing)")
    memory = bank.remember(JWT, title="JWT", entities=["JWT"], tags=["auth"])
    bank.link(memory.id, maya)
    bank.vault.promote(memory.id, target="markdown")
    written = (vault / "Pieria/JWT.md").read_text()
    assert "- [Maya (billing)](../Pieria/Maya%20%28billing%29.md)\n" in written
    assert "[[" not in written and "#auth" not in written


def test_dry_run_of_promotion_names_notes_and_writes_none(bank: Bank, vault: Path) -> None:
    ids = [bank.remember(JWT, title="JWT").id for _ in range(2)]
    promoted = bank.vault.promote(ids, dry_run=True)
    assert [note.path for note in promoted.notes] == ["Pieria/JWT.md", "Pieria/JWT 2.md"]
    assert (list(vault.iterdir()), {memory.status for memory in bank.list()}) == ([], {"active"})
    assert [note.path for note in bank.vault.promote(ids).notes] == [note.path for note in promoted.notes]
    assert [note.what for note in bank.vault.promote(ids).notes] == ["there", "there"]
    # Without ids, often used memories are promoted.
    used, _ = bank.remember(JWT), bank.remember("Lunch was late.")
    bank.touch(used.id, accesses=9)
    notes = bank.vault.promote().notes
    assert [(note.id, note.path) for note in notes if note.what == "written"] == [(used.id, f"Pieria/{JWT}md")]


def test_sync_writes_note_of_memory_promoted_elsewhere(bank: Bank, vault: Path) -> None:
    id = bank.remember(JWT, title="JWT").id
    bank.upkeep.promote(id)
    assert bank.vault.status().without_note == 1
    for dry_run in (True, False):
        assert not (vault / "Pieria").exists()
        assert events(bank.vault.sync(dry_run=dry_run)) == [("Pieria/JWT.md", "written")]
    assert (bank.vault.sync().memories, bank.vault.status().without_note) == (SAME, 0)
    # A sync that was killed wrote the file, and died before it wrote to the bank.
    with bank.core.store.writing() as writer:
        writer.apply(Changeset("vault", "test", records=[Record("vault", id, None)]))
    bank.update(id, status="active")
    assert events(bank.vault.sync()) == [("Pieria/JWT.md", "found")]
    assert bank.vault.path_of(id) == "Pieria/JWT.md"
    assert [one.version for one in bank.list(status="promoted")] == [1]


def test_missing_vault_and_bad_arguments_are_refused(bank: Bank, opened: Callable[..., Bank], vault: Path) -> None:
    plain = opened("plain").vault
    assert not plain.is_set
    for verb in (plain.sync, plain.status, plain.promote):
        with pytest.raises(UnavailableError, match="no vault is set"):
            verb()
    with pytest.raises(NotFoundError, match="nowhere"):
        opened("gone", vault=str(vault / "nowhere")).vault.sync()
    with pytest.raises(InputError, match="one of obsidian, markdown"):
        bank.vault.promote(target="notion")
    with pytest.raises(NotFoundError):
        bank.vault.promote("nobody")
    for outside in ("../escape", "/etc", "a/../../b", "C:\\x", "con", "a/nul.txt", ".hidden", "a?b", " "):
        with pytest.raises(InputError, match="inside the vault"):
            opened("bad", vault=str(vault), vault_folder=outside)


def test_note_edited_by_hand_is_the_next_version(bank: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth", "old"])
    note = vault / NOTE
    edit(note, "all new APIs.", "all APIs, says [[Maya]]. #security")
    edit(note, "- old\n", "- new\n")
    edit(note, "title: JWT for all APIs\n", "title: JWT everywhere\naliases: [tokens]  # mine\n")
    with note.open("a") as file:
        file.write("\nRotated daily.\n")
    before = note.read_bytes()
    assert events(bank.vault.sync()) == [(NOTE, "edited")]
    memory = held(bank, id)
    assert memory.text == "We chose JWT for all APIs, says [[Maya]]. #security\n\nRotated daily."
    assert (memory.title, memory.tags, memory.version) == ("JWT everywhere", ("auth", "new", "security"), 2)
    assert (bank.history(id)[0].text, note.read_bytes()) == (JWT, before)
    assert bank.vault.sync().memories == SAME


def test_change_in_bank_is_written_beside_lines_of_others(bank: Bank, vault: Path) -> None:
    id = noted(bank)
    mine = 'aliases: [tokens, "a: b"]  # mine\ncssclasses:\n  - wide\n\n# a comment\n'
    edit(vault / NOTE, "created:", f"{mine}created:")
    bank.vault.sync()
    bank.update(id, text="JWT, rotated daily.", tags=["auth"])
    bank.touch(id)
    assert events(bank.vault.sync()) == [(NOTE, "rewritten")]
    written = (vault / NOTE).read_text()
    assert mine in written and "\n\nJWT, rotated daily.\n\n" in written
    assert (front(vault / NOTE)["tags"], front(vault / NOTE)["use_count"]) == (["auth"], 1)
    assert bank.vault.sync().memories == SAME


def test_of_two_changes_the_note_wins_and_nothing_is_lost(bank: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth"])
    edit(vault / NOTE, "all new APIs", "all APIs")
    bank.update(id, text="We chose tokens.", tags=["auth", "tokens"])
    [event] = bank.vault.sync().events
    assert (event.path, event.what, event.detail) == (NOTE, "conflict", "text; what the memory said is version 2")
    assert (held(bank, id).text, held(bank, id).tags) == ("We chose JWT for all APIs.", ("auth", "tokens"))
    assert [one.text for one in bank.history(id)][-2:] == ["We chose tokens.", "We chose JWT for all APIs."]
    assert front(vault / NOTE)["tags"] == ["auth", "tokens"]
    assert bank.vault.sync().memories == SAME
    edit(vault / NOTE, "title: JWT for all APIs", "title: Tokens")
    bank.update(id, text="We chose both.")
    assert events(bank.vault.sync()) == [(NOTE, "edited")]
    assert (held(bank, id).title, held(bank, id).text) == ("Tokens", "We chose both.")
    assert "We chose both." in (vault / NOTE).read_text()


def test_text_that_bank_does_not_store_stays_in_the_note(bank: Bank, vault: Path) -> None:
    id = noted(bank)
    note = vault / NOTE
    edit(note, JWT, "We chose JWT. <private>The key is under the mat.</private>")
    assert events(bank.vault.sync()) == [(NOTE, "edited")]
    assert held(bank, id).text.strip() == "We chose JWT."
    assert bank.vault.sync().events == []
    bank.touch(id)
    bank.update(id, tags=["auth"])
    assert events(bank.vault.sync()) == [(NOTE, "rewritten")]
    assert "under the mat" in note.read_text() and front(note)["tags"] == ["auth"]
    assert bank.vault.sync().events == []
    bank.update(id, text="We chose tokens.")
    assert "has text that the bank does not store" in str(bank.vault.sync().problems[0])
    assert "under the mat" in note.read_text()
    edit(note, "We chose JWT.", "We chose tokens.")
    assert events(bank.vault.sync()) == [(NOTE, "conflict")]
    assert "under the mat" in note.read_text()
    assert bank.vault.sync().problems == []


def test_moved_notes_are_followed(bank: Bank, vault: Path) -> None:
    one, two = noted(bank, title="One"), noted(bank, "Lunch is at noon.", title="Two")
    (vault / "Pieria/One.md").rename(vault / "Pieria/aside.md")
    (vault / "Pieria/Two.md").rename(vault / "Pieria/One.md")
    (vault / "Pieria/aside.md").rename(vault / "Pieria/Two.md")
    assert sorted(events(bank.vault.sync())) == [("Pieria/One.md", "moved"), ("Pieria/Two.md", "moved")]
    assert bank.vault.paths([one, two]) == {one: "Pieria/Two.md", two: "Pieria/One.md"}
    assert [memory.version for memory in bank.list()] == [1, 1]
    (vault / "Work").mkdir()
    (vault / "Pieria/Two.md").rename(vault / "Work" / "Tokens.md")
    assert events(bank.vault.sync()) == [("Work/Tokens.md", "moved")]
    assert bank.vault.path_of(one) == "Work/Tokens.md"
    # A copy is a note of its own.
    shutil.copy(vault / "Work/Tokens.md", vault / "Copy.md")
    synced = bank.vault.sync()
    assert (synced.notes, synced.memories) == ({"new": 1}, {"unchanged": 2})
    assert [problem.path for problem in synced.problems] == ["Copy.md"]
    assert bank.vault.path_of(one) == "Work/Tokens.md"


def test_memory_of_deleted_note_is_archived_until_it_is_back(bank: Bank, vault: Path) -> None:
    noted(bank)
    trash = (vault / NOTE).read_bytes()
    (vault / NOTE).unlink()
    assert events(bank.vault.sync()) == [(NOTE, "archived")]
    assert [(one.status, one.reason) for one in bank.list(include="archived")] == [("archived", "its note was deleted")]
    assert bank.vault.sync().events == []
    (vault / NOTE).write_bytes(trash)
    assert events(bank.vault.sync()) == [(NOTE, "found")]
    assert [one.status for one in bank.list()] == ["promoted"]


def test_note_of_removed_memory_goes_unless_it_was_edited(bank: Bank, vault: Path) -> None:
    plain, edited = noted(bank, title="Plain"), noted(bank, "Lunch is at noon.", title="Edited")
    edit(vault / "Pieria/Edited.md", "noon", "one")
    for id in (plain, edited):
        bank.remove(id)
    synced = bank.vault.sync()
    assert synced.memories == {"deleted": 1, "kept": 1}
    assert [(problem.path, "kept" in problem.reason) for problem in synced.problems] == [("Pieria/Edited.md", True)]
    assert ([path.name for path in (vault / "Pieria").iterdir()], bank.count()) == (["Edited.md"], 0)
    assert bank.vault.sync().memories == {"kept": 1}
    bank.restore(edited)
    assert [event.what for event in bank.vault.sync().events] == ["found", "edited"]
    assert held(bank, edited).text == "Lunch is at one."


def test_sync_deletes_note_of_purged_memory(bank: Bank, vault: Path, tmp_path: Path) -> None:
    note = vault / "Pieria/Secret plan.md"
    id = noted(bank, title="Secret plan")
    bank.export(tmp_path / "bank.jsonl")
    receipt = bank.purge(id)
    assert "the note Pieria/Secret plan.md in the vault: `pieria vault sync` deletes it" in receipt.unreached
    with bank.core.store.reading() as reader:
        assert "title" not in str(reader.records("vault"))
    kept = note.read_bytes()
    assert events(bank.vault.sync()) == [("Pieria/Secret plan.md", "deleted")]
    assert list((vault / "Pieria").iterdir()) == []
    note.write_bytes(kept)
    assert (bank.vault.sync().memories, bank.count()) == ({"kept": 1}, 0)
    # It has its note again when it is imported again.
    bank.import_(tmp_path / "bank.jsonl", force=True)
    assert (bank.vault.sync().problems, bank.vault.path_of(id)) == ([], "Pieria/Secret plan.md")
    assert bank.vault.sync().events == []


def test_banks_that_share_a_vault(bank: Bank, opened: Callable[..., Bank], vault: Path, tmp_path: Path) -> None:
    id = noted(bank)
    other = opened("other", vault=str(vault))
    synced = other.vault.sync()
    assert (synced.notes, synced.left, other.count()) == ({}, {"notes of other banks": 1}, 0)
    pieria.copy("vaulted", data=tmp_path, to=tmp_path, name="copy")
    for each in (bank, opened("copy", vault=str(vault))) * 2:
        each.vault.sync()
        assert [(memory.id, memory.status) for memory in each.list()] == [(id, "promoted")]


def test_note_follows_a_revision(bank: Bank, vault: Path) -> None:
    revised = bank.revise(noted(bank), text="JWT, rotated daily.")
    assert events(bank.vault.sync()) == [(NOTE, "rewritten")]
    assert (bank.vault.paths(), front(vault / NOTE)["id"]) == ({revised.id: NOTE}, revised.id)
    edit(vault / NOTE, "daily", "weekly")
    bank.vault.sync()
    assert [memory.text for memory in bank.list()] == ["JWT, rotated weekly."]
    # A note that became unreadable is reported and left alone.
    edit(vault / NOTE, "tags:", "tags: [")
    before = (vault / NOTE).read_bytes()
    bank.update(revised.id, text="We chose tokens.")
    assert [problem.path for problem in bank.vault.sync().problems] == [NOTE]
    assert ((vault / NOTE).read_bytes(), held(bank, revised.id).text) == (before, "We chose tokens.")


def test_notes_come_in_as_memories_that_do_not_fade(kept: Kept, vault: Path) -> None:
    (vault / "People").mkdir()
    (vault / "People/Maya.md").write_text(
        "---\ntags: [team, no, 2024]\ndate: 2024-03-01\nrole: lead\n---\n"
        "Maya leads billing, see [[Rates#May|here]]. #eu\n"
    )
    (vault / "Rates.md").write_text("# Rates\nRates rise in May: [Maya](People/Maya.md). #fff https://x.eu/#top\n")
    with kept.opened("vaulted", settings={"vault": str(vault)}) as bank:
        assert bank.vault.sync().notes == {"new": 2}
        maya, rates = titled(bank, "Maya"), titled(bank, "Rates")
        assert (maya.tags, maya.source, maya.place) == (("team", "no", "2024", "eu"), "People/Maya.md", "vault/People")
        assert (maya.at.isoformat()[:10], maya.body) == ("2024-03-01", {"front_matter": {"role": "lead"}})
        assert (rates.tags, rates.place, rates.kind) == ((), "vault/general", "drawer")
        assert rates.text.startswith("# Rates\nRates rise")
        tied = {(link.source.name, link.target.name) for link in bank.links(relation="links_to")}
        assert tied == {(maya.id, rates.id), (rates.id, maya.id)}
        assert [hit.memory.title for hit in bank.recall("who leads billing", place="vault")][:1] == ["Maya"]
        assert bank.vault.path_of(maya.id) == "People/Maya.md"
        assert bank.upkeep.gc(threshold=1.0).faded == ()


def test_only_changed_notes_are_read_again(bank: Bank, vault: Path) -> None:
    for name in ("One", "Two"):
        (vault / f"{name}.md").write_text(f"{name} says [[Two]].")
        os.utime(vault / f"{name}.md", (1_700_000_000, 1_700_000_000))
    bank.vault.sync()
    seq = bank.changes()[-1].seq
    (vault / "One.md").chmod(0o000)
    assert bank.vault.sync().notes == {"unchanged": 2}
    assert [change.ids for change in bank.changes(since=seq)] == [("vault state",)]
    (vault / "One.md").chmod(0o600)
    (vault / "One.md").write_text("One says nothing.")
    synced = bank.vault.sync()
    assert (synced.notes, synced.untied) == ({"changed": 1, "unchanged": 1}, 1)
    assert {str(one.title): one.version for one in bank.list()} == {"One": 2, "Two": 1}


def test_notes_that_go_and_come_back(bank: Bank, vault: Path) -> None:
    numbers(vault, "One", "Two", "Three")
    bank.vault.sync()
    (vault / "One.md").unlink()
    assert (bank.vault.sync().notes, bank.count()) == ({"vanished": 1, "unchanged": 2}, 2)
    numbers(vault, "One")
    assert bank.vault.sync().notes == {"back": 1, "unchanged": 2}
    bank.purge(titled(bank, "Two").id)
    bank.remove(titled(bank, "Three").id)
    for name in ("Two", "Three"):
        (vault / f"{name}.md").write_text(f"{name} is a number still.")
    assert bank.vault.sync().notes == {"purged": 1, "removed": 1, "unchanged": 1}
    assert [memory.title for memory in bank.list()] == ["One"]
    # A vault that is suddenly empty is not taken for deleted notes.
    for note in vault.iterdir():
        note.unlink()
    with pytest.raises(ConflictError, match="the vault is empty"):
        bank.vault.sync()
    assert bank.count() == 1
    assert bank.vault.sync(force=True).notes == {"vanished": 3}
    (vault / "One.md").write_text("One is a story. #told")
    os.utime(vault / "One.md", (1_700_000_000, 1_700_000_000))
    assert bank.vault.sync().notes["back"] == 1
    one = titled(bank, "One")
    assert (one.text, one.tags, one.version) == ("One is a story. #told", ("told",), 2)
    assert bank.vault.sync().notes["unchanged"] == 1


def test_earlier_text_of_a_refused_note_goes_with_the_note(opened: Callable[..., Bank], vault: Path) -> None:
    numbers(vault, "One", "Two")
    bank = opened("strict", vault=str(vault), secrets="refuse")
    bank.vault.sync()
    (vault / "One.md").write_text("One is AKIA5DZVPRX2QWMNK7TB.")
    for _ in range(2):
        synced = bank.vault.sync()
        assert synced.notes == {"refused": 1, "unchanged": 1}
        assert [(problem.path, problem.taken) for problem in synced.problems] == [("One.md", False)]
        assert {memory.title for memory in bank.list()} == {"One", "Two"}
    (vault / "One.md").unlink()
    assert bank.vault.sync().notes == {"vanished": 1, "unchanged": 1}
    assert [memory.text for memory in bank.list()] == ["Two is a number."]


def test_moved_note_keeps_its_memory_and_its_place_is_free(bank: Bank, vault: Path) -> None:
    (vault / "One.md").write_text("One is a number. #first")
    (vault / "Two.md").write_text("After [[One]].")
    bank.vault.sync()
    one = titled(bank, "One").id
    bank.touch(one, accesses=3)
    (vault / "Old").mkdir()
    (vault / "One.md").rename(vault / "Old" / "First.md")
    for text, notes in (
        (None, {"moved": 1, "unchanged": 1}), ("a story now", {"new": 1, "unchanged": 2}), (None, {"unchanged": 3}),
        ("a story still", {"changed": 1, "unchanged": 2}),
    ):  # fmt: skip
        if text:
            (vault / "One.md").write_text(f"One is {text}.")
        assert bank.vault.sync().notes == notes
    memory = held(bank, one)
    said = (memory.title, memory.source, memory.files, memory.place, memory.tags)
    assert said == ("First", "Old/First.md", ("Old/First.md",), "vault/Old", ("first",))
    assert bank.usage(one)[one].accesses == 3
    assert {memory.title for memory in bank.list()} == {"First", "One", "Two"}


def test_memory_of_a_session_is_not_changed_by_others(opened: Callable[..., Bank], vault: Path) -> None:
    own = opened("private", vault=str(vault), session="s")
    id = noted(own, scope="session")
    edit(vault / NOTE, "all new", "all")
    assert [problem.path for problem in opened("private", vault=str(vault)).vault.sync().problems] == [NOTE]
    assert events(own.vault.sync()) == [(NOTE, "edited")]
    assert held(own, id).text == "We chose JWT for all APIs."


def test_promotion_of_a_note_by_hand_writes_no_second(bank: Bank, vault: Path) -> None:
    (vault / "Long.md").write_text("Kestrels nest.\n\n" * 70_000)
    bank.vault.sync()
    ids = [memory.id for memory in bank.list()]
    assert len(ids) == 2 and bank.vault.by_hand() == frozenset(ids)
    assert bank.vault.paths() == dict.fromkeys(ids, "Long.md")
    assert {(note.what, note.path) for note in bank.vault.promote(ids).notes} == {("by hand", "Long.md")}
    assert {one.status for one in bank.list()} == {"promoted"}
    assert bank.vault.sync().events == []
    assert [path.name for path in vault.iterdir()] == ["Long.md"]


def test_nothing_is_written_outside_the_vault(bank: Bank, vault: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault / "Pieria").symlink_to(outside)
    memory = bank.remember(JWT)
    with pytest.raises(StorageError, match="outside the vault"):
        bank.vault.promote(memory.id)
    assert (list(outside.iterdir()), held(bank, memory.id).status) == ([], "active")


def test_new_notes_are_private_unless_others_are_not(bank: Bank, vault: Path) -> None:
    def mode(name: str) -> int:
        return (vault / name).stat().st_mode & 0o777

    noted(bank, title="One")
    assert (mode("Pieria"), mode("Pieria/One.md")) == (0o700, 0o600)
    numbers(vault, "Mine")
    (vault / "Mine.md").chmod(0o644)
    id = noted(bank, title="Two")
    assert mode("Pieria/Two.md") == 0o644
    (vault / "Pieria/Two.md").chmod(0o660)
    bank.update(id, text="Changed.")
    bank.vault.sync()
    assert mode("Pieria/Two.md") == 0o660


def test_settings_name_the_vault_and_its_folder(opened: Callable[..., Bank], tmp_path: Path) -> None:
    for root, named in (("one", "agents"), ("two", "notes/agents")):
        (tmp_path / root).mkdir()
        bank = opened(root, vault=str(tmp_path / root), vault_folder=named)
        assert bank.vault.path_of(noted(bank, title="JWT")) == f"{named}/JWT.md"
        assert (tmp_path / root / named / "JWT.md").exists()


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


@pytest.fixture
def other(opened: Callable[..., Bank], vault: Path) -> Bank:
    return opened("vaulted", vault=str(vault))


def synced_while(bank: Bank, act: Callable[[], object]) -> Synced:
    """Run a sync in which another caller acts between reading the memories and changing them."""
    store = bank.core.store
    bank.core.store = Interrupted(store, act)
    try:
        return bank.vault.sync()
    finally:
        bank.core.store = store


def test_same_part_changed_during_a_sync_is_a_conflict(bank: Bank, other: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth"])
    note = vault / NOTE
    edit(note, "all new APIs", "all APIs")
    synced = synced_while(bank, lambda: other.update(id, text="We chose tokens."))
    assert [(one.what, one.detail) for one in synced.events] == [
        ("conflict", "text; what the memory said is version 2")
    ]
    assert [one.text for one in bank.history(id)][-2:] == ["We chose tokens.", "We chose JWT for all APIs."]
    assert bank.vault.sync().memories == SAME
    # The same for a note that the bank did not know.
    said = note.read_text().replace("all APIs", "few APIs")
    note.unlink()
    bank.vault.sync()
    bank.update(id, status="active")
    note.write_text(said)
    synced = synced_while(bank, lambda: other.update(id, text="We chose both."))
    assert [event.what for event in synced.events] == ["found", "conflict"]
    assert [one.text for one in bank.history(id)][-2:] == ["We chose both.", "We chose JWT for few APIs."]
    assert bank.vault.sync().memories == SAME


def test_other_part_changed_during_a_sync_is_kept(bank: Bank, other: Bank, vault: Path) -> None:
    id = noted(bank, tags=["auth"])
    edit(vault / NOTE, JWT, "We chose JWT for all #apis.")
    synced = synced_while(bank, lambda: other.update(id, tags=["auth", "tokens"], title="Tokens"))
    assert events(synced) == [(NOTE, "edited")]
    memory = held(bank, id)
    assert (memory.title, memory.text) == ("Tokens", "We chose JWT for all #apis.")
    assert set(memory.tags) == {"auth", "tokens", "apis"}
    assert front(vault / NOTE)["title"] == "Tokens" and "tokens" in front(vault / NOTE)["tags"]
    assert bank.vault.sync().memories == SAME
    # So is the edited note of a memory that was removed meanwhile.
    edit(vault / NOTE, "for all #apis", "for some #apis")
    [problem] = synced_while(bank, lambda: other.remove(id)).problems
    assert "it was removed" in problem.reason
    assert bank.vault.sync().memories == {"kept": 1}
    assert "for some #apis" in (vault / NOTE).read_text()


def test_second_sync_at_once_is_refused(bank: Bank, other: Bank, vault: Path) -> None:
    (vault / "One.md").write_text("One is a number.")
    bank.update(bank.remember(JWT).id, status="promoted")

    def meanwhile(done: int, whole: int) -> None:
        other.vault.sync(dry_run=True)
        for verb in (other.vault.sync, other.vault.promote):
            with pytest.raises(BusyError, match="another process is using the vault"):
                verb()

    assert bank.vault.sync(progress=meanwhile).memories == {"written": 1}
    assert len(list((vault / "Pieria").iterdir())) == 1
    assert bank.vault.sync().well


def test_note_deleted_during_a_sync_stops_no_other(bank: Bank, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [noted(bank, f"We chose {what}.", title=what) for what in ("JWT", "CSV")]
    gone, stays = (vault / str(bank.vault.path_of(id)) for id in ids)
    for id in ids:
        bank.update(id, text="We chose neither.")
    real = os.stat

    def stat(path: Any, **how: Any) -> os.stat_result:
        if str(path) == str(gone):
            gone.unlink(missing_ok=True)
        return real(path, **how)

    monkeypatch.setattr(os, "stat", stat)
    synced = bank.vault.sync()
    [bad] = synced.problems
    assert bad.path == gone.relative_to(vault).as_posix() and bad.reason.startswith("the note was changed just now")
    assert (synced.memories["rewritten"], "We chose neither." in stays.read_text()) == (1, True)


def test_note_taken_at_once_by_its_owner_was_written(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder(vault, "Pieria")
    folder.settle()
    real = os.replace

    def taken(source: Any, target: Any) -> None:
        real(source, target)
        if Path(target).is_relative_to(vault):
            os.unlink(target)

    monkeypatch.setattr(os, "replace", taken)
    (vault / "Pieria").mkdir()
    (vault / "Pieria" / "Old.md").write_bytes(b"old")
    assert folder.create("Pieria/New.md", b"new").size == 3
    assert folder.replace("Pieria/Old.md", b"older", digest_of(b"old")).size == 5


def test_mode_of_new_notes_ignores_notes_that_go(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(path: Any = ".") -> Any:
        """List the files of a folder, and delete them."""
        if str(path) != str(vault):
            return real(path)
        entries = [*real(path)]
        for entry in entries:
            os.unlink(entry.path)
        return nullcontext(entries)

    (vault / "Going.md").write_text("going")
    monkeypatch.setattr(os, "scandir", scandir)
    Folder(vault, "Pieria").create("Pieria/New.md", b"new")
    assert (vault / "Pieria" / "New.md").stat().st_mode & 0o777 == 0o600


def test_process_forked_during_a_sync_does_not_keep_the_vault(bank: Bank, vault: Path) -> None:
    (vault / "Mine.md").write_text("We chose JWT.")
    over, tell = os.pipe()
    children: list[int] = []

    def fork(done: int, whole: int) -> None:
        """Fork once. The child does nothing until the parent has synced again, but does not wait without end."""
        if not children:
            children.append(os.fork())
            if not children[0]:
                signal.alarm(90)
                os.read(over, 1)
                os._exit(0)

    bank.vault.sync(progress=fork)
    assert bank.vault.sync().well
    os.write(tell, b"!")
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    for end in (over, tell):
        os.close(end)
