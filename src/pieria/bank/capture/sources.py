"""`bank.sources`: what is kept from places outside that are looked at again and again, such as files.

Records of the bank, so that whoever looks next, in whichever process, knows what was there the last time:

- collection `mined`, a key for each source: a mark, whatever its reader needs to know it again;
- in the `meta` of each memory, under `mined`, the digest of what its source said. It stays when somebody corrects the
  memory, so that a correction is not taken for a change of the source.

What a source is, how it is read and when it is gone is the business of whoever reads it.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from pieria.bank.core import EVERYTHING
from pieria.bank.filters import for_lists
from pieria.bank.write.remember import FAULTY, Faulty
from pieria.bank.write.update import CONTENT
from pieria.errors import ConflictError, InputError
from pieria.record import check
from pieria.record.analyser import terms
from pieria.record.changeset import Changeset, Record, State, Stored, Write
from pieria.record.draft import Draft, NewMemory
from pieria.record.filter import Filter
from pieria.record.memory import ENDINGS, Memory
from pieria.record.privacy import redact
from pieria.record.rows import first_write
from pieria.record.time import is_over, micros
from pieria.record.trust import GIVEN

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.core import Core
    from pieria.store.protocol import Reader, Writer

COLLECTION = "mined"
DIGEST = "mined"
"""Under which name a memory's `meta` holds the digest of what its source said."""
GONE = "its source file is gone"
LEFT = "its source is left out now"
CHANGED = "its source says something else now"
OURS = (GONE, LEFT, CHANGED)
"""The reasons that are given here. What ended for one of them comes back with its source."""

NEW, UPDATED, UNCHANGED, BACK = "new", "changed", "unchanged", "back"
PURGED, REMOVED, TOLD = "purged", "removed", "told"
Outcome = str | Faulty
"""What became of an item: one of the words above, or why it was refused.

`told` is what was kept before under another id: the same words, by the same kind of speaker, in the same session.
"""
PAGE = 1_000
SESSIONS_AT_HAND = 16
_CUT = "[secret: "
"""What stands in the place of a secret begins like this."""

Mark = Mapping[str, Any]


class Taken(NamedTuple):
    """What became of each item, and which of the ids that were said to be gone ended with that."""

    outcomes: list[Outcome]
    ended: list[str]


class Sources:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def known(self, prefix: str = "") -> dict[str, dict[str, Any]]:
        """The marks of all sources whose names begin like this."""
        with self._bank._reading() as reader:
            return reader.records(COLLECTION, prefix)

    def ids(self, source: str) -> list[str]:
        """Everything that came from a source and was not removed, whether it still holds or not."""
        wanted = check.name(source, "source")
        with self._bank._reading() as reader:
            return [placed.id for placed in reader.placed(for_lists(anything(self._bank, source=wanted)))]

    def intake(
        self,
        *,
        force: bool = False,
        dry_run: bool = False,
        via: str | None = None,
        follows: Sequence[str] = ("text", "meta"),
    ) -> Intake:
        """Takes in what sources say, many of them one after the other. `via` says how that came in, where
        not as the bank was opened.

        What was purged, or removed by somebody, stays away unless `force`. With `dry_run` nothing is written. `follows`
        names what of a memory is as its source says, whenever that says something else; the rest is the bank's.
        """
        check.flag(force, "force")
        check.flag(dry_run, "dry_run")
        named = check.choices(follows, "follows", (*CONTENT, "source"))
        if via is not None:
            check.one_of(via, "via", GIVEN)
        return Intake(self._bank, force, dry_run, via, named)


