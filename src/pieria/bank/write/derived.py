"""Bound derived memories by their sources: trust, validity and readers never exceed those of the source.

This applies to every change, through any verb. When a source is narrowed, memories derived from it follow.
"""

from __future__ import annotations

from collections.abc import Iterable

from pieria.record.changeset import Changeset, State, Write
from pieria.record.link import DRAWN_FROM, End, LinkRow
from pieria.record.trust import ACCEPTED, lowest, way_of
from pieria.store.protocol import Reader

NEVER_BOTH = "it and one of its sources are never valid at the same time"
SEEN_BY_NOBODY = "no caller may see both it and one of its sources"


def hold_to_sources(reader: Reader, changeset: Changeset) -> None:
    """Bound the states in a changeset, and add derived memories that have to follow."""
    lineage = _Lineage(reader, changeset)
    touched = _moved(reader, changeset)
    touched.update(row.source for row in changeset.links if row.relation == DRAWN_FROM and row.source_is == "memory")
    waiting = list(touched)
    seen: set[str] = set()
    while waiting:
        lineage.load(waiting)
        following: list[str] = []
        for id in waiting:
            state = lineage.state(id)
            if state is None:
                continue
            bound = state
            for source in lineage.sources(id):
                source_state = lineage.state(source)
                if source_state is not None and not bound.ended:
                    bound = bounded(bound, source_state)
            if bound != state:
                lineage.write(bound)
            if id not in seen or bound != state:
                seen.add(id)
                following += lineage.derived(id)
        waiting = following


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


class _Lineage:
    """Memories with their sources and what is derived from them, as they are after the changeset."""

    def __init__(self, reader: Reader, changeset: Changeset) -> None:
        self._reader, self._writes = reader, changeset.writes
        self._planned = {write.state.id: number for number, write in enumerate(changeset.writes)}
        self._held: dict[str, State | None] = {}
        self._pairs: dict[str, dict[str, tuple[str, str]]] = {}
        """Of each loaded id, its links: (derived id, source) by the link's id."""
        self._changed: dict[str, list[LinkRow]] = {}
        for row in changeset.links:
            if row.relation == DRAWN_FROM and row.source_is == row.target_is == "memory":
                for id in (row.source, row.target):
                    self._changed.setdefault(id, []).append(row)

    def load(self, ids: Iterable[str]) -> None:
        """Read the links of these ids, and the states that `state` returns for them and their sources."""
        new = {id: dict[str, tuple[str, str]]() for id in ids if id not in self._pairs}
        for link in self._reader.links([End("memory", id) for id in new], DRAWN_FROM) if new else ():
            if link.source.what == link.target.what == "memory":
                for id in new.keys() & {link.source.name, link.target.name}:
                    new[id][link.id] = link.source.name, link.target.name
        for id, pairs in new.items():
            for row in self._changed.get(id, ()):
                pairs[row.id] = row.source, row.target
                if row.ended:
                    del pairs[row.id]
        self._pairs |= new
        ends = {id for pairs in new.values() for pair in pairs.values() for id in pair}
        unread = (ends | new.keys()) - self._planned.keys() - self._held.keys()
        held = self._reader.states(unread) if unread else {}
        self._held |= {id: held[id].state if id in held else None for id in unread}

    def state(self, id: str) -> State | None:
        return self._writes[self._planned[id]].state if id in self._planned else self._held[id]

    def write(self, state: State) -> None:
        if state.id in self._planned:
            number = self._planned[state.id]
            self._writes[number] = self._writes[number]._replace(state=state)
        else:
            self._planned[state.id] = len(self._writes)
            self._writes.append(Write(state))

    def sources(self, id: str) -> list[str]:
        return [target for source, target in self._pairs[id].values() if source == id]

    def derived(self, id: str) -> list[str]:
        return [source for source, target in self._pairs[id].values() if target == id]
