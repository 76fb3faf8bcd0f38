"""Whether the caller still waits for an answer, so that long waits can stop early.

A door sets `caller` around a call whose client may disconnect. Without it, a wait runs to its end. Writes must not
check this: they finish what they have begun.
"""

from __future__ import annotations

from contextvars import ContextVar


class Caller:
    """The client of a call. Any thread may set `gone`."""

    __slots__ = ("gone",)

    def __init__(self) -> None:
        self.gone = False


caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def given_up() -> bool:
    asking = caller.get()
    return asking is not None and asking.gone
