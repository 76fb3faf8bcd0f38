"""Link a memory that reverses an older one to it, in the change that writes it.

This module finds the older memory, checks who may overturn it, and updates links when either is reworded.
`language.reversal` recognizes the sentences; `recall` decides their effect on answers. A rule that a correction ended
is restored when the correction goes, through any verb, and ended again when it comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pieria.bank.read.lineage import reached
from pieria.language.analyser import terms
from pieria.language.index_terms import SAID_KINDS, stated
from pieria.language.reversal import Reversal, find_reversals
from pieria.language.reversal_forms import BACK
from pieria.language.reversal_target import SHORT, lookup_terms, measure_fit
from pieria.record.changeset import Changeset, State, Stored, Write
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.ids import new_id
from pieria.record.lesson import KINDS, RULE, TAG
from pieria.record.link import DRAWN_FROM, OVERTURNS, REVISES, End, Link, LinkRow, row_of
from pieria.record.memory import PROPOSAL_STATUSES, VISIBLE_STATUSES, Memory
from pieria.record.time import is_over, micros
from pieria.record.trust import may_overturn
from pieria.runtime.lazy import cached_property
from pieria.store.protocol import Reader

MOST = 3
"""The most memories that one sentence overturns."""
WANT, BUDGET = 40, 2_000
"""Candidates read for one sentence, and rows of the text index searched for them."""
FEW, COMMON = 10, 100
"""A term is common if more than `FEW` texts, and more than one in `COMMON`, contain it."""
BY_RULES = '{"found_by":"rules"}'
"""The meta of a link made by this module rather than by a user."""
SAID_TYPES = ("decision", "plan", "debt", "fact", "howto")
"""Types of observations that say a thing in a person's or an agent's own words, although they are drawn from turns."""
STANDING = "rule"
RULES_SEEN = 2_000
"""The number of newest rules that are examined."""
HOLDS_AGAIN = "the correction that said otherwise is gone"


def hold_to_reversals(reader: Reader, changeset: Changeset, now: int) -> None:
    """Add links from new texts to the older memories that they overturn, and end links that no longer apply.

    Read nothing if no text has a cue and none is reworded.
    """
    revised = {row.source: row.target for row in changeset.links if row.relation == REVISES and not row.ended}
    drawn = {row.source for row in changeset.links if row.relation == DRAWN_FROM and not row.ended}
    given = {(row.source, row.target) for row in changeset.links if row.relation == OVERTURNS}
    batch = _Batch(changeset.writes)
    rows: list[LinkRow] = []
    for number, write in enumerate(changeset.writes):
        if write.content is None or write.state.ended:
            continue
        state, text = write.state, write.content.text
        before = revised.get(state.id) if write.fresh else state.id
        is_said = state.kind in SAID_KINDS and state.status not in PROPOSAL_STATUSES and (
            state.id not in drawn or state.type in SAID_TYPES
        )  # fmt: skip
        found: list[str] = []
        if is_said and (said := find_reversals(text)):
            passed = {state.id, *(() if before is None else (before,))}
            found = _overturned(reader, batch, number, said, passed, now)
        if before is None:
            rows += [_tie(state.id, id) for id in found if (state.id, id) not in given]
        else:
            rows += _tied_anew(reader, state.id, before, text, found)
    changeset.links += rows


class _Older(NamedTuple):
    """The fields that decide whether a memory may be overturned."""

    id: str
    type: str | None
    text: str
    title: str | None
    kind: str
    at: int
    author: str | None
    via: str
    trust: float
    audience: tuple[str | None, ...]


class _Batch:
    """The writes of one change, indexed by term, so that a text finds earlier ones."""

    def __init__(self, writes: Sequence[Write]) -> None:
        self.writes = writes

    @cached_property
    def _by_term(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, write in enumerate(self.writes):
            if write.content is not None and write.fresh and len(write.content.text) <= SHORT:
                for term in set(write.terms):
                    found.setdefault(term, []).append(number)
        return found

    def holding(self, wanted: Iterable[str], number: int) -> Iterator[_Older]:
        """Yield writes with one of these terms that are older than write `number`, or equally old and before it."""
        if len(self.writes) < 2:
            return
        at = self.writes[number].state.at
        for other in sorted({place for term in wanted for place in self._by_term.get(term, ())}):
            state, content = self.writes[other].state, self.writes[other].content
            if content is not None and (state.at < at or (state.at == at and other < number)):
                audience = _audience(state.scope, state.session, state.channel)
                yield _Older(state.id, state.type, content.text, content.title, state.kind, state.at, state.author,
                             state.via, state.trust, audience)  # fmt: skip


def _overturned(
    reader: Reader, batch: _Batch, number: int, said: Sequence[Reversal], passed: set[str], now: int
) -> list[str]:
    state = batch.writes[number].state
    found: dict[str, str | None] = {}
    for reversal in said:
        held, is_common = _held(reader, reversal, state, now)
        older = [
            (fit, each.at, each.id, each.type)
            for each in (*batch.holding(lookup_terms(reversal), number), *held)
            if each.id not in passed and _may(state, reversal, each)
            if (fit := measure_fit(reversal, each.text, each.title)) > is_common
        ]
        best = max((shared for shared, _, _, _ in older), default=0)
        ordered = sorted(older, key=lambda each: each[:3], reverse=True)
        # A note on a statement and the turn that has it are one.
        first = [(id, type) for shared, _, id, type in ordered if shared == best and type not in SAID_TYPES][:MOST]
        notes = [(id, type) for shared, _, id, type in ordered if shared == best and type in SAID_TYPES][:MOST]
        found |= dict([*first, *notes])
    ties = reader.links([End("memory", id) for id in found], DRAWN_FROM) if found else ()
    drawn = {link.source.name for link in ties}
    return [id for id, type in found.items() if id not in drawn or type in SAID_TYPES]


def _held(reader: Reader, reversal: Reversal, state: State, now: int) -> tuple[list[_Older], bool]:
    """Return older memories with the same readers that contain what the reversal drops or is about.

    Also return whether the dropped term is common in this bank, and so identifies nothing.
    """
    asked = Filter(
        now=now,
        viewer=Viewer(state.session, state.channel),
        kinds=SAID_KINDS,
        scopes=(state.scope,),
        until=state.at + 1,
    )
    wanted = lookup_terms(reversal)
    match = reader.text(wanted, asked, WANT, BUDGET)
    needed = {*reversal.dropped, *reversal.about[-1:]} if reversal.kind != BACK else set(reversal.instead)
    rows = [one.row for one in match.candidates if not reversal.dropped or one.held.counts.keys() >= needed]
    rarest = min((match.frequencies.get(term, 0) for term in reversal.dropped), default=0)
    is_common = rarest > max(FEW, match.documents // COMMON)
    return [_as_older(memory) for memory in reader.memories(rows, asked).values()] if rows else [], is_common


def _as_older(memory: Memory) -> _Older:
    audience = _audience(memory.scope, memory.session, memory.channel)
    held = memory.body.get("type")
    type = held if isinstance(held, str) else None
    return _Older(memory.id, type, memory.text, memory.title, memory.kind, micros(memory.at), memory.author, memory.via,
                  memory.trust, audience)  # fmt: skip


def _audience(scope: str, session: str | None, channel: str | None) -> tuple[str | None, ...]:
    return (scope, session, channel) if scope == "session" else (scope,)


def _may(state: State, reversal: Reversal, older: _Older) -> bool:
    """Return whether this author may overturn the memory. Standing rules are ended only by a decision on rules."""
    if older.kind not in SAID_KINDS or older.audience != _audience(state.scope, state.session, state.channel):
        return False
    if not may_overturn(state.via, state.trust, older.via, older.trust):
        return False
    if reversal.is_own and None not in (state.author, older.author) and state.author != older.author:
        return False
    return len(older.text) <= SHORT and STANDING not in stated(older.text, older.kind, older.via)


def _tied_anew(reader: Reader, id: str, before: str, text: str, found: Sequence[str]) -> Iterator[LinkRow]:
    """Yield the links of a reworded memory, or of a revision, which takes over those of the memory it revises."""
    links = reader.links([End("memory", before)], OVERTURNS)
    held = {link.target.name: link for link in links if link.source.name == before and link.target.what == "memory"}
    known = reader.states([before])
    old = reader.contents([known[before].state.row]) if held and before in known else {}
    dropped = [set(each.dropped) for content in old.values() for each in find_reversals(content.text) if each.dropped]
    said = set(terms(text)) if held else set()
    takes_back = any(each <= said for each in dropped)
    for target_id in found:
        if target_id not in held or id != before:
            yield _tie(id, target_id)
    for target_id, link in held.items():
        lasts = target_id in found or not takes_back or not _is_ours(link)
        if id == before and not lasts:
            yield row_of(link)._replace(ended="removed")
        elif id != before and lasts and target_id not in found:
            yield row_of(link)._replace(id=new_id(), source=id)
    if id == before:
        yield from _no_longer_overturned(reader, id, text, [link for link in links if link.target.name == id])


def _no_longer_overturned(reader: Reader, id: str, text: str, links: Sequence[Link]) -> Iterator[LinkRow]:
    """Yield the end of links to a memory that no longer says what was overturned."""
    by = {link.source.name: link for link in links if _is_ours(link) and link.source.what == "memory"}
    states = reader.states(list(by)) if by else {}
    contents = reader.contents([held.state.row for held in states.values()]) if states else {}
    for other, held in states.items():
        content = contents.get(held.state.row)
        if content is not None and not any(measure_fit(each, text) for each in find_reversals(content.text)):
            yield row_of(by[other])._replace(ended="removed")


def _is_ours(link: Link) -> bool:
    return link.meta.get("found_by") == "rules"


def _tie(id: str, older: str) -> LinkRow:
    return LinkRow(new_id(), "memory", id, OVERTURNS, "memory", older, 1.0, None, BY_RULES, "")


def hold_to_corrections(reader: Reader, changeset: Changeset, now: int) -> None:
    """Add the rules that become valid again, and those that end again."""
    planned = {write.state.id: write.state for write in changeset.writes}
    rules = [id for id, state in planned.items() if state.type == RULE]
    if not rules and not changeset.erase:
        return
    held = {id: each for id, each in reader.states([*rules, *changeset.erase]).items() if each.state.type == RULE}
    erased = set(changeset.erase)
    gone = {id for id, each in held.items() if not each.state.ended and (id in erased or _is_gone(planned[id], now))}
    back = [held[id] for id in rules if id in held and _is_gone(held[id].state, now) and _holds(planned[id], now)]
    known = {*planned, *changeset.erase}
    if gone:
        changeset.writes += [Write(each.state) for each in _woken(reader, gone, now) if each.state.id not in known]
    for correction in back:
        ended = _ended_again(reader, correction, now)
        changeset.writes += [Write(each.state) for each in ended if each.state.id not in known]


def _is_gone(state: State, now: int) -> bool:
    has_ended = is_over(state.valid_until, now) and state.superseded_by is None
    return state.ended == "removed" or (has_ended and not state.ended)


def _holds(state: State, now: int) -> bool:
    """Return whether the rule is in force. A lesson seen again after its end is only a proposal."""
    return not state.ended and state.status not in PROPOSAL_STATUSES and not _is_gone(state, now)


def _woken(reader: Reader, gone: Collection[str], now: int) -> Iterator[Stored]:
    by = set(_under_any_id(reader, gone))
    ended = [rule.id for rule in reader.select(_rules(now), "newest", RULES_SEEN) if rule.standing.superseded_by in by]
    for held in reader.states(ended).values():
        yield held._replace(state=held.state._replace(superseded_by=None, valid_until=None, reason=HOLDS_AGAIN))


def _ended_again(reader: Reader, correction: Stored, now: int) -> Iterator[Stored]:
    """Yield the earlier states of the rules, unless they have changed since."""
    by = set(_under_any_id(reader, [correction.state.id]))
    rules = reader.states([rule.id for rule in reader.select(_rules(now), "newest", RULES_SEEN)])
    woken = [id for id, held in rules.items() if held.known_from == correction.known_from]
    before = Filter(now, Viewer(everything=True)).anything().having(known_at=correction.known_from - 1)
    for held in reader.states(woken, before).values():
        if held.state.superseded_by in by:
            yield held


def _under_any_id(reader: Reader, ids: Collection[str]) -> list[str]:
    """Return the ids with all revisions: a revised correction ended rules under its former id."""
    return reached(reader, ids, lambda link, _: link.relation == REVISES)


def _rules(now: int) -> Filter:
    return Filter(
        now=now,
        viewer=Viewer(everything=True),
        kinds=(KINDS[RULE],),
        types=(RULE,),
        tags=(TAG,),
        valid_at=ANY_TIME,
        status=(*VISIBLE_STATUSES, *PROPOSAL_STATUSES, "archived"),
    )
