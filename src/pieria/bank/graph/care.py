"""The maintenance view of a bank: states in pages, and changes that apply only to memories still unchanged.

Maintenance archives and never removes: `update` and `undo` bring memories back. Every change is planned in the write
transaction, from the state at that moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.core import EVERYTHING
from pieria.bank.graph.grounding import noted, strangers
from pieria.bank.graph.write import earned_by, usage_set
from pieria.graph.changeset import Tie
from pieria.graph.edge import Edge
from pieria.graph.nodes import NODE_TYPES, Node
from pieria.graph.similarity import cosine_similarity
from pieria.graph.view import AT_ONCE, Look, Pair, Statement, pages
from pieria.record.changeset import Changeset as Change
from pieria.record.changeset import Content, State, Stored, Write
from pieria.record.decay import FADING_TIERS, IMPORTANT
from pieria.record.filter import Filter
from pieria.record.ids import new_id
from pieria.record.link import DRAWN_FROM, REVISES, End, Link, LinkRow, row_of
from pieria.record.time import micros, moment
from pieria.record.usage import UNUSED, use_of
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import mapping_of
from pieria.upkeep.clusters import facts_taken

if TYPE_CHECKING:
    from pieria.bank.graph.verbs import BankGraph

EDGES = {edge.value: edge for edge in Edge}
FADED = "it was of little use"
IDLE = "nothing is tied to it"
CATCHING_UP = 1_000
MOST_EMBEDDED = 1_000
"""Vectors of conditions kept in memory."""


class _Mark(NamedTuple):
    """The version of a memory at the first look, and the bank's known time then."""

    row: int
    known_from: int
    known: int


