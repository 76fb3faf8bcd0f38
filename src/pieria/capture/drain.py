"""The drain: stores the spool's lines in their banks and reports what it saved.

A line leaves the spool only after the bank has committed it. If a drain is killed in between, the next one repeats the
line, and the bank recognises its id. The bank decides what an event becomes.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pieria.bank.jobs.worker import catch_up
from pieria.capture.spool import ANYWHERE, Batch, Claim, spool_of
from pieria.capture.spool_line import Told, told_by
from pieria.errors import Invalid, PieriaError, SealedError
from pieria.record.event import AgentEvent
from pieria.record.spool_seal import is_sealed
from pieria.record.trust import PERSON
from pieria.settings.source import ARGUMENT, PREFIX
from pieria.workspace import Workspace
from pieria.workspace.seal_keys import seal_of
from pieria.workspace.spool_pair import opened

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.workspace import Workspace

log = logging.getLogger(__name__)

WHO = "capture"
RESTS = ("reply", "compact", "checkpoint", "end")
"""Events after which a session's messages count as saved."""
_THEIRS = {f"{PREFIX}{name}" for name in ("BANK", "SESSION", "CHANNEL", "AUTHOR", "AUTHOR_TYPE", "CAPTURE")}
"""Variables that describe the drain's own process, not the agents it drains for."""

NOTICE_SECONDS = 5.0
NOTICE_TITLE = "Pieria"

EVERY = 2.0
"""Seconds between two looks."""
AFTER_A_FAULT = 30.0
LAST = 1.0
"""Seconds that `close` waits for the running batch. Lines not stored by then stay in the spool."""


@dataclass(slots=True)
class Drained:
    """Counts of a drain: those of `bank.observe`, and events dropped or refused before. `left` is true if some still
    wait; `banks` counts the new events of each bank.
    """

    kept: int = 0
    turns: int = 0
    repeated: int = 0
    ignored: int = 0
    purged: int = 0
    dropped: int = 0
    refused: int = 0
    left: bool = False
    banks: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Way(NamedTuple):
    """What selects a bank: the working folder, and the bank named in the event's environment."""

    folder: str
    bank: str | None


class Drain:
    """Drains the spool. `embeds`: whether to embed the events; a short process leaves that to others.

    `distils`: whether to run distilling that is due, while time is left. A process with a worker does not need it.
    """

    def __init__(self, workspace: Workspace, *, embeds: bool = True, distils: bool = False) -> None:
        self.spool = spool_of(workspace)
        self._distils = distils
        self._open = partial(opened, self.spool.folder.parent, seal_of(workspace.resolved))
        self._reach = partial(_Reached, workspace, embeds)

    def drain(self, *, seconds: float | None = None, stopping: Callable[[], bool] = lambda: False) -> Drained:
        """Store what waits, until the time is up. Files held by other drains are skipped.

        If a bank cannot take its lines now, they go back to the spool and the other banks go on. The first error is
        raised at the end.
        """
        done = Drained()
        problems: list[PieriaError] = []
        end = None if seconds is None else time.monotonic() + seconds
        with self._reach() as reached, closing(self.spool.claims()) as claims:
            for batch in self._batches(
                claims, done, lambda: stopping() or (end is not None and time.monotonic() > end)
            ):
                stuck = self._hand_over(reached, batch.lines, done, problems)
                if stuck:
                    self.spool.put_back(stuck)
            if not done.left:
                self._distil(reached, end)
        if problems:
            raise problems[0]
        return done

    def _batches(self, claims: Iterable[Claim], done: Drained, is_over: Callable[[], bool]) -> Iterator[Batch]:
        """Yield the batches. Each is marked as stored when the next one is requested."""
        for claim in claims:
            for batch in claim.batches():
                if is_over():
                    done.left = True
                    return
                yield batch
                claim.note(batch)

    def hand_over(self, told: Iterable[Told]) -> Drained:
        """Store events that did not come through the spool. Raise the errors of an event or its bank."""
        done = Drained()
        with self._reach() as reached:
            for way, events in _by_way(told).items():
                self._save(reached, way, events, done)
            self._distil(reached, None)
        return done

    def _distil(self, reached: _Reached, end: float | None) -> None:
        for bank in reached.banks() if self._distils else ():
            catch_up(bank, None if end is None else end - time.monotonic())

    def _hand_over(
        self, reached: _Reached, lines: Iterable[bytes], done: Drained, problems: list[PieriaError]
    ) -> list[bytes]:
        """Store the lines and return those that their banks cannot take now."""
        stuck: list[bytes] = []
        read: list[Told] = []
        line_of: dict[str, bytes] = {}
        for line in lines:
            try:
                told = told_by(self._open(line))
            except SealedError as problem:
                problems.append(problem)
                stuck.append(line)
            except Invalid as problem:
                self._refuse(line, problem, done)
            else:
                read.append(told)
                line_of[told.event.id] = line
        for way, events in _by_way(read).items():
            try:
                self._save_well(reached, way, events, done, line_of)
            except PieriaError as problem:
                problems.append(problem)
                stuck += [line_of[event.id] for event in events]
        return stuck

    def _save_well(
        self, reached: _Reached, way: Way, events: list[AgentEvent], done: Drained, line_of: Mapping[str, bytes]
    ) -> None:
        """Store the events; an invalid one is set aside."""
        try:
            self._save(reached, way, events, done)
        except Invalid:
            # One invalid event fails the whole batch: find it by storing each alone.
            for event in events:
                try:
                    self._save(reached, way, [event], done)
                except Invalid as problem:
                    self._refuse(line_of[event.id], problem, done)

    def _refuse(self, line: bytes, problem: PieriaError, done: Drained) -> None:
        # An error message may quote the event, so do not log it for a sealed line.
        said = problem.code if is_sealed(line) else problem.message
        log.warning("a captured event is set aside: %s", said)
        self.spool.refuse(line, said)
        done.refused += 1

    def _save(self, reached: _Reached, way: Way, events: list[AgentEvent], done: Drained) -> None:
        bank = reached.bank(way)
        if bank is None:
            done.dropped += len(events)
            return
        observed = bank.observe(events)
        for name, number in observed.as_dict().items():
            setattr(done, name, getattr(done, name) + number)
        done.banks[bank.name] = done.banks.get(bank.name, 0) + observed.kept
        wanted = bank.hooks.settings()
        self.spool.note_asking({way.folder}, not wanted.silent_save)
        saved = reached.note_saved(way, events) if observed.turns else 0
        if saved and wanted.desktop_toast:
            notify(f"{saved:,} messages of {bank.name} are saved.")


