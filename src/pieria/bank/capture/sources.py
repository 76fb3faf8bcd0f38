"""Import memories from sources outside the bank that are read repeatedly, such as files.

The bank keeps these records, so that the next reader in any process can compare:
- collection `mined`, one key for each source: a mark with what its reader needs to recognize the source;
- in the `meta` of each memory, under `mined`, the digest of the source text. An edit of the memory keeps the digest, so
  an edit is not mistaken for a change of the source.
Readers of sources decide what a source is, how to read it and when it is gone.
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
from pieria.bank.write.remember import FAULTY, Faulty, drafted
from pieria.bank.write.update import CONTENT, update
from pieria.errors import ConflictError, InputError
from pieria.language.analyser import terms
from pieria.record import check
from pieria.record.changeset import Changeset, Record, State, Stored, Write
from pieria.record.draft import Draft, NewMemory
from pieria.record.filter import Filter
from pieria.record.memory import ENDINGS, Memory
from pieria.record.privacy import redact
from pieria.record.time import is_over, micros
from pieria.record.trust import GIVEN
from pieria.record.usage import Usage, Use, use_of
from pieria.store.rows import first_write

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.core import Core
    from pieria.store.protocol import Reader, Writer

COLLECTION = "mined"
DIGEST = "mined"
"""The key in a memory's `meta` that holds the digest of the source text."""
GONE = "its source file is gone"
LEFT = "its source is left out now"
CHANGED = "its source says something else now"
OURS = (GONE, LEFT, CHANGED)
"""The reasons set by this module. A memory that ended for one of them comes back with its source."""

NEW, UPDATED, UNCHANGED, BACK = "new", "changed", "unchanged", "back"
PURGED, REMOVED, TOLD, CORRECTED = "purged", "removed", "told", "corrected"
Outcome = str | Faulty
"""The result for an item: one of the words above, or the reason for refusing it.

`told` means that the same session already has the same words by the same kind of speaker under another id.
`corrected` means that the source changed after somebody had corrected the memory here, and the correction stays.
"""
PAGE = 1_000
SESSIONS_AT_HAND = 16
_CUT = "[secret: "
"""How the replacement of a secret begins."""

Mark = Mapping[str, Any]


class Past(NamedTuple):
    """What another system knows of a memory beside its content."""

    status: str = "active"
    tier: str = "working"
    usage: Usage | None = None


class Same(NamedTuple):
    """An item whose source says what it said before."""

    id: str


class Taken(NamedTuple):
    """The result for each item, and the ids in `gone` that this call ended."""

    outcomes: list[Outcome]
    ended: list[str]


class Sources:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def known(self, prefix: str = "") -> dict[str, dict[str, Any]]:
        """Return the marks of all sources whose names begin with `prefix`."""
        with self._bank.core.reading() as reader:
            return reader.records(COLLECTION, prefix)

    def ids(self, source: str) -> list[str]:
        """Return the ids of all memories from a source that were not removed, expired ones included."""
        wanted = check.name(source, "source")
        with self._bank.core.reading() as reader:
            return [placed.id for placed in reader.placed(for_lists(anything(self._bank.core, source=wanted)))]

    def intake(
        self,
        *,
        force: bool = False,
        dry_run: bool = False,
        via: str | None = None,
        follows: Sequence[str] = ("text", "meta"),
        what: str = "mine",
        keeps_corrections: bool = False,
    ) -> Intake:
        """Return an `Intake` that reads many sources one after the other.

        `via` says how the text came in; the default is the bank's `via`. Purged memories, and memories that a user
        removed, stay away unless `force`. With `dry_run` nothing is written. `follows` names the fields that are
        overwritten when the source changes; the bank owns the others. `what` names the verb in the journal. With
        `keeps_corrections` a memory that was corrected here stays so even if its source changes, unless `force`.
        """
        named = check_intake(force=force, dry_run=dry_run, via=via, follows=follows)
        return Intake(self._bank, force, dry_run, via, named, what, keeps_corrections)


