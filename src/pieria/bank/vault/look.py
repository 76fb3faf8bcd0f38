"""Looks into the vault before a search, so that it finds notes that were written, edited or removed since.

A look reads the vault and writes to the bank. It writes no note: that is a sync's.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pieria.bank.vault.held import SETTLED
from pieria.bank.vault.marks import STATE, is_as, marks_in, others_in
from pieria.errors import PieriaError

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.vault.folder import Folder, Scan

OFTEN = timedelta(seconds=1)
"""The shortest time between two looks."""
WAITING = (
    "{:,} changed notes of the vault are not searched yet. The next search continues; `pieria vault sync` reads all."
)
MISSING = "The vault {} does not exist, so its notes were not searched."
FAILED = "The vault's changes were not read: {}."


class Looks:
    """The looks of one bank. `unread` is the message of the last one."""

    def __init__(self, bank: Bank, folder: Folder) -> None:
        self._bank = bank
        self._folder = folder
        self._at: datetime | None = None
        self._seen: Scan | None = None
        """The vault at the last look that saw all of it and after which nothing waited."""
        self._unread: str | None = None

    def look(self, seconds: float, *, begins: bool) -> str | None:
        """Take in what changed, for at most these seconds. Return what was not read and why, or None.

        Without `begins`, do nothing in a bank that never read the vault.
        """
        now = self._bank.clock()
        if self._at is not None and abs(now - self._at) < OFTEN:
            return self._unread
        if not begins and not self._has_begun():
            return None
        self._at = now
        if not self._folder.root.is_dir():
            self._unread = MISSING.format(self._folder.root)
            return self._unread
        try:
            self._unread = self._looked(seconds)
        except PieriaError as problem:
            self._unread = FAILED.format(problem.message)
        return self._unread

    def _has_begun(self) -> bool:
        with self._bank.core.reading() as reader:
            return bool(reader.records(STATE, "sync"))

    def _looked(self, seconds: float) -> str | None:
        from pieria.bank.vault.sync import Sync

        due = time.monotonic() + seconds
        if self._seen is not None and self._folder.is_still(self._seen):
            return None
        scan = self._folder.scan()
        unread = 0
        if self._has_changes(scan):
            with self._bank.vault._alone(dry_run=False):
                unread = Sync(self._bank, self._folder, dry_run=False, force=False, due=due).run(None).unread
        self._seen = scan if not (unread or scan.unseen) and _is_settled(scan) else None
        return WAITING.format(unread) if unread else None

    def _has_changes(self, scan: Scan) -> bool:
        with self._bank.core.reading() as reader:
            known = {mark["path"]: mark for mark in (*marks_in(reader).values(), *others_in(reader).values())}
            begun = bool(reader.records(STATE, "sync"))
        if not begun or any(path not in scan.notes and not scan.is_unseen(path) for path in known):
            return True
        return any(path not in known or not is_as(seen, known[path]) for path, seen in scan.notes.items())


def _is_settled(scan: Scan) -> bool:
    """Return whether no note or folder is so new that another change could have the same time."""
    return time.time_ns() - scan.newest() >= SETTLED
