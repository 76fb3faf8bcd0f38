"""Which memories no longer hold and what replaced them, by their facts and by links; and which must stay as sources.

The arms find the facts, and the bank makes the links.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pieria.language.analyser import terms
from pieria.recall.answer import Overturned
from pieria.recall.query import Stated
from pieria.record.changeset import Stored
from pieria.record.fact import FactQuery
from pieria.record.filter import ANY_TIME, Filter
from pieria.record.link import DRAWN_FROM, OVERTURNS, End
from pieria.record.memory import STATEMENT, VISIBLE_STATUSES
from pieria.record.time import is_over, moment
from pieria.record.trust import may_overturn
from pieria.store.facts import FactSpan
from pieria.store.protocol import Reader

MENTIONS = "mentions"
"""The predicate of facts that only record that a memory names an entity."""
Slot = tuple[str, str]
"""(subject, predicate)"""


class Facts(NamedTuple):
    """Keyed by memory id."""

    overturned: Mapping[str, Overturned]
    stated: Mapping[str, Stated]


def has_facts(kinds: Mapping[str, str], spoken: Collection[str]) -> list[str]:
    """Return the ids that facts may say something about: statements and `spoken`. `kinds` is by id."""
    return [id for id, kind in kinds.items() if kind == STATEMENT or id in spoken]


def find_past(reader: Reader, filter: Filter, ids: Sequence[str], asked: Collection[str]) -> Facts:
    """Return what the facts of these memories say on a query with these terms. It takes two look-ups, one if all facts
    hold, and none without ids.

    A memory no longer holds if all its facts on the query were superseded; a statement, if its fact ended.
    """
    if not ids:
        return Facts({}, {})
    at = filter.now if filter.valid_at in (None, ANY_TIME) else filter.valid_at
    assert at is not None
    every = Filter(
        now=filter.now,
        viewer=filter.viewer,
        known_at=filter.known_at,
        quarantined=filter.quarantined,
    )
    spans = [span for span in reader.spans(FactQuery(memories=tuple(ids)), every) if span.predicate_key != MENTIONS]
    over = dict(_over(spans, frozenset(asked), at))
    began = _began(reader, every, over.values(), at)
    followed = {
        id: [span for span in began[_slot(last)] if span.valid_from == last.valid_until and span.memory is not None]
        for id, last in over.items()
    }
    held = reader.states({*followed, *(str(span.memory) for of in followed.values() for span in of)}) if over else {}
    overturned: dict[str, Overturned] = {}
    for id, last in over.items():
        by = next((span for span in followed[id] if _may_follow(held, str(span.memory), id)), None)
        if by is not None or last.memory == last.id:
            assert last.valid_until is not None
            overturned[id] = Overturned(None if by is None else by.memory, moment(last.valid_until))
    return Facts(overturned, {span.id: _stated(span, began, at) for span in spans if span.memory == span.id})


def _may_follow(held: Mapping[str, Stored], new_id: str, old_id: str) -> bool:
    """Return whether the later fact's memory is trusted at least as far as the one it replaces."""
    if new_id not in held or old_id not in held:
        return False
    new, old = held[new_id].state, held[old_id].state
    return may_overturn(new.via, new.trust, old.via, old.trust)


def _over(spans: Iterable[FactSpan], asked: frozenset[str], at: int) -> Iterator[tuple[str, FactSpan]]:
    """Yield memories whose facts on the query have all ended, each with the last of these facts."""
    by_memory: dict[str, list[FactSpan]] = defaultdict(list)
    for span in spans:
        by_memory[span.memory or span.id].append(span)
    for id, of in by_memory.items():
        named = [span for span in of if asked.intersection(terms(f"{span.predicate} {span.object_key}"))] or of
        if all(is_over(span.valid_until, at) for span in named):
            yield id, max(named, key=lambda span: span.valid_until or 0)


def _began(reader: Reader, filter: Filter, over: Iterable[FactSpan], at: int) -> Mapping[Slot, list[FactSpan]]:
    """Return the other facts on the same subjects and predicates that had begun by then."""
    slots = {_slot(span): span.object_key for span in over}
    found: dict[Slot, list[FactSpan]] = defaultdict(list)
    if slots:
        subjects, predicates = zip(*slots, strict=True)
        query = FactQuery(subject_keys=tuple(dict.fromkeys(subjects)), predicate_keys=tuple(dict.fromkeys(predicates)))
        for span in reader.spans(query, filter):
            if span.valid_from is not None and span.valid_from <= at:
                found[_slot(span)].append(span)
    return found


def _stated(span: FactSpan, began: Mapping[Slot, list[FactSpan]], at: int) -> Stated:
    others = began.get(_slot(span), ()) if is_over(span.valid_until, at) else ()
    return Stated(span.valid_from, span.valid_until, any(other.holds_at(at) for other in others))


def _slot(span: FactSpan) -> Slot:
    return span.subject_key, span.predicate_key


def find_overturning(reader: Reader, filter: Filter, ids: Sequence[str]) -> dict[str, Overturned]:
    """Return by id what overturns these memories, the newest of each. It takes two look-ups, or one without such links.

    A later memory counts if this reader may see it, and if it was said by the moment in question. It must also be
    trusted as far as the memory it overturns. Who made the link does not matter.
    """
    wanted = set(ids)
    ties = [
        (link.target.name, link.source.name)
        for link in (reader.links([End("memory", id) for id in wanted], OVERTURNS, filter.known_at) if ids else ())
        if link.target.name in wanted and link.target.what == link.source.what == "memory"
    ]
    if not ties:
        return {}
    both = tuple({id for tie in ties for id in tie})
    seen = Filter(
        now=filter.now,
        viewer=filter.viewer,
        ids=both,
        known_at=filter.known_at,
        valid_at=filter.valid_at,
        status=(*VISIBLE_STATUSES, "archived"),
        quarantined=filter.quarantined,
    )
    standing = reader.states(both, seen)
    older = reader.states(both, seen.anything())
    at = filter.now if filter.valid_at is None else filter.valid_at
    found: dict[str, tuple[int, str]] = {}
    for old_id, new_id in ties:
        if new_id not in standing or old_id not in older:
            continue
        old, new = older[old_id].state, standing[new_id].state
        is_said = at == ANY_TIME or new.at <= at
        if is_said and may_overturn(new.via, new.trust, old.via, old.trust):
            found[old_id] = max(found.get(old_id, (new.at, new.id)), (new.at, new.id))
    return {id: Overturned(by, moment(said)) for id, (said, by) in found.items()}


def drawn_on(reader: Reader, ids: Sequence[str]) -> set[str]:
    """Return the ids that other memories were drawn from. Upkeep never forgets them."""
    links = reader.links([End("memory", id) for id in ids], DRAWN_FROM) if ids else []
    return {link.target.name for link in links}
