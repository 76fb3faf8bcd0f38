"""`POST /v1/banks/{bank}/verbs/{verb}`: every verb of a bank, for `pieria.open("https://…")`.

The table `pieria.remote.verbs` says which verbs there are and what access each needs. This module turns the JSON into
arguments, and refuses what a token does not allow: other sessions, the user's memories, a better way in. A verb that
takes long answers line by line, with its progress.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import operator
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from io import BufferedIOBase
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pieria.doors.http.callers import Caller
from pieria.doors.http.failures import JSON, for_callers
from pieria.doors.http.held_files import HeldFiles, pieces
from pieria.doors.http.routes import ROUTES, caller_of, check_scope
from pieria.doors.http.schemas import flag, json_of, query_of, segment, taking, text, whole
from pieria.doors.http.service import CALLS_AT_ONCE, Service
from pieria.doors.lanes import Places
from pieria.errors import AccessError, ClosedError, InputError, NotFoundError, PieriaError, UnknownError
from pieria.record.banks import USER_BANK, same_bank
from pieria.record.draft import NewMemory
from pieria.record.trust import AGENT, GIVEN, PERSON, TRUST, lowest
from pieria.remote.calls import by_name
from pieria.remote.connection import LINES
from pieria.remote.values import Decoder, Unreadable, encoded
from pieria.remote.verbs import CLAIMING, DOWNLOADS, PROPERTIES, UNSENT, VERBS, WAITING
from pieria.runtime import patience
from pieria.toolsets import Access, Host, Tool
from pieria.toolsets.host import Author
from pieria.toolsets.validation import validated

if TYPE_CHECKING:
    from pieria.bank import Bank

log = logging.getLogger(__name__)
VERB = "/v1/banks/{bank}/verbs/{verb}"
UPLOADS = "/v1/banks/{bank}/uploads"
DOWNLOAD = "/v1/banks/{bank}/downloads/{file}"
OPENED = "values"
"""The verb that opens a bank: it returns the bank's plain values, and creates the bank if the caller asks."""
PATIENCE = 5.0
"""Seconds until a verb answers line by line, and between two lines."""
INTAKES = 64
"""Intakes that are remembered between two calls."""
_ARGUMENTS = {"type": "object", "description": "The arguments by name. A value that is no plain JSON has a $ key."}
CALL = Tool(
    "call_verb",
    "Call a verb of the bank, as `pieria.open` with an address does.",
    taking(
        {
            "arguments": _ARGUMENTS,
            "speaker": taking(
                {
                    **{name: text(says) for name, says in (
                        ("session", "The session."), ("channel", "The channel."), ("author", "The author."),
                        ("author_type", "The type of the author."), ("secrets", "How to treat secrets."))},
                    "via": {"enum": list(GIVEN), "description": "How texts come in; the token may lower it."},
                    "count_uses": flag("Whether results count as used."),
                    "user": flag("Whether the user's own memories are found."),
                }
            ) | {"description": "The author, and the session."},
            "on": {"type": "object", "description": "The session or intake that the verb is called on."},
            "progress": flag("Report progress line by line."),
        }
    ),
    Access.read,
)  # fmt: skip
UPLOAD = Tool(
    "upload",
    "Send a file for an import, piece by piece.",
    taking({"id": text("The file, from the first piece's reply."), "at": whole("Its size so far.", 0, 2**53)}),
    Access.admin,
)
FETCH = Tool("download", "Fetch the file of an export or a backup, once.", taking({}), Access.admin)


