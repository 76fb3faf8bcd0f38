"""The tools for tunnels and the graph of rooms. Tunnels follow a renamed room and vanish with its last drawer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from math import comb
from typing import Any

from pieria.bank import Bank
from pieria.bank.places import PlaceSummary
from pieria.errors import InputError, NotFoundError
from pieria.record.link import Link, Place, tunnel_id_of
from pieria.record.memory import LISTED_KINDS, Memory
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.words import (
    HALLS,
    check_filter,
    most_first,
    no_such_place,
    no_such_room,
    place,
    preview,
    split,
)

RELATION = "tunnel"
PREVIEW, PREVIEWS = 300, 3
ID, CREATED = "tunnel_id", "created_at"
DRAWERS = {"source": "source_drawer_id", "target": "target_drawer_id"}
"""Keys in a tunnel's link for the drawers at its ends."""
MOST = 50
"""How many rooms a reply lists."""
COMMON = 20
"""A name in more places than this connects no rooms."""
TOLD = 5
"""How many reasons a step lists."""
TOP = 10


@dataclass(frozen=True, slots=True)
class Tunnel:
    link: Link

    @property
    def id(self) -> str:
        return str(self.link.meta.get(ID) or tunnel_id_of(self.link.source.name, self.link.target.name))

    @property
    def places(self) -> tuple[str, str]:
        return self.link.source.name, self.link.target.name

    def drawer(self, bank: Bank, end: str, where: str) -> Memory | None:
        """Return the drawer at this end, or its successor, if it is still in that room."""
        id = self.link.meta.get(DRAWERS[end])
        drawer = bank.get(id) if isinstance(id, str) else None
        seen = set[str]()
        while drawer is not None and drawer.superseded_by is not None and drawer.id not in seen:
            seen.add(drawer.id)
            drawer = bank.get(drawer.superseded_by)
        return drawer if drawer is not None and drawer.place == where else None

    def told(self, bank: Bank) -> dict[str, Any]:
        ends = zip(DRAWERS, self.places, strict=True)
        held = {end: self.drawer(bank, end, where) for end, where in ends}
        used = bank.usage([drawer.id for drawer in held.values() if drawer]) if any(held.values()) else {}
        created, written = self.link.meta.get(CREATED), iso(self.link.known_from)
        told: dict[str, Any] = {
            "id": self.id,
            **{end: _end(where, held[end]) for end, where in zip(DRAWERS, self.places, strict=True)},
            "label": self.link.label or "",
            "kind": "explicit",
            "created_at": created or written,
            "strength": self.link.weight,
            "stability": 1.0,
            "last_activated": max((iso(use.last_access) for use in used.values() if use.last_access), default=None),
            "access_count": sum(use.accesses for use in used.values()),
        }
        return {**told, "updated_at": written} if created else told


def create_tunnel(
    call: Call,
    source_wing: str,
    source_room: str,
    target_wing: str,
    target_room: str,
    label: str | None = None,
    source_drawer_id: str | None = None,
    target_drawer_id: str | None = None,
) -> dict[str, Any]:
    bank = call.bank
    ends = (
        place(source_wing, source_room, "source_wing", "source_room"),
        place(target_wing, target_room, "target_wing", "target_room"),
    )
    if ends[0] == ends[1]:
        raise InputError("target_room", "a room other than the source", target_room)
    counts = bank.places.counts()
    for where in ends:
        if where not in counts:
            raise no_such_room(where, counts)
    given = {DRAWERS["source"]: source_drawer_id or None, DRAWERS["target"]: target_drawer_id or None}
    for (parameter, drawer), where in zip(given.items(), ends, strict=True):
        _check_drawer(bank, drawer, where, parameter)
    every = list(every_tunnel(bank))
    before = next((each for each in every if set(each.places) == set(ends)), None)
    if before is not None and before.places != ends:
        # The existing tunnel leads the other way.
        given = dict(zip(given, reversed(given.values()), strict=True))
    meta: dict[str, Any] = {ID: _unlike(tunnel_id_of(*ends), {each.id for each in every})}
    if before is not None:
        meta = {
            **before.link.meta,
            ID: before.id,
            CREATED: before.link.meta.get(CREATED) or iso(before.link.known_from),
        }
    meta |= {name: value for name, value in given.items() if value is not None}
    before_it = None if before is None else before.link.label
    kept = label if label is not None and label.strip() else before_it
    if before is not None and _says_nothing_new(before, meta, kept):
        made = before
    else:
        made = Tunnel(bank.link(Place(ends[0]), Place(ends[1]), RELATION, label=kept, meta=meta))
    return {"tunnel_id": made.id, **made.told(bank)}


def list_tunnels(call: Call, wing: str | None = None) -> dict[str, Any]:
    bank = call.bank
    wanted = flat(wing or "")
    counts = bank.places.counts()
    found = [
        each.told(bank)
        for each in tunnels(bank, counts)
        if not wanted or wanted in {flat(split(where)[0]) for where in each.places}
    ]
    told = {"tunnels": found, "count": len(found)}
    is_there = wanted in {flat(split(where)[0]) for where in counts}
    why = None if found or is_there else no_such_place(bank, wing, None)
    return {**told, "hint": why} if why else told


