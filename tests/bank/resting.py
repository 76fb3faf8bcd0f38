"""A background thread that has nothing to do but for the test that looks at it."""

import time

from pieria.bank.background import background

SOON = 15.0


def rested() -> None:
    """Whatever was to be done some time is dropped, what other tests left as well; a step under way is waited for."""
    ends = time.monotonic() + SOON
    while background._thread is not None:
        with background._changed:
            background._due.clear()
            background._changed.notify_all()
        assert time.monotonic() < ends, "the background does not come to rest"
        time.sleep(0.01)
