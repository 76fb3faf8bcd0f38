"""Runs half of a long computation on a second thread: NumPy releases the GIL while it computes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from pieria.runtime import forks

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Result = TypeVar("Result")


def begin(work: Callable[[], Result]) -> Future[Result] | None:
    """Start the work and return its future; None while the interpreter shuts down and threads take no work."""
    try:
        return _worker().submit(work)
    except RuntimeError:
        return None


@cache
def _worker() -> ThreadPoolExecutor:
    # Not imported at the top: while the interpreter shuts down the import fails, but a bank may still be opened.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="pieria-beside")


forks.in_child(_worker.cache_clear)
