"""The tools for drawers and the diary. A drawer keeps its text verbatim and in one piece."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from pieria.bank import Bank
from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.ids import new_id
from pieria.record.memory import LISTED_KINDS, STATEMENT, Memory, unchanged_source
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.words import (
    alike,
    as_it_is,
    basename,
    filed_within,
    hall_by,
    hall_of,
    metadata,
    name,
    named,
    no_such_place,
    opened,
    place,
    place_filter,
    preview,
    source_name,
    stamp,
    type_of,
    types_of,
)

DRAWER = "drawer"
SPELLINGS = 100
"""How many ids to try if drawers of the same text and room were deleted or changed."""
SOURCES = 5
PUT_AWAY = ("archived", "invalid", "removed")
"""Statuses included when drawers are looked up by source, because erasing must reach them, too."""
SHOWN, SAMPLE = 100, 5
"""How many drawers a reply lists before they are erased, and how many of their rooms."""
PAGE = 1_000
KIND, ROOM, GENERAL = "diary", "diary", "general"
DAY = len("2026-01-31")


def add_drawer(
    call: Call,
    wing: str,
    room: str,
    content: str,
    added_by: str,
    source_file: str | None = None,
    hall: str | None = None,
) -> dict[str, Any]:
    bank = call.bank
    where = place(wing, room)
    filed, is_new = _filed(bank, where, content, added_by, source_name(source_file), hall)
    told: dict[str, Any] = {
        "drawer_id": filed.id,
        "wing": filed.wing,
        "room": filed.room,
        "hall": hall_of(filed),
        "chunks": 1,
    }
    if not is_new:
        told["reason"] = "already_exists"
    if filed.flags:
        told["flags"] = list(filed.flags)
    return told


def get_drawer(call: Call, drawer_id: str) -> dict[str, Any]:
    return _whole(opened(call.bank, drawer_id))


def get_drawers(call: Call, drawer_ids: list[str]) -> dict[str, Any]:
    return _each(drawer_ids, lambda id: _whole(opened(call.bank, id)))


def list_drawers(
    call: Call,
    limit: int,
    offset: int,
    wing: str | None = None,
    room: str | None = None,
    hall: str | None = None,
    since: str | None = None,
    before: str | None = None,
) -> dict[str, Any]:
    bank = call.bank
    asked: dict[str, Any] = {
        "kinds": LISTED_KINDS,
        "place": place_filter(wing, room),
        "types": None if hall is None else types_of(hall),
        **filed_within(since, before),
    }
    shown = bank.list(limit=limit, offset=offset, **asked)
    total = bank.count(**asked)
    told = {
        "drawers": [_row(memory) for memory in shown],
        "total": total,
        "count": len(shown),
        "limit": limit,
        "offset": offset,
    }
    why = None if total else no_such_place(bank, wing, room)
    return {**told, "hint": why} if why else told


def update_drawer(
    call: Call,
    drawer_id: str,
    content: str | None = None,
    wing: str | None = None,
    room: str | None = None,
    hall: str | None = None,
) -> dict[str, Any]:
    bank = call.bank
    before = as_it_is(bank, drawer_id)
    given: dict[str, Any] = {}
    if content is not None and content != before.text:
        given |= {"text": content} if before.kind == STATEMENT else {"text": content, "entities": named(content)}
    where = f"{_kept(wing, before.wing, 'wing')}/{_kept(room, before.room, 'room')}"
    if where != before.place:
        given["place"] = where
    hall = hall or _follows(before, content)
    if hall is not None and hall != hall_of(before):
        given["body"] = {**before.body, "type": type_of(hall)}
    after = bank.update(drawer_id, **given) if given else before
    if after.place != before.place and not bank.count(place=before.place, kinds=LISTED_KINDS):
        # When a room loses its last drawer, its tunnels move along.
        bank.places.relink(before.place, after.place)
    changed = _updated(before, after)
    told = {
        "drawer_id": after.id,
        "updated_fields": changed,
        "wing": after.wing,
        "room": after.room,
        "hall": hall_of(after),
        "version": after.version,
        "chunks": 1,
        "closets_deleted": 0,
    }
    if changed and unchanged_source(after):
        told["hint"] = " ".join(unchanged_source(after))
    return told if changed else {**told, "noop": True}


def delete_drawer(call: Call, drawer_id: str) -> dict[str, Any]:
    return {"drawer_id": drawer_id, **_erased(call.bank, [as_it_is(call.bank, drawer_id).id])}


def delete_drawers(call: Call, drawer_ids: list[str]) -> dict[str, Any]:
    told = _each(drawer_ids, lambda id: {"drawer_id": id, **_erased(call.bank, [as_it_is(call.bank, id).id])})
    return {**told, "deleted": told["count"] - told["errors"]}


def _each(ids: list[str], act: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Return the reply for each different id, in order. An unknown id has an `error`, and the others go on."""
    results, missing = list[dict[str, Any]](), list[str]()
    for id in dict.fromkeys(ids):
        try:
            results.append(act(id))
        except NotFoundError as problem:
            if problem.resource != DRAWER:
                raise
            missing.append(id)
            results.append({"drawer_id": id, "error": problem.message, "hint": problem.hint})
    return {"results": results, "count": len(results), "errors": len(missing), "missing": missing}


