"""The scratchpad: a session's own notes. They are not memories, are not recalled, and stay until cleared."""

from __future__ import annotations

from collections.abc import Sequence

from pieria.bank.core import Core
from pieria.bank.results.general import ScratchpadEntry
from pieria.bank.spans import reported
from pieria.errors import NotFoundError
from pieria.record import check
from pieria.record.changeset import Changeset, Record
from pieria.record.draft import NewEntry
from pieria.record.ids import new_id
from pieria.record.time import instant, iso
from pieria.store.protocol import Reader, Writer

COLLECTION = "scratchpad"


def key_of(session: str | None, id: str) -> str:
    """Return the key of an entry. The length keeps one session's prefix from matching another session's keys."""
    named = session or ""
    return f"{len(named)}:{named}:{id}"


def session_of(key: str) -> str | None:
    """Return the session of a key, or None."""
    length, _, rest = key.partition(":")
    return rest[: int(length)] or None


def take_entries(core: Core, items: Sequence[NewEntry], *, dry_run: bool = False) -> list[str]:
    """Write the entries of other sessions that are not here yet, as one change; return `new` or `unchanged` for each.

    An entry that was edited here stays so.
    """
    records = []
    for item in items:
        created = core.clock() if item.created_at is None else instant(item.created_at, "created_at")
        changed = created if item.updated_at is None else instant(item.updated_at, "updated_at")
        kept, _ = core.screen(check.text(item.content, "content"), "content")
        entry = ScratchpadEntry(check.identifier(item.id, "id"), kept, iso(created), iso(changed))
        records.append(Record(COLLECTION, key_of(item.session, item.id), entry.as_dict()))

    def missing(reader: Reader) -> list[Record]:
        there = reader.records(COLLECTION, keys=[record.key for record in records])
        return [record for record in records if record.key not in there]

    if dry_run:
        with core.reading() as reader:
            new = {record.key for record in missing(reader)}
    else:

        def plan(writer: Writer) -> tuple[Changeset, set[str]]:
            found = missing(writer)
            ids = tuple(str(record.value["id"]) for record in found if record.value is not None)
            return Changeset("scratchpad import", records=found, ids=ids), {record.key for record in found}

        new = core.apply_with(plan)[0]
    return ["new" if record.key in new else "unchanged" for record in records]


@reported("scratchpad")
class Scratchpad:
    """The entries of one session, or those without a session."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._prefix = key_of(core.viewer.session, "")

    def write(self, content: str) -> ScratchpadEntry:
        kept, _ = self._core.screen(check.text(content, "content"), "content")
        now = iso(self._core.clock())
        entry = ScratchpadEntry(new_id(), kept, now, now)
        self._core.apply(lambda _: self._changeset("write", [self._record(entry)]))
        return entry

    def update(self, id: str, content: str) -> ScratchpadEntry:
        check.identifier(id, "id")
        kept, _ = self._core.screen(check.text(content, "content"), "content")

        def plan(writer: Writer) -> tuple[Changeset, ScratchpadEntry]:
            old = self._entries(writer).get(id)
            if old is None:
                hint = "`scratchpad.read` lists the ids. Each session has its own scratchpad."
                raise NotFoundError("scratchpad entry", id, hint=hint)
            entry = ScratchpadEntry(id, kept, old.created_at, iso(self._core.clock()))
            return self._changeset("update", [self._record(entry)]), entry

        return self._core.apply_with(plan)[0]

    def read(self) -> list[ScratchpadEntry]:
        """Return the entries, newest first."""
        with self._core.reading() as reader:
            entries = self._entries(reader).values()
        return sorted(entries, key=lambda entry: (entry.created_at, entry.id), reverse=True)

    def clear(self) -> int:
        """Delete every entry of the session, and return their number."""

        def plan(writer: Writer) -> tuple[Changeset, int]:
            found = self._entries(writer)
            records = [Record(COLLECTION, self._prefix + id, None) for id in found]
            return self._changeset("clear", records), len(found)

        return self._core.apply_with(plan)[0]

    def _changeset(self, verb: str, records: list[Record]) -> Changeset:
        """Name the entries in the journal by id, without their session, which is private."""
        ids = tuple(record.key.removeprefix(self._prefix) for record in records)
        return Changeset(f"scratchpad {verb}", records=records, ids=ids)

    def _entries(self, reader: Reader) -> dict[str, ScratchpadEntry]:
        held = reader.records(COLLECTION, self._prefix)
        return {key[len(self._prefix) :]: ScratchpadEntry(**value) for key, value in held.items()}

    def _record(self, entry: ScratchpadEntry) -> Record:
        return Record(COLLECTION, self._prefix + entry.id, entry.as_dict())