@dataclass(slots=True)
class _Plan:
    """The writes of one call, and the outcome of each item."""

    outcomes: list[Outcome] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    usage: list[Use] = field(default_factory=list)
    changed: list[tuple[str, Draft]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)

    @property
    def taken(self) -> Taken:
        return Taken(self.outcomes, self.ended)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the bank holds for the ids of one call."""

    held: Mapping[str, Stored]
    purged: set[str]
    digests: Mapping[int, str | None]


def check_intake(*, force: bool, dry_run: bool, via: str | None, follows: Sequence[str]) -> Sequence[str]:
    """Return the fields to follow. Raise `InputError` for an argument of `intake` that is wrong."""
    check.flag(force, "force")
    check.flag(dry_run, "dry_run")
    if via is not None:
        check.one_of(via, "via", GIVEN)
    return check.choices(follows, "follows", (*CONTENT, "source"))


class Intake:
    """One run over sources. It remembers across calls what it has seen. Use it from one thread."""

    def __init__(
        self,
        bank: Bank,
        force: bool,
        dry_run: bool,
        via: str | None,
        follows: Sequence[str],
        what: str,
        keeps_corrections: bool,
    ) -> None:
        self._bank = bank
        self._force = force
        self._dry_run = dry_run
        self._via = via
        self._follows = follows
        self._what = what
        self._keeps_corrections = keeps_corrections and not force
        self._pasts: Mapping[str, Past] = {}
        self._seen: set[int] = set()
        self._said: OrderedDict[str, Counter[tuple[str | None, str]]] = OrderedDict()

    def take(
        self,
        items: Sequence[NewMemory],
        *,
        gone: Mapping[str, str] | None = None,
        hide: bool = True,
        marks: Mapping[str, Mark | None] | None = None,
        pasts: Mapping[str, Past] | None = None,
    ) -> Taken:
        """Add new items, update changed ones, and return the outcome of each.

        Every item needs an id derived from its source. `gone` maps ids that their source no longer has to the reason.
        With `hide` these memories expire; otherwise only the reason is recorded. `marks` are set after the writes: in
        the same transaction if no memory changed. A mark of None is deleted. `pasts` gives new memories, by id, a
        status, a tier and a usage.
        """
        self._pasts = pasts or {}
        same = self._as_before(items)
        drafts = [same[item.id] if item.id in same else self._drafted(item) for item in items]
        ended = dict(gone or {})
        if self._dry_run:
            with self._bank.core.reading() as reader:
                return self._plan(reader, drafts, ended, hide, {}).taken
        records = [Record(COLLECTION, name, value) for name, value in (marks or {}).items() if self._may_name(name)]
        ahead = self._ahead(drafts)

        def planned(writer: Writer) -> tuple[Changeset, _Plan]:
            plan = self._plan(writer, drafts, ended, hide, ahead)
            changeset = _changeset(self._what, plan.writes, [] if plan.changed else records)
            changeset.usage = plan.usage
            return changeset, plan

        plan, _ = self._bank.core.apply_with(planned)
        if plan.changed:
            for id, draft in plan.changed:
                self._update(id, draft)
            self._bank.core.apply(lambda _: _changeset(self._what, [], records))
        return plan.taken

    def unknown(self, ids: Iterable[str]) -> set[str]:
        """Return the ids that the bank does not hold, so that the caller can skip the others."""
        asked = set(ids)
        with self._bank.core.reading() as reader:
            return asked - reader.states(asked).keys()

    def _as_before(self, items: Sequence[NewMemory]) -> dict[str | None, Same]:
        """Return the items whose source says what it said before, by id: these need no check and no index."""
        with self._bank.core.reading() as reader:
            held = reader.states([item.id for item in items if item.id is not None])
            known = self._known(reader, list(held), {}).digests
        same: dict[str | None, Same] = {}
        for item in items:
            state = held[item.id].state if item.id in held else None
            if state is None or state.ended or state.reason in OURS or known.get(state.row) is None:
                continue
            stays = "source" not in self._follows or state.source == item.source
            if stays and known[state.row] == item.meta.get(DIGEST):
                same[item.id] = Same(state.id)
        return same

    def _drafted(self, item: NewMemory) -> Draft | Faulty:
        if item.id is None:
            raise InputError("items", "an id with every item", None)
        try:
            return drafted(self._bank.core, item if self._via is None else replace(item, via=self._via), lambda: None)
        except FAULTY as problem:
            return problem

    def _plan(
        self,
        reader: Reader,
        drafts: Sequence[Draft | Faulty | Same],
        gone: Mapping[str, str],
        hide: bool,
        ahead: Mapping[str, Write],
    ) -> _Plan:
        known = self._known(reader, [str(draft.new.id) for draft in drafts if isinstance(draft, Draft)], gone)
        now = self._bank.core.now()
        plan = _Plan()
        here: set[str] = set()
        for draft in drafts:
            if isinstance(draft, Same):
                plan.outcomes.append(UNCHANGED)
                here.add(draft.id)
                continue
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

    def _ahead(self, drafts: Sequence[Draft | Faulty | Same]) -> dict[str, Write]:
        """Build the writes of new items before the transaction begins, because indexing is slow."""
        new = {str(draft.new.id): draft for draft in drafts if isinstance(draft, Draft)}
        with self._bank.core.reading() as reader:
            held = reader.states(new)
        now = self._bank.core.now()
        return {id: self._write(draft, id, now) for id, draft in new.items() if id not in held}

    def _write(self, draft: Draft, id: str, now: int) -> Write:
        write = first_write(draft, id, now, f"{self._bank.name}/{draft.new.kind}")
        past = self._pasts.get(id)
        if past is None:
            return write
        return write._replace(state=write.state._replace(status=past.status, tier=past.tier))

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
            return self._again(reader, plan, known.held[id].state, draft, known.digests)
        if self._was_told(reader, draft):
            return TOLD
        if not self._dry_run:
            plan.writes.append(ahead.get(id) or self._write(draft, id, self._bank.core.now()))
            past = self._pasts.get(id)
            if past is not None and past.usage is not None:
                plan.usage.append(use_of(id, past.usage))
        return NEW

    def _again(
        self, reader: Reader, plan: _Plan, state: State, draft: Draft, digests: Mapping[int, str | None]
    ) -> Outcome:
        """Return the outcome for an item that the bank holds: unchanged, back, updated, or corrected here."""
        if state.ended == "revised":
            return UNCHANGED
        ended_by_us = state.reason in OURS
        if state.ended == "removed" and not ended_by_us and not self._force:
            return REMOVED
        back = state.ended == "removed" or (ended_by_us and (state.valid_until is not None or state.reason == GONE))
        moved = "source" in self._follows and state.source != draft.new.source
        digest = digests.get(state.row)
        changed = moved or (digest is not None and digest != draft.new.meta.get(DIGEST))
        if changed and self._keeps_corrections and _is_corrected(reader, state):
            return CORRECTED
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
            named: Any = {name: getattr(draft.new, name) for name in self._follows if name != "source"}
            # A source may hold what other sessions keep to themselves.
            core = replace(self._bank.core, viewer=EVERYTHING)
            update(core, id, reason=CHANGED, unless_changed_since=None, via=self._via, **named)
        except ConflictError:
            # Another writer removed it meanwhile, and the removal wins.
            return

    def _was_told(self, reader: Reader, draft: Draft) -> bool:
        """Return whether this turn was captured live.

        Each captured turn accounts for one mined turn with the same words.
        """
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
        # Include removed and revised turns: the log must not bring them back.
        asked = anything(self._bank.core, session=session, kinds="turn").having(
            status=None, endings=ENDINGS, quarantined=True
        )
        held = _all(reader, asked)
        return Counter((one.author_type, _spoken(one.text)) for one in held if DIGEST not in one.meta)

    def _may_name(self, name: str) -> bool:
        """Return whether the bank accepts the source's name. If not, its items were refused for the same reason."""
        try:
            self._bank.core.screening.name(check.name(name, "source"), "source")
        except FAULTY:
            return False
        return True


