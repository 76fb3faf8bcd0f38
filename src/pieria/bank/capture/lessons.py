"""Keep lessons: turn findings of sessions into proposals, count evidence, and end lessons that a newer one contradicts.

A lesson is a memory with the tag `lesson`, of kind `note` for a rule and `procedural` for a procedure. Its status says
whether it was accepted; `proposed` and `declined` lessons are visible only on request. Its evidence is in its body, and
links lead to the turns that it quotes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pieria.bank.core import Core
from pieria.bank.write.update import content_draft, redrafted
from pieria.learning.lessons import weight as weighing
from pieria.record.changeset import Changeset, State, Stored, Write
from pieria.record.draft import Draft, checked
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.ids import derived_id, new_id
from pieria.record.lesson import HARMFUL, KINDS, PROCEDURE, RULE, TAG, TYPES
from pieria.record.link import DRAWN_FROM, End, LinkRow
from pieria.record.memory import PROPOSAL_STATUSES, VISIBLE_STATUSES, Judgement, Memory, Standing, Times
from pieria.record.time import iso, micros, moment
from pieria.record.trust import ACCEPTED, AGENT, PERSON, TRUST, lowest, way_of
from pieria.store.protocol import Reader, Writer
from pieria.store.rows import content_of, first_write, with_index

if TYPE_CHECKING:
    from pieria.learning.lessons.failures import Vain
    from pieria.learning.lessons.finder import Found, Learned

MOST = 2_000
"""A new lesson is compared with this many of the newest lessons."""
EVIDENCE = 10
"""A lesson lists the evidence of its latest sessions, up to this number. All sessions count."""
ENOUGH = 50
"""Sessions after which further evidence is ignored."""
BY_CONFIDENCE = "confidence"
"""The decider, if a lesson was accepted automatically."""
CORRECTS = "corrects"
PEOPLE = 2
"""A person must have said a rule in this many sessions before it is accepted automatically."""
NOT_ACCEPTED = ""
"""Clears a manual acceptance."""


@dataclass(slots=True)
class Held:
    """A lesson in a transaction: its state in the bank, if any, and its new state."""

    id: str
    type: str
    text: str
    at: int
    body: dict[str, Any]
    status: str
    confidence: float
    before: tuple[Memory, Stored] | None
    """Its state in the bank; None for a new lesson."""
    valid_until: int | None = None
    superseded_by: str | None = None
    reason: str | None = None
    draft: Draft | None = None
    """Only for a new lesson."""
    sources: dict[str, None] = field(default_factory=dict)
    about: str | None = None
    touched: bool = False
    via: str | None = None
    """The new `via`; None if unchanged."""

    @property
    def is_superseded(self) -> bool:
        return self.superseded_by is not None

    @property
    def meant(self) -> weighing.Meant:
        return weighing.meant(self.text)

    def as_memory(self, bank: str) -> Memory:
        """Return the memory that a read would show after the write."""
        standing = Standing(self.status, reason=self.reason, superseded_by=self.superseded_by)
        if self.before is not None:
            memory = self.before[0]
            judgement = replace(memory.judgement, confidence=self.confidence)
            return replace(memory, body=self.body, judgement=judgement, standing=standing)
        assert self.draft is not None
        new, at = self.draft.new, moment(self.at)
        return Memory(
            row=0,
            id=self.id,
            version=1,
            kind=new.kind,
            title=None,
            text=self.text,
            place=f"{bank}/{new.kind}",
            scope=new.scope,
            times=Times(at, at),
            judgement=Judgement(new.importance, self.confidence, trust=TRUST[new.via or AGENT]),
            standing=standing,
            body=self.body,
        )

    def weigh(self) -> None:
        body = self.body
        self.confidence = weighing.sure(
            body["base"], body["seen"], body["failed"], held_back=body.get("held_back") is not None
        )
        self.touched = True


def lessons_of(reader: Reader, now: int, status: Sequence[str] | None = None, limit: int = MOST) -> list[Memory]:
    """Return the newest lessons first, of every status unless some are given."""
    asked = Filter(
        now=now,
        viewer=Viewer(everything=True),
        kinds=tuple(KINDS.values()),
        types=TYPES,
        tags=(TAG,),
        valid_at=ANY_TIME,
        status=tuple(status) if status else (*VISIBLE_STATUSES, *PROPOSAL_STATUSES, "archived"),
    )
    return [memory for memory in reader.select(asked, "newest", limit) if _is_lesson(memory)]


class Lessons:
    """The lessons of a bank in one transaction, new ones included. `changes` adds the rows to write."""

    def __init__(self, core: Core, reader: Reader) -> None:
        self._bank, self._reader = core, reader
        memories = lessons_of(reader, core.now())
        states = reader.states([memory.id for memory in memories])
        self.held = {memory.id: _held(memory, states[memory.id]) for memory in memories}

    def take(self, found: Found, sources: Iterable[str], about: str | None) -> None:
        """Add a finding: create a lesson, or count one more session for an existing one."""
        held = self._same(found) or self._older(found)
        if held is None:
            held = self._new(found)
            if held is None:
                return
        elif not self._seen_again(held, found):
            return
        held.sources |= dict.fromkeys(sources)
        held.about = about or held.about
        self._settle(held)

    def shake(self, vain: Vain) -> None:
        """Count a failure for procedures that were tried again without success."""
        session = vain.event.session
        for held in self.held.values():
            signs = held.body.get("signs", ())
            if held.type != PROCEDURE or signs[:1] != [vain.sign] or not vain.way.issuperset(signs[1:]):
                continue
            if session in held.body["failed_in"] or session in held.body["sessions"]:
                continue
            if held.body["failed"] >= ENOUGH:
                continue
            held.body = {
                **held.body,
                "failed": held.body["failed"] + 1,
                "failed_in": [*held.body["failed_in"], session],
            }
            held.weigh()
            if held.status == "active" and self._decided_by(held) == BY_CONFIDENCE and not self._is_enough(held):
                held.status, held.reason, held.via = "proposed", "it did not help the last time", NOT_ACCEPTED
                held.body.pop("decided", None)

    def accept(self, held: Held, who: str, reason: str | None = None, *, by_hand: bool = True) -> list[str]:
        """Accept a lesson, and return the ids of rules that it ends."""
        held.status, held.reason, held.touched = "active", reason, True
        held.via = ACCEPTED if by_hand else None
        held.superseded_by = held.valid_until = None
        held.body = {**held.body, "decided": {"by": who, "at": iso(self._bank.clock())}}
        if held.type != RULE:
            return []
        gone = self.contradicted(held, however_late=by_hand)
        for each in gone:
            # The new rule's time may be ahead of the clock; the old rule ends now at the latest.
            each.valid_until = min(max(held.at, each.at), self._bank.now())
            each.superseded_by, each.reason, each.touched = held.id, "a later correction says otherwise", True
        return [each.id for each in gone]

    def decline(self, held: Held, who: str, reason: str | None = None) -> None:
        """Decline a lesson. Rules that it had ended are valid again."""
        for each in self.held.values():
            if each.superseded_by == held.id:
                each.superseded_by = each.valid_until = None
                each.reason, each.touched = "the correction that said otherwise was declined", True
        held.status, held.reason, held.touched, held.via = "declined", reason, True, NOT_ACCEPTED
        held.body = {**held.body, "decided": {"by": who, "at": iso(self._bank.clock())}}

    def contradicted(self, held: Held, *, however_late: bool = False) -> list[Held]:
        """Return the valid rules that contradict this one and are not newer than it."""
        about = held.meant
        return [
            each
            for each in self.held.values()
            if each.type == RULE
            and each.id != held.id
            and not each.is_superseded
            and each.status in (*VISIBLE_STATUSES, "proposed")
            and (however_late or each.at <= held.at)
            and weighing.opposed(each.meant, about)
        ]

    def changes(self, writer: Reader, changeset: Changeset) -> list[str]:
        """Add the changed lessons to the changeset, and return their ids."""
        ids = []
        for held in self.held.values():
            if held.touched:
                changeset.writes.append(self._write(held))
                changeset.links += self._ties(writer, held)
                ids.append(held.id)
        return ids

    # --- one lesson

    def _same(self, found: Found) -> Held | None:
        about = weighing.meant(found.new.text)
        for held in self.held.values():
            if held.type != found.type:
                continue
            if found.type == PROCEDURE and held.body.get("signs") == list(found.signs):
                return held
            if found.type == RULE and weighing.same(held.meant, about):
                return held
        return None

    def _older(self, found: Found) -> Held | None:
        """Return the same procedure among lessons older than the newest `MOST`."""
        id = derived_id("lesson", found.type, *found.signs)
        stored = self._reader.states([id]).get(id)
        if stored is None or stored.state.ended or id in self.held:
            return None
        memory = self._bank.at_hand(self._reader, id)
        if not _is_lesson(memory) or memory.body["signs"] != list(found.signs):
            return None
        self.held[id] = _held(memory, stored)
        return self.held[id]

    def _new(self, found: Found) -> Held | None:
        """Return a new lesson, or None if the same lesson was removed before."""
        for number in range(1_000):
            id = derived_id("lesson", found.type, *found.signs, *([str(number)] if number else []))
            if self._reader.purged([id]):
                continue
            there = self._reader.states([id]).get(id)
            if there is not None and there.state.ended:
                return None
            if there is not None or id in self.held:
                # The id holds a reworded lesson, or a memory of the user.
                continue
            body = {
                **found.new.body,
                "signs": list(found.signs),
                "base": found.base,
                "seen": 1,
                "failed": 0,
                "failed_in": [],
                "sessions": [found.evidence["session"]],
                "evidence": [dict(found.evidence)],
            }
            if found.held_back is not None:
                body["held_back"] = found.held_back
            draft = self._bank.screening.draft(checked(replace(found.new, body=body)))
            assert draft.at is not None
            body = json.loads(draft.body or "{}")
            held = Held(id, found.type, draft.text, draft.at, body, "proposed", 0.0, None, draft=draft)
            held.weigh()
            self.held[id] = held
            return held
        return None

    def _seen_again(self, held: Held, found: Found) -> bool:
        """Count a session, and return False if it is no new evidence."""
        body, evidence = held.body, dict(found.evidence)
        if evidence["session"] in body["sessions"]:
            return False
        if body["seen"] >= ENOUGH and held.status in VISIBLE_STATUSES and held.valid_until is None:
            return False
        again = held.valid_until is not None and micros(found.new.at) > held.valid_until  # type: ignore[arg-type]
        held.body = {
            **body,
            # A lesson that had ended starts counting again.
            "seen": 1 if again else body["seen"] + 1,
            "base": found.base if again else max(body["base"], found.base),
            "sessions": [*body["sessions"], evidence["session"]][-ENOUGH:],
            "evidence": [evidence] if again else [*body["evidence"], evidence][-EVIDENCE:],
        }
        if found.held_back is None and body.get("held_back") != HARMFUL:
            held.body.pop("held_back", None)
        if again:
            held.superseded_by = held.valid_until = None
            held.status, held.reason, held.via = "proposed", "it was seen again since it ended", NOT_ACCEPTED
            held.body.pop("decided", None)
        elif held.status == "declined":
            held.status, held.reason = "proposed", "it was seen again since it was declined"
        held.at = max(held.at, micros(found.new.at))  # type: ignore[arg-type]
        held.weigh()
        return True

    def _settle(self, held: Held) -> None:
        """Accept a lesson automatically if its confidence suffices, it does no harm and no person declined it."""
        if held.status != "proposed" or not self._is_enough(held) or self._is_outdated(held):
            return
        if self._decided_by(held) in (None, BY_CONFIDENCE):
            self.accept(
                held,
                BY_CONFIDENCE,
                by_hand=False,
                reason=f"its confidence of {held.confidence:g} is above {self._bank.accept_above:g}",
            )

    def _is_outdated(self, held: Held) -> bool:
        """Return whether an active rule contradicts it and is newer, because sessions may arrive late."""
        opposed = self.contradicted(held, however_late=True) if held.type == RULE else []
        return any(each.at > held.at and each.status != "proposed" for each in opposed)

    def _is_enough(self, held: Held) -> bool:
        said = {each["session"] for each in held.body["evidence"] if each.get("via") == PERSON}
        is_sure = held.confidence > self._bank.accept_above and held.body.get("held_back") is None
        return is_sure and len(said) >= PEOPLE

    @staticmethod
    def _decided_by(held: Held) -> str | None:
        decided = held.body.get("decided")
        return decided["by"] if isinstance(decided, Mapping) else None

    # --- rows

    def _write(self, held: Held) -> Write:
        bank = self._bank
        changes: dict[str, Any] = {
            "at": held.at,
            "status": held.status,
            "confidence": held.confidence,
            "valid_until": held.valid_until,
            "superseded_by": held.superseded_by,
            "reason": held.reason,
        }
        if held.before is None or held.before[1].state.status != held.status:
            changes["tier"] = "settled" if held.status == "active" else "working"
        if held.before is None:
            assert held.draft is not None
            draft = redrafted(bank, held.draft, {"body": _kept_body(held)})
            write = first_write(draft, held.id, bank.now(), f"{bank.name}/{draft.new.kind}")
            return write._replace(state=_believed(write.state._replace(**changes), held.via))
        stored = held.before[1]
        draft = redrafted(bank, content_draft(bank, self._reader, stored), {"body": _kept_body(held)})
        state: State = _believed(stored.state._replace(**changes), held.via)
        number = self._reader.newest_version(held.id) + 1
        # The words do not change, so the trust stays.
        return with_index(state._replace(version=number), content_of(draft, held.id, number), draft, fresh=False)

    def _ties(self, reader: Reader, held: Held) -> list[LinkRow]:
        own = End("memory", held.id)
        tied = {(link.relation, link.target.name) for link in reader.links([own]) if link.source == own}
        wanted = [(DRAWN_FROM, id) for id in held.sources]
        wanted += [(CORRECTS, held.about)] if held.about is not None else []
        there = reader.states([id for _, id in wanted])
        return [
            LinkRow(new_id(), "memory", held.id, relation, "memory", id, 1.0, None, None, "")
            for relation, id in wanted
            if (id in there or id in held.sources) and (relation, id) not in tied
        ]


def keep_lessons(
    core: Core,
    writer: Writer,
    changeset: Changeset,
    learned: Learned,
    observed: Mapping[str, Sequence[str]],
    mined: Mapping[str, str],
) -> list[str]:
    """Write the lessons of one distillation, and return their ids.

    `observed` maps a turn to the ids of its observations; `mined` maps a captured turn to the mined turn with the same
    words.
    """
    if not learned.found and not learned.vain:
        return []
    lessons = Lessons(core, writer)
    take_in(lessons, writer, learned, observed, mined)
    return lessons.changes(writer, changeset)


def take_in(
    lessons: Lessons,
    reader: Reader,
    learned: Learned,
    observed: Mapping[str, Sequence[str]],
    mined: Mapping[str, str],
) -> None:
    for vain in learned.vain:
        lessons.shake(vain)
    for found in learned.found:
        turns = [mined.get(turn, turn) for turn in found.sources]
        there = reader.states(turns)
        if found.type == RULE and not all(turn in there and not there[turn].state.ended for turn in turns):
            # The turns that said the rule were removed.
            continue
        sources = [turn for turn in turns if turn in there and not there[turn].state.ended]
        said = [way_of(there[turn].state.trust) if found.type == RULE else there[turn].state.via for turn in sources]
        via = lowest(*said) if said else AGENT
        if found.type == PROCEDURE:
            sources += [id for turn in found.sources for id in observed.get(turn, ())]
        about = None if found.about is None else mined.get(found.about, found.about)
        lessons.take(replace(found, evidence={**found.evidence, "via": via}), sources, about)


def _is_lesson(memory: Memory) -> bool:
    """Return whether the body has the fields of a lesson: users may tag or edit any memory."""
    body = memory.body
    lists = all(isinstance(body.get(name), list) for name in ("signs", "sessions", "failed_in", "evidence"))
    counts = all(type(body.get(name)) is int for name in ("seen", "failed"))
    told = lists and all(isinstance(each, dict) for each in body["evidence"])
    return told and counts and isinstance(body.get("base"), int | float)


def _held(memory: Memory, stored: Stored) -> Held:
    body = dict(memory.body)
    state = stored.state
    return Held(
        id=memory.id,
        type=str(body["type"]),
        text=memory.text,
        at=state.at,
        body=body,
        status=memory.status,
        confidence=memory.confidence or 0.0,
        before=(memory, stored),
        valid_until=state.valid_until,
        superseded_by=state.superseded_by,
        reason=state.reason,
    )


def _believed(state: State, via: str | None) -> State:
    if via == ACCEPTED or (via == NOT_ACCEPTED and state.via == ACCEPTED):
        return state._replace(via=via or way_of(state.trust))
    return state


def _kept_body(held: Held) -> dict[str, Any]:
    """Return the body to store. For a procedure, add the score that recall uses to rank procedures."""
    return {**held.body, "return_score": held.confidence} if held.type == PROCEDURE else dict(held.body)
