"""The user's own bank as other banks reach it, and how both are closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pieria.bank.core import Core
from pieria.record.banks import USER_BANK
from pieria.runtime.background import background
from pieria.workspace.locations import Place, no_user

if TYPE_CHECKING:
    from pieria.bank import Bank


class UserBank:
    """The user's own bank as one bank sees it: opened on demand, and read only if it exists."""

    def __init__(self, open_bank: Callable[[], Bank], place: Place) -> None:
        self._open_bank = open_bank
        self._place = place
        self._opened: dict[str, Bank] = {}

    def bank(self, create: bool) -> Bank | None:
        if create and not self._place.keeps_user:
            raise no_user("scope")
        held = self._opened.get(USER_BANK)
        if held is not None and held.core.store.is_over:
            # It was removed, maybe by another process.
            self._opened.pop(USER_BANK, None)
        if not self._opened and (create or self._place.has_user()):
            opened = self._open_bank()
            # Another thread may have opened it first; that bank is used.
            if self._opened.setdefault(USER_BANK, opened) is not opened:
                opened.close()
        return self._opened.get(USER_BANK)

    def core(self, create: bool) -> Core | None:
        bank = self.bank(create)
        return None if bank is None else bank.core

    def close(self) -> None:
        for bank in list(self._opened.values()):
            bank.close()


def nobody(create: bool) -> None:
    """Hide the user's own bank from a bank that must not reach it."""


def give_back(closing: Callable[[], None]) -> None:
    """Release a dropped bank in the background: garbage collection may run in any thread, in the middle of anything."""
    if not background.afterwards(closing):
        closing()


def close_both(user: UserBank, leave: Callable[[], None]) -> None:
    user.close()
    leave()
