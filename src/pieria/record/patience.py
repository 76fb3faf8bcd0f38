"""Whether whoever asked for something still waits for it: for what waits long, so that it does not wait for nobody.

A door whose callers may go away says so around the call; a call that nobody spoke for is waited for to its end. What
writes does not look here: it finishes what it has begun.
"""

from __future__ import annotations

from contextvars import ContextVar


class Caller:
    """Whoever asked. Any thread may say that they are gone."""

    __slots__ = ("gone",)

    def __init__(self) -> None:
        self.gone = False


caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def given_up() -> bool:
    asking = caller.get()
    return asking is not None and asking.gone
