"""The part of `bank.upkeep` about lessons: show, accept and decline proposals, and preview new ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pieria.bank.capture.distill import learned_of, piece_of
from pieria.bank.capture.lessons import MOST, Held, Lessons, lessons_of, take_in
from pieria.bank.filters import Names
from pieria.bank.results.lessons import Decided, Learnt, Proposal, Proposals
from pieria.errors import AccessError, ConflictError, NotFoundError
from pieria.learning.distilling import pieces
from pieria.learning.lessons import weight as weighing
from pieria.record import check
from pieria.record.changeset import Changeset
from pieria.record.lesson import ACCEPTED, DECLINED, PROPOSED, RULE, STATES, SUPERSEDED, TYPES, WORTH_A_LOOK
from pieria.record.link import DRAWN_FROM, End
from pieria.record.memory import VISIBLE_STATUSES, Memory
from pieria.record.trust import ACCEPTED as ACCEPTED_WAY
from pieria.record.trust import PERSON
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank import Bank

AT_ONCE = 100
_STATE = {"proposed": PROPOSED, "declined": DECLINED}


class Deciding:
    """The verbs on lessons."""

    _bank: Bank

    def propose(self, session: str | None = None, *, dry_run: bool = False) -> Learnt:
        """Distill the raw events of all sessions or of one, and return the lessons.

        Distilling also happens in the background; this does it at once. With `dry_run` the lessons are only shown.
        """
        check.flag(dry_run, "dry_run")
        if session is not None:
            check.name(session, "session")
        bank = self._bank
        if not dry_run:
            done = bank.distil(session)
            with bank.core.reading() as reader:
                return Learnt(False, done.sessions, tuple(_shown(bank, reader, done.lessons)), done.problem)
        with bank.core.reading() as reader:
            states = [state for state in pieces.states(reader) if session in (None, state.session)]
        learned = [learned_of(bank.core, piece_of(bank.core, state.host, state.session)) for state in states]
        with bank.core.reading() as reader:
            lessons = Lessons(bank.core, reader)
            for state, each in zip(states, learned, strict=True):
                take_in(lessons, reader, each, {}, pieces.mined(reader, pieces.session_key(state.host, state.session)))
            would = [_would_be(bank, held) for held in lessons.held.values() if held.touched]
        problem = next((each.problem for each in learned if each.problem is not None), None)
        return Learnt(True, len(states), tuple(would), problem)

    def proposals(self, state: Names = PROPOSED, *, type: Names | None = None, limit: int = AT_ONCE) -> Proposals:
        """Return lessons, highest confidence first; by default those that wait for a decision."""
        states = check.choices(state, "state", STATES)
        types = TYPES if type is None else check.choices(type, "type", TYPES)
        check.whole(limit, "limit", 1, MOST)
        bank = self._bank
        with bank.core.reading() as reader:
            memories = lessons_of(reader, bank.core.now())
            rules = [memory for memory in memories if _state_of(memory) == ACCEPTED and memory.body["type"] == RULE]
            found = [_proposal(reader, one, rules) for one in memories
                     if _state_of(one) in states and one.body["type"] in types]  # fmt: skip
        found.sort(key=lambda each: (-each.confidence, each.id))
        return Proposals(tuple(found[:limit]), max(0, len(found) - limit))

    def accept(self, ids: str | Iterable[str], *, reason: str | None = None) -> Decided:
        """Make proposals normal memories, and end rules that contradict them. `undo` reverts it."""
        return self._decide(ids, ACCEPTED, reason)

    def decline(self, ids: str | Iterable[str], *, reason: str | None = None) -> Decided:
        """Decline proposals, or revoke accepted ones. They wait again only if they are seen again."""
        return self._decide(ids, DECLINED, reason)

    def _decide(self, ids: str | Iterable[str], state: str, reason: str | None) -> Decided:
        wanted = check.identifiers(ids, "ids")
        bank = self._bank
        if state == ACCEPTED and bank.via != PERSON:
            raise AccessError("not_a_person")
        kept = bank.core.reason(reason)
        who = bank.core.author or bank.core.who

        def plan(writer: Writer) -> tuple[Changeset, list[str]]:
            lessons = Lessons(bank.core, writer)
            superseded = decide(bank, writer, lessons, wanted, state, who, kept)
            changeset = Changeset("accept" if state == ACCEPTED else "decline")
            lessons.changes(writer, changeset)
            return changeset, superseded

        superseded, change = bank.core.apply_with(plan)
        assert change is not None
        with bank.core.reading() as reader:
            return Decided(tuple(_shown(bank, reader, wanted)), tuple(dict.fromkeys(superseded)), change.seq)


def decide(
    bank: Bank, reader: Reader, lessons: Lessons, ids: Iterable[str], state: str, who: str, reason: str | None
) -> list[str]:
    """Accept or decline these lessons. Return the ids of rules that are no longer valid."""
    superseded: list[str] = []
    for id in ids:
        held = _found(bank, reader, lessons, id, state)
        if held.before is not None and held.before[1].state.via == ACCEPTED_WAY and bank.via != PERSON:
            raise AccessError("not_a_person")
        if state == ACCEPTED:
            superseded += lessons.accept(held, who, reason)
        else:
            lessons.decline(held, who, reason)
    return superseded


def proposal_of(reader: Reader, memory: Memory) -> Proposal:
    """Return the proposal of a lesson."""
    return _proposal(reader, memory, ())


def waiting(reader: Reader, now: int) -> int:
    """Return the number of proposals that wait for a decision with enough confidence."""
    return sum((one.confidence or 0) >= WORTH_A_LOOK for one in lessons_of(reader, now, ("proposed",)))


def _found(bank: Bank, reader: Reader, lessons: Lessons, id: str, state: str) -> Held:
    held = lessons.held.get(id)
    if held is None:
        bank.core.standing(reader, id)
        raise NotFoundError("proposal", id, hint="The memory is not a lesson from a session.")
    stands = SUPERSEDED if held.is_superseded else _STATE.get(held.status, ACCEPTED)
    if stands == state:
        raise ConflictError(f"it is {state} already", ids=(id,), hint="No decision is needed.")
    return held


def _shown(bank: Bank, reader: Reader, ids: Sequence[str]) -> list[Proposal]:
    rules = [memory for memory in lessons_of(reader, bank.core.now(), VISIBLE_STATUSES) if memory.body["type"] == RULE]
    return [_proposal(reader, memory, rules) for memory in bank.core.all_at_hand(reader, ids)]


def _state_of(memory: Memory) -> str:
    return SUPERSEDED if memory.standing.superseded_by is not None else _STATE.get(memory.status, ACCEPTED)


def _proposal(reader: Reader, memory: Memory, rules: Sequence[Memory]) -> Proposal:
    own = End("memory", memory.id)
    sources = [link.target.name for link in reader.links([own], DRAWN_FROM) if link.source == own]
    opposed: tuple[str, ...] = ()
    if memory.body["type"] == RULE and _state_of(memory) == PROPOSED:
        about = weighing.meant(memory.text)
        opposed = tuple(one.id for one in rules if weighing.opposed(weighing.meant(one.text), about))
    return _told(memory, memory.body, _state_of(memory), tuple(sources), opposed)


def _would_be(bank: Bank, held: Held) -> Proposal:
    """Return a lesson as a dry run shows it, unwritten changes included."""
    state = SUPERSEDED if held.is_superseded else _STATE.get(held.status, ACCEPTED)
    memory = held.as_memory(bank.name)
    return _told(memory, held.body, state, tuple(held.sources), ())


def _told(
    memory: Memory, body: Mapping[str, object], state: str, sources: tuple[str, ...], opposed: tuple[str, ...]
) -> Proposal:
    evidence, decided = body.get("evidence"), body.get("decided")
    seen, failed = body.get("seen", 1), body.get("failed", 0)
    held_back = body.get("held_back")
    return Proposal(
        memory=memory,
        state=state,
        seen=seen if isinstance(seen, int) else 1,
        failed=failed if isinstance(failed, int) else 0,
        evidence=tuple(evidence) if isinstance(evidence, list) else (),
        sources=sources,
        contradicts=opposed,
        held_back=str(held_back) if held_back else None,
        decided_by=str(decided["by"]) if isinstance(decided, Mapping) else None,
    )
