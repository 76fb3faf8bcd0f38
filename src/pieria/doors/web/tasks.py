"""Work that takes longer than a page should: begun by a form, followed by a page, done whether anybody looks or not."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pieria.doors.http.failures import for_callers
from pieria.errors import ConflictError, NotFoundError, PieriaError, UnknownError
from pieria.record.banks import same_bank
from pieria.record.ids import new_id

log = logging.getLogger(__name__)

KEPT, FILES = 100, 10
"""Tasks whose outcome is still told, and files that are still there; the oldest that is over is forgotten first."""
AT_ONCE = 4
LAST = 5.0
"""Seconds that what is under way has to come to an end when the server does."""
SOON = 0.5
"""Seconds that a page waits for what seldom takes longer, before it leads to where its progress is shown."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Made:
    """A file as the outcome of a task, to be fetched. Its folder goes when the task is forgotten."""

    path: Path
    kind: str
    folder: TemporaryDirectory[str]

    @property
    def size(self) -> int:
        return self.path.stat().st_size


@dataclass(slots=True)
class Task:
    """`owner` began it, and nobody else is shown it. `back` is where to go on from.

    `template` shows what it came to, which it is given as `outcome`; without one, that is told in words. Of what is
    `about` the same thing in a bank, one is under way at a time. `is_left` once whoever began it did not wait for it.
    """

    id: str
    owner: str
    bank: str
    title: str
    back: str
    template: str | None = None
    about: str | None = None
    done: int = 0
    whole: int = 0
    result: Any = None
    error: PieriaError | None = None
    begun: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    is_left: bool = False
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def is_of(self, bank: str) -> bool:
        """A bank's name is the same in any case."""
        return same_bank(self.bank) == same_bank(bank)

    def wait(self, seconds: float) -> bool:
        return self._over.wait(seconds)

    def report(self, done: int, whole: int) -> None:
        self.done, self.whole = done, whole

    def let_go(self) -> None:
        """What it made is not fetched any more."""
        if isinstance(self.result, Made):
            self.result.folder.cleanup()

    def run(self, work: Callable[[Progress], Any]) -> None:
        try:
            self.result = work(self.report)
        except PieriaError as problem:
            self.error = for_callers(problem)
        except Exception as problem:
            # The page carries no traceback; the log does.
            log.exception("%s in bank %s failed unexpectedly", self.title, self.bank)
            self.error = UnknownError(type(problem).__name__, hint="The server's log tells more.")
        finally:
            self.seconds = time.monotonic() - self.begun
            self._over.set()


class Tasks:
    """Those of one server. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._threads: list[threading.Thread] = []

    def begin(
        self,
        owner: str,
        bank: str,
        title: str,
        back: str,
        work: Callable[[Progress], Any],
        template: str | None = None,
        about: str | None = None,
    ) -> Task:
        """Whoever begins what they have under way already gets that. Raises `ConflictError` where another has it under
        way, and where as much as may be is.
        """
        task = Task(new_id(), owner, bank, title, back, template, about)
        thread = threading.Thread(target=task.run, args=(work,), name=f"pieria-web-{task.id}", daemon=True)
        with self._lock:
            same = self._under_way(bank, about)
            if same is not None and same.owner == owner:
                return same
            if same is not None:
                hint = "Somebody else has begun it. Look again when it is over."
                raise ConflictError(f"work on this {same.about} is under way", hint=hint)
            under_way = [each for each in self._tasks.values() if not each.is_over]
            if len(under_way) >= AT_ONCE:
                raise ConflictError(f"{AT_ONCE} tasks are under way", hint="Wait until one of them is over.")
            # First, since a system that gives no thread leaves nothing that anybody could wait for.
            thread.start()
            self._tasks[task.id] = task
            self._forget()
            self._threads = [each for each in self._threads if each.is_alive()]
            self._threads.append(thread)
        return task

    def over_soon(self, task: Task) -> bool:
        """Whether it is over at once. Then whoever began it shows what it came to, and it is forgotten: but not where
        it was begun before, by the same person, who was led to its page."""
        is_over = task.wait(SOON)
        with self._lock:
            if not is_over:
                task.is_left = True
            elif not task.is_left:
                self._tasks.pop(task.id, None)
        return is_over

    def _forget(self) -> None:
        """The lock is held."""
        over = [each for each in self._tasks.values() if each.is_over]
        with_file = [each for each in over if isinstance(each.result, Made)]
        for id in {each.id for each in (*over[: max(0, len(self._tasks) - KEPT)], *with_file[:-FILES])}:
            self._tasks.pop(id).let_go()

    def of(self, owner: str, bank: str) -> list[Task]:
        """What they have begun in the bank, the latest first."""
        with self._lock:
            found = [each for each in self._tasks.values() if each.is_of(bank) and each.owner == owner]
        return found[::-1]

    def under_way(self, bank: str, about: str) -> Task | None:
        """Whoever began it."""
        with self._lock:
            return self._under_way(bank, about)

    def _under_way(self, bank: str, about: str | None) -> Task | None:
        """The lock is held."""
        found = (each for each in self._tasks.values() if each.is_of(bank) and each.about == about and not each.is_over)
        return None if about is None else next(found, None)

    def found(self, id: str, owner: str, bank: str) -> Task:
        """Raises `NotFoundError` for one that is not the caller's, too."""
        with self._lock:
            task = self._tasks.get(id)
        if task is None or task.owner != owner or not task.is_of(bank):
            hint = "It was begun by another, was over long ago, or the server was started anew since."
            raise NotFoundError("task", id, hint=hint)
        return task

    def close(self, seconds: float = LAST) -> None:
        """Waits for what is under way, for so long: what it has written by then is whole."""
        until = time.monotonic() + seconds
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        with self._lock:
            for task in self._tasks.values():
                task.let_go()