class BankTended:
    def __init__(self, graph: BankGraph) -> None:
        self._graph = graph
        self._bank = graph._bank
        self._caught_up = False
        self._embedded: dict[str, Any] = {}
        self._quiet: int | None = None
        """The number of the bank's latest change if no other process has written since the first look, else -1."""

    def looks(self, node_types: Sequence[str]) -> Iterator[Sequence[Look]]:
        self._bank.core.uses.flush()
        asked, after = self._filter(kinds=node_types), 0
        while True:
            with self._bank.core.reading() as reader:
                part = reader.standing(asked, after, AT_ONCE)
                made = self._looks(reader, part)
            if not part:
                return
            after = part[-1].state.row
            yield made

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]:
        with self._bank.core.reading() as reader:
            memories = reader.select(self._filter(ids), "oldest", len(ids)) if ids else []
            return {node.id: node for node in self._graph._nodes(reader, memories)}

    def ties(self) -> Iterator[Tie]:
        with self._bank.core.reading() as reader:
            for source, relation, target in reader.ties():
                edge = EDGES.get(relation)
                if edge is not None:
                    yield source, target, edge

    def statements(self, looks: Sequence[Look]) -> dict[str, Statement]:
        with self._bank.core.reading() as reader:
            found = reader.contents([look.mark.row for look in looks])
        return {look.id: _statement(found[look.mark.row]) for look in looks if look.mark.row in found}

    def likeness(self, one: str, other: str) -> float:
        embedder = self._bank.core.embedding.embedder
        if embedder is None or not embedder.is_at_hand:
            return 0.0
        new = [text for text in dict.fromkeys((one, other)) if text not in self._embedded]
        if new:
            if len(self._embedded) > MOST_EMBEDDED:
                self._embedded.clear()
                new = [*dict.fromkeys((one, other))]
            self._embedded.update(zip(new, embedder.passages(new).vectors, strict=True))
        return cosine_similarity(self._embedded[one], self._embedded[other])

    def vectors(self, looks: Sequence[Look]) -> dict[str, Any]:
        if not self._caught_up:
            self._bank.core.embedding.catch_up(CATCHING_UP, math.inf)
            self._caught_up = True
        ids = {look.mark.row: look.id for look in looks}
        with self._bank.core.reading() as reader:
            found = reader.vectors(list(ids))
        return {ids[row]: _middle([vector for _, vector in held]) for row, held in found.items() if held}

    def standing(self, ids: Sequence[str]) -> set[str]:
        with self._bank.core.reading() as reader:
            return set(reader.states(ids, self._filter(ids))) if ids else set()

    def missing(self, ids: Sequence[str]) -> set[str]:
        """Return the ids that do not exist. Removed and archived memories may come back, and are not missing."""
        with self._bank.core.reading() as reader:
            return set(ids) - reader.states(ids).keys()

    def drawn_on(self, looks: Sequence[Look]) -> set[str]:
        ids = {look.id for look in looks}
        with self._bank.core.reading() as reader:
            return {target for _, relation, target in reader.ties() if relation == DRAWN_FROM and target in ids}

    def leftovers(self) -> list[str]:
        with self._bank.core.reading() as reader:
            return strangers(reader)

    def put_away(self, looks: Sequence[Look]) -> list[str]:
        def plan(writer: Writer) -> Change:
            held = self._unchanged(writer, looks)
            busy = set() if self._is_quiet(writer) else self._in_use(writer, looks, held)
            return Change("prune", writes=[_archived(each, FADED) for id, each in held.items() if id not in busy])

        return self._written(plan)

    def put_away_idle(self, looks: Sequence[Look]) -> list[str]:
        def plan(writer: Writer) -> Change:
            held = self._unchanged(writer, looks)
            tied: dict[str, set[str]] = {id: set() for id in held}
            for here, there, _ in self._graph._steps(writer, set(held)):
                tied[here].add(there)
            others = list(set().union(*tied.values()))
            seen = writer.states(others, self._filter(others)).keys() if others else set()
            return Change("tidy", writes=[_archived(held[id], IDLE) for id, ends in tied.items() if not ends & seen])

        return self._written(plan)

    def fold(self, pairs: Sequence[Pair]) -> list[str]:
        folded: list[str] = []

        def plan(writer: Writer) -> Change:
            losers = self._unchanged(writer, [pair.loser for pair in pairs])
            winners = writer.states([pair.winner.id for pair in pairs], self._filter())
            into = {
                loser.id: winner.id
                for loser, winner in pairs
                if loser.id in losers and winner.id in winners and winners[winner.id].state.row == winner.mark.row
            }
            folded.extend(into)
            return self._folding(writer, into, losers)

        self._written(plan)
        return folded

    def penalize(self, penalties: Mapping[str, float]) -> list[str]:
        changed: list[str] = []

        def plan(writer: Writer) -> Change:
            held = writer.states(list(penalties), self._filter(list(penalties)))
            used = self._graph._used(writer, held)
            settled = {id: entry.penalized(penalties[id]) for id, entry in used.items()}
            moved = {id: entry for id, entry in settled.items() if entry != used[id]}
            changed.extend(moved)
            change = Change("validate")
            usage_set(writer, change, moved)
            return change

        self._written(plan)
        return changed

    def untie(self, ties: Sequence[Tie]) -> int:
        ended: list[LinkRow] = []

        def plan(writer: Writer) -> Change:
            asked = list({id for one, other, _ in ties for id in (one, other)})
            gone = set(asked) - writer.states(asked).keys()
            wanted = {(frozenset(tie[:2]), tie[2]) for tie in ties if gone.intersection(tie[:2])}
            for link in _links(writer, list(gone)):
                if (frozenset((link.source.name, link.target.name)), link.relation) in wanted:
                    ended.append(row_of(link)._replace(ended="removed"))
            return Change("repair", links=ended)

        self._written(plan)
        return len(ended)

    def forget(self, ids: Sequence[str]) -> list[str]:
        gone: list[str] = []

        def plan(writer: Writer) -> Change:
            gone.extend(sorted(set(ids) - writer.states(ids).keys()))
            return Change("repair", records=noted(writer, dict.fromkeys(gone, 0.0)))

        self._written(plan)
        return gone

    # --- reading

    def _filter(self, ids: Sequence[str] | None = None, kinds: Sequence[str] = NODE_TYPES) -> Filter:
        """Return a filter without a viewer: no session hides anything from maintenance."""
        return self._graph._filter(ids, kinds).having(viewer=EVERYTHING)

    def _looks(self, reader: Reader, part: Sequence[Stored]) -> list[Look]:
        held = {each.state.id: each for each in part}
        used = self._graph._used(reader, held)
        head = reader.head()
        if self._quiet is None:
            self._quiet = head.seq
        elif self._quiet != head.seq:
            self._quiet = -1
        return [
            Look(
                each.state.id,
                each.state.kind,
                moment(each.state.at),
                used[each.state.id],
                _Mark(each.state.row, each.known_from, head.known),
                _fades(each.state, self._bank.core.fades),
                _stays(each.state),
                apart(each.state),
            )
            for each in part
        ]

    def _is_quiet(self, reader: Reader) -> bool:
        """Return whether no other process has written since the first look, so that all looks are current."""
        return reader.head().seq == self._quiet

    def _in_use(self, reader: Reader, looks: Sequence[Look], held: Mapping[str, Stored]) -> set[str]:
        """Return the ids used or linked since the look, or used as a source."""
        used = self._graph._used(reader, held)
        links = _links(reader, list(held))
        since = _tied_since(links, {look.id: look.mark.known for look in looks})
        return _drawn_on(links) | since | {look.id for look in looks if used.get(look.id) != look.metadata}

    def _unchanged(self, reader: Reader, looks: Sequence[Look]) -> dict[str, Stored]:
        held = reader.states([look.id for look in looks])
        return {
            look.id: held[look.id]
            for look in looks
            if look.id in held and (held[look.id].state.row, held[look.id].known_from) == look.mark[:2]
        }

    def _folding(self, reader: Reader, into: Mapping[str, str], losers: Mapping[str, Stored]) -> Change:
        everything = self._bank.core.filter().having(viewer=EVERYTHING)
        change = Change("consolidate")
        change.links = list(_taken_over(_links(reader, [*into, *into.values()]), into))
        change.writes = [_archived(losers[id], f"consolidated into {winner}") for id, winner in into.items()]
        change.facts = [row for id, winner in into.items() for row in facts_taken(reader, [id], winner, everything)]
        used = self._graph._used(reader, losers)
        for id, usage in reader.usage(list(into)).items():
            if usage != UNUSED:
                rewards = usage.rewards + earned_by(used[id].penalty)
                change.usage.append(use_of(into[id], usage)._replace(rewards=rewards))
        # Usage has no versions. With these ids the other changes can still be undone.
        change.ids = (*into, *(row.id for row in change.links), *(row.id for row in change.facts))
        return change

    def _written(self, plan: Callable[[Writer], Change]) -> list[str]:
        """Apply the plan, and return the ids of the written memories. Pending uses are written first."""
        self._bank.core.uses.flush()
        written: list[str] = []
        was_quiet = False

        def planned(writer: Writer) -> Change:
            nonlocal was_quiet
            was_quiet = self._is_quiet(writer)
            change = plan(writer)
            written.extend(write.state.id for write in change.writes)
            return change

        made = self._bank.core.apply(planned)
        if was_quiet and made is not None:
            self._quiet = made.seq
        return written