class Verbs:
    """The endpoints of one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._files = HeldFiles(service.workspace.data)
        self._waiting = Places(CALLS_AT_ONCE, service.places.seconds)
        self._intakes: OrderedDict[tuple[str, int, str], Any] = OrderedDict()
        self._lock = threading.Lock()
        self._running: set[asyncio.Task[Any]] = set()

    def close(self) -> None:
        self._files.close()

    async def call(self, request: Request) -> Response:
        verb = segment(request, "verb")
        if verb != OPENED and verb not in VERBS:
            raise NotFoundError("verb", verb, hint="docs/remote.md lists what a bank offers over HTTP.")
        body = validated(CALL, await json_of(request), f"POST {VERB}")
        running = _Running(asyncio.get_running_loop(), reports=bool(body.get("progress")))
        work = partial(self._performed, caller_of(request), segment(request, "bank"), verb, body, running)
        places = self._waiting if verb in WAITING else self._service.places
        task = asyncio.ensure_future(places.run(partial(self._noted, verb, work)))
        # A disconnect ends no verb: it leaves a whole change or none.
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        task.add_done_callback(_note_lost)
        if LINES not in request.headers.get("accept", "") or await running.is_done(task):
            return JSON(await asyncio.shield(task))
        return StreamingResponse(running.lines(task), media_type=LINES)

    async def upload(self, request: Request) -> Response:
        given = validated(UPLOAD, query_of(request, UPLOAD.parameters), f"POST {UPLOADS}")
        chunk, owner = await request.body(), self._owner(request, UPLOAD.access)
        held = await self._service.call(self._files.append, owner, given.get("id"), given.get("at", 0), chunk)
        return JSON(held)

    async def download(self, request: Request) -> Response:
        file = await self._service.call(self._files.take, self._owner(request, FETCH.access), segment(request, "file"))
        return StreamingResponse(pieces(file), media_type="application/octet-stream")

    def _owner(self, request: Request, access: Access) -> tuple[str, str]:
        caller, bank = caller_of(request), segment(request, "bank")
        self._service.host(caller, bank).allow(access)
        return caller.name, same_bank(bank)

    def _noted(self, verb: str, work: partial[Any]) -> Any:
        """Do the work, and count it for the metrics."""
        began, code = time.perf_counter(), "unknown_error"
        try:
            with self._service.banks.calls.one():
                answer = work()
            code = ""
        except PieriaError as error:
            code = error.code
            raise
        finally:
            self._service.metrics.note(ROUTES, verb, time.perf_counter() - began, code or None)
        return answer

    def _performed(
        self, caller: Caller, bank: str, verb: str, body: Mapping[str, Any], running: _Running
    ) -> dict[str, Any]:
        patience.caller.set(running.asking)
        host = self._host(caller, bank, body.get("speaker", {}))
        host.allow(Access[VERBS.get(verb, "read")])
        owner = (caller.name, same_bank(bank))
        taken: list[BufferedIOBase] = []
        try:
            arguments = self._arguments(verb, body.get("arguments", {}), owner, taken)
            if verb == OPENED:
                return {"value": encoded(_opened(host, create=bool(arguments.get("create"))))}
            arguments, on = _fitting(arguments, caller), _fitting(_read(Decoder(sent=True), body.get("on", {})), caller)
            check_claims(verb, arguments, on, caller)
            check_scope(arguments, caller)
            opened = host.having(begins=False).bank
            function = self._target(opened, verb, on, caller)
            if running.reports:
                arguments["progress"] = running.report
            if verb in DOWNLOADS:
                return self._written(owner, verb, function, arguments)
            return {"value": _answer(verb, function, arguments)}
        finally:
            for file in taken:
                file.close()

    def _host(self, caller: Caller, bank: str, speaker: Mapping[str, Any]) -> Host:
        """Return the host for a speaker. Its texts get at most the trust of the token."""
        session = speaker.get("session")
        # Without a name, callers that share no session names have no session, as in the embedded bank.
        own = caller.own(session, "session") if session else (caller.session if caller.mark else None)
        covers = caller.covers
        if not speaker.get("user", True):
            covers = partial(_but_the_user, covers)
        return self._service.host(caller, bank).having(
            session=own,
            via=lowest(speaker.get("via") or AGENT, caller.via),
            author=Author(speaker.get("author"), speaker.get("author_type"), speaker.get("channel")),
            secrets=speaker.get("secrets"),
            counts_uses=speaker.get("count_uses", True),
            covers=covers,
        )

    def _arguments(self, verb: str, told: Any, owner: tuple[str, str], taken: list[BufferedIOBase]) -> dict[str, Any]:
        def upload(id: str) -> BufferedIOBase:
            taken.append(self._files.take(owner, id))
            return taken[-1]

        is_import = verb == "import_"
        arguments = _read(Decoder(sent=True, more={"$upload": upload} if is_import else None), told)
        if is_import and not taken:
            raise InputError("path", "an uploaded file", None, hint=f"Send it to {UPLOADS} first.")
        refused = [*UNSENT.get(verb, {}), *(["path"] if verb in DOWNLOADS else []), "progress"]
        for name in refused:
            if name in arguments:
                raise InputError(name, "nothing over HTTP", None)
        return arguments

    def _target(self, bank: Bank, verb: str, on: Mapping[str, Any], caller: Caller) -> Any:
        """Return the method of a verb; for a property, a function that reads it."""
        path, _, name = verb.rpartition(".")
        if path == "session":
            return _of_session(bank, str(on.get("id")), name)
        holder = self._intake(bank, on, caller) if path == "sources.intake" else _reached(bank, path)
        if verb in PROPERTIES:
            return lambda: getattr(holder, name)
        return getattr(holder, name)

    def _intake(self, bank: Bank, on: Mapping[str, Any], caller: Caller) -> Any:
        """Return the intake that a caller began, or begin it again: it only remembers what it has seen."""
        asked = {name: on[name] for name in ("force", "dry_run", "via", "follows") if name in on}
        key = (caller.name, id(bank), str(on.get("handle")))
        with self._lock:
            found = self._intakes.get(key)
            if found is None:
                found = self._intakes[key] = bank.sources.intake(**asked)
            self._intakes.move_to_end(key)
            while len(self._intakes) > INTAKES:
                self._intakes.popitem(last=False)
        return found

    def _written(
        self, owner: tuple[str, str], verb: str, function: Any, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        value, held = self._files.made_by(owner, lambda path: _called(verb, function, {**arguments, "path": path}))
        return {"value": encoded(value), **held}


class _Running:
    """One call: what it reports, and whether its caller still waits. `report` is called on any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, reports: bool) -> None:
        self.reports = reports
        self.asking = patience.Caller()
        self._loop = loop
        self._steps: asyncio.Queue[tuple[int, int]] = asyncio.Queue()

    def report(self, done: int, whole: int) -> None:
        """Pass a step on. Raise `ClosedError` if the caller has gone: a verb ends where it reports."""
        if self.asking.gone:
            raise ClosedError("the caller's connection")
        self._loop.call_soon_threadsafe(self._steps.put_nowait, (done, whole))

    async def is_done(self, task: asyncio.Task[Any]) -> bool:
        """Wait a little, and return whether the whole answer is there and nothing was reported."""
        if not self.reports:
            await asyncio.wait({task}, timeout=PATIENCE)
        return task.done() and self._steps.empty()

    async def lines(self, task: asyncio.Task[Any]) -> AsyncIterator[str]:
        """Yield the steps, empty lines meanwhile, and the answer."""
        try:
            while not task.done() or not self._steps.empty():
                step = asyncio.ensure_future(self._steps.get())
                done, _ = await asyncio.wait({task, step}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
                if step in done:
                    yield json.dumps({"progress": step.result()}) + "\n"
                    continue
                step.cancel()
                if not done:
                    yield "\n"
            yield json.dumps(_told(task)) + "\n"
        finally:
            self.asking.gone = True


def _told(task: asyncio.Task[Any]) -> Any:
    """Return the answer or the error of a task that has ended."""
    problem = task.exception()
    if problem is None:
        return task.result()
    if not isinstance(problem, PieriaError):
        log.error("a verb failed unexpectedly", exc_info=problem)
        problem = UnknownError(type(problem).__name__, hint="See the server's log for details.")
    return {"error": for_callers(problem).as_dict()}


def _note_lost(task: asyncio.Task[Any]) -> None:
    """Retrieve the error of a call whose caller has gone, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()


def _read(decoder: Decoder, told: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = decoder.value(told)
    except Unreadable as problem:
        raise InputError("arguments", "the values of verbs as JSON", None, hint=f"{problem}.") from problem
    if not isinstance(found, dict):
        raise InputError("arguments", "an object of arguments by name", None)
    return found


def _opened(host: Host, *, create: bool) -> dict[str, Any]:
    bank = host.having(begins=create).bank
    names = ("name", "who", "author", "author_type", "via", "secrets", "is_user_bank", "is_foreign", "zone")
    return {name: getattr(bank, name) for name in names}


def _fitting(arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """Return the arguments with the caller's own names of sessions, also within items and events."""
    if not caller.mark:
        return dict(arguments)
    return {name: _own_sessions(name, value, caller) for name, value in arguments.items()}


def _own_sessions(name: str, value: Any, caller: Caller) -> Any:
    if name == "session" and isinstance(value, str):
        return caller.own(value, name)
    if name == "session" and isinstance(value, list | tuple):
        return [caller.own(each, name) for each in value]
    if name in ("items", "events") and isinstance(value, list | tuple):
        return [_own_item(each, caller) for each in value]
    return value


def _own_item(item: Any, caller: Caller) -> Any:
    if isinstance(item, NewMemory):
        return replace(item, session=_own_sessions("session", item.session, caller))
    return _fitting(item, caller) if isinstance(item, Mapping) else item


def check_claims(verb: str, arguments: Mapping[str, Any], on: Mapping[str, Any], caller: Caller) -> None:
    """Raise `AccessError` for a text that claims a better way in than the token's, and for a trusted import."""
    if arguments.get("trusted") and caller.via != PERSON:
        raise AccessError("not_a_person", hint="Import it with a person's token, or without trusted.")
    if verb not in CLAIMING:
        return
    items = arguments.get("items", ())
    claims = [arguments.get("via"), on.get("via"), *(map(_claim, items) if isinstance(items, list | tuple) else ())]
    best = TRUST[caller.via]
    if any(isinstance(via, str) and TRUST.get(via, 0.0) > best for via in claims):
        raise AccessError("not_a_person", hint=f"Leave via out, or give one of a trust up to that of {caller.via}.")


def _claim(item: object) -> object:
    return item.get("via") if isinstance(item, Mapping) else getattr(item, "via", None)


def _but_the_user(covers: Any, bank: str) -> bool:
    return same_bank(bank) != USER_BANK and covers(bank)


def _reached(bank: Bank, path: str) -> Any:
    return operator.attrgetter(path)(bank) if path else bank


def _of_session(bank: Bank, id: str, name: str) -> Any:
    """Return the function for a verb of a session."""
    if name == "leave":
        return partial(_left, bank, id)
    if name == "is_over":
        return partial(_is_over, bank, id)
    session = bank.sessions.opened.get(id)
    return (lambda: getattr(session, name)) if f"session.{name}" in PROPERTIES else getattr(session, name)


def _left(bank: Bank, id: str, failed: bool) -> None:
    """End the block of a session, as `with` does."""
    if not _is_over(bank, id):
        error = RuntimeError("the block failed") if failed else None
        bank.sessions.opened.get(id).__exit__(type(error) if error else None, error, None)


def _is_over(bank: Bank, id: str) -> bool:
    try:
        return bank.sessions.opened.get(id).is_over
    except NotFoundError:
        return True


def _answer(verb: str, function: Any, arguments: Mapping[str, Any]) -> Any:
    value = _called(verb, function, arguments)
    if verb == "session":
        return value.id
    if hasattr(value, "placeless"):
        value = value.placeless()
    return encoded(value)


def _called(verb: str, function: Any, arguments: Mapping[str, Any]) -> Any:
    try:
        signature = inspect.signature(function)
        by_name(verb, signature, signature.bind(**arguments))
    except TypeError as problem:
        raise InputError("arguments", "those of the verb", None, hint=f"{problem}.") from problem
    return function(**arguments)
