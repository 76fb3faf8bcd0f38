"""Translate between the palace's names and the bank's, halls included.

Reads return the value, writes add `success`, errors carry a sentence. A single cue for a hall is not certain. Leave out
cues that mean something else in another of these languages, such as French `hier`, German for here.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from difflib import get_close_matches
from importlib.resources import files
from pathlib import PurePath
from types import MappingProxyType
from typing import Any
from unicodedata import category

from pieria.bank import Bank
from pieria.errors import AccessError, InputError, NotFoundError, PieriaError
from pieria.language.entities import entities
from pieria.language.standing_rules import standing
from pieria.record.memory import Memory
from pieria.record.time import instant, iso
from pieria.toolsets.host import Call
from pieria.toolsets.registry import Access, Tool
from pieria.toolsets.validation import violations

CUES: Mapping[str, re.Pattern[str]] = {
    hall: re.compile(rf"(?<!\w)(?:{cues['spaced']})(?!\w)|{cues['unspaced']}", re.VERBOSE | re.IGNORECASE)
    for hall, cues in tomllib.loads((files(__package__) / "cues.toml").read_text("utf-8")).items()
}


FACTS = "hall_facts"
TYPES = MappingProxyType(
    {
        FACTS: ("fact", "note", "observation", "drawer", "turn", "summary", "semantic"),
        "hall_decisions": ("decision", "plan", "debt"),
        "hall_events": ("event", "change", "feature", "refactor", "session", "episodic"),
        "hall_discoveries": ("discovery", "bugfix"),
        "hall_preferences": ("preference",),
        "hall_advice": ("advice", "howto", "procedural"),
        "hall_diary": ("diary",),
    }
)
"""The types and kinds of each hall. New drawers get the first one."""
HALLS = MappingProxyType({type: hall for hall, types in TYPES.items() for type in types})

_SPOKEN = MappingProxyType({"rule": "hall_advice", "preference": "hall_preferences"})
READ = 3_000
"""How many characters of a text are read to choose its hall."""
NAME_LENGTH = 128
FORBIDDEN = ("/", "\\", "..")
UNWRITTEN = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories that names may not hold: controls, surrogates and line separators."""
NAMED = 50
PREVIEW = 200
OFFERED = 5
RECONNECT = "mempalace_reconnect"
"""A read that reports `success`. For a missing palace it also gives `drawers` and `vector_disabled`."""
FINDS = {"mempalace_search": "results", "mempalace_check_duplicate": "matches"}
"""The result list of a tool; an error reply has it as well, because clients read it."""


def hall_by(text: str) -> str:
    """Return the hall that the text's words point to; facts if none do."""
    begin = text[:READ]
    laid_down = {rule.kind for rule in standing(begin)}
    for kind, hall in _SPOKEN.items():
        if kind in laid_down:
            return hall
    worth = {hall: len({found[0].casefold() for found in cue.finditer(begin)}) for hall, cue in CUES.items()}
    best = max(worth, key=lambda hall: worth[hall])
    return best if worth[best] else FACTS


def hall_of(memory: Memory) -> str | None:
    """Return the memory's hall; None if the palace does not know its type."""
    type = memory.body.get("type")
    return HALLS.get(type if isinstance(type, str) else memory.kind)


def type_of(hall: str) -> str:
    return TYPES[hall][0]


def types_of(hall: str) -> list[str]:
    return list(TYPES[hall])


def name(value: str, parameter: str) -> str:
    """Return a valid name for a wing, room or agent. Raise `InputError` if it is not valid."""
    kept = value.strip()
    edges = kept[:1].isalnum() and _ends_a_word(kept[-1])
    is_broken = any(part in kept for part in FORBIDDEN) or any(category(each) in UNWRITTEN for each in kept)
    if not edges or len(kept) > NAME_LENGTH or is_broken:
        expected = f"a name of up to {NAME_LENGTH} characters that begins and ends with a letter or digit"
        hint = "It may not hold a slash, a backslash, two dots or a line break."
        raise InputError(parameter, expected, value, hint=hint)
    return kept


def _ends_a_word(character: str) -> bool:
    """Return whether a word may end so. Many scripts end words with a combining mark, which is no letter."""
    return character.isalnum() or category(character).startswith("M")


def place(wing: str, room: str, wing_parameter: str = "wing", room_parameter: str = "room") -> str:
    """Return `wing/room`. Raise one `InputError` for all invalid names."""
    kept, problems = [], []
    for value, parameter in ((wing, wing_parameter), (room, room_parameter)):
        try:
            kept.append(name(value, parameter))
        except InputError as problem:
            problems.append(problem)
    _raise(problems)
    return "/".join(kept)


def place_filter(wing: str | None, room: str | None) -> str | None:
    """Return the place filter, or None if both are blank. It accepts names that `name` would refuse."""
    wing, room = (wing or "").strip(), (room or "").strip()
    check_filter(wing, "wing")
    check_filter("" if room == "*" else room, "room")
    if room:
        return f"{wing or '*'}/{room}"
    return wing or None


def check_filter(value: str | None, parameter: str) -> None:
    """Raise `InputError` for a value that would reach other places than those of its name."""
    if value and ("/" in value or value.strip() == "*"):
        raise InputError(parameter, f"the name of a {parameter.partition('_')[0]}", value)


