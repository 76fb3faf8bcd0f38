"""The drain: hands what waits in the spool over to the banks it belongs to, and says what it has saved.

A line leaves the spool when the bank has it, never before. Whoever is killed between the two leaves it to the next
drain, which hands it over again; the bank knows it by its id. What an event becomes is the bank's business.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pieria.bank.jobs.worker import catch_up
from pieria.capture.notice import notify
from pieria.capture.spool import ANYWHERE, Batch, Claim, spool_of
from pieria.capture.spool_line import Told, told_by
from pieria.errors import Invalid, PieriaError, SealedError
from pieria.record.event import Event
from pieria.record.spool_seal import is_sealed
from pieria.record.trust import PERSON
from pieria.settings.source import ARGUMENT, PREFIX
from pieria.workspace import Workspace
from pieria.workspace.seal_keys import seal_of
from pieria.workspace.spool_pair import opened

if TYPE_CHECKING:
    from pieria.bank import Bank

log = logging.getLogger(__name__)

WHO = "capture"
RESTS = ("reply", "compact", "checkpoint", "end")
"""After which of them a session is said to be saved up to there."""
_THEIRS = {f"{PREFIX}{name}" for name in ("BANK", "SESSION", "CHANNEL", "AUTHOR", "AUTHOR_TYPE", "CAPTURE")}
"""What the environment of a drain says of itself, and not of the agents that it drains for."""


@dataclass(slots=True)
class Drained:
    """What became of events: as `bank.observe` counts them, and what was dropped or set aside before. `left` is true
    where some still wait; `banks` says how many are new in which."""

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
    """By which a bank is found: the folder that was worked in, and the bank its environment named."""

    folder: str
    bank: str | None


class Drain:
    """`embeds`: whether vectors are made of what is handed over. A process that ends soon leaves them to another.
    `distils`: whether it does what is due of distilling there, as long as it has time. A worker does that by itself.
    """

    def __init__(self, workspace: Workspace, *, embeds: bool = True, distils: bool = False) -> None:
        self.spool = spool_of(workspace)
        self._distils = distils
        self._open = partial(opened, self.spool.folder.parent, seal_of(workspace.resolved))
        self._reach = partial(_Reached, workspace, embeds)

    def drain(self, *, seconds: float | None = None, stopping: Callable[[], bool] = lambda: False) -> Drained:
        """Hands over what waits, until the time is up. What other drains hold is theirs.

        What a bank cannot take now waits, and keeps nothing of other banks waiting: why is raised in the end.
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
        """Each is said to be kept when the next is asked for."""
        for claim in claims:
            for batch in claim.batches():
                if is_over():
                    done.left = True
                    return
                yield batch
                claim.note(batch)

    def hand_over(self, told: Iterable[Told]) -> Drained:
        """Events that did not come through the spool. Raises what is wrong with one of them, or with its bank."""
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
        """Returns the lines that their banks cannot take now."""
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
        self, reached: _Reached, way: Way, events: list[Event], done: Drained, line_of: Mapping[str, bytes]
    ) -> None:
        """What is wrong with one of them sets that one aside."""
        try:
            self._save(reached, way, events, done)
        except Invalid:
            # One of them spoils the others: each alone says which.
            for event in events:
                try:
                    self._save(reached, way, [event], done)
                except Invalid as problem:
                    self._refuse(line_of[event.id], problem, done)

    def _refuse(self, line: bytes, problem: PieriaError, done: Drained) -> None:
        # Of what was sealed nothing is told in plain, and a message may hold some of it.
        said = problem.code if is_sealed(line) else problem.message
        log.warning("a captured event is set aside: %s", said)
        self.spool.refuse(line, said)
        done.refused += 1

    def _save(self, reached: _Reached, way: Way, events: list[Event], done: Drained) -> None:
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
    """The banks that events belong to, open as long as one drain lasts."""

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
        """None where nothing is captured. Raises what is wrong with the settings there, or with the bank."""
        if way not in self._open:
            self._open[way] = self._opened(way)
        return self._open[way][1]

    def banks(self) -> list[Bank]:
        """Those that are open."""
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

    def note_saved(self, way: Way, events: Iterable[Event]) -> int:
        """A checkpoint of every session that came to a rest here. Returns how many messages those have."""
        workspace, bank = self._open[way]
        assert bank is not None
        whole = 0
        for session in dict.fromkeys(event.session for event in events if event.what in RESTS):
            messages = bank.count(kinds="turn", session=session)
            with workspace.open(bank.name, session=session, who=WHO) as speaking:
                speaking.hooks.checkpoint(messages)
            whole += messages
        return whole


def _by_way(told: Iterable[Told]) -> dict[Way, list[Event]]:
    found: dict[Way, list[Event]] = {}
    for one in told:
        found.setdefault(Way(one.event.folder or ANYWHERE, one.bank), []).append(one.event)
    return found
