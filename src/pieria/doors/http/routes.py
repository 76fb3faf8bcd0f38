"""The routes: the table of resource routes, and the handlers.

A handler reads its request, calls the engine in a thread, and answers in JSON.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from pieria.capture import bank_removal
from pieria.doors.http import schemas
from pieria.doors.http.callers import Caller, Door
from pieria.doors.http.failures import JSON, Refused, failure, headers_of, status_of
from pieria.doors.http.schemas import flag, json_of, query_of, segment, taking, text, whole
from pieria.doors.http.service import METRICS_TYPE, Service
from pieria.errors import AccessError, InputError, NotFoundError, PieriaError, UnknownError
from pieria.record.banks import USER_BANK
from pieria.record.fact import Fact
from pieria.toolsets import Access, Host, Reply, Tool, called
from pieria.toolsets.host import out_of_reach
from pieria.toolsets.validation import validated

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
log = logging.getLogger(__name__)
ROUTES = "http"
"""Toolset name under which calls of the resource routes are counted."""
EVENTS_PATH = "/v1/events"
EVENT_STREAM = "text/event-stream"
LONGEST_STREAM = 86_400
EVENTS = Tool(
    "listen",
    "Changes of a bank, as server-sent events.",
    taking(
        {
            "bank": text("The bank."),
            "since": whole("Start after this journal entry; the header Last-Event-ID has precedence.", 0, 2**53),
            "seconds": whole("Close the stream after this time.", 1, LONGEST_STREAM),
        },
        "bank",
    ),
    Access.read,
)
REMOVAL = Tool(
    "remove_bank",
    "Remove a whole bank for good. With `dry_run`, only report what would be removed.",
    taking({"dry_run": flag("Only report what would be removed.")}),
    Access.admin,
    begins=False,
)
Endpoint = Callable[[Request], Awaitable[Response]]


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


def _facts(bank: Bank, found: Iterable[Fact]) -> dict[str, Any]:
    return {"facts": [fact.as_dict(bank.zone) for fact in found]}


def _state_fact(bank: Bank, **given: Any) -> dict[str, Any]:
    stated = bank.facts.state(**given)
    lists = {"closed": stated.closed, "conflicts": stated.conflicts}
    found = {name: [fact.as_dict(bank.zone) for fact in facts] for name, facts in lists.items()}
    return {**stated.fact.as_dict(bank.zone), **found}


def _number(written: str) -> int:
    if not written.isdecimal():
        raise NotFoundError("quarantine", written, hint="A quarantine has the number of the change that began it.")
    return int(written)


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
              lambda bank, id, **given: {"memories": [each.as_dict() for each in bank.history(id, **given)]},
              "List all its versions and states, oldest first."),
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
              lambda bank, **given: _facts(bank, bank.facts.query(**given)), "List facts that match all given values."),
    _resource(f"POST {FACTS}", "add_fact", _WRITE, taking(schemas.NEW_FACT, *_TRIPLE), "StatedFact",
              _state_fact, "Add a fact.", 201),
    _resource(f"POST {FACTS}/invalidate", "invalidate_facts", _WRITE, taking(schemas.FACT_END, *_TRIPLE), "Facts",
              lambda bank, **given: _facts(bank, bank.facts.invalidate(**given)), "End a fact: it is no longer true."),
    _resource(f"DELETE {FACT}", "remove_fact", _WRITE, taking(schemas.REASON), "Fact",
              lambda bank, id, **given: bank.facts.remove(id, **given).as_dict(bank.zone),
              "Retract a fact: it was never true."),
    _resource(f"POST {FACT}/purge", "purge_fact", _WRITE, taking(schemas.AS_TOLD), "Receipt",
              lambda bank, id, **given: bank.facts.purge(id, **given).as_dict(), "Erase the fact for good."),
    _resource(f"GET {FACT}/history", "fact_history", _READ, taking({}), "Facts",
              lambda bank, id: _facts(bank, bank.facts.history(id)), "List every version of a fact, oldest first."),
    _resource(f"GET {BANK}/sleeps", "list_sleeps", _READ, taking(schemas.SLEEPS), "SleepLog",
              lambda bank, **given: bank.upkeep.sleep_log(**given).as_dict(),
              "The last sleeps, newest first, and why the bank does not sleep automatically."),
    _resource(f"GET {BANK}/changes", "list_changes", _READ, taking(schemas.JOURNAL), "Changes",
              _changes, "The journal: every change of the bank, with the ids."),
    _resource(f"GET {BANK}/stats", "bank_stats", _READ, taking({}), "Stats",
              lambda bank: bank.stats().placeless().as_dict(), "Counts and sizes."),
)  # fmt: skip


def caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


@dataclass(frozen=True)
class Routes:
    """The endpoints of one service."""

    service: Service
    door: Door

    async def call_tool(self, request: Request) -> Response:
        """Call a tool. The reply is in its toolset's envelope, for success and error alike."""
        service = self.service
        arguments = await json_of(request)
        name, bank = segment(request, "tool"), segment(request, "bank")
        service.registry.found(name)

        def host() -> Host:
            return service.host(caller_of(request), bank)

        reply: Reply = await service.call(called, service.registry, name, arguments, host)
        if reply.error is None:
            return JSON(reply.value)
        return JSON(reply.value, status_of(reply.error), headers_of(reply.error))

    def resource(self, resource: Resource) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            given = None if resource.in_query else await json_of(request)
            began = time.perf_counter()
            code: str | None = "unknown_error"
            try:
                answer = await self.service.call(self._answered, resource, request, given)
                code = None
            except PieriaError as error:
                code = error.code
                raise
            finally:
                self.service.metrics.note(ROUTES, resource.tool.name, time.perf_counter() - began, code)
            return JSON(answer, resource.status)

        return endpoint

    def _answered(self, resource: Resource, request: Request, given: Any) -> Any:
        caller, tool = caller_of(request), resource.tool
        path = {name: segment(request, name) for name in request.path_params}
        bank = path.pop("bank")
        host = self.service.host(caller, bank).having(begins=tool.begins, via=caller.via)
        host.allow(tool.access)
        arguments = query_of(request, tool.parameters) if resource.in_query else given
        checked = validated(tool, arguments, resource.route)
        check_scope(checked, caller)
        if checked.get("session"):
            checked = {**checked, "session": caller.own(checked["session"], "session")}
        with self.service.banks.calls.one():
            return resource.answer(host.bank, path, checked)

    async def banks(self, request: Request) -> Response:
        return JSON({"banks": await self.service.call(self.service.names, caller_of(request))})

    async def remove_bank(self, request: Request) -> Response:
        service, caller, name = self.service, caller_of(request), segment(request, "bank")
        given = validated(REMOVAL, query_of(request, REMOVAL.parameters), f"DELETE {BANK}")
        service.host(caller, name).allow(REMOVAL.access)
        report = await service.call(bank_removal.remove_bank, service.workspace, name, **given)
        return JSON(report.placeless().as_dict())

    async def events(self, request: Request) -> Response:
        caller = caller_of(request)
        given = validated(EVENTS, query_of(request, EVENTS.parameters), f"GET {EVENTS_PATH}")
        since = last_seen(request)

        def opened() -> Any:
            return self.service.host(caller, given["bank"]).having(begins=False).bank

        bank = await self.service.call(opened)
        self.service.hub.check_room(caller.name)
        stream = self.service.hub.stream(
            bank,
            given.get("since") if since is None else since,
            given.get("seconds"),
            lambda: self.door.still(request.headers),
            caller.name,
        )
        return streamed(request, stream)

    async def metrics(self, request: Request) -> Response:
        service = self.service
        caller = caller_of(request)
        gauges = await service.call(lambda: service.gauges(service.names(caller)))
        return Response(service.metrics.text(gauges, service.started), media_type=METRICS_TYPE)

    async def health(self, request: Request) -> Response:
        return JSON({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Say whether banks can be read and written now. Anyone may ask, so the reason goes to the log alone."""
        try:
            await self.service.call(self.service.workspace.place.check_ready)
        except PieriaError as problem:
            log.warning("not ready: %s", problem.message)
            return JSON({"status": "not ready", "code": problem.code}, 503)
        return JSON({"status": "ready"})


def listing(lines: tuple[str, ...]) -> Endpoint:
    """Return an endpoint for `/` that lists what is served."""

    async def endpoint(request: Request) -> Response:
        return PlainTextResponse("\n".join(lines) + "\n")

    return endpoint


def answering(endpoint: Endpoint) -> Endpoint:
    """Wrap an endpoint so that its errors become responses."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refused as refused:
            return failure(refused.error, refused.status, refused.headers)
        except PieriaError as error:
            return failure(error)
        except Exception as problem:
            # The response carries no traceback; the log does.
            log.exception("%s %s failed unexpectedly", request.method, request.scope["route"].path)
            return failure(UnknownError(type(problem).__name__, hint="See the server's log for details."))

    return answered


def streamed(request: Request, stream: AsyncIterator[str]) -> Response:
    """Return a stream of events. A HEAD request gets its answer at once."""
    headers = {"X-Accel-Buffering": "no"}
    if request.method == "HEAD":
        return Response(media_type=EVENT_STREAM, headers=headers)
    return StreamingResponse(stream, media_type=EVENT_STREAM, headers=headers)


def last_seen(request: Request) -> int | None:
    """Return the number of the last entry that the client has, which a browser sends when it reconnects."""
    said = request.headers.get("last-event-id")
    if not said:
        return None
    if not (said.isascii() and said.isdigit() and len(said) < 17):
        raise InputError("Last-Event-ID", "the number of a journal entry", said)
    return int(said)
