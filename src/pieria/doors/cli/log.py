"""What the library logs while a command runs: its warnings are for the person at the command line, too."""

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
    """Passes on what is logged from now on: warnings, or everything. Whoever listened for a call before is let go."""
    logger = logging.getLogger("pieria")
    for handler in [handler for handler in logger.handlers if isinstance(handler, _Notes)]:
        logger.removeHandler(handler)
    logger.addHandler(_Notes(tell))
    logger.setLevel(logging.DEBUG if everything else logging.WARNING)
