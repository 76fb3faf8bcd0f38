"""Waiting for what another thread or process does. The limit only bounds a hang."""

import time
from collections.abc import Callable

SOON = 60.0


def soon(holds: Callable[[], object]) -> None:
    """Wait until this holds."""
    ends = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < ends, "it did not come to pass"
        time.sleep(0.01)