def filed_within(since: str | None, before: str | None) -> dict[str, str | None]:
    """Return the time filters for the engine. A bare day means its start; blank means no limit.

    Raise one `InputError` for all invalid times.
    """
    found, problems = dict[str, datetime](), list[InputError]()
    for parameter, value in (("since", since), ("before", before)):
        try:
            found |= {parameter: instant(value, parameter)} if value else {}
        except InputError as problem:
            problems.append(problem)
    if len(found) == 2 and found["before"] <= found["since"]:
        hint = "before excludes its own day: for one day, give the next day."
        problems.append(InputError("before", f"a time after since ({since})", before, hint=hint))
    _raise(problems)
    return {"since": stamp(found.get("since")), "until": stamp(found.get("before"))}


def _raise(problems: list[InputError]) -> None:
    """Raise the first problem with the others in its `errors`."""
    if problems:
        problems[0].errors = tuple(problems[1:])
        raise problems[0]


def named(text: str) -> list[str]:
    """Return the people and things a text names most often, as entities of its drawer."""
    counted = Counter(entity.name for entity in entities(text) if entity.name.isprintable())
    return [entity for entity, _ in counted.most_common(NAMED)]


def split(place: str) -> tuple[str, str]:
    wing, _, room = place.partition("/")
    return wing, room


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def preview(text: str, length: int = PREVIEW) -> str:
    """Return the beginning, cut at whitespace if there is any."""
    if len(text) <= length:
        return text
    cut = text[:length]
    return (cut.rsplit(None, 1)[0] if any(map(str.isspace, cut)) else cut) + "..."


def source_name(given: str | None) -> str | None:
    """Return the source as it is kept: without the halves of characters that broken terminals send. None if blank."""
    return (given or "").encode("utf-8", "ignore").decode().strip() or None


def basename(source: str | None) -> str | None:
    """Return a source's file name: its folders are private."""
    return source and (PurePath(source.replace("\\", "/")).name or source)


def metadata(memory: Memory) -> dict[str, Any]:
    known: dict[str, Any] = {
        "hall": hall_of(memory),
        "kind": memory.kind,
        "source_file": basename(memory.source),
        "added_by": memory.author,
        "filed_at": stamp(memory.at),
        "last_modified": stamp(memory.known_from),
        "version": memory.version,
        "status": "removed" if memory.removed else memory.status,
        "importance": memory.importance,
        "entities": list(memory.entities),
        "tags": list(memory.tags),
        "superseded_by": memory.superseded_by,
        "valid_until": stamp(memory.valid_until),
        "flags": list(memory.flags),
    }
    return {name: value for name, value in known.items() if value not in (None, [])}


def opened(bank: Bank, drawer_id: str) -> Memory:
    """Return the memory of this id, of any kind. Raise `NotFoundError` if there is none."""
    memory = bank.get(drawer_id)
    if memory is None:
        raise NotFoundError("drawer", drawer_id, hint="mempalace_search and mempalace_list_drawers give the ids.")
    return memory


def as_it_is(bank: Bank, drawer_id: str) -> Memory:
    """Return the memory for a change. Raise `NotFoundError` for an earlier version, which is read-only."""
    memory = opened(bank, drawer_id)
    if memory.id != drawer_id:
        hint = f"It is an earlier version of {memory.id}, which can be changed."
        raise NotFoundError("drawer", drawer_id, hint=hint)
    return memory


def alike(wanted: str, known: Iterable[str]) -> list[str]:
    """Return names that are spelt alike or share a word."""
    there = sorted(set(known))
    near = get_close_matches(wanted, there, OFFERED)
    words = [word for word in wanted.casefold().replace("_", "-").split("-") if word]
    near += [each for each in there if any(word in each.casefold() for word in words)]
    return list(dict.fromkeys(near))[:OFFERED]


def no_such_place(bank: Bank, wing: str | None, room: str | None) -> str | None:
    """Return why a filter matches nothing: no such wing or room. None if both exist."""
    wing, room = (wing or "").strip(), (room or "").strip()
    if not wing and not room:
        return None
    there = [split(place) for place in bank.places.counts()]
    wings, rooms = {each for each, _ in there}, {each for held, each in there if wing in ("", held)}
    if wing and wing not in wings:
        return f"wing: there is no {wing}.{_perhaps(alike(wing, wings))}"
    if room and room not in rooms:
        return f"room: there is no {room}{f' in {wing}' if wing else ''}.{_perhaps(alike(room, rooms))}"
    return None


def _perhaps(near: list[str]) -> str:
    return f" Did you mean {' or '.join(near)}?" if near else ""


def no_such_room(wanted: str, known: Iterable[str]) -> NotFoundError:
    rooms = list(known)
    # `known` may be bare rooms while the caller also named the wing.
    there = alike(wanted, rooms) or alike(split(wanted)[1], rooms)
    hint = f"Did you mean {' or '.join(there)}?" if there else "mempalace_list_rooms shows the rooms."
    return NotFoundError("room", wanted, hint=hint)


def most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def succeeded(call: Call, value: Any) -> Any:
    return {"success": True, **value} if _says_success(call.tool) else value


def failed(tool: Tool, arguments: Mapping[str, Any], error: PieriaError) -> dict[str, Any]:
    told: dict[str, Any] = {"success": False} if _says_success(tool) else {}
    told |= {"error": error.message, "error_class": error.code, "hint": error.hint, "retryable": error.retryable}
    if isinstance(error, AccessError):
        told["reason"] = error.reason
    found = violations(error)
    if found:
        told["violations"] = found
    if tool.name == RECONNECT:
        told["message"] = error.message
        if isinstance(error, NotFoundError):
            told |= {"drawers": 0, "vector_disabled": False}
    if tool.name in FINDS:
        told[FINDS[tool.name]] = []
    return told


def _says_success(tool: Tool) -> bool:
    return tool.access is not Access.read or tool.name == RECONNECT
