"""`bank.vault`: lasting memories as notes in a folder of Markdown files, and the folder's other notes as memories.

`pieria.vault` defines the content and format of notes; this module applies the changes to the bank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from pieria.bank.results.transfer import Noted, Synced, VaultPromoted, VaultStatus
from pieria.bank.spans import reported
from pieria.bank.vault.held import AT_ONCE, has_other_note, held_in, is_from_note, mark_of, promoted_in
from pieria.bank.vault.marks import NOTES, STATE, by_hand_in, looks_same, marks_in, others_in, paths_in
from pieria.errors import UnavailableError
from pieria.record import check
from pieria.record.changeset import Changeset, Record, Write
from pieria.record.memory import Memory
from pieria.record.time import instant
from pieria.runtime.key_locks import turns
from pieria.runtime.lazy import cached_property
from pieria.store.files import alone
from pieria.upkeep.promotion import Promotion
from pieria.vault.file_names import free_name, note_name, same_name
from pieria.vault.folder import Folder
from pieria.vault.note import TARGETS, heading

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.vault.look import Looks
    from pieria.bank.vault.marks import VaultAt
    from pieria.store.protocol import Progress, Reader

LONGEST_LOOK = 600.0
"""Most seconds of a look."""


@reported("vault")
class Vault:
    def __init__(self, bank: Bank, at: VaultAt) -> None:
        self._bank = bank
        self._at = at

    @property
    def is_set(self) -> bool:
        """Whether the settings name a vault folder."""
        return self._at.root is not None

    def promote(
        self, ids: str | Iterable[str] | None = None, *, target: str = "obsidian", dry_run: bool = False
    ) -> VaultPromoted:
        """Promote memories and write a note for each: the named ones, or by default all that were used enough.

        Existing notes stay. `target` is the link style.
        """
        check.one_of(target, "target", TARGETS)
        check.flag(dry_run, "dry_run")
        folder = self._folder()
        folder.check()
        chosen = self._bank.upkeep.promote(ids, dry_run=True).promoted
        with self._alone(dry_run):
            known = self.paths()
            new = self._named([one.memory for one in chosen if one.memory.id not in known], folder)
            if not dry_run:
                self._stand([one.memory.id for one in chosen if one.memory.id in known])
                self._write(new, folder, target)
        notes = [_noted(promotion, known, new) for promotion in chosen]
        return VaultPromoted(dry_run, target, folder.root, tuple(notes))

    def sync(self, *, dry_run: bool = False, force: bool = False, progress: Progress | None = None) -> Synced:
        """Synchronize the vault and the bank, and return what changed on either side.

        The vault's changes are notes written, edited, moved or deleted by hand; the bank's are memories promoted,
        changed or removed. Handwritten notes are never changed. If both sides have changed, the note wins, and the
        memory's wording stays as the previous version. `dry_run` only reports. `progress` counts notes. Raise
        `ConflictError` if all of several notes are gone, unless `force` confirms it.
        """
        from pieria.bank.vault.sync import Sync

        check.flag(dry_run, "dry_run")
        check.flag(force, "force")
        folder = self._folder()
        with self._alone(dry_run):
            return Sync(self._bank, folder, dry_run, force).run(progress)

    def status(self) -> VaultStatus:
        """Return what is in the vault, and what has changed there since the last sync."""
        folder = self._folder()
        scan = folder.scan()
        with self._bank.core.reading() as reader:
            marks, others = marks_in(reader), others_in(reader)
            promoted = promoted_in(reader, self._bank)
            state = reader.records(STATE, "sync").get("sync")
        without = sum(memory.id not in marks and not has_other_note(memory, scan.notes) for memory in promoted)
        known = {mark["path"]: mark for mark in (*marks.values(), *others.values())}
        waiting = {
            "new": sum(path not in known for path in scan.notes),
            "changed": sum(path in known and not looks_same(seen, known[path]) for path, seen in scan.notes.items()),
            "vanished": sum(path not in scan.notes and not scan.is_unseen(path) for path in known),
        }
        last = None if state is None else instant(state, "sync")
        return VaultStatus(folder.root, folder.own, len(others), len(marks), without, waiting, last)

    def path_of(self, id: str) -> str | None:
        """Return the path of a memory's note within the vault, or None."""
        return self.paths([check.identifier(id, "id")]).get(id)

    def paths(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the paths by id, of all memories with a note or of these."""
        with self._bank.core.reading() as reader:
            found = paths_in(reader)
        return found if ids is None else {id: found[id] for id in ids if id in found}

    def by_hand(self) -> frozenset[str]:
        """Return the ids of memories from handwritten notes."""
        with self._bank.core.reading() as reader:
            return by_hand_in(reader)

    def look(self, *, seconds: float = 1.0, begins: bool = True) -> str | None:
        """Take in the notes that changed since the last look or sync. Return what was not read and why, or None.

        Look at most once a second, and read for at most `seconds`; the next look continues. Write no note. Without
        `begins`, skip a bank that never read the vault. Without a vault, do nothing.
        """
        check.number(seconds, "seconds", 0.0, LONGEST_LOOK)
        check.flag(begins, "begins")
        if self._at.root is None or self._bank.is_user_bank:
            return None
        return self._looks.look(seconds, begins=begins)

    @cached_property
    def _looks(self) -> Looks:
        from pieria.bank.vault.look import Looks

        return Looks(self._bank, self._folder())

    @contextmanager
    def _alone(self, dry_run: bool) -> Iterator[None]:
        """Lock the vault, so that two processes do not write two notes for one memory.

        Raise `BusyError` if it is locked.
        """
        with ExitStack() as held:
            if not dry_run:
                held.enter_context(turns.of("vault", id(self._bank)))
                lock = self._bank.data / f".{self._bank.name}.vault"
                held.enter_context(alone(lock, "vault", "another process is using the vault"))
            yield

    def _folder(self) -> Folder:
        if self._at.root is None:
            hint = "Name the folder of your notes: PIERIA_VAULT=~/notes, or vault in the settings."
            raise UnavailableError("vault", "no vault is set", hint=hint)
        return Folder(self._at.root, self._at.own)

    def _named(self, memories: Iterable[Memory], folder: Folder) -> dict[str, str]:
        """Return free paths for new notes, by memory id."""
        taken = folder.taken()
        found: dict[str, str] = {}
        for memory in memories:
            name = free_name(note_name(heading(memory), memory.id), taken)
            taken.add(same_name(name))
            found[memory.id] = f"{folder.own}/{name}"
        return found

    def _write(self, new: Mapping[str, str], folder: Folder, target: str) -> None:
        """Write new notes. Files come first: after a crash, the next sync finds a note without a mark."""
        if not new:
            return
        with self._bank.core.reading() as reader:
            wanted = {id: (path, target) for id, path in new.items()}
            held = held_in(reader, self._bank, wanted, {**paths_in(reader), **new})
        ids = list(held)
        for start in range(0, len(ids), AT_ONCE):
            part = [(id, held[id]) for id in ids[start : start + AT_ONCE]]
            records = []
            for id, one in part:
                written = one.page.written().encode()
                seen = folder.create(new[id], written)
                records.append(Record(NOTES, id, mark_of(one, new[id], seen, written, target)))
            folder.settle()
            self._stand([id for id, _ in part], records)

    def _stand(self, ids: Sequence[str], records: Sequence[Record] = ()) -> None:
        """Promote the memories that still exist, and write their marks in the same transaction."""

        def plan(writer: Reader) -> Changeset:
            states = [held.state for held in writer.states(ids).values() if not held.state.ended]
            changed = [(state, state._replace(status="promoted", tier="settled")) for state in states]
            writes = [Write(after) for before, after in changed if after != before]
            return Changeset("vault", writes=writes, records=list(records), ids=tuple(ids))

        self._bank.core.apply(plan)


def _noted(promotion: Promotion, known: Mapping[str, str], new: Mapping[str, str]) -> Noted:
    memory = promotion.memory
    what = "written" if memory.id in new else "by hand" if is_from_note(memory) else "there"
    return Noted(promotion, heading(memory), new.get(memory.id) or known[memory.id], what)
