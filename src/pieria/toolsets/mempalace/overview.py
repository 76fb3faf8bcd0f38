"""The tools that describe the whole palace: status, wings, rooms, taxonomy and the AAAK notation."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from typing import Any

from pieria.bank import Bank
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.words import most_first, no_such_place, place_filter, split

SHOWN = 100
"""How many rooms `status` lists, the fullest first, to keep the reply short."""
PROTOCOL = (
    "1. Call mempalace_status when you begin. "
    "2. Before you answer about a person, a project or the past, look it up: mempalace_search for what was said,"
    " mempalace_kg_query for relations, mempalace_diary_read for your own work. Begin with a small limit; widen it or"
    " drop a filter only if that falls short. Where nothing fits, say so; never guess. "
    "3. File what will matter later word for word with mempalace_add_drawer, one thing a drawer. "
    "4. Facts: mempalace_kg_supersede when a value changes, mempalace_kg_invalidate when it ends, mempalace_kg_add for"
    " one more. "
    "5. End with mempalace_diary_write: what happened, what you learnt, what comes next."
)
AAAK = (
    "AAAK is a short notation for diary entries. Line by line: MAY=Maya names a code; @wing|room|date|title says where"
    " and when; MAY+OMR|topics_with_bars|\"key words\"|***|emotions|FLAGS is an entry, stars 1 to 5 for importance,"
    " a dash for what is empty; A>relation>B (2026-01-10) is a relation. mempalace_get_aaak_spec has it all."
)  # fmt: skip


def status(call: Call) -> dict[str, Any]:
    counts = call.bank.places.counts()
    rooms = most_first(_by_room(counts))
    told = {
        "total_drawers": sum(counts.values()),
        "wings": most_first(_by_wing(counts)),
        "rooms": dict(list(rooms.items())[:SHOWN]),
        "protocol": PROTOCOL,
        "aaak_dialect": AAAK,
    }
    if len(rooms) > SHOWN:
        told["rooms_left_out"] = len(rooms) - SHOWN
        told["hint"] = "mempalace_list_rooms shows every room."
    return told


def list_wings(call: Call) -> dict[str, Any]:
    return {"wings": most_first(_by_wing(call.bank.places.counts()))}


def list_rooms(call: Call, wing: str | None = None) -> dict[str, Any]:
    wanted = place_filter(wing, None)
    counts = call.bank.places.counts()
    if wanted is not None:
        counts = {place: number for place, number in counts.items() if split(place)[0] == wanted}
    told = {"wing": wanted or "all", "rooms": most_first(_by_room(counts))}
    return told if counts else {**told, "hint": no_such_place(call.bank, wanted, None) or "Nothing is filed yet."}


def get_taxonomy(call: Call) -> dict[str, Any]:
    return {"taxonomy": taxonomy(call.bank)}


def taxonomy(bank: Bank) -> dict[str, dict[str, int]]:
    tree: dict[str, dict[str, int]] = {}
    for place, number in bank.places.counts().items():
        wing, room = split(place)
        tree.setdefault(wing, {})[room] = number
    return tree


def get_aaak_spec(call: Call) -> dict[str, Any]:
    return {"aaak_spec": (files(__package__) / "aaak.md").read_text("utf-8")}


def _by_wing(counts: dict[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for place, number in counts.items():
        found[split(place)[0]] += number
    return found


def _by_room(counts: dict[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for place, number in counts.items():
        found[split(place)[1]] += number
    return found
