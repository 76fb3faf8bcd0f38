"""A helper that empties the background thread's queue before a test watches it."""

import time

from pieria.runtime.background import background

SOON = 15.0


def rested() -> None:
    """Drop all scheduled steps, those of other tests included. Wait for the running step to end."""
    ends = time.monotonic() + SOON
    while background._thread is not None:
        with background._lock:
            background._due.clear()
        background._woken.put(None)
        assert time.monotonic() < ends, "the background does not come to rest"
        time.sleep(0.01)
