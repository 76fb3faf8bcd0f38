"""A vault and a bank changed in any order: a sync loses no text of either, and repeated syncs settle."""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

import pieria
from pieria.bank.results.transfer import Synced
from pieria.errors import ConflictError, NotFoundError

pytestmark = pytest.mark.slow
EXAMPLES = 60  # histories of half a second each; `tests/bank/test_vault.py` is in every run
NUMBERS = st.integers(0, 5)
WORDS = st.sampled_from(
    ["heron", "otter", "wren", "# head\n\n- a list", "---\nrule", "#tagged [[note 1]]", "  indented"]
)


def told(synced: Synced) -> list[tuple[str, str]]:
    return sorted((event.path, event.what) for event in synced.events)


class VaultMachine(RuleBasedStateMachine):
    """Change a vault and a bank at random. Each text is unique, so that it can be searched for."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.vault = self.folder / "vault"
        self.vault.mkdir()
        (self.vault / "note 1.md").write_text("A note by hand.")
        self.bank = pieria.open("b", data=self.folder / "data", settings={"vault": str(self.vault)})
        self.ids = [self.bank.remember(f"Said {number}.", title=f"Title {number}").id for number in range(3)]
        self.texts: dict[str, str] = {}
        self.count = 0

    def made(self, word: str) -> str:
        self.count += 1
        return f"{word} number {self.count}."

    def one(self, number: int) -> str:
        return self.ids[number % len(self.ids)]

    def notes(self) -> list[Path]:
        return sorted(self.vault.rglob("*.md"))

    @rule(number=NUMBERS)
    def promote(self, number: int) -> None:
        with suppress(ConflictError, NotFoundError):
            self.bank.vault.promote(self.one(number))

    @rule(number=NUMBERS, word=WORDS)
    def edit(self, number: int, word: str) -> None:
        """Edit a note by hand, but only above the mark if the note has one."""
        notes = self.notes()
        if notes:
            note = notes[number % len(notes)]
            head, fence, body = note.read_text().rpartition("---\n\n")
            _, mark, tail = body.partition("<!-- pieria:")
            if fence and mark:
                made = self.made(word)
                note.write_text(f"{head}{fence}{made}\n\n{mark}{tail}")
                self.texts[str(note)] = made
            else:
                note.write_text(self.made(word))

    @rule(number=NUMBERS, word=WORDS)
    def say(self, number: int, word: str) -> None:
        with suppress(ConflictError, NotFoundError):
            self.bank.update(self.one(number), text=self.made(word), tags=[f"t{number}"])

    @rule(number=NUMBERS)
    def remove(self, number: int) -> None:
        with suppress(ConflictError):
            self.bank.remove(self.one(number))

    @rule(number=NUMBERS)
    def restore(self, number: int) -> None:
        with suppress(ConflictError):
            self.bank.restore(self.one(number))

    @rule(number=NUMBERS)
    def rename(self, number: int) -> None:
        notes = self.notes()
        if notes:
            self.count += 1
            note = notes[number % len(notes)]
            note.rename(self.vault / f"moved {self.count}.md")
            self.texts[str(self.vault / f"moved {self.count}.md")] = self.texts.pop(str(note), "")

    @rule(number=NUMBERS)
    def delete(self, number: int) -> None:
        notes = self.notes()
        if notes:
            note = notes[number % len(notes)]
            note.unlink()
            self.texts.pop(str(note), None)

    @rule()
    def sync(self) -> None:
        kept_before = {str(note): note.read_bytes() for note in self.notes()}
        foretold = self.bank.vault.sync(force=True, dry_run=True)
        assert kept_before == {str(note): note.read_bytes() for note in self.notes()}
        synced = self.bank.vault.sync(force=True)
        assert told(foretold) == told(synced)
        said = {memory.text for id in self.every() for memory in self.bank.history(id)}
        on_disk = "\n".join(note.read_text() for note in self.notes())
        for text in filter(None, self.texts.values()):
            assert text.strip("\n").rstrip() in said or text in on_disk, synced.as_dict()
        for path, before in kept_before.items():
            if b"<!-- pieria:" not in before and Path(path).exists():
                assert Path(path).read_bytes() == before
        self.texts.clear()
        again = self.bank.vault.sync(force=True)
        assert again.events == [], again.as_dict()
        assert (again.tied, again.untied) == (0, 0)

    def every(self) -> list[str]:
        include = ("archived", "removed", "invalid", "revised")
        return [memory.id for memory in self.bank.list(limit=1_000, include=include)]

    def teardown(self) -> None:
        self.bank.close()
        shutil.rmtree(self.folder)


class TestVault(VaultMachine.TestCase):  # type: ignore[misc,valid-type]
    settings = settings(max_examples=EXAMPLES, stateful_step_count=15)
