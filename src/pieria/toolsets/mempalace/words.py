"""The palace's words for what a bank holds, and the record's words for what an agent says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from pieria.bank import Bank
from pieria.errors import InputError, NotFoundError
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.toolsets.mempalace.halls import hall_of

NAME_LENGTH = 128
FORBIDDEN = ("/", "\\", "..")
PREVIEW = 200
OFFERED = 5


def name(value: str, parameter: str) -> str:
    """A name for a wing, a room or an agent that every palace can hold. Raises `InputError`."""
    kept = value.strip()
    edges = kept[:1].isalnum() and kept[-1:].isalnum()
    if not edges or len(kept) > NAME_LENGTH or any(part in kept for part in FORBIDDEN):
        expected = f"a name of up to {NAME_LENGTH} characters that begins and ends with a letter or digit"
        raise InputError(parameter, expected, value, hint="It may not hold a slash, a backslash or two dots.")
    return kept


def place(wing: str, room: str, wing_parameter: str = "wing", room_parameter: str = "room") -> str:
    return f"{name(wing, wing_parameter)}/{name(room, room_parameter)}"


def place_filter(wing: str | None, room: str | None) -> str | None:
    """Whatever is kept in this wing or room, also under names that this toolset would not give. Blank is none."""
    wing, room = (wing or "").strip(), (room or "").strip()
    for parameter, value in (("wing", wing), ("room", room)):
        if "/" in value or (value == "*" and parameter == "wing"):
            raise InputError(parameter, f"the name of a {parameter}", value)
    if room:
        return f"{wing or '*'}/{room}"
    return wing or None


def split(place: str) -> tuple[str, str]:
    wing, _, room = place.partition("/")
    return wing, room


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def preview(text: str, length: int = PREVIEW) -> str:
    """The beginning, cut between words where there are any."""
    if len(text) <= length:
        return text
    cut = text[:length]
    return (cut.rsplit(None, 1)[0] if any(map(str.isspace, cut)) else cut) + "..."


def basename(source: str | None) -> str | None:
    """Where a drawer comes from, without the folders of whoever filed it."""
    return source and (PurePath(source.replace("\\", "/")).name or source)


def metadata(memory: Memory) -> dict[str, Any]:
    known: dict[str, Any] = {
        "wing": memory.wing,
        "room": memory.room,
        "hall": hall_of(memory),
        "kind": memory.kind,
        "source_file": basename(memory.source),
        "added_by": memory.author,
        "filed_at": stamp(memory.at),
        "last_modified": stamp(memory.known_from),
        "version": memory.version,
        "status": memory.status,
        "importance": memory.importance,
        "entities": list(memory.entities),
        "tags": list(memory.tags),
        "superseded_by": memory.superseded_by,
        "valid_until": stamp(memory.valid_until),
        "flags": list(memory.flags),
    }
    return {name: value for name, value in known.items() if value not in (None, [])}


def opened(bank: Bank, drawer_id: str, parameter: str = "drawer_id") -> Memory:
    """The drawer under this id, of whichever kind it is."""
    memory = bank.get(drawer_id)
    if memory is None:
        raise NotFoundError("drawer", drawer_id, hint="mempalace_search and mempalace_list_drawers give the ids.")
    return memory


def alike(wanted: str, known: Iterable[str]) -> list[str]:
    """Those that are spelt alike or hold one of its words."""
    there = sorted(set(known))
    near = get_close_matches(wanted, there, OFFERED)
    words = [word for word in wanted.casefold().replace("_", "-").split("-") if word]
    near += [each for each in there if any(word in each.casefold() for word in words)]
    return list(dict.fromkeys(near))[:OFFERED]


def no_such_room(wanted: str, known: Iterable[str]) -> NotFoundError:
    there = alike(wanted, known)
    hint = f"Did you mean {' or '.join(there)}?" if there else "mempalace_list_rooms shows the rooms there are."
    return NotFoundError("room", wanted, hint=hint)


def most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