def _links(reader: Reader, ids: Iterable[str]) -> list[Link]:
    ends = [End("memory", id) for id in dict.fromkeys(ids)]
    return [link for page in pages(ends) for link in reader.links(page)]


def _drawn_on(links: Iterable[Link]) -> set[str]:
    return {link.target.name for link in links if link.relation == DRAWN_FROM}


def _tied_since(links: Iterable[Link], known: Mapping[str, int]) -> set[str]:
    """Return the ids that were linked after the look."""
    return {
        end.name
        for link in links
        for end in (link.source, link.target)
        if end.name in known and micros(link.known_from) > known[end.name]
    }


def _taken_over(links: Iterable[Link], into: Mapping[str, str]) -> Iterator[LinkRow]:
    """Yield the losers' links as links of their winners, each once, and a link from each winner to its losers."""
    every = {link.id: link for link in links}.values()
    there = {_tie(link.source, link.relation, link.target) for link in every}
    for link in every:
        source, target = (End(one.what, into.get(one.name, one.name)) for one in (link.source, link.target))
        tie = _tie(source, link.relation, target)
        if source != target and link.relation != REVISES and tie not in there:
            there.add(tie)
            yield row_of(link)._replace(id=new_id(), source=source.name, target=target.name)
    for loser, winner in into.items():
        if _tie(End("memory", winner), DRAWN_FROM, End("memory", loser)) not in there:
            yield LinkRow(new_id(), "memory", winner, DRAWN_FROM, "memory", loser, 1.0, None, None, "")


def _tie(source: End, relation: str, target: End) -> tuple[Any, str]:
    """Return a key for a link. Edges of a graph have no direction."""
    return (frozenset((source, target)) if relation in EDGES else (source, target)), relation


def _archived(held: Stored, reason: str) -> Write:
    return Write(held.state._replace(status="archived", reason=reason))


def _fades(state: State, kinds: Sequence[str]) -> bool:
    lasting = state.pinned or state.tier not in FADING_TIERS or state.importance >= IMPORTANT
    return state.kind in kinds and state.status == "active" and not lasting


def _stays(state: State) -> bool:
    return bool(state.pinned) or state.status != "active"


def _statement(content: Content) -> Statement:
    body = mapping_of(content.body)
    return Statement(content.text, str(body.get("condition") or ""), str(body.get("expected_outcome") or ""))


def apart(state: State) -> tuple[Any, ...]:
    """Return what two memories must share to be merged: readers, validity and trust.

    The result must lose none of it.
    """
    private = (state.session, state.channel) if state.scope == "session" else ()
    return state.scope, *private, state.valid_from, state.valid_until, state.trust, state.via


def _middle(vectors: Sequence[Any]) -> Any:
    """Return one vector for the passages of a text: their mean."""
    return vectors[0] if len(vectors) == 1 else sum(vectors) / len(vectors)
