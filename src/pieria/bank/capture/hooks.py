"""`bank.hooks`: the settings of programs that save automatically, and their checkpoints.

The bank keeps these records, so that hooks and an agent's tools in other processes agree:
- collection `hooks`, keys `silent_save` and `desktop_toast`: true or false; a missing key means the default;
- collection `checkpoints`, one key for each session (empty without one): `{"messages": 12, "at": "…Z"}`, written once
  the messages are on disk. The next one replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pieria.bank.core import Core
from pieria.errors import InputError
from pieria.record import check
from pieria.record.changeset import Changeset, Record
from pieria.record.reply import Reply
from pieria.record.time import iso

SETTINGS, CHECKPOINTS = "hooks", "checkpoints"


@dataclass(frozen=True, slots=True)
class HookSettings(Reply):
    """`silent_save`: save without telling the agent. `desktop_toast`: show a notice."""

    silent_save: bool = True
    desktop_toast: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The number of messages of a session saved at a time (ISO 8601)."""

    session: str | None
    messages: int
    at: str


class Hooks:
    def __init__(self, core: Core) -> None:
        self._core = core

    def settings(self) -> HookSettings:
        with self._core.reading() as reader:
            return HookSettings(**reader.records(SETTINGS))

    def set(self, *, silent_save: bool | None = None, desktop_toast: bool | None = None) -> HookSettings:
        """Change the given settings, and return all of them."""
        given = {"silent_save": silent_save, "desktop_toast": desktop_toast}
        wanted = {name: check.flag(value, name) for name, value in given.items() if value is not None}
        if not wanted:
            raise InputError("set", "at least one value to change", None)
        before = self.settings().as_dict()
        records = [Record(SETTINGS, name, value) for name, value in wanted.items() if value != before[name]]
        self._core.apply(lambda _: Changeset("hooks set", records=records))
        return self.settings()

    def checkpoint(self, messages: int) -> Checkpoint:
        """Record that this many messages of the bank's session are saved now."""
        check.whole(messages, "messages")
        session, now = self._core.viewer.session, iso(self._core.clock())
        record = Record(CHECKPOINTS, session or "", {"messages": messages, "at": now})
        # Do not name the session in the journal: it is private.
        self._core.apply(lambda _: Changeset("hooks checkpoint", records=[record], ids=(CHECKPOINTS,)))
        return Checkpoint(session, messages, now)

    def last(self) -> Checkpoint | None:
        """Return the latest checkpoint of any session."""
        with self._core.reading() as reader:
            held = reader.records(CHECKPOINTS)
        found = [Checkpoint(key or None, value["messages"], value["at"]) for key, value in held.items()]
        return max(found, key=lambda one: one.at, default=None)
