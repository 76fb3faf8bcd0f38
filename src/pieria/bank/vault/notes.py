"""Compare each note with its memory during a sync, and copy changes both ways."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pieria.bank.vault.held import Held, has_other_note, held_in, mark_of, promoted_in, spelt
from pieria.bank.vault.marks import NOTES, Mark, is_as, paths_in
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError, PrivacyError
from pieria.record.changeset import Changeset, Record, Stored
from pieria.vault import front, markdown
from pieria.vault.front import BadFrontError
from pieria.vault.note import AS_IT_WAS, CONFLICT, EDITED, Page, Said, changes, decided, said_in
from pieria.vault.note_import import decoded

if TYPE_CHECKING:
    from pieria.bank.vault.held import File, Vaulted
    from pieria.record.draft import Instant
    from pieria.record.memory import Memory
    from pieria.store.protocol import Reader

EDIT, DELETED = "its note was edited", "its note was deleted"
"""The reasons recorded when a note changes its memory."""
TEXTS = ("title", "context", "text")
REFUSED = (InputError, PrivacyError, NotFoundError, ConflictError)
TRIES = 5
"""Attempts for a note whose memory changes during each attempt."""
TARGET = "obsidian"
"""The link style in notes of memories that were promoted without a target."""


class Memories:
    """`writes` says whether notes are written; without it only the bank follows the vault."""

    def __init__(self, at: Vaulted, dry_run: bool, writes: bool = True) -> None:
        self._at = at
        self._writes = writes
        self._bank = at.bank
        self._folder = at.folder
        self._dry_run = dry_run
        self.files: dict[str, File] = {}
        """The note of each memory that has one in this folder, by id."""
        self._found: set[str] = set()
        """Ids whose note was not marked before this sync."""

    def match(self) -> Iterator[File]:
        """Assign files to memories, and yield the files that belong to no memory."""
        from pieria.bank.vault.held import File

        at = self._at
        self._follow()
        for id, mark in at.marks.items():
            seen = at.scan.notes.get(mark["path"])
            mine = at.claims.pop(id, [])
            there = next((file for file in mine if file.path == mark["path"]), None)
            if there is not None:
                self.files[id] = there
            elif seen is not None and is_as(seen, mark):
                # A purged memory leaves only the path of its note in the mark; the memory may have been imported again.
                found = at.read(mark["path"]) if "gone" in mark else File(mark["path"], seen, mark["digest"])
                self.files |= {id: found} if found is not None else {}
            elif mine and not at.scan.is_unseen(mark["path"]):
                self.files[id] = mine[0]
            for file in mine:
                if file is not self.files.get(id):
                    yield from self._copy(file, id)
        for id, claimed in at.claims.items():
            yield from self._unknown(id, claimed)

    def _follow(self) -> None:
        """Move the marks and claims of revised memories to their newest revision."""
        at = self._at
        with self._bank.core.reading() as reader:
            heads = {id: _head(reader, id) for id in {*at.marks, *at.claims}}
        moved: dict[str, Mark | None] = {}
        for id, head in heads.items():
            if head == id:
                continue
            if id in at.claims:
                at.claims.setdefault(head, []).extend(at.claims.pop(id))
            if id in at.marks and head not in at.marks:
                at.marks[head] = at.marks.pop(id)
                moved |= {id: None, head: at.marks[head]}
        self._keep(moved)

    def _copy(self, file: File, id: str) -> Iterator[File]:
        self._at.bad(file.path, f"it is a copy of the note of {id}, and becomes a separate note", taken=True)
        yield file

    def _unknown(self, id: str, claimed: list[File]) -> Iterator[File]:
        """Assign notes that name a memory without a mark."""
        with self._bank.core.reading() as reader:
            held = reader.states([id]).get(id)
            purged = bool(reader.purged([id]))
        if held is not None and not held.state.ended:
            self.files[id] = claimed[0]
            self._found.add(id)
            for file in claimed[1:]:
                yield from self._copy(file, id)
        elif held is not None or purged:
            word = "purged" if purged else "removed"
            for file in claimed:
                self._at.report.memories["kept"] += 1
                self._at.bad(file.path, f"its memory {id} was {word}; delete the note, or take the id out of it")
        else:
            yield from claimed

    def compare(self) -> None:
        at = self._at
        with self._bank.core.reading() as reader:
            states = reader.states({*at.marks, *self.files})
            hidden = reader.quarantines(states)
            compared = {id: file for id, file in self.files.items() if self._writes or file.text is not None}
            wanted = {
                id: (file.path, at.marks[id]["target"] if id in at.marks else TARGET) for id, file in compared.items()
            }
            held = held_in(
                reader, self._bank, wanted, paths_in(reader) | {id: path for id, (path, _) in wanted.items()}
            )
        for id in {**at.marks, **self.files}:
            file, mark = self.files.get(id), at.marks.get(id)
            if id in hidden:
                # During quarantine, do not write, read or delete the note.
                at.report.memories["quarantined"] += 1
            elif file is not None and id in held:
                self._both(id, None if mark is not None and "gone" in mark else mark, file, held[id])
            elif file is not None and not self._writes:
                at.report.memories[AS_IT_WAS] += 1
            elif mark is not None and _stands(states.get(id)):
                self._missing(id, mark, states[id])
            elif mark is not None:
                self._gone(id, mark, file)

    def write_new(self) -> None:
        """Write notes for promoted memories that have none."""
        at = self._at
        if not self._writes:
            return
        with self._bank.core.reading() as reader:
            promoted = promoted_in(reader, self._bank)
        without = [
            memory
            for memory in promoted
            if memory.id not in at.marks and memory.id not in self.files and not has_other_note(memory, at.scan.notes)
        ]
        new = self._bank.vault._named(without, self._folder)
        for id, path in new.items():
            self._count("written", path, id)
        if not self._dry_run:
            self._bank.vault._write(new, self._folder, TARGET)

    def _gone(self, id: str, mark: Mark, file: File | None) -> None:
        """Delete the note of a removed or purged memory, unless the note was edited."""
        if not self._writes:
            return
        if file is None:
            self._forget(id)
        elif file.digest != mark["digest"]:
            self._at.report.memories["kept"] += 1
            self._at.bad(file.path, f"its memory {id} was taken away, but the note was edited; it is kept")
            self._forget(id)
        elif self._done(file.path, lambda: self._folder.delete(file.path, mark["digest"])):
            self._count("deleted", file.path, id, "its memory was taken away")
            self._forget(id)

    def _missing(self, id: str, mark: Mark, held: Stored) -> None:
        """Archive the memory whose note was deleted; it can be restored."""
        if self._at.report.unread or self._at.scan.is_unseen(mark["path"]):
            return
        if held.state.status != "archived":
            try:
                self._update(id, {"status": "archived"}, DELETED)
            except REFUSED as problem:
                self._stays(mark["path"], id, problem)
                return
        self._count("archived", mark["path"], id, DELETED)
        self._forget(id)

    def _both(self, id: str, mark: Mark | None, file: File, held: Held) -> None:
        if mark is not None and file.path != mark["path"]:
            self._count("moved", file.path, id, f"from {mark['path']}")
        if id in self._found:
            self._count("found", file.path, id)
            if not self._dry_run:
                self._bank.vault._stand([id])
        if mark is not None and file.text is None and file.problem is None:
            if held.page.digest == mark["page"]:
                self._at.report.memories[AS_IT_WAS] += 1
            else:
                self._rewrite(id, mark, file, held)
            return
        try:
            if file.text is None:
                raise BadFrontError(file.problem or "")
            said = said_in(file.text, mark["tail"] if mark is not None else held.page.tail)
        except BadFrontError as problem:
            self._at.bad(file.path, f"{problem}; its memory {id} does not change")
            return
        first = _said_of(held)
        for _ in range(TRIES):
            newer = self._read(id, mark, file, held, said, first)
            if newer is None:
                return
            held = newer
        self._at.bad(file.path, f"other writers keep changing its memory {id}; it is skipped until the next sync")

    def _read(
        self, id: str, mark: Mark | None, file: File, held: Held, said: Said, first: Mapping[str, Any]
    ) -> Held | None:
        """Decide what to do with a note that was read again and says `said`.

        `first` is the note of the memory as first read. Return the newer memory if another writer changed it since; the
        caller then decides again.
        """
        would = _said_of(held)
        base, held_base = (first, first) if mark is None else (mark["said"], mark.get("held", mark["said"]))
        what = decided(said.kept(), base, would, held_base)
        if what in (EDITED, CONFLICT):
            return self._bring(id, mark, file, held, said, changes(held.memory, base, said), what, would != held_base)
        if what == AS_IT_WAS and (mark is None or held.page.digest == mark["page"]):
            self._at.report.memories[AS_IT_WAS] += 1
            self._mark(id, self._marked(file, mark, held, said, mark["tail"] if mark is not None else held.page.tail))
        else:
            self._rewrite(id, mark, file, held)
        return None

    def _bring(
        self,
        id: str,
        mark: Mark | None,
        file: File,
        held: Held,
        said: Said,
        given: dict[str, Any],
        what: str,
        is_changed: bool,
    ) -> Held | None:
        """Write the fields `given` by the note into the bank.

        If `is_changed`, also write the memory's changes into the note.
        """
        try:
            updated = self._update(id, given, EDIT, held.memory.known_from)
        except REFUSED as problem:
            newer = self._held(id, file, mark)
            if newer is not None and newer.memory.known_from != held.memory.known_from:
                return newer
            self._stays(file.path, id, problem)
            return None
        was = f"; what the memory said is version {held.memory.version}" if what == CONFLICT else ""
        self._count(what, file.path, id, ", ".join(given) + was)
        now = self._held(id, file, mark)
        if updated is None or now is None:
            return None
        after = self._marked(file, mark, now, said, mark["tail"] if mark is not None else now.page.tail, given)
        is_changed |= now.memory.known_from != updated.known_from
        if is_changed and after["said"] != _said_of(now):
            self._rewrite(id, after, file, now, count=False)
        else:
            self._mark(id, after)
        return None

    def _marked(
        self, file: File, mark: Mark | None, held: Held, said: Said, tail: str, given: Container[str] = ()
    ) -> dict[str, Any]:
        """Return the mark of a note that stays unchanged after the fields `given` were copied into the bank.

        `own` names the texts that the bank cannot store completely; `held` is what the bank stores.
        """
        would, now = _said_of(held), said.kept()
        before = mark.get("own", ()) if mark is not None else ()
        own = [name for name in TEXTS if (now[name] != would[name] if name in given else name in before)]
        return {
            **_seen(file),
            "page": held.page.digest,
            "said": now,
            "tail": tail,
            "links": list(markdown.links(said.text)),
            "target": _target(mark),
            **({"own": own, "held": would} if own else {}),
        }

    def _update(self, id: str, given: Mapping[str, Any], reason: str, since: Instant | None = None) -> Memory | None:
        """Return the updated memory, or None in a dry run. The bank may refuse, or hide the memory from the caller."""
        if self._dry_run:
            return None
        return self._bank.update(id, **given, reason=reason, unless_changed_since=since)

    def _stays(self, path: str, id: str, problem: PieriaError) -> None:
        self._at.bad(path, f"{problem.message}; its memory {id} does not change")

    def _rewrite(self, id: str, mark: Mark | None, file: File, held: Held, *, count: bool = True) -> None:
        """Rewrite our part of the note; front matter of other tools stays."""
        if not self._writes:
            return
        if self._dry_run:
            self._at.report.memories["rewritten"] += count
            if count:
                self._at.tell(file.path, "rewritten", id)
            return
        try:
            text = (file.text if file.text is not None else decoded(self._folder.read(file.path))[0]) or ""
            page = self._page(mark, held, text)
            written = page.written(front.split(text).front).encode()
        except (BadFrontError, OSError) as problem:
            self._at.bad(file.path, f"{problem}; it was not brought up to date")
            return
        if not self._done(file.path, lambda: self._put(id, mark, file, held, written)):
            return
        if count:
            self._count("rewritten", file.path, id)

    def _page(self, mark: Mark | None, held: Held, text: str) -> Page:
        """Return the page to write. If the bank cannot store the note's text completely, keep that text.

        Raise `BadFrontError` if the memory has changed as well, because one of the texts would be lost.
        """
        if mark is None or "own" not in mark:
            return held.page
        would = _said_of(held)
        if any(would[name] != mark["held"][name] for name in mark["own"]):
            raise BadFrontError("its memory was changed, and the note has text that the bank does not store")
        return said_in(text, mark["tail"]).over(held.page, mark["own"])

    def _put(self, id: str, mark: Mark | None, file: File, held: Held, written: bytes) -> None:
        seen = self._folder.replace(file.path, written, file.digest)
        own = {"own": mark["own"], "held": _said_of(held)} if mark is not None and "own" in mark else {}
        self._mark(id, {**mark_of(held, file.path, seen, written, _target(mark)), **own})

    def _held(self, id: str, file: File, mark: Mark | None) -> Held | None:
        """Return the current memory, or None if it was removed."""
        with self._bank.core.reading() as reader:
            return held_in(reader, self._bank, {id: (file.path, _target(mark))}, paths_in(reader)).get(id)

    def _done(self, path: str, act: Callable[[], None]) -> bool:
        """Return whether `act` succeeded. Another program may be writing the file."""
        try:
            if not self._dry_run:
                act()
        except ConflictError as problem:
            self._at.bad(path, problem.message)
            return False
        return True

    def _count(self, what: str, path: str, id: str, detail: str | None = None) -> None:
        self._at.report.memories[what] += 1
        self._at.tell(path, what, id, detail)

    def _mark(self, id: str, mark: Mark) -> None:
        if spelt(mark) != spelt(self._at.marks.get(id)):
            self._at.marks[id] = dict(mark)
            self._keep({id: mark})

    def _forget(self, id: str) -> None:
        self._keep({id: None})
        if not self._dry_run:
            self._at.marks.pop(id, None)

    def _keep(self, marks: Mapping[str, Mark | None]) -> None:
        if marks and not self._dry_run:
            records = [Record(NOTES, id, mark) for id, mark in marks.items()]
            self._bank.core.apply(lambda _: Changeset("vault", records=records, ids=tuple(marks)))


def _head(reader: Reader, id: str) -> str:
    """Return the newest revision of an id, visible or not."""
    seen = {id}
    while True:
        held = reader.states([id]).get(id)
        leads_to = held.state.superseded_by if held is not None and held.state.ended == "revised" else None
        if leads_to is None or leads_to in seen:
            return id
        seen.add(leads_to)
        id = leads_to


def _stands(held: Stored | None) -> bool:
    return held is not None and not held.state.ended


def _said_of(held: Held) -> dict[str, Any]:
    """Return what a note of the memory would say."""
    text, _ = decoded(held.page.written().encode())
    assert text is not None
    return said_in(text, held.page.tail).kept()


def _seen(file: File) -> dict[str, Any]:
    return {
        "path": file.path,
        "size": file.seen.size,
        "changed": file.seen.changed,
        "digest": file.digest,
        **file.unsettled,
    }


def _target(mark: Mark | None) -> str:
    return TARGET if mark is None else str(mark["target"])
