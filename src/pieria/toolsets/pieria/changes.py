"""The tools that correct and forget what is known, and the one that takes a change back."""

from __future__ import annotations

from pieria.errors import ConflictError, InputError, NotFoundError
from pieria.record.banks import USER_BANK
from pieria.record.memory import STATEMENT, Memory, unchanged_source
from pieria.record.time import is_over
from pieria.toolsets.call import Spoken
from pieria.toolsets.host import Call
from pieria.toolsets.pieria.words import WHERE_IDS_ARE, change_that_made, done, noticed, numbered


def correct(call: Call, id: str, text: str, reason: str | None = None) -> Spoken:
    bank = call.bank
    before = bank.get(id)
    try:
        after = bank.update(id, text=text, reason=reason)
    except NotFoundError as problem:
        raise NotFoundError("memory", id, hint=WHERE_IDS_ARE) from problem
    except ConflictError as problem:
        hint = "Undo the removal first: get shows its change." if before is None else problem.hint
        raise ConflictError(problem.reason, problem.ids, hint=hint) from problem
    if before is not None and before.reference == after.reference:
        return done(f"{after.id} says so already: nothing was changed.", id=after.id, version=after.version)
    change = change_that_made(bank, after)
    said = f"{after.id} is now version {after.version}; the old text stays in its history."
    is_ended = is_over(after.valid_until, after.known_from)
    ended = ["It no longer holds, so recall does not find it."] if is_ended else []
    warnings = [*ended, *unchanged_source(after), *noticed(after)]
    return done(said, id=after.id, version=after.version, change=change, warnings=warnings)


def forget(call: Call, id: str, how: str, reason: str | None = None) -> Spoken:
    bank = call.bank
    memory = bank.get(id, include_removed=True)
    if memory is None:
        raise NotFoundError("memory", id, hint=WHERE_IDS_ARE)
    if how == "erase":
        receipt = bank.purge(id)
        beyond = [f"Not reached: {one}." for one in receipt.unreached]
        return done(_erased(id, len(receipt.also)), id=id, erased=dict(receipt.erased), warnings=beyond)
    ended = bank.invalidate(id, reason=reason) if how == "end" else bank.remove(id, reason=reason)
    said = f"{id} is removed." if ended.removed else f"{id} held until now."
    return done(said, id=id, change=change_that_made(bank, ended), warnings=_said_elsewhere(call, ended))


def _said_elsewhere(call: Call, ended: Memory) -> list[str]:
    """Return the facts that still say what an ended or removed fact said."""
    if ended.kind != STATEMENT:
        return []
    facts = (call.host.having(bank_name=USER_BANK).bank if ended.scope == "user" else call.bank).facts
    fact = facts.history(ended.id)[-1]
    others = facts.query(fact.subject, fact.predicate, fact.object)
    return [*unchanged_source(ended), *(f"The fact {one.id} says the same, and still holds." for one in others)]


def _erased(id: str, also: int) -> str:
    more = f", with {also:,} that {'was' if also == 1 else 'were'} drawn from it" if also else ""
    return f"{id} is erased for good{more}."


def undo(call: Call, change: str) -> Spoken:
    place, _, number = change.rpartition("/")
    if place not in ("", USER_BANK) or not (number.isascii() and number.isdigit()):
        raise InputError("change", f"the number of a change, such as 17 or {USER_BANK}/17", change)
    scope = "user" if place else "bank"
    bank = call.host.having(bank_name=USER_BANK).bank if place else call.bank
    try:
        made = bank.undo(int(number))
    except NotFoundError as problem:
        raise NotFoundError("change", change, hint="get shows the changes of a memory or fact.") from problem
    except ConflictError as problem:
        hint = (problem.hint or "").replace("`changes` says", "get shows") or None
        raise ConflictError(problem.reason, problem.ids, hint=hint) from problem
    return done(f"Change {change} is taken back.", undone=change, change=numbered(made.seq, scope))
