"""`bank.vault`: lasting memories as notes in a folder of Markdown files, and the folder's other notes as memories.

`pieria.vault` defines the content and format of notes; this module applies the changes to the bank.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.bank.core import EVERYTHING
from pieria.bank.results.vault import Noted, Synced, VaultPromoted, VaultStatus
from pieria.bank.turns import turns
from pieria.bank.vault.marks import NOTES, STATE, by_hand_in, looks_same, marks_in, others_in, paths_in
from pieria.errors import UnavailableError
from pieria.record import check
from pieria.record.changeset import Changeset, Record, Write
from pieria.record.filter import Filter
from pieria.record.link import SYMMETRIC, End, Link
from pieria.record.memory import KINDS, Memory
from pieria.record.time import instant
from pieria.record.usage import UNUSED
from pieria.store.files import alone
from pieria.upkeep.promotion import Promotion
from pieria.upkeep.selection import selected
from pieria.vault import markdown
from pieria.vault.file_names import free_name, note_name, same_name
from pieria.vault.folder import Folder, Seen, digest_of
from pieria.vault.note import TARGETS, Page, Tie, heading, page_of, said_in
from pieria.vault.note_import import decoded
from pieria.vault.note_links import RELATION

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.vault.location import VaultAt
    from pieria.store.protocol import Progress, Reader


AT_ONCE = 100
"""Notes written before the bank records them."""


@dataclass(frozen=True, slots=True)
class Held:
    """A memory with the page for its note."""

    memory: Memory
    page: Page


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

    def unread(self) -> str | None:
        """Return why the vault's notes are not found, or None if it was synced or none is set."""
        if self._at.root is None:
            return None
        if not self._at.root.is_dir():
            return f"The vault {self._at.root} is not there: nothing of it was looked for."
        with self._bank.core.reading() as reader:
            synced = reader.records(STATE, "sync")
        return None if synced else f"Notes of {self._at.root} are found after the first `pieria vault sync`."

    @contextmanager
    def _alone(self, dry_run: bool) -> Iterator[None]:
        """Lock the vault, so that two processes do not write two notes for one memory.

        Raise `BusyError` if it is locked.
        """
        with ExitStack() as held:
            if not dry_run:
                held.enter_context(turns.of("vault", id(self._bank)))
                lock = self._bank.data / f".{self._bank.name}.vault"
                held.enter_context(alone(lock, "vault", "another process is at the vault"))
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


def mark_of(held: Held, path: str, seen: Seen, written: bytes, target: str) -> dict[str, Any]:
    """Return the mark of a note that equals its memory, for the next sync."""
    text, _ = decoded(written)
    assert text is not None
    said = said_in(text, held.page.tail)
    return {
        "path": path,
        "size": seen.size,
        "changed": seen.changed,
        "digest": digest_of(written),
        "page": held.page.digest,
        "said": said.kept(),
        "tail": held.page.tail,
        "links": list(markdown.links(said.text)),
        "target": target,
    }


def held_in(
    reader: Reader, bank: Bank, wanted: Mapping[str, tuple[str, str]], paths: Mapping[str, str]
) -> dict[str, Held]:
    """Return existing memories with the pages of their notes: `wanted` gives each one's path and target."""
    hidden = reader.quarantines(wanted)
    found = reader.states(id for id in wanted if id not in hidden)
    states = {id: held.state for id, held in found.items() if not held.state.ended}
    filter = bank.core.filter().having(viewer=EVERYTHING)
    memories = reader.memories([state.row for state in states.values()], filter)
    usage = reader.usage(list(states))
    ties = _ties(reader, bank, list(states), paths)
    return {
        id: Held(
            memories[state.row],
            page_of(
                memories[state.row],
                usage.get(id, UNUSED),
                ties.get(id, ()),
                bank=bank.name,
                path=wanted[id][0],
                target=wanted[id][1],
            ),
        )
        for id, state in states.items()
    }


def _ties(reader: Reader, bank: Bank, ids: Sequence[str], paths: Mapping[str, str]) -> dict[str, list[Tie]]:
    """Return the notes that each memory links to. Links that come from its own text are left out."""
    links = [link for link in reader.links([End("memory", id) for id in ids]) if _is_shown(link)] if ids else []
    others = {end.name for link in links for end in (link.source, link.target) if end.name in paths}
    others -= reader.quarantines(others).keys()
    rows = {id: held.state.row for id, held in reader.states(others).items() if not held.state.ended}
    titles = reader.memories(list(rows.values()), bank.core.filter().having(viewer=EVERYTHING))
    wanted = set(ids)
    found: dict[str, dict[Tie, None]] = {}
    for link in links:
        ways = [(link.source.name, link.target.name), (link.target.name, link.source.name)]
        for here, there in ways if link.relation in (*SYMMETRIC, "related") else ways[:1]:
            if here in wanted and there in rows:
                tie = Tie(link.relation, heading(titles[rows[there]]), paths[there])
                found.setdefault(here, {})[tie] = None
    return {id: sorted(ties) for id, ties in found.items()}


def _is_shown(link: Link) -> bool:
    return link.relation != RELATION and link.source.what == link.target.what == "memory"


def promoted_in(reader: Reader, bank: Bank) -> list[Memory]:
    """Return the memories that are promoted now."""
    asked = Filter(now=bank.core.now(), viewer=EVERYTHING, kinds=KINDS, status=("promoted",))
    return [memory for part in selected(reader, asked) for memory in part]


def is_from_note(memory: Memory) -> bool:
    """Return whether the memory comes from a handwritten note."""
    return memory.kind == "drawer" and memory.id.startswith("note_") and "mined" in memory.meta


def has_other_note(memory: Memory, paths: Container[str]) -> bool:
    """Return whether another note holds the memory: its source, or one that another system wrote."""
    return is_from_note(memory) or memory.meta.get("promoted_to") in paths


def spelt(value: object) -> str:
    """Return canonical JSON, to compare records with new values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
