"""The resource routes: each with its path, arguments, required access, verb and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.doors.http import schemas
from pieria.doors.http.callers import Caller
from pieria.doors.http.schemas import taking
from pieria.errors import AccessError, NotFoundError
from pieria.record.banks import USER_BANK
from pieria.toolsets import Access, Tool
from pieria.toolsets.host import out_of_reach

if TYPE_CHECKING:
    from pieria.bank import Bank

BANK = "/v1/banks/{bank}"
MEMORIES, MEMORY = f"{BANK}/memories", f"{BANK}/memories/{{id}}"
PROPOSALS, PROPOSAL = f"{BANK}/proposals", f"{BANK}/proposals/{{id}}"
RULES, RULE = f"{BANK}/rules", f"{BANK}/rules/{{id}}"
FACTS, FACT = f"{BANK}/facts", f"{BANK}/facts/{{id}}"
JOURNAL_PAGE = 1_000
BEGINNING = ("create_memory", "add_fact")
"""Routes that create a missing bank."""
Verb = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Resource:
    """`tool` serves the check and OpenAPI; `reply` names the schema of the answer."""

    method: str
    path: str
    tool: Tool
    reply: str
    verb: Verb
    status: int = 200

    @property
    def route(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def in_query(self) -> bool:
        return self.method in ("GET", "DELETE")

    def answer(self, bank: Bank, path: Mapping[str, str], given: Mapping[str, Any]) -> Any:
        return self.verb(bank, **path, **given)


def _resource(
    line: str, name: str, access: Access, takes: Mapping[str, Any], reply: str, verb: Verb, says: str, status: int = 200
) -> Resource:
    method, _, path = line.partition(" ")
    return Resource(method, path, Tool(name, says, takes, access, begins=name in BEGINNING), reply, verb, status)


def check_scope(given: Mapping[str, Any], caller: Caller) -> None:
    """Raise `AccessError` if the scope is the user and the caller may not use the user's bank."""
    scope = given.get("scope", ())
    if ("user" in scope or scope == "user") and not caller.covers(USER_BANK):
        hint = out_of_reach(USER_BANK, caller.opened).hint
        raise AccessError("wrong_bank", hint=f"The user's own memories are in the bank {USER_BANK}. {hint}")


def _opened(bank: Bank, id: str, **given: Any) -> dict[str, Any]:
    found = bank.get(id, **given)
    if found is None:
        # Raise if the memory never existed or was purged.
        bank.history(id)
        hint = "The memory has no such version, or was removed or revised. Its history shows every version."
        raise NotFoundError("memory", id, hint=hint)
    return found.as_dict()


def _changes(bank: Bank, since: int = 0, limit: int = JOURNAL_PAGE, last: int | None = None) -> dict[str, Any]:
    found = bank.changes(since, limit, last=last)
    return {"changes": [change.as_dict() for change in found], "next": found[-1].seq if found else since}


def _facts(found: Any) -> dict[str, Any]:
    return {"facts": [fact.as_dict() for fact in found]}


def _history(bank: Bank, id: str, **given: Any) -> dict[str, Any]:
    return {"memories": [memory.as_dict() for memory in bank.history(id, **given)]}


def _number(written: str) -> int:
    if not written.isdecimal():
        raise NotFoundError("quarantine", written, hint="A quarantine has the number of the change that began it.")
    return int(written)


_READ, _WRITE, _ADMIN = Access.read, Access.write, Access.admin
_VERSION = {"version": schemas.whole("The version; the newest by default.", 1, 2**53), **schemas.KNOWN_AT}
_REMOVED = {"include_removed": schemas.flag("Also return it if it was removed.")}
_INVALID = {
    "at": schemas.text("A date, or a time in ISO 8601: when it stopped being valid; now by default."),
    "replacement": schemas.text("The id of the memory that replaces it."),
    **schemas.REASON,
    **schemas.UNLESS,
}
_TRIPLE = ("subject", "predicate", "object")