def delete_by_source(call: Call, source_file: str, dry_run: bool) -> dict[str, Any]:
    bank = call.bank
    wanted = source_name(source_file)
    if wanted is None:
        raise InputError("source_file", "a non-empty text", source_file)
    found = every(bank, source=source_of(bank, wanted), include=PUT_AWAY)
    told = {
        "source_file": wanted,
        "dry_run": dry_run,
        "match_count": len(found),
        "closet_match_count": 0,
        "sample": [{"wing": one.wing, "room": one.room} for one in found[:SAMPLE]],
        "drawers": [_row(each) for each in found[:SHOWN]],
        "more": max(0, len(found) - SHOWN),
        "hint": None if found else f"No drawer came from it. {_nearest_sources(bank, wanted)}",
    }
    if dry_run:
        return told
    erased = _erased(bank, [memory.id for memory in found]) if found else {"closets_deleted": 0}
    return {**told, "deleted": len(found), **erased}


def rename_room(call: Call, wing: str, room: str, new_room: str, new_wing: str | None = None) -> dict[str, Any]:
    bank = call.bank
    before = f"{wing.strip()}/{room.strip()}"
    counts = bank.places.counts()
    if before not in counts:
        near = alike(before, counts)
        hint = f"Did you mean {' or '.join(near)}?" if near else "mempalace_get_taxonomy lists the wings and rooms."
        raise NotFoundError("room", before, hint=hint)
    after = place(new_wing or wing, new_room, "new_wing" if new_wing else "wing", "new_room")
    if after == before:
        return {"from": before, "to": after, "drawers": 0, "noop": True}
    bank.places.rename(before, after)
    return {"from": before, "to": after, "drawers": counts[before]}


def every(bank: Bank, **asked: Any) -> list[Memory]:
    """Return all matching memories, oldest first."""
    page = bank.list(order="oldest", limit=PAGE, **asked)
    found = list(page)
    while page.cursor is not None:
        page = bank.list(order="oldest", limit=PAGE, cursor=page.cursor, **asked)
        found += page
    return found


def source_of(bank: Bank, given: str) -> str:
    """Return the full source for a path or the end of one. Raise `InputError` if several sources match."""
    if bank.count(source=given, include=PUT_AWAY):
        return given
    end = f"/{_slashed(given)}"
    found = sorted(each for each in bank.count(by="source", include=PUT_AWAY) if _slashed(each).endswith(end))
    if len(found) > 1:
        hint = f"Give more of the path: {' or '.join(_telling(found)[:SOURCES])}."
        raise InputError("source_file", "a path that matches exactly one source", given, hint=hint)
    return found[0] if found else given


def recipe(wing: str, room: str, content: str) -> str:
    """Return a drawer's id, derived from its place and content."""
    said = "".join(f"{len(part)}:{part}" for part in (wing, room, content))
    digest = hashlib.sha256(said.encode(errors="replace")).hexdigest()
    return f"drawer_{wing}_{room}_{digest[:24]}"


def _filed(
    bank: Bank, where: str, content: str, added_by: str, source: str | None, hall: str | None
) -> tuple[Memory, bool]:
    """Return the drawer and whether it is new. Safe if several callers file the same text at once."""
    wing, room = where.split("/")
    id = recipe(wing, room, content)
    given: dict[str, Any] = {
        "kind": DRAWER,
        "place": where,
        # Drawers filed in one room are read in sequence, like the turns of a conversation.
        "session": where,
        "author": added_by,
        "source": (source or "").strip() or None,
        "entities": named(content),
        "body": {"type": type_of(hall or hall_by(content))},
    }
    for number in range(1, SPELLINGS):
        held = [twin for twin in bank.identical(content) if twin.place == where]
        if held:
            return held[0], False
        try:
            return bank.remember(content, id=id if number == 1 else f"{id}_{number}", **given), True
        except ConflictError:
            # The id belongs to a deleted or changed drawer, or another caller just filed the same.
            continue
    return bank.remember(content, id=f"{id}_{new_id()}", **given), True


def _kept(given: str | None, before: str, parameter: str) -> str:
    return before if given is None or given == before else name(given, parameter)