@dataclass(slots=True)
class _Plan:
    """What is to be written, and what is to be said of each item."""

    outcomes: list[Outcome] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    changed: list[tuple[str, Draft]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)

    @property
    def taken(self) -> Taken:
        return Taken(self.outcomes, self.ended)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the bank knows of the ids at hand."""

    held: Mapping[str, Stored]
    purged: set[str]
    digests: Mapping[int, str | None]


class Intake:
    """One reading of sources: remembers across them what was seen. For one thread."""

    def __init__(self, bank: Bank, force: bool, dry_run: bool, via: str | None, follows: Sequence[str]) -> None:
        self._bank = bank
        self._force = force
        self._dry_run = dry_run
        self._via = via
        self._follows = follows
        self._seen: set[int] = set()
        self._said: OrderedDict[str, Counter[tuple[str | None, str]]] = OrderedDict()

    def take(
        self,
        items: Sequence[NewMemory],
        *,
        gone: Mapping[str, str] | None = None,
        hide: bool = True,
        marks: Mapping[str, Mark | None] | None = None,
    ) -> Taken:
        """Keeps what is new, brings up to date what has changed, and says what became of each item.

        Every item has an id that follows from its source. `gone` are ids that their source has no more, each with the
        reason: with `hide` they hold no longer, otherwise the reason alone is noted. `marks` are set when all that is
        done, with it in one transaction where nothing has changed; a mark of None is taken away.
        """
        drafts = [self._drafted(item) for item in items]
        ended = dict(gone or {})
        if self._dry_run:
            with self._bank._reading() as reader:
                return self._plan(reader, drafts, ended, hide, {}).taken
        records = [Record(COLLECTION, name, value) for name, value in (marks or {}).items() if self._may_name(name)]
        plans: list[_Plan] = []
        ahead = self._ahead(drafts)

        def planned(writer: Writer) -> Changeset:
            plan = self._plan(writer, drafts, ended, hide, ahead)
            plans.append(plan)
            return _changeset(plan.writes, [] if plan.changed else records)

        self._bank._apply(planned)
        [plan] = plans
        if plan.changed:
            for id, draft in plan.changed:
                self._update(id, draft)
            self._bank._apply(lambda _: _changeset([], records))
        return plan.taken

    def unknown(self, ids: Iterable[str]) -> set[str]:
        """Those of the ids that are not here, so that nobody need find out much about the others."""
        asked = set(ids)
        with self._bank._reading() as reader:
            return asked - reader.states(asked).keys()

    def _drafted(self, item: NewMemory) -> Draft | Faulty:
        if item.id is None:
            raise InputError("items", "an id with every item", None)
        try:
            return self._bank._drafted(item if self._via is None else replace(item, via=self._via), lambda: None)
        except FAULTY as problem:
            return problem

    def _plan(
        self,
        reader: Reader,
        drafts: Sequence[Draft | Faulty],
        gone: Mapping[str, str],
        hide: bool,
        ahead: Mapping[str, Write],
    ) -> _Plan:
        known = self._known(reader, [str(draft.new.id) for draft in drafts if isinstance(draft, Draft)], gone)
        now = self._bank._now()
        plan = _Plan()
        here: set[str] = set()
        for draft in drafts:
            if not isinstance(draft, Draft):
                plan.outcomes.append(draft)
                continue
            id = str(draft.new.id)
            again = id in here or (self._dry_run and hash(id) in self._seen)
            plan.outcomes.append(UNCHANGED if again else self._one(reader, plan, id, draft, known, ahead))
            here.add(id)
        if self._dry_run:
            self._seen.update(map(hash, here))
        for id, reason in gone.items():
            if id in known.held and id not in here:
                ended = _ended(known.held[id].state, reason, now, hide)
                plan.writes += ended
                plan.ended += [id] * len(ended)
        return plan

    def _ahead(self, drafts: Sequence[Draft | Faulty]) -> dict[str, Write]:
        """The writes of what is not here yet, made before there is a transaction: to index takes long."""
        new = {str(draft.new.id): draft for draft in drafts if isinstance(draft, Draft)}
        with self._bank._reading() as reader:
            held = reader.states(new)
        now = self._bank._now()
        return {id: self._write(draft, id, now) for id, draft in new.items() if id not in held}

    def _write(self, draft: Draft, id: str, now: int) -> Write:
        return first_write(draft, id, now, f"{self._bank.name}/{draft.new.kind}")

    def _known(self, reader: Reader, ids: Sequence[str], gone: Mapping[str, str]) -> _Known:
        held = reader.states([*ids, *gone])
        contents = reader.contents([held[id].state.row for id in ids if id in held])
        digests = {row: json.loads(one.meta).get(DIGEST) if one.meta else None for row, one in contents.items()}
        return _Known(held, set() if self._force else reader.purged(ids), digests)

    def _one(
        self, reader: Reader, plan: _Plan, id: str, draft: Draft, known: _Known, ahead: Mapping[str, Write]
    ) -> Outcome:
        if id in known.purged:
            return PURGED
        if id in known.held:
            return self._again(plan, known.held[id].state, draft, known.digests)
        if self._was_told(reader, draft):
            return TOLD
        if not self._dry_run:
            plan.writes.append(ahead.get(id) or self._write(draft, id, self._bank._now()))
        return NEW

    def _again(self, plan: _Plan, state: State, draft: Draft, digests: Mapping[int, str | None]) -> Outcome:
        """What is here already: as it was, back again, or with another text."""
        if state.ended == "revised":
            return UNCHANGED
        ended_by_us = state.reason in OURS
        if state.ended == "removed" and not ended_by_us and not self._force:
            return REMOVED
        back = state.ended == "removed" or (ended_by_us and (state.valid_until is not None or state.reason == GONE))
        moved = "source" in self._follows and state.source != draft.new.source
        digest = digests.get(state.row)
        changed = moved or (digest is not None and digest != draft.new.meta.get(DIGEST))
        after = state
        if back:
            until = None if ended_by_us else state.valid_until
            after = after._replace(ended="", valid_until=until, reason=None, source=draft.new.source)
        if moved:
            after = after._replace(source=draft.new.source, place=draft.place or state.place)
        if after != state:
            plan.writes.append(Write(after))
        if changed:
            plan.changed.append((state.id, draft))
        return BACK if back else UPDATED if changed else UNCHANGED

    def _update(self, id: str, draft: Draft) -> None:
        try:
            named = [name for name in self._follows if name != "source"]
            self._bank.update(id, reason=CHANGED, via=self._via, **{name: getattr(draft.new, name) for name in named})
        except ConflictError:
            # Somebody took it away just now, and that counts.
            return

    def _was_told(self, reader: Reader, draft: Draft) -> bool:
        """Whether a turn was captured while it was said; each that was stands for one of the same words."""
        session = draft.new.session
        if draft.new.kind != "turn" or session is None:
            return False
        if session not in self._said:
            self._said[session] = self._captured(reader, session)
            while len(self._said) > SESSIONS_AT_HAND:
                self._said.popitem(last=False)
        said, spoken = self._said[session], (draft.new.author_type, _spoken(draft.text))
        if said[spoken] <= 0:
            return False
        said[spoken] -= 1
        return True

    def _captured(self, reader: Reader, session: str) -> Counter[tuple[str | None, str]]:
        # What somebody removed or revised since was said all the same, and is not to come back by its log.
        asked = anything(self._bank, session=session, kinds="turn").having(
            status=None, endings=ENDINGS, quarantined=True
        )
        held = _all(reader, asked)
        return Counter((one.author_type, _spoken(one.text)) for one in held if DIGEST not in one.meta)

    def _may_name(self, name: str) -> bool:
        """Whether a source's name may be written down. Where not, what came from it was refused for the same reason."""
        try:
            self._bank._screening.name(check.name(name, "source"), "source")
        except FAULTY:
            return False
        return True