def delete_tunnel(call: Call, tunnel_id: str) -> dict[str, Any]:
    bank = call.bank
    found = next((each for each in every_tunnel(bank) if each.id == tunnel_id.strip()), None)
    if found is None:
        raise NotFoundError("tunnel", tunnel_id, hint="mempalace_list_tunnels shows the ids.")
    bank.unlink(found.link.id)
    return {"tunnel_id": found.id, "deleted": found.id}


def follow_tunnels(call: Call, wing: str, room: str) -> list[dict[str, Any]]:
    bank = call.bank
    here = f"{wing.strip()}/{room.strip()}"
    counts = bank.places.counts()
    if here not in counts:
        raise no_such_room(here, counts)
    return [_followed(bank, each, here) for each in tunnels(bank, counts) if here in each.places]


def every_tunnel(bank: Bank) -> Iterator[Tunnel]:
    for link in bank.links(relation=RELATION):
        if {link.source.what, link.target.what} == {"place"}:
            yield Tunnel(link)


def tunnels(bank: Bank, rooms: Collection[str]) -> Iterator[Tunnel]:
    """Return the tunnels with both ends among these rooms. Empty rooms have no tunnels."""
    return (each for each in every_tunnel(bank) if all(place in rooms for place in each.places))


def flat(wing: str) -> str:
    """Return a wing's name for comparison, without differences of spelling."""
    return wing.strip().casefold().replace(" ", "_").replace("-", "_")


def _unlike(id: str, taken: Collection[str]) -> str:
    """Return an unused id. A tunnel of a renamed room keeps the id of the old names."""
    spellings = (id if number == 1 else f"{id}_{number}" for number in count(1))
    return next(each for each in spellings if each not in taken)


def _says_nothing_new(before: Tunnel, meta: Mapping[str, Any], label: str | None) -> bool:
    held = before.link.meta
    return label == before.link.label and all(held.get(name) == meta.get(name) for name in DRAWERS.values())


def _check_drawer(bank: Bank, id: str | None, where: str, parameter: str) -> None:
    if id is None:
        return
    drawer = bank.get(id)
    if drawer is None:
        why = "It is not there."
    elif drawer.id != id:
        why = f"It is an earlier version of {drawer.id}."
    elif not drawer.is_stored:
        why = f"It is a fact drawn from {drawer.drawn_from}."
    elif drawer.place != where:
        why = f"It is in {drawer.place}."
    else:
        return
    raise InputError(parameter, f"the id of a drawer in {where}", id, hint=why)


def _end(where: str, drawer: Memory | None) -> dict[str, Any]:
    wing, room = split(where)
    return {"wing": wing, "room": room, **({"drawer_id": drawer.id} if drawer else {})}


def _followed(bank: Bank, tunnel: Tunnel, here: str) -> dict[str, Any]:
    is_source = tunnel.places[0] == here
    there = tunnel.places[1 if is_source else 0]
    drawer = tunnel.drawer(bank, "target" if is_source else "source", there)
    shown = [drawer] if drawer else list(bank.list(place=there, kinds=LISTED_KINDS, limit=PREVIEWS))
    wing, room = split(there)
    told: dict[str, Any] = {
        "wing": wing,
        "room": room,
        "label": tunnel.link.label or "",
        "previews": [{"drawer_id": each.id, "preview": preview(each.text, PREVIEW)} for each in shown],
        "direction": "outgoing" if is_source else "incoming",
        "connected_wing": wing,
        "connected_room": room,
        "drawer_id": drawer.id if drawer else None,
        "tunnel_id": tunnel.id,
    }
    return {**told, "drawer_preview": preview(drawer.text, PREVIEW)} if drawer else told


@dataclass(slots=True)
class Room:
    """A room's name, with its places in all wings."""

    name: str
    places: dict[str, PlaceSummary] = field(default_factory=dict)

    @property
    def wings(self) -> list[str]:
        return sorted(split(place)[0] for place in self.places)

    @property
    def count(self) -> int:
        return sum(kept.memories for kept in self.places.values())

    @property
    def halls(self) -> list[str]:
        return sorted({HALLS[type] for kept in self.places.values() for type in kept.types if type in HALLS})

    @property
    def recent(self) -> datetime:
        return max(kept.newest for kept in self.places.values())

    def told(self) -> dict[str, Any]:
        return {"room": self.name, "wings": self.wings, "halls": self.halls, "count": self.count}