class _Reached:
    """The banks that events belong to, open for one drain."""

    def __init__(self, workspace: Workspace, embeds: bool) -> None:
        data = workspace.resolved.settings.data
        given = workspace.resolved.origins["data"] == ARGUMENT
        self._data = None if not given else data if isinstance(data, Path) else data.url
        self._settings = {} if embeds else {"embedder": "none"}
        if workspace.resolved.origins["seal_key"] == ARGUMENT:
            self._settings["seal_key"] = str(workspace.resolved.settings.seal_key)
        self._clock = workspace.clock
        self._by_door = workspace.is_door
        self._stack = ExitStack()
        self._open: dict[Way, tuple[Workspace, Bank | None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def bank(self, way: Way) -> Bank | None:
        """Return the bank, or None if capture is off. Raise the errors of its settings or of opening it."""
        if way not in self._open:
            self._open[way] = self._opened(way)
        return self._open[way][1]

    def banks(self) -> list[Bank]:
        """Return the open banks."""
        return list({bank.name: bank for _, bank in self._open.values() if bank is not None}.values())

    def _opened(self, way: Way) -> tuple[Workspace, Bank | None]:
        environ = {name: value for name, value in os.environ.items() if name not in _THEIRS}
        if way.bank is not None:
            environ[f"{PREFIX}BANK"] = way.bank
        workspace = Workspace(
            self._data,
            self._settings,
            clock=self._clock,
            folder=way.folder,
            environ=environ,
            by_door=self._by_door,
        )
        self._stack.enter_context(workspace)
        return workspace, workspace.open(who=WHO, via=PERSON) if workspace.resolved.settings.capture else None

    def note_saved(self, way: Way, events: Iterable[AgentEvent]) -> int:
        """Write a checkpoint for each session that came to rest. Return the number of their messages."""
        workspace, bank = self._open[way]
        assert bank is not None
        whole = 0
        for session in dict.fromkeys(event.session for event in events if event.what in RESTS):
            messages = bank.count(kinds="turn", session=session)
            with workspace.open(bank.name, session=session, who=WHO) as speaking:
                speaking.hooks.checkpoint(messages)
            whole += messages
        return whole


def _by_way(told: Iterable[Told]) -> dict[Way, list[AgentEvent]]:
    found: dict[Way, list[AgentEvent]] = {}
    for one in told:
        found.setdefault(Way(one.event.folder or ANYWHERE, one.bank), []).append(one.event)
    return found


def notify(text: str) -> bool:
    """Show a notice. Return False if this machine has no tool for it, or the tool fails."""
    import subprocess

    command = _command(text)
    if command is None:
        log.info("no notice is shown: neither notify-send nor osascript was found")
        return False
    try:
        subprocess.run(command, check=True, timeout=NOTICE_SECONDS, capture_output=True)  # noqa: S603 - found just now
    except (OSError, subprocess.SubprocessError) as problem:
        log.warning("a notice could not be shown: %s", type(problem).__name__)
        return False
    return True


def _command(text: str) -> list[str] | None:
    """Return the command. The text is a separate argument, so no shell or script reads it."""
    from shutil import which

    if found := which("notify-send"):
        return [found, "--app-name", NOTICE_TITLE, "--", NOTICE_TITLE, text]
    if found := which("osascript"):
        script = 'on run told\ndisplay notification (item 1 of told) with title "Pieria"\nend run'
        return [found, "-e", script, text]
    return None


class DrainBehind:
    """A daemon thread that drains. It calls `told` with each result. `close` may be called twice."""

    def __init__(self, workspace: Workspace, told: Callable[[Drained], object] = lambda done: None) -> None:
        self._drain = Drain(workspace)
        self._told = told
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pieria-drain", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(LAST)

    def _run(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            pause = EVERY
            try:
                if self._drain.spool.is_waiting:
                    self._told(self._drain.drain(stopping=self._stop.is_set))
            except PieriaError as problem:
                log.warning("captured events wait for %d s: %s", AFTER_A_FAULT, problem.message)
                pause = AFTER_A_FAULT
            except Exception:
                # Nothing else restarts this thread. The spool stays intact if a drain fails.
                log.exception("draining the spool failed unexpectedly; next try in %d s", AFTER_A_FAULT)
                pause = AFTER_A_FAULT
