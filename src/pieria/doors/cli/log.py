"""The library's log while a command runs: its warnings also go to the person at the command line."""

from __future__ import annotations

import logging
from collections.abc import Callable


class _Notes(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(record.getMessage())


def listen(tell: Callable[[str], None], *, everything: bool) -> None:
    """Pass on log records from now on: warnings, or all. The listener of an earlier call is removed."""
    logger = logging.getLogger("pieria")
    for handler in [handler for handler in logger.handlers if isinstance(handler, _Notes)]:
        logger.removeHandler(handler)
    logger.addHandler(_Notes(tell))
    logger.setLevel(logging.DEBUG if everything else logging.WARNING)
