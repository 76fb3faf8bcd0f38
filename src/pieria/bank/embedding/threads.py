"""Call a model in another thread, so that the caller can stop waiting.

Threads are reused, because starting one may take longer than a fast model. They are daemons, so that no program waits
for a model at its end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from pieria import telemetry
from pieria.runtime import forks

KEPT = 2
Work = tuple[Future[Any], Callable[[], Any]]
_idle: list[SimpleQueue[Work]] = []
"""The queues of idle threads."""
forks.in_child(_idle.clear)


def asked(ask: Callable[[], Any]) -> Future[Any]:
    try:
        queue = _idle.pop()
    except IndexError:
        queue = SimpleQueue()
        threading.Thread(target=_answer, args=(queue,), name="pieria-question", daemon=True).start()
    replied: Future[Any] = Future()
    queue.put((replied, telemetry.carried(ask)))
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
