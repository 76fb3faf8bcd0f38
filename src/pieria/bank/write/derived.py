"""Bound derived memories by their sources: trust, validity and readers never exceed those of the source.

This applies to every change, through any verb. When a source is narrowed, memories derived from it follow.
"""

from __future__ import annotations

from collections import deque

from pieria.record.changeset import Changeset, State, Write
from pieria.record.link import DRAWN_FROM, End, LinkRow
from pieria.record.trust import ACCEPTED, lowest, way_of
from pieria.store.protocol import Reader

NEVER_BOTH = "it and one of its sources are never valid at the same time"
SEEN_BY_NOBODY = "no caller may see both it and one of its sources"


def hold_to_sources(reader: Reader, changeset: Changeset) -> None:
    """Bound the states in a changeset, and add derived memories that have to follow."""
    planned = {write.state.id: number for number, write in enumerate(changeset.writes)}
    touched = _moved(reader, changeset)
    touched.update(row.source for row in changeset.links if row.relation == DRAWN_FROM and row.source_is == "memory")
    waiting = deque(touched)
    seen: set[str] = set()
    tied = _tied_in(changeset)
    while waiting:
        id = waiting.popleft()
        state = _state(reader, changeset, planned, id)
        if state is None:
            continue
        bound = state
        for source in _ends(reader, tied, id, upwards=True):
            source_state = _state(reader, changeset, planned, source)
            if source_state is not None and not bound.ended:
                bound = bounded(bound, source_state)
        if bound != state:
            _write(changeset, planned, bound)
        if id not in seen or bound != state:
            seen.add(id)
            waiting += _ends(reader, tied, id, upwards=False)


def _moved(reader: Reader, changeset: Changeset) -> set[str]:
    """Return the ids whose bounds change; all others are within their sources' bounds already."""
    written = {write.state.id: write.state for write in changeset.writes if not write.fresh}
    held = reader.states(written) if written else {}
    return {id for id, state in written.items() if id not in held or _bounds(held[id].state) != _bounds(state)}


def _bounds(state: State) -> tuple[object, ...]:
    audience = state.scope, state.session, state.channel
    return *audience, state.valid_from, state.valid_until, state.trust, state.via, state.ended


def bounded(derived: State, source: State) -> State:
    """Return the derived state within its source's bounds, or removed if the two have nothing in common."""
    held = narrowed(derived, source)
    reason = baseless(held)
    return held if reason is None else derived._replace(ended="removed", reason=reason, trust=held.trust, via=held.via)


def narrowed(derived: State, source: State) -> State:
    starts = [moment for moment in (derived.valid_from, source.valid_from) if moment is not None]
    ends = [moment for moment in (derived.valid_until, source.valid_until) if moment is not None]
    trust = min(derived.trust, source.trust)
    held = derived._replace(
        trust=trust,
        via=derived.via if derived.via == ACCEPTED else lowest(derived.via, way_of(trust)),
        valid_from=max(starts, default=None),
        valid_until=min(ends, default=None),
    )
    if source.scope != "session":
        return held
    if derived.scope != "session":
        return held._replace(scope="session", session=source.session, channel=source.channel)
    # Both audiences see the memory by session or channel, so only what both name remains.
    return held._replace(
        session=derived.session if derived.session == source.session else None,
        channel=derived.channel if derived.channel == source.channel else None,
    )


def baseless(held: State) -> str | None:
    """Return why a narrowed state is valid at no time or visible to no reader, or None."""
    if held.valid_from is not None and held.valid_until is not None and held.valid_until <= held.valid_from:
        return NEVER_BOTH
    if held.scope == "session" and held.session is None and held.channel is None:
        return SEEN_BY_NOBODY
    return None


def _state(reader: Reader, changeset: Changeset, planned: dict[str, int], id: str) -> State | None:
    if id in planned:
        return changeset.writes[planned[id]].state
    held = reader.states([id]).get(id)
    return None if held is None else held.state


def _write(changeset: Changeset, planned: dict[str, int], state: State) -> None:
    if state.id in planned:
        number = planned[state.id]
        changeset.writes[number] = changeset.writes[number]._replace(state=state)
    else:
        planned[state.id] = len(changeset.writes)
        changeset.writes.append(Write(state))


def _tied_in(changeset: Changeset) -> dict[str, list[LinkRow]]:
    """Return the source links in a changeset, by either end."""
    tied: dict[str, list[LinkRow]] = {}
    for row in changeset.links:
        if row.relation == DRAWN_FROM and row.source_is == row.target_is == "memory":
            for id in (row.source, row.target):
                tied.setdefault(id, []).append(row)
    return tied


def _ends(reader: Reader, tied: dict[str, list[LinkRow]], id: str, *, upwards: bool) -> list[str]:
    """Return the sources of an id or, downwards, the memories derived from it, after the changeset."""
    links = {
        link.id: (link.source.name, link.target.name)
        for link in reader.links([End("memory", id)], DRAWN_FROM)
        if link.source.what == link.target.what == "memory"
    }
    for row in tied.get(id, ()):
        links[row.id] = (row.source, row.target)
        if row.ended:
            del links[row.id]
    if upwards:
        return [target for source, target in links.values() if source == id]
    return [source for source, target in links.values() if target == id]
