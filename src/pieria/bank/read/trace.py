"""The verb `trace`: what was derived from a memory, source or session, and which sessions were shown it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from pieria.bank.core import Core
from pieria.bank.delete.quarantine import LEADING, notes_with
from pieria.bank.facts.drawn_facts import find_drawn
from pieria.bank.read.context import KEPT
from pieria.bank.read.lineage import Origin, lineage
from pieria.bank.results.general import Drawn, Telling, Trace
from pieria.errors import InputError, NotFoundError
from pieria.record import check
from pieria.record.draft import Problems
from pieria.record.fact import Fact, FactQuery
from pieria.record.filter import ANY_TIME
from pieria.record.memory import ENDINGS, STATEMENT, Memory
from pieria.record.time import moment
from pieria.store.protocol import Reader
from pieria.store.quarantine import Held

EXCERPT = 160
MOST = 10_000
TOLD = 1_000
ORIGINS = {"provenance": "drawn from", "revises": "revision"}
"""The names of link relations in a trace."""


class Whole(NamedTuple):
    """A lineage with its facts."""

    memories: Mapping[str, Origin | None]
    facts: Sequence[Fact]


def trace(core: Core, id: str | None, *, source: str | None, session: str | None, limit: int) -> Trace:
    problems = Problems()
    given = {"id": (check.identifier, id), "source": (check.name, source), "session": (check.name, session)}
    kept = {name: problems.of(check_of, value, name) for name, (check_of, value) in given.items() if value is not None}
    problems.of(check.whole, limit, "limit", 1, MOST)
    problems.settle()
    if len(kept) != 1:
        raise InputError("id", "one of id, source and session", None if not kept else sorted(kept))
    [(name, value)] = kept.items()
    holder = core.holder(value) if name == "id" else core
    # First write the pending records of shown memories.
    holder.uses.flush()
    with holder.reading() as reader:
        return _traced(holder, reader, name, value, limit)


def _traced(core: Core, reader: Reader, name: str, value: str, limit: int) -> Trace:
    whole = _whole(core, reader, name, value)
    ids = list(whole.memories)
    seen = core.opening(ids, quarantined=True)
    shown = reader.states(ids, seen) if ids else {}
    held = {what: reader.quarantines(of, what) for what, of in _named(whole)}
    rows = [shown[id].state.row for id in ids if id in shown][:limit]
    memories = {one.id: one for one in reader.memories(rows, seen.having(ids=None)).values()}
    items = [_memory(memories[id], whole.memories[id], held["memory"]) for id in ids if id in memories]
    facts = [_fact(fact, held["fact"]) for fact in whole.facts if _is_shown(fact, value, shown)]
    states = reader.states(ids)
    counts = Counter(states[id].state.kind for id in ids if id in states)
    if whole.facts:
        counts["fact"] = len(whole.facts)
    listed = [*items, *facts][:limit]
    return Trace(
        items=tuple(listed),
        counts=dict(sorted(counts.items())),
        told=tuple(_tellings(reader, set(shown))),
        notes=tuple(notes_with(reader, list(shown))),
        hidden=len(ids) - len(shown),
        truncated=len(shown) + len(facts) > len(listed),
    )


def _whole(core: Core, reader: Reader, name: str, value: str) -> Whole:
    everything = core.everything()
    facts: dict[str, Fact] = {}
    if name == "id":
        drawn = find_drawn(reader, value, core.filter().having(quarantined=True))
        if drawn is not None:
            return Whole({}, [drawn.fact])
        core.check_known(reader, [value], quarantined=True)
        begun = [value]
    else:
        asked = core.filter().having(status=None, endings=ENDINGS, valid_at=ANY_TIME, quarantined=True)
        placed = [one.id for one in reader.placed(asked.having(**{name: value}))]
        kinds = {id: state.state.kind for id, state in reader.states(placed).items()}
        begun = [id for id in placed if kinds[id] not in (*LEADING, STATEMENT)]
    if name == "source":
        query = FactQuery(source=value, include_ended=True)
        facts |= {fact.id: fact for fact in reader.facts(query, everything) if fact.source_memory is None}
    memories = lineage(reader, begun)
    if memories:
        query = FactQuery(memories=tuple(memories), include_ended=True)
        facts |= {fact.id: fact for fact in reader.facts(query, everything)}
    if not memories and not facts:
        raise NotFoundError(name, value, hint="`count` by source or session lists them.")
    return Whole(memories, list(facts.values()))


def _is_shown(fact: Fact, asked: str, shown: Collection[str]) -> bool:
    return fact.source_memory is None or fact.id == asked or fact.memory in shown


def _named(whole: Whole) -> Iterator[tuple[Held, list[str]]]:
    yield "memory", list(whole.memories)
    yield "fact", [fact.id for fact in whole.facts]


def _memory(memory: Memory, origin: Origin | None, held: Mapping[str, tuple[int, ...]]) -> Drawn:
    said = memory.title or " ".join(memory.text.split())
    return Drawn(
        what="memory",
        id=memory.id,
        kind=memory.kind,
        excerpt=said if len(said) <= EXCERPT else said[: EXCERPT - 1] + "…",
        how="" if origin is None else ORIGINS.get(origin.how, origin.how),
        of=None if origin is None else origin.of,
        at=memory.at,
        source=memory.source,
        session=memory.session,
        author=memory.author,
        ended=memory.standing.ended,
        quarantines=held.get(memory.id, ()),
    )


def _fact(fact: Fact, held: Mapping[str, tuple[int, ...]]) -> Drawn:
    said = f"{fact.subject} {fact.predicate} {fact.object}"
    return Drawn(
        what="fact",
        id=fact.id,
        kind="fact",
        excerpt=said if len(said) <= EXCERPT else said[: EXCERPT - 1] + "…",
        how="fact",
        of=fact.memory,
        at=fact.known_from,
        source=fact.source,
        ended=fact.ended,
        quarantines=held.get(fact.id, ()),
    )


def _tellings(reader: Reader, ids: set[str]) -> Iterator[Telling]:
    """Yield the sessions that were shown any of these, latest first, and those whose kept context names one."""
    told: dict[str, list[tuple[str, int, int, int]]] = {}
    for id, session, times, first, last in reader.told(sorted(ids), TOLD):
        told.setdefault(session, []).append((id, times, first, last))
    kept = {key: value for key, value in reader.records(KEPT).items() if not ids.isdisjoint(value["told"])}
    for session, value in kept.items():
        known = {id for id, *_ in told.get(session, ())}
        fresh = [(id, 1, value["now"], value["now"]) for id in value["told"] if id in ids and id not in known]
        told.setdefault(session, []).extend(fresh)
    for session, each in sorted(told.items(), key=lambda one: (-max(last for *_, last in one[1]), one[0])):
        yield Telling(
            session=session,
            ids=tuple(id for id, *_ in each),
            times=sum(times for _, times, _, _ in each),
            first=moment(min(first for _, _, first, _ in each)),
            last=moment(max(last for *_, last in each)),
            in_context=session in kept,
        )
