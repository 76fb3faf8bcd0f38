"""Half of a long computation on a thread of its own: NumPy lets other threads work while it counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Result = TypeVar("Result")


def begin(work: Callable[[], Result]) -> Future[Result] | None:
    """None where the process is ending, and no thread takes work any more."""
    try:
        return _worker().submit(work)
    except RuntimeError:
        return None


@cache
def _worker() -> ThreadPoolExecutor:
    # A process that is ending cannot load it any more, and may open a bank even then.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="pieria-beside")


# Threads do not come along into a forked process.
os.register_at_fork(after_in_child=_worker.cache_clear)