def _spoken(text: str) -> str:
    """By which the same words are known: who captures them takes secrets out, whatever the bank does with them."""
    return redact(text)[0].strip()


def mined_turns(bank: Core, reader: Reader, session: str, author_type: str, text: str) -> Iterator[str]:
    """The ids of turns that came from a log with these words, in this session, by this kind of speaker; those that were
    removed or corrected since as well."""
    asked = anything(bank, session=session, kinds="turn", author_type=author_type)
    asked = asked.having(status=None, endings=ENDINGS)
    spelt = dict.fromkeys((text, text.strip()))
    # Where a secret was taken out before it came here, the log may still hold it.
    held = _all(reader, asked) if _CUT in text else chain(*(reader.twins(one, terms(one), asked) for one in spelt))
    return (one.id for one in held if DIGEST in one.meta and _spoken(one.text) == _spoken(text))


def _all(reader: Reader, asked: Filter) -> Iterator[Memory]:
    after: tuple[float, int] | None = None
    while page := reader.select(asked, "oldest", PAGE, after):
        yield from page
        after = (micros(page[-1].at), page[-1].row)


def anything(bank: Core, **asked: Any) -> Filter:
    """Whatever was not removed, whoever may see it."""
    return bank._filter(include=("archived", "invalid"), **asked).having(viewer=EVERYTHING)


def _changeset(writes: list[Write], records: list[Record]) -> Changeset:
    """The journal tells the memories; a mark alone is told by the collection, since there may be very many."""
    ids = tuple(dict.fromkeys(write.state.id for write in writes))
    return Changeset("mine", writes=writes, records=records, ids=ids or (COLLECTION,))


def _ended(state: State, reason: str, now: int, hide: bool) -> list[Write]:
    """It stays on record, with the reason; nothing, where it ended before."""
    if state.ended or state.reason == reason:
        return []
    if not hide:
        return [Write(state._replace(reason=reason))]
    if is_over(state.valid_until, now):
        return []
    until = now if state.valid_from is None else max(now, state.valid_from + 1)
    return [Write(state._replace(valid_until=until, reason=reason))]
