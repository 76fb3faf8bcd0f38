"""The palace as a graph of rooms.

Two rooms are connected by a tunnel, or by drawers that name the same person or thing. A shared wing is no connection.
Rooms of one name in several wings are one room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import comb
from typing import Any

from pieria.bank import Bank
from pieria.bank.places import PlaceSummary
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.mempalace.halls import HALLS
from pieria.toolsets.mempalace.tunnels import Tunnel, flat, tunnels
from pieria.toolsets.mempalace.words import most_first, no_such_room, split

MOST = 50
"""How many rooms a reply lists."""
COMMON = 20
"""A name in more places than this connects no rooms."""
TOLD = 5
"""How many reasons a step lists."""
TOP = 10


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
        for place, kept in self.places.items():
            name = split(place)[1]
            self.rooms.setdefault(name, Room(name)).places[place] = kept
        self.tunnels = list(tunnels(bank, self.places))
        self._from: dict[str, list[tuple[str, Tunnel]]] = {}
        for tunnel in self.tunnels:
            one, other = tunnel.places
            self._from.setdefault(one, []).append((other, tunnel))
            self._from.setdefault(other, []).append((one, tunnel))

    def leading_on(self, room: Room) -> dict[str, list[str]]:
        """Return the connected rooms, each with the reasons."""
        found: dict[str, list[str]] = {}
        for place in room.places:
            for there, tunnel in self._from.get(place, ()):
                found.setdefault(split(there)[1], []).append(f"tunnel: {tunnel.link.label or tunnel.id}")
        for name, naming in self.bank.places.shared(list(room.places), most=COMMON).items():
            for other in {split(place)[1] for place in naming}:
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
