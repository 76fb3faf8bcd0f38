"""`bank.hooks`: what programs that save by themselves go by, and what they last saved.

Records of the bank, so that a hook and an agent's tools, which are different processes, speak of the same thing:

- collection `hooks`, keys `silent_save` and `desktop_toast`: true or false; one that is not there is as by default;
- collection `checkpoints`, a key for each session (empty where there is none): `{"messages": 12, "at": "…Z"}`, written
  once what it tells of is on the disk. The next one takes its place; to read it changes nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pieria.bank.core import Core
from pieria.errors import InputError
from pieria.record import check
from pieria.record.changeset import Changeset, Record
from pieria.record.time import iso

SETTINGS, CHECKPOINTS = "hooks", "checkpoints"


@dataclass(frozen=True, slots=True)
class HookSettings:
    """`silent_save`: save without a word to the agent; otherwise it is told to. `desktop_toast`: show a notice."""

    silent_save: bool = True
    desktop_toast: bool = False

    def as_dict(self) -> dict[str, bool]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """So many messages of a session were saved at this time (ISO 8601)."""

    session: str | None
    messages: int
    at: str


class Hooks:
    def __init__(self, core: Core) -> None:
        self._core = core

    def settings(self) -> HookSettings:
        with self._core._reading() as reader:
            return HookSettings(**reader.records(SETTINGS))

    def set(self, *, silent_save: bool | None = None, desktop_toast: bool | None = None) -> HookSettings:
        """Changes what is given, and returns what holds now."""
        given = {"silent_save": silent_save, "desktop_toast": desktop_toast}
        wanted = {name: check.flag(value, name) for name, value in given.items() if value is not None}
        if not wanted:
            raise InputError("set", "at least one value to change", None)
        before = self.settings().as_dict()
        records = [Record(SETTINGS, name, value) for name, value in wanted.items() if value != before[name]]
        self._core._apply(lambda _: Changeset("hooks set", records=records))
        return self.settings()

    def checkpoint(self, messages: int) -> Checkpoint:
        """Says that so many messages of this bank's session are saved now."""
        check.whole(messages, "messages")
        session, now = self._core.viewer.session, iso(self._core.clock())
        record = Record(CHECKPOINTS, session or "", {"messages": messages, "at": now})
        # Whose session it is, is its own business.
        self._core._apply(lambda _: Changeset("hooks checkpoint", records=[record], ids=(CHECKPOINTS,)))
        return Checkpoint(session, messages, now)

    def last(self) -> Checkpoint | None:
        """The latest checkpoint, of whichever session."""
        with self._core._reading() as reader:
            held = reader.records(CHECKPOINTS)
        found = [Checkpoint(key or None, value["messages"], value["at"]) for key, value in held.items()]
        return max(found, key=lambda one: one.at, default=None)
