"""Calls that a workspace makes in the background, each in a thread of its own. What they do is not known here."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from pieria.errors import InputError, PieriaError

log = logging.getLogger(__name__)

Callback = Callable[[Any], object]
"""Gets the result, or the error if there is none."""


def checked_callback(callback: object) -> None:
    if callback is not None and not callable(callback):
        raise InputError("callback", "a function that takes the result", callback)


def run_behind(what: str, run: Callable[[], Any], callback: Callback | None) -> None:
    """Run the call in the background and give its outcome to the callback; without one, log an error."""
    behind = partial(_heard, what, run, callback)
    try:
        threading.Thread(target=behind, name="pieria-behind", daemon=True).start()
    except RuntimeError as problem:
        log.info("%s runs in the calling thread, since no other could be started: %s", what, problem)
        behind()


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
