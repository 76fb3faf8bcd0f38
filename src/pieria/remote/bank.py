"""The `Bank` behind HTTP: the verbs of the embedded one, sent to a server one by one."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from pieria.bank import Bank
from pieria.bank.transfer.files import OPEN, backup_target, export_target, source_of
from pieria.errors import ClosedError, InputError, TransferError, UnavailableError, UnreachableError
from pieria.record import check
from pieria.record.json_text import parsed
from pieria.record.time import Clock
from pieria.remote.calls import Calls, Sent, Speaker, bound
from pieria.remote.classes import GROUP_CLASSES, group, verbs_of
from pieria.remote.connection import CHUNK, UNSURE, Connection
from pieria.remote.errors import error_of
from pieria.remote.session import RemoteSession
from pieria.transfer.file import Aside

if TYPE_CHECKING:
    from pieria.bank.core import Core
    from pieria.bank.results.transfer import ExportReport, ImportReport
    from pieria.record.changeset import Change
    from pieria.sessions import Session
    from pieria.store.protocol import Progress

LONGEST_WAIT = 86_400.0
STREAM_SECONDS = 5.0
"""Longest life of one stream of events, so that a bank that is closed meanwhile is noticed."""
PAGE = 1_000
_VALUES = ("name", "who", "author", "author_type", "via", "secrets", "is_user_bank", "is_foreign")
BEHIND = "the bank is behind HTTP"


@dataclass(frozen=True, slots=True)
class Behind:
    """What a bank behind HTTP needs of its workspace."""

    connection: Connection
    data: Path
    clock: Clock


class BankBehind(Bank):
    """The parts of a bank that are not a plain call: files, sessions, and the stream of changes."""

    _on: Mapping[str, Any] | None = None

    def __init__(self, at: Behind, name: str, speaker: Speaker, *, create: bool) -> None:
        self._calls = Calls(at.connection, name, speaker)
        try:
            told = self._calls.value(self._calls.send("values", {"create": create}))
        except BaseException:
            self._calls.close()
            raise
        for value in _VALUES:
            setattr(self, value, told[value])
        self._calls.bank = self.name
        self._zone: tzinfo = told["zone"]
        self.is_remote = True
        self.data = at.data
        self.clock = at.clock

    def __repr__(self) -> str:
        return f"<Bank {self.name} at {self._calls.connection.address}{' (closed)' if self._calls.is_closed else ''}>"

    @property
    def core(self) -> Core:
        raise UnavailableError("core", BEHIND, hint="Use the verbs of the bank.")

    @property
    def zone(self) -> tzinfo:
        self._calls.check_open()
        return self._zone

    def session(self, *args: Any, **kwargs: Any) -> Session:
        given = bound(Bank.session, "session", args, kwargs)
        return cast("Session", RemoteSession(self._calls, self._calls.value(self._calls.send("session", given))))

    # --- files

    def export(self, path: str | Path, *, progress: Progress | None = None) -> ExportReport:
        self._calls.check_open()
        target = export_target(self.name, self.clock(), path)
        report = cast("ExportReport", self._fetched("export", target, progress))
        return replace(report, path=target)

    def backup(self, path: str | Path, *, progress: Progress | None = None) -> Path:
        self._calls.check_open()
        target = backup_target(self.name, self.clock(), path)
        self._fetched("backup", target, progress)
        return target

    def _fetched(self, verb: str, target: Path, progress: Progress | None) -> object:
        """Write the file of a verb, and return the verb's value. The file gets its name when it is complete."""
        calls = self._calls
        with Aside(target, verb) as file:
            answer = calls.send(verb, {}, progress=progress)
            for chunk in calls.connection.download(calls.bank, answer["file"]):
                file.write(chunk)
            if file.bytes != answer["bytes"]:
                reason = f"{file.bytes:,} of {answer['bytes']:,} bytes arrived; {target} was not written"
                raise UnreachableError(verb, reason, hint=UNSURE)
            file.keep()
        return calls.value(answer)

    def import_(self, *args: Any, **kwargs: Any) -> ImportReport:
        given = bound(Bank.import_, "import_", args, kwargs)
        progress, path = given.pop("progress", None), given.pop("path")
        calls = self._calls
        calls.check_open()
        with source_of(path) as source:
            given["path"] = Sent({"$upload": calls.connection.upload(calls.bank, source.chunks(CHUNK))})
            try:
                answer = calls.send("import_", given, progress=progress)
            except TransferError as problem:
                raise problem.of(str(source.path)) from problem
        report = cast("ImportReport", calls.value(answer))
        return replace(report, path=Path(OPEN) if isinstance(path, BufferedIOBase) else source.path)

    # --- the stream of changes

    def wait(self, since: int, seconds: float) -> bool:
        check.whole(since, "since")
        until = time.monotonic() + check.number(seconds, "seconds", 0.0, LONGEST_WAIT)
        if self.changes(since, 1):
            return True
        while (left := until - time.monotonic()) > 0:
            self._calls.check_open()
            if self._came(since, min(left, STREAM_SECONDS)):
                return True
        return False

    def follow(self, since: int | None = None, *, seconds: float | None = None) -> Iterator[Change]:
        begun = time.monotonic()
        until = math.inf if seconds is None else begun + check.number(seconds, "seconds", 0.0, LONGEST_WAIT)
        newest = self.changes(last=1)
        head = newest[0].seq if newest else 0
        if since is not None and check.whole(since, "since") > head:
            raise InputError("since", f"a number up to {head}", since, hint="The number is from another bank.")
        return self._followed(head if since is None else since, until)

    def _followed(self, since: int, until: float) -> Iterator[Change]:
        while True:
            try:
                found = self.changes(since, PAGE)
            except ClosedError:
                return
            for change in found:
                since = change.seq
                yield change
            left = until - time.monotonic()
            if left <= 0:
                return
            with suppress(ClosedError):
                self.wait(since, min(left, LONGEST_WAIT))

    def _came(self, since: int, seconds: float) -> bool:
        """Listen for some seconds, and return whether the bank has changed."""
        bank = quote(self._calls.bank, safe="")
        path = f"/v1/events?bank={bank}&since={since}&seconds={math.ceil(seconds)}"
        with self._calls.connection.events(path, seconds) as lines:
            kind = ""
            for line in lines:
                name, _, value = line.partition(": ")
                kind = value if name == "event" else kind
                if name == "data" and kind == "error":
                    raise error_of(parsed(value)["error"])
                if name == "data" and kind in ("change", "reset"):
                    return kind == "change"
        return False

    def close(self) -> None:
        """Close this object. The bank stays open on the server, and so do its sessions."""
        self._calls.close()


def _members() -> dict[str, Any]:
    own = vars(BankBehind)
    sent = {name: member for name, member in verbs_of(Bank, "").items() if name not in own}
    return sent | {name: group(name, kind) for name, kind in GROUP_CLASSES.items()}


RemoteBank: Any = type("Bank", (BankBehind,), {"__module__": __name__, "__doc__": Bank.__doc__, **_members()})
"""A bank whose verbs are sent."""
