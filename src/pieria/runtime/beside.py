"""Work in a thread of its own, whose result is waited for with or without a limit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from pieria import telemetry

log = logging.getLogger(__name__)
T = TypeVar("T")


def run_beside(ask: Callable[[], T], name: str) -> Future[T]:
    """Run `ask` in a daemon thread, or here if there is none. A model that hangs must not keep the process alive."""
    answer: Future[T] = Future()
    try:
        threading.Thread(target=fill, args=(answer, telemetry.carried(ask)), name=name, daemon=True).start()
    except RuntimeError as problem:
        log.info("what could run at once runs one after the other: %s", problem)
        fill(answer, ask)
    return answer


def fill(answer: Future[T], ask: Callable[[], T]) -> None:
    """Run `ask` here, and set its result or its exception."""
    try:
        answer.set_result(ask())
    except BaseException as problem:  # noqa: BLE001 - raised where the answer is asked for
        answer.set_exception(problem)
