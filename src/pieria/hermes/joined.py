"""An agent and its bank: opened once, shared by the agent's and background threads, closed with the agent.

Tasks of the queue run one after the other on a thread of its own, and the agent never waits for them.
"""

from __future__ import annotations

import atexit
import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.errors import PieriaError
from pieria.hermes.recall import Recalling
from pieria.runtime import forks
from pieria.toolsets import Banks, Host
from pieria.toolsets.host import paths_of_user
from pieria.workspace import Workspace

if TYPE_CHECKING:
    from pieria import Bank
    from pieria.bank.jobs.worker import Worker
    from pieria.hermes.options import Options


log = logging.getLogger(__name__)

PAUSES = (0.2, 1.0, 5.0)
"""Seconds before each retry of a temporary failure, such as a bank locked by another process."""
IDLE_SECONDS = 10.0
"""Seconds without a task after which the thread ends. The next task starts another."""
WHO = "hermes"
UNNAMED = "user"
"""Name of a person whom the host does not name."""
LAST_SECONDS = 5.0
_open: weakref.WeakSet[Joined] = weakref.WeakSet()
forks.in_child(_open.clear)


@dataclass(frozen=True, slots=True)
class Task:
    what: str
    do: Callable[[], object]


class Behind:
    """A thread-safe queue with one daemon thread, which runs only while there are tasks."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: deque[Task] = deque()
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, what: str, do: Callable[[], object]) -> bool:
        """Queue a task. Return False if it is dropped: the queue is closed, or no thread can be started."""
        with self._changed:
            if self._closed:
                log.warning("%s: too late, the provider was shut down", what)
                return False
            if self._thread is None and not self._has_begun(what):
                return False
            self._waiting.append(Task(what, do))
            self._changed.notify_all()
            return True

    def _has_begun(self, what: str) -> bool:
        """Start the thread, and return whether that worked. It takes tasks once the lock is free; the next task tries
        again.
        """
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError as problem:
            log.warning("%s: not done, for %s", what, problem)
            return False
        self._thread = thread
        return True

    def flush(self, seconds: float) -> int:
        """Wait for all queued tasks. Return how many are left when the time is up."""
        with self._changed:
            if threading.current_thread() is not self._thread:
                self._changed.wait_for(lambda: not self._waiting and not self._busy, seconds)
            return len(self._waiting) + self._busy

    def close(self, seconds: float) -> int:
        """Accept no more tasks and wait as `flush` does. Safe to call twice."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        left = self.flush(seconds)
        with self._changed:
            self._waiting.clear()
        return left

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed, IDLE_SECONDS)
                if not self._waiting:
                    self._thread = None
                    return
                task = self._waiting.popleft()
                self._busy = True
            try:
                self._do(task)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _do(self, task: Task) -> None:
        for pause in (*PAUSES, None):
            try:
                task.do()
            except PieriaError as problem:
                if problem.retryable and pause is not None and not self._closed:
                    with self._changed:
                        self._changed.wait_for(lambda: self._closed, pause)
                    continue
                log.warning("%s: %s", task.what, problem)
            except Exception:
                log.exception("%s failed unexpectedly", task.what)
            return


@dataclass(frozen=True, slots=True)
class Agent:
    """What the host says about the agent and the person."""

    name: str
    profile: str
    platform: str
    human: str
    user: str
    channel: str | None
    primary: bool
    """Whether a person talks to the agent. Turns of scheduled and other runs are not stored."""


def agent_of(said: Mapping[str, Any]) -> Agent:
    def text(name: str) -> str:
        value = said.get(name)
        return "" if value is None else str(value).strip()

    profile, platform, chat = text("agent_identity"), text("platform"), text("chat_id")
    return Agent(
        name=profile if profile not in ("", "default") else "hermes",
        profile=profile,
        platform=platform,
        human=text("user_name") or text("user_id") or UNNAMED,
        user=text("user_id"),
        channel=f"{platform}:{chat}" if chat else None,
        primary=text("agent_context") in ("", "primary"),
    )


class Joined:
    """The agent's workspace and threads. Errors of opening a workspace are raised; the bank is opened on first use."""

    def __init__(self, agent: Agent, options: Options) -> None:
        self.agent = agent
        self.options = options
        bank = options.bank_for(agent.profile, agent.platform, agent.user)
        speaker = {"channel": agent.channel, "author": agent.name, "author_type": "agent"}
        workspace = Workspace(options.data, {"bank": bank, **speaker}, by_door=True)
        self.banks = Banks(workspace, WHO)
        self.bank_name = workspace.resolved.settings.bank
        self._paths = paths_of_user(workspace)
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._ended = False
        self.behind = Behind("pieria-hermes-keep")
        self.recalling = Recalling(self.opened, options)
        _open.add(self)

    def host(self, session: str) -> Host:
        return Host(self.banks, self.bank_name, session, self._paths)

    def opened(self, session: str) -> Bank:
        with self.banks.calls.one():
            return self.banks.opened(self.bank_name, session)

    def note_saved(self, session: str) -> None:
        """Report how many turns of the session are stored, as hooks of other hosts do."""
        bank = self.opened(session)
        if turns := bank.count(kinds="turn", session=session):
            bank.hooks.checkpoint(turns)

    def queue_sleep(self, session: str) -> None:
        self.opened(session).upkeep.sleep_later()

    def begin_work(self) -> None:
        """Run due jobs of the opened banks on a thread until the agent ends. The next process runs those that are
        left.
        """
        worker = self.banks.worker(sleeps=self.options.sleep)
        with self._lock:
            if not self._ended:
                self._worker = worker
                worker.start()

    def close(self, seconds: float) -> None:
        """Finish queued tasks within these seconds. Safe to call twice."""
        left = self.behind.close(seconds)
        if left:
            log.warning("%s things were not kept: the bank was not ready within %g s", left, seconds)
        with self._lock:
            self._ended = True
        if self._worker is not None:
            self._worker.close()
        self.banks.close()


@atexit.register
def _close_all() -> None:
    """Store the queued turns of an agent that ends without a shutdown."""
    for joined in list(_open):
        joined.close(LAST_SECONDS)
