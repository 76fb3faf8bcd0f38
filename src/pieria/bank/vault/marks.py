"""What a bank records of the notes in a vault:

- collection `vault`, one key for each memory with a note: its path, and its content when the two were equal;
- collection `mined`, as for every outside source, under `vault:` and the path of the note;
- collection `vault state`: the end of the last sync.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.record.changeset import Record
from pieria.store.protocol import Reader

if TYPE_CHECKING:
    from pieria.vault.folder import Seen

NOTES, STATE = "vault", "vault state"
BY_HAND = "vault:"
"""The prefix of marks of other notes, among those of all sources."""
_LEFT = ("path", "size", "changed", "digest", "target")
Mark = Mapping[str, Any]


def marks_in(reader: Reader) -> dict[str, dict[str, Any]]:
    """Return the marks of the notes of memories, by id."""
    return reader.records(NOTES)


def others_in(reader: Reader) -> dict[str, dict[str, Any]]:
    """Return the marks of all other notes, by path."""
    marks = reader.records("mined", BY_HAND)
    return {key.removeprefix(BY_HAND): {**mark, "path": key.removeprefix(BY_HAND)} for key, mark in marks.items()}


def paths_in(reader: Reader) -> dict[str, str]:
    """Return the paths of notes, by the ids of their memories."""
    by_hand = {id: path for path, mark in others_in(reader).items() for id in mark["ids"]}
    return by_hand | {id: mark["path"] for id, mark in marks_in(reader).items() if "gone" not in mark}


def by_hand_in(reader: Reader) -> frozenset[str]:
    """Return the ids of memories from handwritten notes."""
    return frozenset(id for mark in others_in(reader).values() for id in mark["ids"])


def looks_same(seen: Seen, mark: Mark) -> bool:
    return (mark["size"], mark["changed"]) == (seen.size, seen.changed)


def is_as(seen: Seen, mark: Mark) -> bool:
    """Return whether the note is unchanged and need not be read."""
    return looks_same(seen, mark) and not mark.get("unsettled")


def bared(reader: Reader, ids: Collection[str]) -> list[Record]:
    """Return the marks of notes whose memories are purged, without content: enough to delete the notes."""
    marks = marks_in(reader)
    left = {id: {name: marks[id][name] for name in _LEFT} for id in ids if id in marks}
    return [Record(NOTES, id, {**mark, "gone": True}) for id, mark in left.items()]


def notes_of(reader: Reader, ids: Collection[str]) -> Iterator[str]:
    """Yield descriptions of notes that an erasure of these memories does not reach."""
    wanted = set(ids)
    for id, mark in marks_in(reader).items():
        if id in wanted:
            yield f"the note {mark['path']} in the vault: `pieria vault sync` deletes it"
    for path, mark in others_in(reader).items():
        if wanted.intersection(mark["ids"]):
            yield f"the note {path} in the vault, which is yours to delete"


class VaultAt(NamedTuple):
    """The vault folder, and the subfolder for notes of memories, from the settings."""

    root: Path | None
    own: str


NOWHERE = VaultAt(None, "Pieria")
