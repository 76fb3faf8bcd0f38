"""Asking a model in another thread, so that whoever waits for it can stop waiting.

Threads are used again: starting one takes longer than many a model that is a function takes to answer. They are
daemons, since no program should wait for a model at its end.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

KEPT = 2
Work = tuple[Future[Any], Callable[[], Any]]
_idle: list[SimpleQueue[Work]] = []
"""The queues of threads that have nothing to do."""


def asked(ask: Callable[[], Any]) -> Future[Any]:
    try:
        queue = _idle.pop()
    except IndexError:
        queue = SimpleQueue()
        threading.Thread(target=_answer, args=(queue,), name="pieria-question", daemon=True).start()
    replied: Future[Any] = Future()
    queue.put((replied, ask))
    return replied


def _answer(queue: SimpleQueue[Work]) -> None:
    while True:
        replied, ask = queue.get()
        try:
            result = ask()
        except BaseException as problem:  # noqa: BLE001 - raised again where the result is asked for
            replied.set_exception(problem)
        else:
            replied.set_result(result)
        del replied, ask
        if len(_idle) >= KEPT:
            return
        _idle.append(queue)


# Threads do not come along into a forked process.
os.register_at_fork(after_in_child=_idle.clear)
