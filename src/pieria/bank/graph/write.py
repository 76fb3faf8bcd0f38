"""Convert a changeset of the graph to one change of the bank: versions, links, usage.

The change is planned in the write transaction, from the state at that moment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pieria.bank.graph.grounding import noted, taken
from pieria.bank.write.derived import baseless, narrowed
from pieria.bank.write.update import content_draft, next_version
from pieria.errors import ConflictError
from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.memories import drawn, own_fields
from pieria.graph.metadata import NodeMetadata
from pieria.graph.similarity import cosine_similarity
from pieria.record.changeset import Changeset as Change
from pieria.record.changeset import State, Stored, Write
from pieria.record.draft import Draft
from pieria.record.filter import Filter
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, End, LinkRow, row_of
from pieria.record.time import is_over, moment
from pieria.record.trust import AGENT
from pieria.record.usage import UNUSED, Usage, use_of
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import first_write

if TYPE_CHECKING:
    from pieria.bank import Bank

EDGES = tuple(Edge)
SAME = 0.999
"""The cosine above which a vector equals the stored one, which has lower precision."""


def planned(bank: Bank, writer: Writer, asked: Changeset, drafts: Mapping[str, Draft], seen: Filter) -> Change:
    """Return the change of the bank. `seen` is the filter for visible nodes."""
    change = Change("graph")
    named = {*drafts, *asked.metadata, *asked.gained, *(id for one, other, _ in asked.ties() for id in (one, other))}
    held = writer.states(named)
    _check_ids(bank, writer, drafts, held)
    standing = writer.states(named, seen.having(ids=tuple(named))) if named else {}
    states = {id: each.state for id, each in standing.items()}
    for id, draft in drafts.items():
        write = _write(bank, writer, draft, held.get(id))
        if write is not None:
            change.writes.append(write)
            states[id] = write.state
    back = [id for id in drafts if id in held and id not in standing]
    change.links += _untied(writer, back)
    change.links += _tied(writer, asked, states, standing.keys())
    entries: dict[str, NodeMetadata | None] = dict.fromkeys(back)
    said = asked.metadata_over(_counted(writer, [id for id in asked.gained if id not in back]))
    usage_set(writer, change, entries | {id: entry for id, entry in said.items() if id in states})
    return change


def _counted(reader: Reader, ids: Sequence[str]) -> dict[str, NodeMetadata]:
    penalties = taken(reader, ids) if ids else {}
    return {
        id: NodeMetadata(
            access_count=used.accesses,
            cumulative_reward=summed_of(used),
            last_accessed_at=used.last_access,
            reward_count=used.rewarded,
            penalty=penalties.get(id, 0.0),
        )
        for id, used in (reader.usage(ids) if ids else {}).items()
    }


def usage_set(reader: Reader, change: Change, entries: Mapping[str, NodeMetadata | None]) -> None:
    """Add the usage from node metadata to the change; None resets it. Counts that metadata lacks stay."""
    before = reader.usage(list(entries)) if entries else {}
    for id, entry in entries.items():
        had, wanted = before.get(id, UNUSED), entry or NodeMetadata()
        used = replace(
            had,
            accesses=wanted.access_count,
            last_access=wanted.last_accessed_at,
            rewards=earned_by(wanted.cumulative_reward) - wanted.reward_count,
            rewarded=wanted.reward_count,
        )
        if used != had:
            change.unuse.append(id)
            change.usage.append(use_of(id, used))
    change.records += noted(reader, {id: 0.0 if entry is None else entry.penalty for id, entry in entries.items()})


def metadata_of(used: Usage, known_from: int, penalty: float) -> NodeMetadata:
    return NodeMetadata(
        access_count=used.accesses,
        created_at=moment(known_from),
        cumulative_reward=summed_of(used),
        last_accessed_at=used.last_access,
        reward_count=used.rewarded,
        penalty=penalty,
    )


def summed_of(used: Usage) -> float:
    """Return the rewards as metadata sums them: a bank counts each from -1 to 1, a graph from 0 to 1."""
    return (used.rewards + used.rewarded) / 2


def earned_by(reward: float) -> float:
    """Return rewards of a graph on the bank's scale, which is twice as long."""
    return 2.0 * reward