def _follows(before: Memory, content: str | None) -> str | None:
    """Return the hall for new content. A hall chosen by hand stays; a derived one is derived again."""
    hall = hall_of(before)
    return hall_by(content) if content is not None and before.kind == DRAWER and hall == hall_by(before.text) else hall


def _updated(before: Memory, after: Memory) -> list[str]:
    pairs = {
        "content": (before.text, after.text),
        "wing": (before.wing, after.wing),
        "room": (before.room, after.room),
        "hall": (hall_of(before), hall_of(after)),
    }
    return [field for field, (was, now) in pairs.items() if was != now]


def _erased(bank: Bank, ids: list[str]) -> dict[str, Any]:
    """Purge the drawers and report it. Memories drawn from them go, too, and the tunnels of emptied rooms."""
    receipt = bank.purge(ids)
    return {
        "deleted_ids": [*receipt.ids, *receipt.also],
        "chunks_deleted": receipt.erased["memories"],
        "facts_deleted": receipt.erased["facts"],
        "closets_deleted": 0,
        "unreached": list(receipt.unreached),
    }


def _nearest_sources(bank: Bank, wanted: str) -> str:
    names = {basename(source) or source for source in bank.count(by="source", include=PUT_AWAY)}
    near = alike(basename(wanted) or wanted, names)
    return f"Did you mean {' or '.join(near)}?" if near else "mempalace_get_drawer shows where a drawer comes from."


def _slashed(path: str) -> str:
    return path.replace("\\", "/")


def _telling(sources: list[str]) -> list[str]:
    """Return the shortest ends of the paths that differ: callers may not see the folders above."""
    parts = [_slashed(source).split("/") for source in sources]
    ends = sources
    for length in range(max(map(len, parts)), 1, -1):
        shorter = ["/".join(part[-length:]) for part in parts]
        if len(set(shorter)) < len(shorter):
            break
        ends = shorter
    return ends


def _whole(memory: Memory) -> dict[str, Any]:
    return {
        "drawer_id": memory.id,
        "content": memory.text,
        "wing": memory.wing,
        "room": memory.room,
        "metadata": metadata(memory),
        "chunks": 1,
    }


def _row(memory: Memory) -> dict[str, Any]:
    return {
        "drawer_id": memory.id,
        "wing": memory.wing,
        "room": memory.room,
        "content_preview": preview(memory.text),
        "length": len(memory.text),
        "metadata": metadata(memory),
    }


def diary_write(call: Call, agent_name: str, entry: str, topic: str, wing: str | None = None) -> dict[str, Any]:
    agent = _agent(agent_name)
    about = name(topic, "topic")
    within = name(wing, "wing") if wing and wing.strip() else _wing(agent)
    kept = call.bank.remember(
        entry,
        kind=KIND,
        place=f"{within}/{ROOM}",
        author=agent,
        author_type="agent",
        entities=named(entry),
        body={"topic": about, "type": KIND},
    )
    return {
        "entry_id": kept.id,
        "agent": agent,
        "topic": about,
        "timestamp": stamp(kept.at),
        "wing": kept.wing,
        "chunks": 1,
    }


def diary_read(call: Call, agent_name: str, last_n: int, wing: str | None = None) -> dict[str, Any]:
    bank = call.bank
    agent = _agent(agent_name)
    within = place_filter(wing, None)
    shelves = _shelves(agent) if within is None else [{"place": f"{within}/{ROOM}", "author": agent}]
    held = {entry.id: entry for shelf in shelves for entry in bank.list(limit=last_n, kinds=KIND, **shelf)}
    found = sorted(held.values(), key=lambda entry: (entry.at, entry.row), reverse=True)[:last_n]
    entries = [
        {
            "entry_id": entry.id,
            "date": iso(entry.at)[:DAY],
            "timestamp": iso(entry.at),
            "topic": entry.body.get("topic", GENERAL),
            "content": entry.text,
        }
        for entry in found
    ]
    told = {
        "agent": agent,
        "entries": entries,
        "total": _total(bank, shelves),
        "showing": len(entries),
    }
    return told if entries else {**told, "message": f"{agent} has no diary entries yet."}


def _shelves(agent: str) -> list[dict[str, Any]]:
    """Return the filters for an agent's entries: its diary, and entries it signed elsewhere."""
    return [{"place": f"{_wing(agent)}/{ROOM}"}, {"author": agent}]


def _total(bank: Bank, shelves: list[dict[str, Any]]) -> int:
    on_each: int = sum(bank.count(kinds=KIND, **shelf) for shelf in shelves)
    on_both: int = bank.count(kinds=KIND, **{**shelves[0], **shelves[1]}) if len(shelves) > 1 else 0
    return on_each - on_both


def _agent(given: str) -> str:
    return name(given, "agent_name").lower()


def _wing(agent: str) -> str:
    return f"wing_{agent.replace(' ', '_')}"
