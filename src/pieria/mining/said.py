"""What readers of sources return: passages, turns, what they leave out, and problems.

Plain values between the readers and the miner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pieria.record.privacy import cut_private, redact

HUMAN, AGENT, SYSTEM = "human", "agent", "system"
USER, ASSISTANT = "user", "assistant"
"""Names of the two speakers in a conversation with an agent."""
SPEAKERS = {"user": (USER, HUMAN), "assistant": (ASSISTANT, AGENT)}
BY_SUB_AGENTS = "said to or by sub-agents"
BY_THE_HOST = "written by the host itself"
SHOWN = 160
"""Characters shown of an unreadable record."""


class Passage(NamedTuple):
    text: str


class Turn(NamedTuple):
    """One thing that was said. `unit` is unique within its format, wherever the source is stored."""

    unit: str
    session: str
    sequence: int
    author: str
    author_type: str
    text: str
    at: str | float | None = None
    title: str | None = None
    """Title of the conversation."""
    folder: str | None = None
    """Folder in which the agent worked."""
    channel: str | None = None
    files: tuple[str, ...] = ()


class Turns:
    """Builds the turns of an agent's session, in order. The files of its tool calls go with the next reply."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self._sequence = 0

    def turn(self, role: str, unit: str, session: str, text: str, at: Any, folder: str | None) -> Turn:
        files: tuple[str, ...] = ()
        if role == "assistant":
            files, self.files = tuple(self.files), {}
        self._sequence += 1
        return Turn(unit, session, self._sequence, *SPEAKERS[role], text, at, folder=folder, files=files)


class Left(NamedTuple):
    """Something that was left out on purpose."""

    reason: str


class Unseen(NamedTuple):
    """A file or folder that could not be read. Memories from it, and from below it, do not count as gone."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """An unreadable record; `record` is its number within the source, or None for the source as a whole."""

    record: int | None
    reason: str
    excerpt: str = ""
    source: str | None = None
    """The path, for a problem found before there was a source."""


Said = Passage | Turn | Left | Wrong
Heard = Callable[[int], None]
"""Called from time to time with the number of bytes read of a source."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source that can be read again. `size` and `changed` tell whether it may have changed.

    `listed`: its items have no ids, so the miner compares the whole list. `present`: it shows the current state, so
    what it no longer says has ended.
    """

    name: str
    format: str
    size: int
    changed: int
    """Time of change, in nanoseconds."""
    read: Callable[[Heard], Iterator[Said]]
    digest: Callable[[], str] | None = None
    title: str | None = None
    listed: bool = False
    present: bool = False


def unheard(_: int) -> None:
    """Ignore progress."""


def wrong(record: int | None, expected: str, value: Any = None) -> Wrong:
    """Return a problem with the unexpected value, shortened and without secrets."""
    return Wrong(record, f"expected {expected}", "" if value is None else excerpt(value))


def excerpt(value: Any) -> str:
    """Return the beginning of a record on one line. Secrets are removed first, since half a secret is not
    recognised.
    """
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    kept, _ = redact(cut_private(written[: 50 * SHOWN])[0])
    line = " ".join("".join(char if char.isprintable() else " " for char in kept).split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


def titled(name: object) -> str | None:
    """Return a conversation's title, if it has one."""
    return name if isinstance(name, str) and name.strip() else None


def clean(text: str) -> str:
    """Return a text that a bank can hold: without NUL characters, lone surrogates and blank ends."""
    if not text.isascii():
        # This joins surrogate pairs and replaces lone surrogates.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd").strip()


Found = Source | Wrong | Left | Unseen
"""What a search for sources yields."""
