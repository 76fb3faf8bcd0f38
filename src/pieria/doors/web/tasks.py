"""Work that takes longer than a request should: begun by a form, shown on a page, finished even if no page watches."""

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
from pieria.runtime.calls import Calls

log = logging.getLogger(__name__)

KEPT, FILES = 100, 10
"""Most tasks and files kept; the oldest finished one is dropped first."""
AT_ONCE = 4
LAST = 5.0
"""Seconds that running tasks get to finish when the server stops."""
SOON = 0.5
"""Seconds that a request waits for usually short work before it shows the progress page."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Made:
    """A file as the result of a task. Its folder is deleted with the task."""

    path: Path
    kind: str
    folder: TemporaryDirectory[str]

    @property
    def size(self) -> int:
        return self.path.stat().st_size


@dataclass(slots=True)
class Task:
    """Only its `owner` sees it. `back` is the page to continue on.

    `template` shows the result, passed as `outcome`; without one, the result is shown in words. Only one task with the
    same `about` runs in a bank at a time. `is_left` is set once the owner did not wait for it.
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
        """Return whether the task is of this bank; names compare without case."""
        return same_bank(self.bank) == same_bank(bank)

    def wait(self, seconds: float) -> bool:
        return self._over.wait(seconds)

    def report(self, done: int, whole: int) -> None:
        self.done, self.whole = done, whole

    def let_go(self) -> None:
        """Delete the result's files."""
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
            self.error = UnknownError(type(problem).__name__, hint="See the server's log for details.")
        finally:
            self.seconds = time.monotonic() - self.begun
            self._over.set()


class Tasks:
    """The tasks of one server. Threads may share it."""

    def __init__(self, calls: Calls | None = None) -> None:
        """A running task is one of the `calls`."""
        self._calls = calls or Calls()
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
        """Begin the work and return its task, or the owner's running task on the same matter.

        Raise `ConflictError` if another owner runs it, or if too many tasks run.
        """
        task = Task(new_id(), owner, bank, title, back, template, about)
        thread = threading.Thread(target=self._run, args=(task, work), name=f"pieria-web-{task.id}", daemon=True)
        with self._lock:
            same = self._under_way(bank, about)
            if same is not None and same.owner == owner:
                return same
            if same is not None:
                hint = "Another user started it. Try again when it has ended."
                raise ConflictError(f"a task on the {same.about} is running", hint=hint)
            under_way = [each for each in self._tasks.values() if not each.is_over]
            if len(under_way) >= AT_ONCE:
                raise ConflictError(f"{AT_ONCE} tasks are running", hint="Wait until one of them has ended.")
            # Start first: if the system has no thread to give, the task must not be listed.
            thread.start()
            self._tasks[task.id] = task
            self._forget()
            self._threads = [each for each in self._threads if each.is_alive()]
            self._threads.append(thread)
        return task

    def _run(self, task: Task, work: Callable[[Progress], Any]) -> None:
        with self._calls.one():
            task.run(work)

    def over_soon(self, task: Task) -> bool:
        """Return whether the task ends within `SOON`.

        A task that does is forgotten, since its answer is shown at once. It is kept if the owner was already sent to
        its page.
        """
        is_over = task.wait(SOON)
        with self._lock:
            if not is_over:
                task.is_left = True
            elif not task.is_left:
                self._tasks.pop(task.id, None)
        return is_over

    def _forget(self) -> None:
        """Drop old tasks. The caller holds the lock."""
        over = [each for each in self._tasks.values() if each.is_over]
        with_file = [each for each in over if isinstance(each.result, Made)]
        for id in {each.id for each in (*over[: max(0, len(self._tasks) - KEPT)], *with_file[:-FILES])}:
            self._tasks.pop(id).let_go()

    def of(self, owner: str, bank: str) -> list[Task]:
        """Return the owner's tasks in the bank, latest first."""
        with self._lock:
            found = [each for each in self._tasks.values() if each.is_of(bank) and each.owner == owner]
        return found[::-1]

    def under_way(self, bank: str, about: str) -> Task | None:
        """Return the running task on this matter, if there is one."""
        with self._lock:
            return self._under_way(bank, about)

    def _under_way(self, bank: str, about: str | None) -> Task | None:
        """Return the running task on this matter. The caller holds the lock."""
        found = (each for each in self._tasks.values() if each.is_of(bank) and each.about == about and not each.is_over)
        return None if about is None else next(found, None)

    def found(self, id: str, owner: str, bank: str) -> Task:
        """Return the task. Raise `NotFoundError` if there is none, or if it is another owner's."""
        with self._lock:
            task = self._tasks.get(id)
        if task is None or task.owner != owner or not task.is_of(bank):
            hint = "Another user started it, it ended long ago, or the server has restarted since."
            raise NotFoundError("task", id, hint=hint)
        return task

    def close(self, seconds: float = LAST) -> None:
        """Wait up to `seconds` for running tasks, so that their writes complete."""
        until = time.monotonic() + seconds
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        with self._lock:
            for task in self._tasks.values():
                task.let_go()