class Palace:
    """A snapshot of the bank's rooms and tunnels for one answer."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self.places = bank.places.all()
        self.rooms: dict[str, Room] = {}
        for where, kept in self.places.items():
            name = split(where)[1]
            self.rooms.setdefault(name, Room(name)).places[where] = kept
        self.tunnels = list(tunnels(bank, self.places))
        self._from: dict[str, list[tuple[str, Tunnel]]] = {}
        for tunnel in self.tunnels:
            one, other = tunnel.places
            self._from.setdefault(one, []).append((other, tunnel))
            self._from.setdefault(other, []).append((one, tunnel))

    def leading_on(self, room: Room) -> dict[str, list[str]]:
        """Return the connected rooms, each with the reasons."""
        found: dict[str, list[str]] = {}
        for where in room.places:
            for there, tunnel in self._from.get(where, ()):
                found.setdefault(split(there)[1], []).append(f"tunnel: {tunnel.link.label or tunnel.id}")
        for name, naming in self.bank.places.shared(list(room.places), most=COMMON).items():
            for other in {split(each)[1] for each in naming}:
                found.setdefault(other, []).append(f"both name: {name}")
        found.pop(room.name, None)
        return {other: _some(reasons) for other, reasons in found.items()}

    def reach(self, room: Room) -> set[str]:
        """Return the room's wings and the wings its tunnels lead to."""
        led_to = [split(there)[0] for place in room.places for there, _ in self._from.get(place, ())]
        return {*room.wings, *led_to}


def traverse(call: Call, start_room: str, max_hops: int) -> list[dict[str, Any]]:
    palace = Palace(call.bank)
    start = palace.rooms.get(start_room.strip())
    if start is None:
        raise no_such_room(start_room, palace.rooms)
    rows = [{**start.told(), "hop": 0, "connected_via": []}]
    seen, edge = {start.name}, [start]
    for hop in range(1, max_hops + 1):
        reached: dict[str, list[str]] = {}
        for room in edge:
            for other, reasons in palace.leading_on(room).items():
                if other not in seen:
                    reached.setdefault(other, reasons)
        edge = sorted((palace.rooms[other] for other in reached), key=lambda room: (-room.count, room.name))
        rows += [{**room.told(), "hop": hop, "connected_via": reached[room.name]} for room in edge]
        seen.update(reached)
        if not edge or len(rows) > MOST:
            break
    return _first(rows)


def find_tunnels(call: Call, wing_a: str | None = None, wing_b: str | None = None) -> list[dict[str, Any]]:
    for parameter, wing in (("wing_a", wing_a), ("wing_b", wing_b)):
        check_filter(wing, parameter)
    palace = Palace(call.bank)
    wanted = {flat(wing) for wing in (wing_a, wing_b) if wing is not None and wing.strip()}
    found = []
    for room in palace.rooms.values():
        reach = palace.reach(room)
        if len(reach) > 1 and wanted <= set(map(flat, reach)):
            found.append({**room.told(), "wings": sorted(reach), "recent": iso(room.recent)[: len("2026-01-31")]})
    return _first(sorted(found, key=lambda row: (-row["count"], row["room"])))


def graph_stats(call: Call) -> dict[str, Any]:
    palace = Palace(call.bank)
    in_several = [room for room in palace.rooms.values() if len(room.wings) > 1]
    reach = {room.name: sorted(palace.reach(room)) for room in palace.rooms.values()}
    bridging = [room for room in palace.rooms.values() if len(reach[room.name]) > 1]
    passive = sum(comb(len(room.wings), 2) for room in in_several)
    shared = _shared(palace)
    per_wing = Counter(split(place)[0] for place in palace.places)
    bridging.sort(key=lambda room: (-len(reach[room.name]), -room.count, room.name))
    return {
        "total_rooms": len(palace.rooms),
        "total_room_instances": len(palace.places),
        "tunnel_rooms": len(bridging),
        "passive_tunnel_rooms": len(in_several),
        "explicit_tunnels": len(palace.tunnels),
        "shared_names": shared,
        "total_edges": passive + len(palace.tunnels),
        "total_connections": passive + len(palace.tunnels) + shared,
        "rooms_per_wing": most_first(per_wing),
        "top_tunnels": [{"room": room.name, "wings": reach[room.name], "count": room.count} for room in bridging[:TOP]],
    }


def _shared(palace: Palace) -> int:
    """Return how many names connect two or more rooms. Names in too many places do not count."""
    rooms = {place: split(place)[1] for place in palace.places}
    return sum(_lie_apart(naming, rooms) for naming in palace.bank.places.shared(most=COMMON).values())


def _lie_apart(places: Iterable[str], rooms: Mapping[str, str]) -> bool:
    """Return whether the places belong to different rooms. Places made after the snapshot belong to none."""
    found = map(rooms.get, places)
    first = next(found)
    return any(room != first for room in found)


def _first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first `MOST` rows. If there are more, the last row says `truncated`."""
    shown = rows[:MOST]
    return shown if len(rows) <= MOST else [*shown[:-1], {**shown[-1], "truncated": True}]


def _some(reasons: list[str]) -> list[str]:
    told = sorted(set(reasons), key=lambda reason: (reason.startswith("both"), reason))
    return [*told[:TOLD], f"and {len(told) - TOLD} more"] if len(told) > TOLD else told
