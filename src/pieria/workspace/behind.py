"""Calls that a workspace makes in the background, each in a thread of its own. What they do is not known here."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from pieria.errors import InputError, PieriaError
from pieria.runtime import forks

LAST_WRITES = 10.0
"""The most seconds that the end of the process waits for calls that must be finished."""

log = logging.getLogger(__name__)

Callback = Callable[[Any], object]
"""Gets the result, or the error if there is none."""


def checked_callback(callback: object) -> None:
    if callback is not None and not callable(callback):
        raise InputError("callback", "a function that takes the result", callback)


_unfinished: set[threading.Thread] = set()
forks.in_child(_unfinished.clear)


def run_behind(what: str, run: Callable[[], Any], callback: Callback | None, *, finish: bool = False) -> None:
    """Run the call in the background and give its outcome to the callback; without one, log an error.

    With `finish`, the end of the process waits for the call.
    """
    behind = partial(_heard, what, run, callback)
    thread = threading.Thread(
        target=partial(_finished, behind) if finish else behind, name="pieria-behind", daemon=True
    )
    if finish:
        _wait_at_the_end()
        _unfinished.add(thread)
    try:
        thread.start()
    except RuntimeError as problem:
        _unfinished.discard(thread)
        log.info("%s runs in the calling thread, since no other could be started: %s", what, problem)
        behind()


def _finished(behind: Callable[[], None]) -> None:
    try:
        behind()
    finally:
        _unfinished.discard(threading.current_thread())


@cache
def _wait_at_the_end() -> None:
    """Wait for the writes before the end of the process closes the banks: what is registered last comes first."""
    atexit.register(_finish)


def _finish() -> None:
    until = time.monotonic() + LAST_WRITES
    for thread in list(_unfinished):
        thread.join(max(0.0, until - time.monotonic()))
    if _unfinished:
        log.warning("%d writes in the background are lost: the process ends without them", len(_unfinished))


def _heard(what: str, run: Callable[[], Any], callback: Callback | None) -> None:
    outcome: Any
    try:
        outcome = run()
    except PieriaError as problem:
        if callback is None:
            log.warning("%s failed: %s", what, problem)
        outcome = problem
    except Exception as problem:
        log.exception("%s failed unexpectedly", what)
        outcome = problem
    if callback is None:
        return
    try:
        callback(outcome)
    except Exception:
        log.exception("a callback failed on the result of %s", what)
