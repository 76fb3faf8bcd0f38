"""`bank.rules`: the standing rules given to agents, those that wait, and a person's decisions on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pieria.bank.capture.decisions import decide, proposal_of
from pieria.bank.capture.lessons import Lessons
from pieria.bank.core import check_decided, last_read
from pieria.bank.filters import Names
from pieria.bank.results.lessons import DecidedRules, Proposal, Rule, Rules
from pieria.bank.spans import reported
from pieria.errors import AccessError
from pieria.recall.context.rules import (
    CLAIMING,
    claiming,
    declined_of,
    is_declined,
    ruling,
    wording_digest,
    words_of,
)
from pieria.record import check
from pieria.record.changeset import Changeset, Record, Write
from pieria.record.draft import Instant, Problems
from pieria.record.lesson import ACCEPTED as ACCEPTED_LESSON
from pieria.record.lesson import DECLINED as DECLINED_LESSON
from pieria.record.lesson import PROPOSED, RULE
from pieria.record.memory import Memory
from pieria.record.time import iso
from pieria.record.trust import ACCEPTED, DECLINED_RULES, GIVEN, HEARSAY, OUTSIDE, PERSON, RULING, way_of
from pieria.store.protocol import Reader, Writer

if TYPE_CHECKING:
    from pieria.bank import Bank

TOLD, WAITING, REFUSED = STATES = ("told", "waiting", "declined")
MOST = 500
WHY = {
    PERSON: "a person said it",
    ACCEPTED: "a person accepted it",
    "agent": "an agent wrote it",
    HEARSAY: "it was mined, imported or pasted",
    OUTSIDE: "it came from outside",
}
UNSURE = "it may be pasted, or may lower security: accept it if it is yours"
NO_RULE = "nothing in it states a rule"


@reported("rules")
class BankRules:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def list(self, state: Names = (TOLD, WAITING), *, via: Names = CLAIMING, limit: int = 100) -> Rules:
        """Return the standing rules in these states. Waiting rules are included only if they came in by `via`."""
        states = check.choices(state, "state", STATES)
        ways = check.choices(via, "via", GIVEN)
        check.whole(limit, "limit", 1, MOST)
        with self._bank.core.reading() as reader:
            found = [rule for rule in self._all(reader, ways) if rule.state in states]
        found.sort(key=lambda rule: STATES.index(rule.state))
        return Rules(tuple(found[:limit]), max(0, len(found) - limit))

    def explain(self, id: str) -> Rule:
        """Return one rule and why it is given to agents or waits. Raise `NotFoundError` if no memory has the id."""
        wanted = check.identifier(id, "id")
        with self._bank.core.reading() as reader:
            self._bank.core.standing(reader, wanted)
            return self._rule(reader, self._bank.core.at_hand(reader, wanted))

    def accept(
        self, ids: str | Iterable[str], *, reason: str | None = None, unless_changed_since: Instant | None = None
    ) -> DecidedRules:
        """Make these memories rules for agents. Raise `AccessError` unless a person asks.

        `unless_changed_since` takes the latest `known_from` of the versions that were read: if any memory has changed
        since, raise `ConflictError` and decide on none.
        """
        return self._decide(ids, ACCEPTED_LESSON, reason, unless_changed_since)

    def decline(
        self, ids: str | Iterable[str], *, reason: str | None = None, unless_changed_since: Instant | None = None
    ) -> DecidedRules:
        """Stop giving these rules to agents, and do not ask about them again until their wording changes.

        `unless_changed_since` works as in `accept`.
        """
        return self._decide(ids, DECLINED_LESSON, reason, unless_changed_since)

    # --- state of a rule

    def _all(self, reader: Reader, ways: tuple[str, ...]) -> Iterable[Rule]:
        if self._bank.is_foreign:
            return []
        filter = self._bank.core.filter()
        found = {memory.id: memory for _, memory in ruling(reader, filter)}
        found |= {memory.id: memory for memory in claiming(reader, filter, ways, MOST)}
        lessons = Lessons(self._bank.core, reader)
        proposed = [held.id for held in lessons.held.values() if held.type == RULE and held.status == PROPOSED]
        declined = [held.id for held in lessons.held.values() if held.type == RULE and held.status == DECLINED_LESSON]
        asked = [id for id in (*proposed, *declined, *declined_of(reader)) if id not in found]
        seen = reader.states(asked, filter.having(ids=tuple(asked)).anything())
        beyond = [id for id, stored in seen.items() if not stored.state.ended]
        found |= {memory.id: memory for memory in self._bank.core.all_at_hand(reader, beyond)}
        rules = (rule for memory in found.values() for rule in self._rules_of(reader, memory, lessons))
        return [rule for rule in rules if rule.why != NO_RULE]

    def _rules_of(self, reader: Reader, memory: Memory, lessons: Lessons) -> Iterator[Rule]:
        """Yield the rules of a memory: those given to agents, and separately those that wait."""
        rule = self._rule(reader, memory, lessons)
        yield rule
        if rule.state == TOLD and (held_back := words_of(memory).held_back):
            yield Rule(memory, held_back, WAITING, UNSURE)

    def _rule(self, reader: Reader, memory: Memory, lessons: Lessons | None = None) -> Rule:
        words = words_of(memory)
        said = " ".join(filter(None, words))
        # If no sentence states a rule, acceptance applies to the title or text.
        shown = said or words_of(replace(memory, origin=replace(memory.origin, via=ACCEPTED))).told
        held = (lessons or Lessons(self._bank.core, reader)).held.get(memory.id)
        if held is not None and held.type == RULE and held.status != "active":
            proposal = proposal_of(reader, memory)
            state = REFUSED if held.status == DECLINED_LESSON else WAITING
            return Rule(memory, shown, state, _why_proposed(proposal), proposal)
        if is_declined(memory, declined_of(reader)):
            declined = declined_of(reader)[memory.id]
            return Rule(memory, shown, REFUSED, f"{declined['by']} declined it")
        taught = proposal_of(reader, memory) if held is not None and held.type == RULE else None
        if not said:
            return Rule(memory, shown, WAITING, NO_RULE, taught)
        if memory.via in RULING and words.told:
            return Rule(memory, words.told, TOLD, WHY[memory.via], taught)
        return Rule(memory, said, WAITING, UNSURE if memory.via == PERSON else WHY[memory.via], taught)

    # --- decisions

    def _decide(
        self, ids: str | Iterable[str], state: str, reason: str | None, unless_changed_since: Instant | None
    ) -> DecidedRules:
        problems = Problems()
        wanted = problems.of(check.identifiers, ids, "ids")
        since = last_read(problems, unless_changed_since)
        problems.settle()
        bank = self._bank
        if bank.via != PERSON:
            raise AccessError("not_a_person")
        kept = bank.core.reason(reason)
        who = bank.core.author or "a person"

        def plan(writer: Writer) -> tuple[Changeset, list[str]]:
            for id in wanted:
                bank.core.check_unchanged(writer, id, since)
            changeset = Changeset("accept" if state == ACCEPTED_LESSON else "decline", ids=wanted)
            lessons = Lessons(bank.core, writer)
            ours = [id for id in wanted if id in lessons.held]
            superseded = decide(bank, writer, lessons, ours, state, who, kept)
            lessons.changes(writer, changeset)
            for id in wanted:
                if id not in lessons.held:
                    self._decide_on(writer, changeset, id, state, kept, who)
            return changeset, superseded

        superseded, change = bank.core.apply_with(plan)
        with bank.core.reading() as reader:
            rules = tuple(self._rule(reader, memory) for memory in bank.core.all_at_hand(reader, wanted))
            seq = change.seq if change is not None else reader.head().seq
        return DecidedRules(rules, tuple(dict.fromkeys(superseded)), seq)

    def _decide_on(
        self, writer: Writer, changeset: Changeset, id: str, decision: str, reason: str | None, who: str
    ) -> None:
        """Record a decision on a memory that is no lesson."""
        bank = self._bank
        held = bank.core.standing(writer, id).state
        check_decided(held)
        is_accepted = decision == ACCEPTED_LESSON
        if is_accepted:
            changed = held._replace(via=ACCEPTED, reason=reason)
        else:
            lowered = way_of(held.trust) if held.via == ACCEPTED else held.via
            changed = held._replace(via=lowered, reason=reason)
        if changed != held:
            changeset.writes.append(Write(changed))
        wording = wording_digest(bank.core.at_hand(writer, id))
        told = {"wording": wording, "by": who, "at": iso(bank.clock()), "reason": reason}
        if not is_accepted or id in declined_of(writer):
            changeset.records.append(Record(DECLINED_RULES, id, None if is_accepted else told))


def _why_proposed(proposal: Proposal) -> str:
    if proposal.state == DECLINED_LESSON:
        return f"{proposal.decided_by or 'someone'} declined it"
    if proposal.held_back is not None:
        return proposal.held_back
    return f"seen in {proposal.seen} session{'' if proposal.seen == 1 else 's'}, confidence {proposal.confidence:.2f}"