def _check_ids(bank: Bank, reader: Reader, drafts: Mapping[str, Draft], held: Mapping[str, Stored]) -> None:
    """Raise unless every draft may be written under its id."""
    purged = reader.purged(list(drafts))
    seen = reader.states(drafts, bank.core.opening(drafts)) if drafts else {}
    for id, draft in drafts.items():
        if id in purged:
            raise ConflictError("this id was purged", ids=(id,), hint="Use another id.")
        if id not in held:
            continue
        if id not in seen:
            raise ConflictError("the id is taken", ids=(id,), hint="Another session uses it; choose another id.")
        state = held[id].state
        if state.kind != draft.new.kind:
            hint = f"The id belongs to a memory of the kind {state.kind}; use another id."
            raise ConflictError("the id is taken", ids=(id,), hint=hint)
        if state.ended == "revised":
            hint = f"Put what changes under {state.superseded_by}."
            raise ConflictError(f"it was revised as {state.superseded_by}", ids=(id,), hint=hint)


def _write(bank: Bank, writer: Writer, draft: Draft, held: Stored | None) -> Write | None:
    """Return the first or next version of a node, or None if it is unchanged."""
    assert draft.new.id is not None
    if held is None:
        return first_write(draft, draft.new.id, bank.core.now(), f"{bank.name}/{draft.new.kind}")
    state = _put_again(held.state, draft, bank.core.now())
    contents = {"text": draft.text, "body": _body(bank, writer, draft, held)}
    anew = bool(draft.vectors) and not _same_vectors(writer, held.state.row, draft)
    write = next_version(bank.core, writer, held, state, contents, AGENT, anew=anew)
    if write is not None:
        return write._replace(vectors=draft.vectors)
    return None if state == held.state else Write(state)


def _body(bank: Bank, reader: Reader, draft: Draft, held: Stored) -> dict[str, Any]:
    """Return the fields of the node, and the fields that other code keeps in the body."""
    before = content_draft(bank.core, reader, held).new.body
    own = own_fields(draft.new.kind)
    return {**{name: value for name, value in before.items() if name not in own}, **draft.new.body}


def _put_again(state: State, draft: Draft, now: int) -> State:
    """Return the state of a node that is written again: an ended or archived node is active again."""
    over = is_over(state.valid_until, now)
    return state._replace(
        at=now if draft.at is None else draft.at,
        confidence=draft.new.confidence,
        valid_until=None if over else state.valid_until,
        status="active" if state.status == "archived" else state.status,
        ended="",
        reason=None,
    )


def _same_vectors(reader: Reader, row: int, draft: Draft) -> bool:
    held = [vector for _, vector in reader.vectors([row]).get(row, ())]
    given = [each.vector for each in draft.vectors]
    if len(held) != len(given):
        return False
    pairs = zip(held, given, strict=True)
    return all(cosine_similarity([*map(float, one)], [*map(float, other)]) > SAME for one, other in pairs)


def _untied(reader: Reader, ids: Collection[str]) -> Iterator[LinkRow]:
    """Yield the end of earlier edges: a node that comes back starts without any."""
    for link in reader.links([End("memory", id) for id in ids]) if ids else ():
        if link.relation in EDGES:
            yield row_of(link)._replace(ended="removed")


def _tied(reader: Reader, asked: Changeset, states: Mapping[str, State], before: Collection[str]) -> Iterator[LinkRow]:
    """Yield a link for each edge between existing nodes, once. `before` names nodes that existed before."""
    made: set[tuple[frozenset[str], Edge]] = set()
    for one, other, edge in asked.ties():
        pair = frozenset((one, other)), edge
        if one not in states or other not in states or pair in made:
            continue
        made.add(pair)
        ends = (End("memory", one), End("memory", other))
        if one in before and other in before and reader.links(between=ends, relation=edge):
            continue
        named = (one, other) if edge != DRAWN_FROM else _from_evidence(states[one], states[other])
        yield LinkRow(new_id(), "memory", named[0], edge, "memory", named[1], 1.0, None, None, "")


def _from_evidence(one: State, other: State) -> tuple[str, str]:
    """Return the ids of the derived node and its evidence, in this order."""
    derived, evidence = (one, other) if drawn(one.kind, other.kind) else (other, one)
    reason = baseless(narrowed(derived, evidence))
    if reason is not None:
        raise ConflictError(reason, ids=(derived.id, evidence.id))
    return derived.id, evidence.id
