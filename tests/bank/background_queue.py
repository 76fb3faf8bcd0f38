"""A helper that empties the background thread's queue before a test watches it."""

from tests.waiting import soon

from pieria.runtime.background import background


def rested() -> None:
    """Drop all scheduled steps, those of other tests included. Wait for the running step to end."""

    def is_at_rest() -> bool:
        with background._lock:
            background._due.clear()
        background._woken.put(None)
        return background._thread is None

    soon(is_at_rest)
