"""Compiles a `Filter` to SQL. All reads of memories must use this predicate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pieria.record import check
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.memory import ENDINGS
from pieria.record.trust import AGENT
from pieria.store.sql.session import Session

LISTS = (
    "ids", "kinds", "types", "not_types", "scopes", "tags", "entities", "files", "standing", "status", "tiers",
    "via",
)  # fmt: skip
VALUES = (
    "author", "author_type", "channel", "session", "without_turns_of", "source", "since", "until", "used_since",
)  # fmt: skip
LABELS = ("tags", "entities", "files", "standing")
QUARANTINED = "quarantined"
"""The counter of items in quarantine. A bank that never had any lacks it."""
SIEVES = ("ids", "tags", "entities", "files", "standing", "session", "since", "until")
"""Fields with an index of their own: their rows can be listed without a full scan."""
COUNTED = ("kinds", "types", "author", "source", "place")
"""Fields whose index helps only where few rows match: `lead_index` finds out."""


class Compiled(NamedTuple):
    where: str
    params: dict[str, Any]


def compiled(session: Session, filter: Filter, *, probe: bool = False, driver: str | None = None) -> Compiled:
    """Return the predicate over `state s`. `probe` makes it fast for checking known rows, otherwise it is for a scan.

    If the planner chooses badly, only the `driver` of the counted fields may lead a scan by its index.
    """
    blocks = session.statements("filter.sql")
    behind = set() if session.picks_indexes else set(COUNTED) - {driver}
    parts: list[str] = []
    params: dict[str, Any] = {}
    if not filter.quarantined and hides(session):
        parts.append(blocks["free"])
    if not filter.viewer.everything:
        parts.append(blocks["viewer"])
        params.update(viewer_session=filter.viewer.session, viewer_channel=filter.viewer.channel)
    _times(filter, blocks, parts, params)
    if filter.endings == ("",):
        parts.append(blocks["unended"])
    elif set(filter.endings) != set(ENDINGS):
        parts.append(blocks["endings"])
        params["endings"] = session.listed(filter.endings)
    for name in LISTS:
        wanted = getattr(filter, name)
        if name == "via" and wanted is not None and len(wanted) == 1 and AGENT not in wanted:
            # All ways but the agent's own are indexed, each in the order of time.
            parts.append(blocks["way"])
            params["way"] = wanted[0]
        elif wanted is not None:
            block = blocks[f"{name}.probe" if probe and name in LABELS else name]
            parts.append(_kept_from_leading(block) if name in behind else block)
            params[name] = session.listed(wanted)
    for name in VALUES:
        value = getattr(filter, name)
        if value is not None:
            block = blocks[name]
            parts.append(_kept_from_leading(block) if name in behind else block)
            params[name] = value
    if filter.place is not None:
        leads = not probe and (session.picks_indexes or driver == "place")
        form, params["place"] = _place(filter.place, leads=leads)
        parts.append(_kept_from_leading(blocks[form]) if "place" in behind else blocks[form])
    if filter.meta:
        parts.append(blocks["meta"])
        params["meta"] = check.mapping(filter.meta, "meta")
    parts += _flags(filter, blocks)
    return Compiled("\n  AND ".join(parts), params)


def _flags(filter: Filter, blocks: Mapping[str, str]) -> list[str]:
    pinned = [] if filter.pinned is None else [blocks["pinned" if filter.pinned else "not_pinned"]]
    return [*([blocks["lists"]] if filter.lists else []), *pinned]


def hides(session: Session) -> bool:
    """Return whether anything is in quarantine. Read once a transaction, with the other counters."""
    if session.hides is None:
        held = dict(session.remembered(session.statements("queries.sql")["head"]))
        session.hides = bool(held.get(QUARANTINED))
    return session.hides


def company(session: Session) -> str:
    """Return the condition for turn `s` to be in the window of turn `o`."""
    blocks = session.statements("vectors.sql")
    return f"{blocks['company']}\n  AND {blocks['company.free']}" if hides(session) else blocks["company"]


def alone(session: Session, filter: Filter, field: str) -> Compiled | None:
    """Return the condition of one field alone; None if the field is not set."""
    wanted = getattr(filter, field)
    if wanted is None:
        return None
    name, value = field, session.listed(wanted) if field in LISTS else wanted
    if field == "place":
        name, value = _place(wanted, leads=True)
    return Compiled(session.statements("filter.sql")[name], {field: value})


def _kept_from_leading(block: str) -> str:
    """Return the block so that SQLite ignores the column's index: a plus sign makes it an expression."""
    return block.replace("s.", "+s.")


def _times(filter: Filter, blocks: Mapping[str, str], parts: list[str], params: dict[str, Any]) -> None:
    if filter.known_at is None:
        parts.append(blocks["known_now"])
    else:
        parts.append(blocks["known_at"])
        params["known_at"] = filter.known_at
    valid_at = filter.now if filter.valid_at is None else filter.valid_at
    if valid_at != ANY_TIME:
        asked = "valid_at" if filter.valid_at is None else "valid_at.asked"
        parts.append(f"({blocks['valid_at.tells_past']})" if filter.tells_past else f"({blocks[asked]})")
        params["valid_at"] = valid_at


def _place(place: str, *, leads: bool) -> tuple[str, str]:
    """Return the name of the place's block and its parameter. `leads` picks the block for a scan."""
    wing, slash, room = place.partition("/")
    if not slash:
        return "place.wing", wing
    if wing == "*":
        return "place.room" if leads else "place.room.probe", room
    return "place.exact", place
