"""What readers of sources tell: passages of files, turns of conversations, what they leave out, and what is wrong.

Plain values. How a source is read, and what becomes of what it says, is known on either side of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pieria.record.privacy import cut_private, redact

HUMAN, AGENT, SYSTEM = "human", "agent", "system"
USER, ASSISTANT = "user", "assistant"
"""What the speakers of a conversation with an agent are called, whoever they are."""
BY_SUB_AGENTS = "said to or by sub-agents"
SHOWN = 160
"""Characters that are shown of a record that cannot be read."""


class Passage(NamedTuple):
    text: str


class Turn(NamedTuple):
    """One thing that was said. `unit` tells it from all others of its format, wherever the source lies."""

    unit: str
    session: str
    sequence: int
    author: str
    author_type: str
    text: str
    at: str | float | None = None
    title: str | None = None
    """What the conversation is called."""
    folder: str | None = None
    """Where the agent worked."""
    channel: str | None = None
    files: tuple[str, ...] = ()


class Left(NamedTuple):
    """Something that is no turn and was left out on purpose."""

    reason: str


class Unseen(NamedTuple):
    """A file or folder that could not be looked at. What came from there, and from below, is not gone for that."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """A record that cannot be read; `record` is its number within the source, None where it is the source as such."""

    record: int | None
    reason: str
    excerpt: str = ""
    source: str | None = None
    """Where it is, for what was wrong before there was a source."""


Said = Passage | Turn | Left | Wrong
Heard = Callable[[int], None]
"""Is told now and then how many bytes of a source were read."""


@dataclass(frozen=True, slots=True)
class Source:
    """Something that can be read again. `size` and `changed` tell whether that may be worth it.

    `listed`: what it says has no names of its own, so that all of it together is what counts. A `present` source is a
    picture of how things are: what it does not say any more holds no longer.
    """

    name: str
    format: str
    size: int
    changed: int
    """When, in nanoseconds."""
    read: Callable[[Heard], Iterator[Said]]
    digest: Callable[[], str] | None = None
    title: str | None = None
    listed: bool = False
    present: bool = False


def unheard(_: int) -> None:
    """Stands for somebody to be told, where there is nobody."""


def wrong(record: int | None, expected: str, value: Any = None) -> Wrong:
    """The record that came instead of what was expected, shortened, and without what must not be shown."""
    return Wrong(record, f"expected {expected}", "" if value is None else excerpt(value))


def excerpt(value: Any) -> str:
    """The beginning of a record, on one line. Secrets are taken out of the whole first, since half of one is not
    recognised.
    """
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    kept, _ = redact(cut_private(written[: 50 * SHOWN])[0])
    line = " ".join("".join(char if char.isprintable() else " " for char in kept).split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


def clean(text: str) -> str:
    """As a bank can hold it: without NUL characters and halves of surrogate pairs, and without blank ends."""
    if not text.isascii():
        # Two halves become whole by this, and one alone a sign that something was there.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd").strip()


Found = Source | Wrong | Left | Unseen
"""What a search for sources tells."""