RESOURCES: tuple[Resource, ...] = (
    _resource(f"GET {MEMORIES}", "list_memories", _READ, taking(schemas.LISTING), "Memories",
              lambda bank, **given: bank.list(**given).as_dict(), "List memories, page by page."),
    _resource(f"POST {MEMORIES}", "create_memory", _WRITE, taking(schemas.NEW_MEMORY, "text"), "Memory",
              lambda bank, **given: bank.remember(**given).as_dict(), "Write one memory.", 201),
    _resource(f"GET {MEMORY}", "get_memory", _READ, taking({**_VERSION, **_REMOVED}), "Memory",
              _opened, "Get one memory, by id or id@version."),
    _resource(f"PATCH {MEMORY}", "update_memory", _WRITE, taking(schemas.CHANGES), "Memory",
              lambda bank, id, **given: bank.update(id, **given).as_dict(), "Change the given fields."),
    _resource(f"DELETE {MEMORY}", "remove_memory", _WRITE, taking({**schemas.REASON, **schemas.UNLESS}), "Memory",
              lambda bank, id, **given: bank.remove(id, **given).as_dict(), "Remove it; restore brings it back."),
    _resource(f"POST {MEMORY}/restore", "restore_memory", _WRITE, taking({}), "Memory",
              lambda bank, id: bank.restore(id).as_dict(), "Restore a removed memory."),
    _resource(f"POST {MEMORY}/revise", "revise_memory", _WRITE, taking(schemas.REVISION), "Memory",
              lambda bank, id, **given: bank.revise(id, **given).as_dict(), "Replace the memory with a new one.", 201),
    _resource(f"POST {MEMORY}/invalidate", "invalidate_memory", _WRITE, taking(_INVALID), "Memory",
              lambda bank, id, **given: bank.invalidate(id, **given).as_dict(), "Mark the memory as no longer valid."),
    _resource(f"POST {MEMORY}/purge", "purge_memory", _WRITE, taking({**schemas.UNLESS, **schemas.AS_TOLD}), "Receipt",
              lambda bank, id, **given: bank.purge(id, **given).as_dict(), "Erase it for good, in all versions."),
    _resource(f"POST {BANK}/forget", "forget", _WRITE, taking(schemas.FORGETTING), "Forgotten",
              lambda bank, **given: bank.forget(**given).as_dict(), "Remove everything from one source or session."),
    _resource(f"GET {BANK}/trace", "trace", _ADMIN, taking(schemas.TRACE), "Trace",
              lambda bank, **given: bank.trace(**given).as_dict(),
              "Everything drawn from a memory, source or session, and which sessions received it; also in quarantine."),
    _resource(f"POST {BANK}/quarantines", "quarantine", _WRITE, taking(schemas.QUARANTINE), "Quarantine",
              lambda bank, **given: bank.quarantine(**given).as_dict(),
              "Hide memories and everything drawn from them.", 201),
    _resource(f"GET {BANK}/quarantines", "list_quarantines", _ADMIN, taking({}), "Quarantines",
              lambda bank: {"quarantines": [each.as_dict() for each in bank.quarantines()]},
              "List the quarantines in effect, oldest first."),
    _resource(f"DELETE {BANK}/quarantines/{{number}}", "lift_quarantine", _ADMIN, taking({}), "Lifted",
              lambda bank, number: bank.lift(_number(number)).as_dict(), "End a quarantine."),
    _resource(f"GET {MEMORY}/history", "memory_history", _READ,
              taking({"revisions": schemas.flag("Also the memories that it revised.")}), "History",
              _history, "List all its versions and states, oldest first."),
    _resource(f"POST {BANK}/recall", "recall", _READ, taking(schemas.QUESTION, "query"), "Recall",
              lambda bank, **given: bank.recall(**given).as_dict(), "Find answers to a question, best first."),
    _resource(f"POST {BANK}/context", "context", _READ, taking(schemas.CONTEXT), "Context",
              lambda bank, **given: bank.context(**given).as_dict(), "Build an agent's context for a session."),
    _resource(f"GET {PROPOSALS}", "list_proposals", _READ, taking(schemas.PROPOSALS), "Proposals",
              lambda bank, **given: bank.upkeep.proposals(**given).as_dict(),
              "List lessons from sessions, by falling confidence. By default those that wait for a decision."),
    _resource(f"POST {PROPOSAL}/accept", "accept_proposal", _WRITE, taking(schemas.REASON), "Decided",
              lambda bank, id, **given: bank.upkeep.accept(id, **given).as_dict(),
              "Accept the lesson: it becomes an ordinary memory."),
    _resource(f"POST {PROPOSAL}/decline", "decline_proposal", _WRITE, taking(schemas.REASON), "Decided",
              lambda bank, id, **given: bank.upkeep.decline(id, **given).as_dict(),
              "Decline the lesson, or withdraw an accepted one."),
    _resource(f"GET {RULES}", "list_rules", _READ, taking(schemas.RULES), "Rules",
              lambda bank, **given: bank.rules.list(**given).as_dict(),
              "List the standing rules that agents get, and those that wait for a person."),
    _resource(f"GET {RULE}", "explain_rule", _READ, taking({}), "Rule",
              lambda bank, id: bank.rules.explain(id).as_dict(), "Get one rule, and the reason for its state."),
    _resource(f"POST {RULE}/accept", "accept_rule", _WRITE, taking(schemas.REASON), "DecidedRules",
              lambda bank, id, **given: bank.rules.accept(id, **given).as_dict(),
              "Accept the rule. Only a person can do this, so this route always answers 403."),
    _resource(f"POST {RULE}/decline", "decline_rule", _WRITE, taking(schemas.REASON), "DecidedRules",
              lambda bank, id, **given: bank.rules.decline(id, **given).as_dict(),
              "Decline the rule. Only a person can do this, so this route always answers 403."),
    _resource(f"GET {FACTS}", "query_facts", _READ, taking(schemas.FACT_QUESTION), "Facts",
              lambda bank, **given: _facts(bank.facts.query(**given)), "List facts that match all given values."),
    _resource(f"POST {FACTS}", "add_fact", _WRITE, taking(schemas.NEW_FACT, *_TRIPLE), "Fact",
              lambda bank, **given: bank.facts.add(**given).as_dict(), "Add a fact.", 201),
    _resource(f"POST {FACTS}/invalidate", "invalidate_facts", _WRITE, taking(schemas.FACT_END, *_TRIPLE), "Facts",
              lambda bank, **given: _facts(bank.facts.invalidate(**given)), "End a fact: it is no longer true."),
    _resource(f"DELETE {FACT}", "remove_fact", _WRITE, taking(schemas.REASON), "Fact",
              lambda bank, id, **given: bank.facts.remove(id, **given).as_dict(), "Retract a fact: it was never true."),
    _resource(f"POST {FACT}/purge", "purge_fact", _WRITE, taking(schemas.AS_TOLD), "Receipt",
              lambda bank, id, **given: bank.facts.purge(id, **given).as_dict(), "Erase the fact for good."),
    _resource(f"GET {FACT}/history", "fact_history", _READ, taking({}), "Facts",
              lambda bank, id: _facts(bank.facts.history(id)), "List every version of a fact, oldest first."),
    _resource(f"GET {BANK}/changes", "list_changes", _READ, taking(schemas.JOURNAL), "Changes",
              _changes, "The journal: every change of the bank, with the ids."),
    _resource(f"GET {BANK}/stats", "bank_stats", _READ, taking({}), "Stats",
              lambda bank: bank.stats().placeless().as_dict(), "Counts and sizes."),
)  # fmt: skip
