"""The verbs about quarantine: hide a lineage, list quarantines, and lift one.

A quarantine consists only of records of the bank. It changes no state, version, usage or link, so that lifting it
restores exactly what was there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from pieria.bank.core import EVERYTHING, Core
from pieria.bank.delete.purge import digest
from pieria.bank.read.lineage import lineage, steps_after
from pieria.bank.results.general import Lifted, Quarantine
from pieria.bank.vault.marks import paths_in
from pieria.bank.write.person_only import check_hidden
from pieria.errors import AccessError, InputError, NotFoundError
from pieria.record import check
from pieria.record.changeset import Changeset, Record
from pieria.record.draft import Instant, Problems
from pieria.record.draft import moment as read_moment
from pieria.record.fact import FactQuery
from pieria.record.filter import ANY_TIME
from pieria.record.memory import ENDINGS
from pieria.record.quarantine import HELD, QUARANTINES, Selectors, quarantine_number
from pieria.record.time import moment
from pieria.record.trust import PERSON, RULING, WAYS
from pieria.store.protocol import Reader, Writer

LEADING = ("tag", "intent")
"""Kinds that only route to other nodes: they come with the first node that names them, and go with the last."""
LISTED = 1_000
_CHECKS: Mapping[str, Callable[[Any, str], Any]] = {
    "via": partial(check.one_of, allowed=WAYS), "since": read_moment, "until": read_moment,
}  # fmt: skip
AT_ONCE = 2_000


class Members(NamedTuple):
    """What a quarantine holds."""

    memories: tuple[str, ...]
    facts: tuple[str, ...]

    @property
    def digest(self) -> str:
        return digest(memories=self.memories, facts=self.facts)


def quarantine(
    core: Core,
    asked: Mapping[str, str | Instant | None],
    *,
    ids: str | Iterable[str],
    reason: str | None,
    dry_run: bool,
) -> Quarantine:
    """Quarantine what `asked`, a value by the name of a selector, and `ids` select."""
    problems = Problems()
    given = {name: value for name, value in asked.items() if value is not None}
    kept = {name: problems.of(_CHECKS.get(name, check.name), value, name) for name, value in given.items()}
    named = problems.of(check.identifiers, ids, "ids") if ids else ()
    kept_reason = problems.of(core.reason, reason)
    problems.of(check.flag, dry_run, "dry_run")
    problems.settle()
    if not kept and not named:
        raise InputError("source", "a source, session, author, channel, via, period or ids", None)
    if asked.get("via") in RULING and core.via != PERSON:
        raise AccessError("not_a_person")
    selectors = Selectors(**kept, ids=tuple(named))
    of = {"at": core.now(), "who": core.who, "reason": kept_reason, "selectors": selectors.as_record()}
    if dry_run:
        with core.reading() as reader:
            return _receipt_of(core, reader, None, of, _selected(core, reader, selectors))

    def plan(writer: Writer) -> tuple[Changeset, Quarantine]:
        members = _selected(core, writer, selectors)
        check_hidden(core, writer, members.memories)
        number = writer.head().seq + 1
        receipt = _receipt_of(core, writer, number, of, members)
        held = {"of": of, "memories": list(members.memories), "facts": list(members.facts)}
        records = [Record(QUARANTINES, str(number), of), Record(HELD, str(number), held)]
        return Changeset("quarantine", records=records, ids=_journalled(number, members)), receipt

    return core.apply_with(plan)[0]


def quarantines(core: Core) -> tuple[Quarantine, ...]:
    with core.reading() as reader:
        about = reader.records(QUARANTINES)
        members = _members(reader)
        return tuple(
            _described(core, reader, int(key), about[key], members.get(int(key), Members((), ())))
            for key in sorted(about, key=int)
        )


def lift(core: Core, number: int) -> Lifted:
    check.whole(number, "number", 1)
    return core.apply_with(lambda writer: lifting(writer, number, "lift"))[0]


def _selected(core: Core, reader: Reader, selectors: Selectors) -> Members:
    """Return what the selectors name with its whole lineage, visible or not."""
    core.check_known(reader, selectors.ids, quarantined=True)
    begun = dict.fromkeys(selectors.ids)
    if selectors.names:
        names = {**selectors.names, **({"via": (selectors.via,)} if selectors.via else {})}
        asked = core.filter().having(**names, viewer=EVERYTHING, quarantined=True)
        asked = asked.having(status=None, endings=ENDINGS, valid_at=ANY_TIME)
        placed = [one.id for one in reader.placed(asked)]
        kinds = {id: held.state.kind for id, held in reader.states(placed).items()}
        begun.update(dict.fromkeys(id for id in placed if kinds[id] not in LEADING))
    memories = list(lineage(reader, begun))
    memories += sorted(steps_after(reader, set(memories)))
    facts = _facts(core, reader, FactQuery(source=selectors.source)) if selectors.is_source_alone else []
    for begin in range(0, len(memories), AT_ONCE):
        facts += _facts(core, reader, FactQuery(memories=tuple(memories[begin : begin + AT_ONCE])))
    if not memories and not facts:
        name, value = next(iter(selectors.names.items()))
        raise NotFoundError(name, str(value), hint="`count` by source, session or author lists them.")
    return Members(tuple(dict.fromkeys(memories)), tuple(sorted(set(facts))))


def _facts(core: Core, reader: Reader, query: FactQuery) -> list[str]:
    asked = replace(query, include_ended=True, every_version=True)
    everything = core.everything()
    return [fact.id for fact in reader.facts(asked, everything)]


def _receipt_of(core: Core, reader: Reader, number: int | None, of: Mapping[str, Any], members: Members) -> Quarantine:
    notes = [f"the note {path} in the vault" for path in notes_with(reader, members.memories)]
    unreached = (*notes, *core.store.copies())
    return replace(_described(core, reader, number, of, members), unreached=unreached, dry_run=number is None)


def _described(core: Core, reader: Reader, number: int | None, of: Mapping[str, Any], members: Members) -> Quarantine:
    memories = _apart(members)
    kinds = Counter(held.state.kind for held in reader.states(memories).values())
    if members.facts:
        kinds["fact"] = len(members.facts)
    seen = core.opening(memories, quarantined=True)
    ids = sorted(reader.states(memories, seen)) if memories else []
    at = moment(of["at"])
    return Quarantine(
        number, at, of["who"], of["reason"], of["selectors"], dict(sorted(kinds.items())), members.digest,
        tuple(ids[:LISTED]),
    )  # fmt: skip


def _apart(members: Members) -> list[str]:
    """Return the memories without the statements of these facts."""
    facts = frozenset(members.facts)
    return [id for id in members.memories if id not in facts]


def notes_with(reader: Reader, ids: Collection[str]) -> list[str]:
    """Return the paths of vault notes of these memories."""
    wanted = set(ids)
    return sorted({path for id, path in paths_in(reader).items() if id in wanted})


def is_quarantine(reader: Reader, number: int) -> bool:
    """Return whether a quarantine with this number is in force."""
    return bool(reader.records(QUARANTINES, keys=[str(number)]))


def lifting(reader: Reader, number: int, verb: str) -> tuple[Changeset, Lifted]:
    """Return the change that ends a quarantine, and its result. Raise `NotFoundError` if there is none."""
    if not is_quarantine(reader, number):
        raise NotFoundError("quarantine", str(number), hint="`pieria quarantine --list` shows those in effect.")
    members = _members(reader).get(number, Members((), ()))
    keys = [key for key in reader.records(HELD, prefix=str(number)) if quarantine_number(key) == number]
    records = [Record(HELD, key, None) for key in keys] + [Record(QUARANTINES, str(number), None)]
    others = sum(len(numbers) > 1 for numbers in reader.quarantines(members.memories).values())
    changeset = Changeset(verb, records=records, ids=_journalled(number, members))
    seq = reader.head().seq + 1
    return changeset, Lifted(number, seq, len(_apart(members)), len(members.facts), others)


def _journalled(number: int, members: Members) -> tuple[str, ...]:
    """Return the ids for the journal, so that its followers read all of them again."""
    return (f"{QUARANTINES}:{number}", *members.memories, *members.facts)


def _members(reader: Reader) -> dict[int, Members]:
    """Return what each quarantine holds, from its start and added since."""
    found: dict[int, tuple[dict[str, None], dict[str, None]]] = {}
    for key, value in reader.records(HELD).items():
        memories, facts = found.setdefault(quarantine_number(key), ({}, {}))
        memories.update(dict.fromkeys(value["memories"]))
        facts.update(dict.fromkeys(value["facts"]))
    return {number: Members(tuple(memories), tuple(facts)) for number, (memories, facts) in found.items()}
