"""What a bank knows of the notes in a vault, in records of its own:

- collection `vault`, a key for each memory that has a note: where that is, and what it said when both were the same;
- collection `mined`, as for everything that comes from places outside, under `vault:` and the path of the note;
- collection `vault state`: when the last sync ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pieria.record.changeset import Record
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.vault.folder import Seen

NOTES, STATE = "vault", "vault state"
BY_HAND = "vault:"
"""How the marks of other notes begin, among those of all sources."""

_LEFT = ("path", "size", "changed", "digest", "target")

Mark = Mapping[str, Any]


def marks_in(reader: Reader) -> dict[str, dict[str, Any]]:
    """Of the notes of memories, by id."""
    return reader.records(NOTES)


def others_in(reader: Reader) -> dict[str, dict[str, Any]]:
    """Of all other notes, by path."""
    marks = reader.records("mined", BY_HAND)
    return {key.removeprefix(BY_HAND): {**mark, "path": key.removeprefix(BY_HAND)} for key, mark in marks.items()}


def paths_in(reader: Reader) -> dict[str, str]:
    """Where notes lie, by the ids of their memories."""
    by_hand = {id: path for path, mark in others_in(reader).items() for id in mark["ids"]}
    return by_hand | {id: mark["path"] for id, mark in marks_in(reader).items() if "gone" not in mark}


def by_hand_in(reader: Reader) -> frozenset[str]:
    """The ids of what notes say that somebody wrote."""
    return frozenset(id for mark in others_in(reader).values() for id in mark["ids"])


def looks_same(seen: Seen, mark: Mark) -> bool:
    return (mark["size"], mark["changed"]) == (seen.size, seen.changed)


def is_as(seen: Seen, mark: Mark) -> bool:
    """Whether it need not be read again."""
    return looks_same(seen, mark) and not mark.get("unsettled")


def bared(reader: Reader, ids: Collection[str]) -> list[Record]:
    """The marks of notes whose memories are erased, without anything that they said: enough to delete the notes."""
    marks = marks_in(reader)
    left = {id: {name: marks[id][name] for name in _LEFT} for id in ids if id in marks}
    return [Record(NOTES, id, {**mark, "gone": True}) for id, mark in left.items()]


def notes_of(reader: Reader, ids: Collection[str]) -> Iterator[str]:
    """The notes that an erasure of these memories does not reach, in words."""
    wanted = set(ids)
    for id, mark in marks_in(reader).items():
        if id in wanted:
            yield f"the note {mark['path']} in the vault: `pieria vault sync` deletes it"
    for path, mark in others_in(reader).items():
        if wanted.intersection(mark["ids"]):
            yield f"the note {path} in the vault, which is yours to delete"
