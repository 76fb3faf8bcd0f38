"""Texts that a model refused: skipped for the life of this process, so that they do not block others."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from pieria.errors import PieriaError
from pieria.store.protocol import Pending, Reader

log = logging.getLogger(__name__)


class Refused:
    """The refused texts of one bank. The next process tries them again."""

    def __init__(self) -> None:
        self._why: dict[Pending, PieriaError] = {}

    def clear(self) -> None:
        self._why.clear()

    def add(self, refused: Mapping[Pending, PieriaError]) -> None:
        for item, problem in refused.items():
            log.warning("a %s of the memory in row %d is set aside: %s", item.what, item.row, problem.message)
        self._why |= refused

    def others(self, reader: Reader, most: int) -> list[Pending]:
        """Return pending texts without the refused ones."""
        return [item for item in reader.pending(most + len(self._why)) if item not in self._why][:most]

    @property
    def told(self) -> str | None:
        """The number of refused texts, and the reason for the last one."""
        if not self._why:
            return None
        last = list(self._why.values())[-1]
        return f"{len(self._why):,} texts were refused and are set aside: {last.message}"