def _is_corrected(reader: Reader, state: State) -> bool:
    """Return whether the current wording was written here, and not by this module."""
    if state.version == 1:
        return False
    first = reader.version(state.id, state.version)[0]
    return first.standing.reason != CHANGED


def _spoken(text: str) -> str:
    """Return the normalized text for comparing words. Capture always redacts secrets, so redact here too."""
    return redact(text)[0].strip()


def mined_turns(core: Core, reader: Reader, session: str, author_type: str, text: str) -> Iterator[str]:
    """Yield the ids of turns mined from a log with these words, this session and this kind of speaker.

    Turns that were removed or revised since are included.
    """
    asked = anything(core, session=session, kinds="turn", author_type=author_type)
    asked = asked.having(status=None, endings=ENDINGS)
    spelt = dict.fromkeys((text, text.strip()))
    # If a secret was redacted before capture, the log may still hold it.
    held = _all(reader, asked) if _CUT in text else chain(*(reader.twins(one, terms(one), asked) for one in spelt))
    return (one.id for one in held if DIGEST in one.meta and _spoken(one.text) == _spoken(text))


def _all(reader: Reader, asked: Filter) -> Iterator[Memory]:
    after: tuple[float, int] | None = None
    while page := reader.select(asked, "oldest", PAGE, after):
        yield from page
        after = (micros(page[-1].at), page[-1].row)


def anything(core: Core, **asked: Any) -> Filter:
    """Return a filter for all memories that were not removed, visible or not."""
    return core.filter(include=("archived", "invalid"), **asked).having(viewer=EVERYTHING)


def _changeset(what: str, writes: list[Write], records: list[Record]) -> Changeset:
    """Return a changeset that names its memories in the journal. A change of marks alone names only the collection."""
    ids = tuple(dict.fromkeys(write.state.id for write in writes))
    return Changeset(what, writes=writes, records=records, ids=ids or (COLLECTION,))


def _ended(state: State, reason: str, now: int, hide: bool) -> list[Write]:
    """Return the write that ends a memory with the reason, or nothing if it ended before."""
    if state.ended or state.reason == reason:
        return []
    if not hide:
        return [Write(state._replace(reason=reason))]
    if is_over(state.valid_until, now):
        return []
    until = now if state.valid_from is None else max(now, state.valid_from + 1)
    return [Write(state._replace(valid_until=until, reason=reason))]
