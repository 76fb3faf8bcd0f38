"""One sync of a vault: classify every file, and write what has changed.

Each file is checked once. Notes of memories are compared with their memories (`vault.notes`). All other notes are
handwritten, and are taken in like any outside source.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.capture.sources import BACK, DIGEST, GONE, NEW, PURGED, REMOVED, UNCHANGED, UPDATED
from pieria.bank.results.transfer import Synced
from pieria.bank.vault.held import File, Vaulted, promoted_in
from pieria.bank.vault.marks import BY_HAND, STATE, Mark, is_as, looks_same, marks_in, others_in
from pieria.errors import ConflictError
from pieria.record.changeset import Changeset, Record
from pieria.record.draft import NewMemory
from pieria.record.ids import new_id
from pieria.record.link import LinkRow, row_of
from pieria.record.time import iso
from pieria.record.trust import HEARSAY
from pieria.vault import markdown
from pieria.vault.folder import Folder, Seen
from pieria.vault.front import BadFrontError
from pieria.vault.note import Said, may_be_of_memory, said_in
from pieria.vault.note_import import EMPTY, WING, note_id, taken

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.store.protocol import Progress, Reader

BATCH = 500
"""Memories per transaction."""
FEWER = 25
"""The same in a look, which has little time; it reads so many files in any case."""
MOST_CHARACTERS = 4 << 20
"""Characters per transaction."""
NO_MARK: Mark = {"size": -1, "changed": -1, "digest": "", "ids": ()}
FEW = 1
"""The number of notes that may all be deleted without `force`."""
OTHER_BANKS = "notes of other banks"
COUNTED = {NEW: "new", UPDATED: "changed", UNCHANGED: "unchanged", BACK: "back", PURGED: "purged", REMOVED: "removed"}


class _Waiting(NamedTuple):
    """A handwritten note for the next transaction."""

    path: str
    items: tuple[NewMemory, ...]
    mark: dict[str, Any]


class Sync:
    """One sync. With `due`, a moment of `time.monotonic`, it only takes in the vault's changes, and ends then."""

    def __init__(self, bank: Bank, folder: Folder, dry_run: bool, force: bool, due: float | None = None) -> None:
        self._bank = bank
        self._due = due
        self._adopted: dict[str, str] = {}
        """Ids of memories that another system promoted, by the path of their note."""
        self._folder = folder
        self._dry_run = dry_run
        self._force = force
        self._intake = bank.sources.intake(dry_run=dry_run, via=HEARSAY, follows=FOLLOWS)
        self._waiting: list[_Waiting] = []
        self._characters = 0
        self._lost: dict[str, str] = {}
        """Handwritten notes that disappeared, by digest."""
        self._known: set[str] = set()
        """The ids of the memories of handwritten notes."""
        self._moved: dict[str, str] = {}
        """The former paths of moved handwritten notes, by their new path."""

    def run(self, progress: Progress | None) -> Synced:
        from pieria.bank.vault.notes import Memories

        begun = time.monotonic()
        bank = self._bank
        bank.core.uses.flush()
        scan = self._folder.scan()
        with bank.core.reading() as reader:
            marks, others = marks_in(reader), others_in(reader)
        report = Synced(self._folder.root, self._folder.own, self._dry_run, left=scan.left)
        self._at = at = Vaulted(bank, self._folder, scan, report, marks, others)
        for path, reason in scan.unseen.items():
            at.bad(path, reason)
        self._check_there()
        self._adopted = self._promoted_elsewhere()
        gone = {path for path in others if path not in scan.notes and not scan.is_unseen(path)}
        self._lost = {others[path]["digest"]: path for path in sorted(gone) if others[path]["ids"]}
        self._known = {id for mark in others.values() for id in mark["ids"]}
        self._look(progress)
        of_memories = Memories(at, self._dry_run, writes=self._due is None)
        for file in of_memories.match():
            self._take(file)
        if not report.unread:
            # A file that was not read may be a missing note under another name.
            self._miss({file.path for file in of_memories.files.values()})
        self._put()
        of_memories.compare()
        of_memories.write_new()
        if not report.unread:
            self._tie()
            self._end()
        report.seconds = time.monotonic() - begun
        return report

    def _end(self) -> None:
        bank = self._bank
        if not self._dry_run:
            bank.core.apply(
                lambda _: Changeset("vault", records=[Record(STATE, "sync", iso(bank.clock()))], ids=(STATE,))
            )

    def _promoted_elsewhere(self) -> dict[str, str]:
        """Return the memories whose notes another system wrote: each adopts its note, unless the note is known."""
        at = self._at
        with self._bank.core.reading() as reader:
            promoted = promoted_in(reader, self._bank)
        paths = {memory.id: memory.meta.get("promoted_to") for memory in promoted if memory.id not in at.marks}
        return {path: id for id, path in paths.items() if isinstance(path, str) and path in at.scan.notes}

    def _check_there(self) -> None:
        """Raise if a vault with known notes is empty: its disk may not be mounted, and nothing was deleted."""
        known = len(self._at.marks) + len(self._at.others)
        if known > FEW and not self._at.scan.notes and not self._force:
            hint = "If all of them were meant to go, sync with force (--force)."
            raise ConflictError(f"the vault is empty, and there were {known:,} notes in it", hint=hint)

    def _look(self, progress: Progress | None) -> None:
        """Read the changed files, and take in handwritten notes."""
        at = self._at
        of_memories = {mark["path"]: id for id, mark in at.marks.items()}
        whole, read = len(at.scan.notes), 0
        marks = {path: at.marks[id] for path, id in of_memories.items()}
        same = {path for path, seen in at.scan.notes.items() if looks_same(seen, marks.get(path) or self._mark(path))}
        # A file that looks the same may have changed in the same moment; files that changed for sure come first.
        notes = sorted(at.scan.notes.items(), key=lambda each: each[0] in same) if self._due else at.scan.notes.items()
        for number, (path, seen) in enumerate(list(notes), start=1):
            id = of_memories.get(path)
            if id is None and self._is_known(path, seen):
                self._as_it_was(path)
            elif id is None or not is_as(seen, at.marks[id]):
                if self._is_late(read):
                    at.scan.unseen[path] = "not read in time"
                    at.report.unread += path not in same
                    continue
                read += 1
                file = at.read(path)
                if file is not None:
                    self._sort(file, id)
            if progress is not None:
                progress(number, whole)

    def _mark(self, path: str) -> Mark:
        return self._at.others.get(path, NO_MARK)

    def _is_late(self, read: int) -> bool:
        """Return whether a look ends here. It reads some files in any case, or a large vault would never be read."""
        return self._due is not None and read >= FEWER and time.monotonic() > self._due

    def _is_known(self, path: str, seen: Seen) -> bool:
        mark = self._at.others.get(path)
        return mark is not None and is_as(seen, mark) and self._adopted.get(path) in (None, *mark["ids"])

    def _sort(self, file: File, marked_for: str | None) -> None:
        """Decide whether a file belongs to a memory, to another bank, or is handwritten."""
        said = self._said(file)
        if said is not None and said.id and (said.id == marked_for or self._is_ours(file, said)):
            self._at.claims.setdefault(said.id, []).append(file)
        elif marked_for is not None and (said is None or not said.id):
            self._at.claims.setdefault(marked_for, []).append(file)
        elif said is not None and said.id and said.bank and said.marked and said.bank != self._bank.name:
            self._at.report.left[OTHER_BANKS] += 1
        else:
            self._take(file)

    def _is_ours(self, file: File, said: Said) -> bool:
        return said.bank == self._bank.name and (said.marked or file.path.startswith(f"{self._folder.own}/"))

    def _said(self, file: File) -> Said | None:
        """Return the content of a note that belongs to a memory, else None."""
        try:
            return said_in(file.text) if file.text is not None and may_be_of_memory(file.text) else None
        except BadFrontError:
            return None

    def _as_it_was(self, path: str) -> None:
        mark = self._at.others[path]
        refused = bool(mark.get("refused"))
        if mark.get("problem"):
            self._at.bad(path, mark["problem"], taken=bool(mark["ids"]) and not refused)
        if mark["ids"] or refused:
            self._at.report.notes["refused" if refused else "unchanged"] += 1
        elif not mark.get("problem"):
            self._at.report.left[EMPTY] += 1

    def _take(self, file: File) -> None:
        """Queue a handwritten note."""
        mark: dict[str, Any] = {"size": file.seen.size, "changed": file.seen.changed, "digest": file.digest, "ids": []}
        mark |= file.unsettled
        items: tuple[NewMemory, ...] = ()
        problem = file.problem
        if file.text is not None and not self._adopts(file, mark):
            before = self._before(file)
            found = taken(file.path, file.text, file.digest[:16], file.seen.changed / 1e9, DIGEST, before)
            items, problem = found.items, found.problem or file.problem
            mark["links"] = list(found.links)
            if not items and problem is None:
                self._at.report.left[EMPTY] += 1
        if problem is not None:
            mark["problem"] = problem
        self._waiting.append(_Waiting(file.path, items, mark))
        self._characters += sum(len(item.text) for item in items)
        if (
            sum(len(each.items) for each in self._waiting) >= (BATCH if self._due is None else FEWER)
            or self._characters >= MOST_CHARACTERS
        ):
            self._put()

    def _adopts(self, file: File, mark: dict[str, Any]) -> bool:
        """Mark the note as that of a memory which has its text already: later edits of the note change the memory."""
        id, known = self._adopted.get(file.path), self._mark(file.path)
        if id is None or (id in known["ids"] and file.digest != known["digest"]):
            return False
        mark["ids"] = [id]
        what = "unchanged" if id in known["ids"] else "adopted"
        self._at.report.notes[what] += 1
        if what == "adopted":
            self._at.tell(file.path, what, id)
        return True

    def _before(self, file: File) -> Sequence[str]:
        """Return the ids of the note's memories, also if the note has moved here."""
        others = self._at.others
        if file.path in others:
            return [str(id) for id in others[file.path]["ids"]]
        before = self._lost.pop(file.digest, None)
        if before is not None:
            ids = others.pop(before)["ids"]
            self._moved[file.path] = before
            return [str(id) for id in ids]
        # An earlier note at this path may have moved away with its memory.
        return [note_id(file.path, file.digest)] if note_id(file.path) in self._known else []

    def _put(self) -> None:
        """Write in one transaction: the queued notes, the end of sections that longer notes lost, and the marks."""
        waiting, self._waiting, self._characters = self._waiting, [], 0
        items = [item for each in waiting for item in each.items]
        marks: dict[str, Mark | None] = {}
        gone: dict[str, str] = {}
        for each in waiting:
            each.mark["ids"] = [str(item.id) for item in each.items] or each.mark["ids"]
            self._known.update(each.mark["ids"])
            marks[f"{BY_HAND}{each.path}"] = each.mark
            if each.path in self._moved:
                marks[f"{BY_HAND}{self._moved[each.path]}"] = None
            before = self._at.others.get(each.path, {}).get("ids", ())
            gone |= {id: GONE for id in before if id not in each.mark["ids"]}
        if not waiting:
            return
        outcomes = iter(self._intake.take(items, gone=gone, marks=marks).outcomes)
        for each in waiting:
            self._count(each, [next(outcomes) for _ in each.items])
            self._at.others[each.path] = {**each.mark, "path": each.path}

    def _count(self, each: _Waiting, outcomes: list[Any]) -> None:
        refused = next((outcome for outcome in outcomes if not isinstance(outcome, str)), None)
        problem = each.mark.get("problem") or (None if refused is None else refused.message)
        if problem is not None:
            self._at.bad(each.path, problem, taken=bool(outcomes) and refused is None)
        if refused is not None:
            self._refused(each, refused.message)
        elif outcomes:
            what = next((COUNTED[one] for one in outcomes if one != UNCHANGED), COUNTED[UNCHANGED])
            origin = self._moved.get(each.path)
            what = "moved" if origin is not None and what == COUNTED[UPDATED] else what
            self._at.report.notes[what] += 1
            if what != COUNTED[UNCHANGED]:
                self._at.tell(each.path, what, str(each.items[0].id), f"from {origin}" if origin is not None else None)

    def _refused(self, each: _Waiting, reason: str) -> None:
        """Record that the bank refused the note, so that later syncs report it again. Its earlier memory stays."""
        self._at.report.notes["refused"] += 1
        before = self._at.others.get(each.path, {})
        each.mark.update(problem=reason, ids=before.get("ids", []), links=before.get("links", []), refused=True)
        if not self._dry_run:
            mark = Record("mined", f"{BY_HAND}{each.path}", each.mark)
            self._bank.core.apply(lambda _: Changeset("vault", records=[mark], ids=(STATE,)))

    def _miss(self, of_memories: set[str]) -> None:
        """End the memories of handwritten notes that disappeared."""
        at = self._at
        for path, mark in list(at.others.items()):
            if (path in at.scan.notes and path not in of_memories) or at.scan.is_unseen(path):
                continue
            gone = dict.fromkeys(mark["ids"], GONE)
            self._intake.take([], gone=gone, marks={f"{BY_HAND}{path}": None})
            del at.others[path]
            if mark["ids"]:
                at.report.notes["vanished"] += 1
                at.tell(path, "vanished", mark["ids"][0])

    def _tie(self) -> None:
        """Link memories as their notes link to each other, in either order of creation."""
        at = self._at
        notes = [*_leading(at)]
        names = markdown.Names({path: id for id, path, _ in notes})
        wanted = markdown.wanted(notes, names)

        def plan(reader: Reader) -> Changeset:
            standing = {id for id, held in reader.states({end for pair in wanted for end in pair}).items()
                        if not held.state.ended}  # fmt: skip
            sound = {pair for pair in wanted if standing.issuperset(pair)}
            held = {(link.source.name, link.target.name): link for link in reader.links(relation=markdown.RELATION)
                    if link.meta.get("by") == WING}  # fmt: skip
            new, old = sorted(sound - held.keys()), [held[pair] for pair in sorted(held.keys() - sound)]
            at.report.tied, at.report.untied = len(new), len(old)
            rows = [_tie_row(*pair) for pair in new] + [row_of(link)._replace(ended="removed") for link in old]
            return Changeset("vault", links=rows)

        if not self._dry_run:
            self._bank.core.apply(plan)
            return
        with self._bank.core.reading() as reader:
            plan(reader)


FOLLOWS = ("text", "title", "body", "tags", "files", "meta", "source")
"""The fields of a memory that follow its note."""


def _leading(at: Vaulted) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the memory id, path and links of every note."""
    for path, mark in at.others.items():
        if mark["ids"]:
            yield mark["ids"][0], path, mark.get("links", [])
    for id, mark in at.marks.items():
        yield id, mark["path"], mark.get("links", [])


def _tie_row(source: str, target: str) -> LinkRow:
    return LinkRow(new_id(), "memory", source, markdown.RELATION, "memory", target, 1.0, None, f'{{"by":"{WING}"}}', "")
