"""The records of a bank's quarantines, and the check of every write against them.

- collection `quarantine`, key NUMBER: the selectors, time, author and reason of the quarantine;
- collection `quarantine.held`, keys NUMBER and NUMBER/CHANGE: the ids that it holds, with the same description.
The verbs are in `delete.quarantine`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from pieria.bank.read.lineage import REVISES, lineage
from pieria.errors import InputError, QuarantinedError
from pieria.record.changeset import Changeset, Record
from pieria.record.link import DRAWN_FROM
from pieria.record.memory import STATEMENT
from pieria.record.quarantine import HELD, QUARANTINES, Selectors, quarantine_number
from pieria.record.time import iso, moment
from pieria.store.protocol import Reader

Numbers = dict[str, set[int]]
"""Quarantine numbers by id."""


def quarantine_error(reader: Reader, id: str) -> QuarantinedError | None:
    """Return the error for a quarantined memory or fact, with its time, author and reason, or None."""
    numbers = reader.quarantines([id]).get(id) or reader.quarantines([id], "fact").get(id)
    if not numbers:
        return None
    number = numbers[0]
    of = reader.records(QUARANTINES, keys=[str(number)])[str(number)]
    why = f": {of['reason']}" if of["reason"] else ""
    said = f"{of['who']} put it in quarantine on {iso(moment(of['at']))}{why}"
    hint = f"`pieria trace` shows it; `pieria quarantine --lift {number}` ends the quarantine."
    return QuarantinedError(said, ids=(id,), hint=hint)


def hold_to_quarantines(reader: Reader, changeset: Changeset) -> None:
    """Add what a changeset writes to the quarantines that select it or hold its lineage.

    A bank without quarantines skips this.
    """
    if not reader.hides():
        return
    about = reader.records(QUARANTINES)
    selectors = {int(key): Selectors.of_record(value["selectors"]) for key, value in about.items()}
    memories = _new_members(reader, changeset, selectors)
    facts = _new_facts(reader, changeset, selectors, memories)
    seq = reader.head().seq + 1 if changeset.replay is None else changeset.replay.seq
    if changeset.ids:
        # Name the quarantined ids in the journal too, so that its followers read them again.
        changeset.ids = tuple(dict.fromkeys((*changeset.ids, *memories, *facts)))
    elif memories or facts:
        changeset.ids = tuple(dict.fromkeys((*changeset.written_ids(), *memories, *facts)))
    for number in sorted(selectors):
        held = {
            "memories": sorted(id for id, numbers in memories.items() if number in numbers),
            "facts": sorted(id for id, numbers in facts.items() if number in numbers),
        }
        if held["memories"] or held["facts"]:
            changeset.records.append(Record(HELD, f"{number}/{seq}", {"of": about[str(number)], **held}))


def _new_members(reader: Reader, changeset: Changeset, selectors: Mapping[int, Selectors]) -> Numbers:
    pairs = [
        (row.source, row.target)
        for row in changeset.links
        if row.relation in (DRAWN_FROM, REVISES) and not row.ended and row.source_is == row.target_is == "memory"
    ]
    pairs += [(row.target, row.source) for row in changeset.links if row.relation == REVISES]
    fresh = {write.state.id for write in changeset.writes if write.fresh}
    named = {write.state.id for write in changeset.writes} | {id for pair in pairs for id in pair}
    before = {id: set(numbers) for id, numbers in reader.quarantines(named).items()}
    new: Numbers = {}
    for write in changeset.writes:
        if write.fresh and write.state.kind == STATEMENT:
            # The fact may be older than its statement.
            _add(new, before, write.state.id, reader.quarantines([write.state.id], "fact").get(write.state.id, ()))
        matching = {number for number, each in selectors.items() if each.match(write.state)}
        _add(new, before, write.state.id, matching)
    waiting = True
    while waiting:
        waiting = any([_add(new, before, one, _of(new, before, other)) for one, other in pairs])
    for id in [id for id in new if id not in fresh]:
        for drawn in lineage(reader, [id]):
            _add(new, before, drawn, new[id])
    return new


def _new_facts(reader: Reader, changeset: Changeset, selectors: Mapping[int, Selectors], memories: Numbers) -> Numbers:
    about = {row.memory for row in changeset.facts if row.memory is not None}
    held = {id: set(numbers) for id, numbers in reader.quarantines(about).items()}
    before = {
        id: set(numbers) for id, numbers in reader.quarantines([row.id for row in changeset.facts], "fact").items()
    }
    new: Numbers = {}
    for row in changeset.facts:
        numbers = set() if row.memory is None else _of(memories, held, row.memory)
        numbers = numbers | {
            number for number, each in selectors.items() if each.is_source_alone and each.source == row.source
        }
        _add(new, before, row.id, numbers)
    return new


def _of(new: Numbers, before: Numbers, id: str) -> set[int]:
    return new.get(id, set()) | before.get(id, set())


def _add(new: Numbers, before: Numbers, id: str, numbers: Iterable[int]) -> bool:
    """Add the numbers, and return whether any of them is new for the id."""
    added = set(numbers) - _of(new, before, id)
    if added:
        new[id] = new.get(id, set()) | added
    return bool(added)


def check_record(record: Record) -> None:
    """Raise `InputError` if an imported record of a quarantine is malformed."""
    if record.collection not in (QUARANTINES, HELD):
        return
    of = record.value if record.collection == QUARANTINES else _field(record.value, "of", dict)
    number, _, change = record.key.partition("/")
    if not (number.isdecimal() and (not change or change.isdecimal())):
        raise InputError("key", "the number of a quarantine", record.key)
    _field(of, "at", int)
    _field(of, "who", str)
    if of.get("reason") is not None:
        _field(of, "reason", str)
    try:
        Selectors.of_record(_field(of, "selectors", dict))
    except TypeError:
        raise InputError("value.selectors", "the selectors of a quarantine", None) from None
    if record.collection == HELD:
        for name in ("memories", "facts"):
            if not all(isinstance(id, str) for id in _field(record.value, name, list)):
                raise InputError(f"value.{name}", "a list of ids", None)


def _field(value: Any, name: str, kind: type) -> Any:
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, kind):
        raise InputError(f"value.{name}", f"a {kind.__name__}", None)
    return found


def without_reasons(reader: Reader, going: Collection[str]) -> list[Record]:
    """Return the records of quarantines that hold nothing after these ids are erased, without the reason.

    A reason may quote what the quarantine held.
    """
    held = reader.records(HELD)
    members: dict[int, set[str]] = {}
    for key, value in held.items():
        members.setdefault(quarantine_number(key), set()).update(value["memories"], value["facts"])
    left = {number: ids.difference(going) for number, ids in members.items() if not ids.isdisjoint(going)}
    purged = reader.purged([id for ids in left.values() for id in ids])
    bare = {number for number, ids in left.items() if ids <= purged}
    about = {int(key): {**of, "reason": None} for key, of in reader.records(QUARANTINES).items() if int(key) in bare}
    told = [Record(HELD, key, {**value, "of": about[quarantine_number(key)]}) for key, value in held.items()
            if quarantine_number(key) in about]  # fmt: skip
    return [*(Record(QUARANTINES, str(number), of) for number, of in about.items()), *told]


def by_ids(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the selectors of an untrusted file's quarantine reduced to ids, so that later memories do not match."""
    return {**value, "selectors": Selectors(ids=Selectors.of_record(value["selectors"]).ids).as_record()}


def narrowed(record: Record, is_brought: Callable[[str], bool]) -> Record:
    """Return an untrusted file's quarantine without the ids that this bank has already."""
    held = {name: [id for id in record.value[name] if is_brought(id)] for name in ("memories", "facts")}
    return record._replace(value={**record.value, **held})


def _joined(reader: Reader, value: Mapping[str, Any]) -> list[Record]:
    """Return the records of an imported quarantine with a number of this bank's journal."""
    if not (value["memories"] or value["facts"]):
        return []
    seq = reader.head().seq + 1
    held = reader.records(QUARANTINES)
    number = next((int(key) for key, of in held.items() if of == value["of"]), None)
    if number is None:
        return [Record(QUARANTINES, str(seq), value["of"]), Record(HELD, str(seq), value)]
    return [Record(HELD, f"{number}/{seq}", value)]


JOINED = {QUARANTINES: lambda reader, value: [], HELD: _joined}
"""How an import merges quarantines: the selectors come with the ids that they hold."""
