"""Rate limits for callers: requests a second, with some saved up for bursts."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from pieria.errors import LimitError

A_SECOND = 100.0
"""Default rate: requests a second of one caller."""
KNOWN = 10_000
"""Most callers remembered. The one unseen longest is dropped first, and later starts with a full allowance."""
HURRY = 2.0
"""Seconds of unused requests that a caller can save up."""


class Rate:
    """Limits requests by caller; a rate of None means no limit. Use it from one thread only."""

    def __init__(self, a_second: float | None, what: str, now: Callable[[], float] = time.monotonic) -> None:
        self._a_second = a_second
        self._what = what
        self._now = now
        self._stocks: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Use one request of the caller. Raise `LimitError` if there is none left."""
        if self._a_second is None:
            return
        left = self._left(caller)
        if left < 1:
            raise self._error(left)
        self._stocks[caller] = (left - 1, self._now())
        while len(self._stocks) > KNOWN:
            self._stocks.popitem(last=False)

    def _left(self, caller: str) -> float:
        assert self._a_second is not None
        most = max(1.0, HURRY * self._a_second)
        held, since = self._stocks.pop(caller, (most, self._now()))
        left = min(most, held + (self._now() - since) * self._a_second)
        self._stocks[caller] = (left, self._now())
        return left

    def _error(self, left: float) -> LimitError:
        assert self._a_second is not None
        return LimitError(self._what, f"{self._a_second:g} a second", math.ceil((1 - left) / self._a_second))
