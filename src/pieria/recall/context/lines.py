"""How a context shows a memory: on one line or whole, each time with its age, its origin and its id.

Only our own text begins a line. A memory's text follows a label or is indented. So it cannot pass for a heading,
another memory, or the end of the block.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from pieria.recall.answer import Overturned
from pieria.recall.snippet import snippet
from pieria.record.fence import inert
from pieria.record.lesson import purpose
from pieria.record.memory import Memory
from pieria.record.trust import RULING

TITLE, SENTENCE, PINNED, NAME = 90, 300, 400, 60
"""Most characters of each text on a line."""
CONDITION = 45
"""Characters of a title for the condition of a procedure, which leaves room for the action."""
WHOLE, EXCERPT = 1_600, 600
"""Longest text shown whole, and length of the excerpt from a longer one, in characters."""
DOUBTED = 0.5
"""Below this trust every line names the author and the trust."""
FILES = 4
SEARCHED = 20_000
_HOUR, _DAY, _MONTH, _YEAR = 60, 60 * 24, 60 * 24 * 30, 60 * 24 * 365
_NO_TYPE = ("session",)


def on_one_line(text: str, length: int) -> str:
    return " ".join(inert(snippet(text, (), length=length)).split())


def title_of(memory: Memory) -> str:
    return on_one_line(memory.title or said_by(memory, CONDITION), TITLE)


def said_by(memory: Memory, length: int = WHOLE) -> str:
    """Return its text, for a procedure preceded by its purpose unless the text states it."""
    condition = purpose(memory)
    return memory.text if condition is None else f"{on_one_line(condition, length)} → {memory.text}"


def age(at: datetime, now: datetime) -> str:
    minutes = max(0, int((now - at).total_seconds() // 60))
    if minutes < _HOUR:
        return f"{minutes}min"
    if minutes < 2 * _DAY:
        return f"{minutes // _HOUR}h"
    if minutes < 2 * _MONTH:
        return f"{minutes // _DAY}d"
    return f"{minutes // _MONTH}mo" if minutes < 2 * _YEAR else f"{minutes // _YEAR}y"


def what(memory: Memory) -> str:
    """Return its type, or its kind if it has none."""
    type = memory.body.get("type")
    return _part(type) if isinstance(type, str) and type.strip() and type not in _NO_TYPE else memory.kind


def is_from_the_web(memory: Memory) -> bool:
    source = (memory.source or "").lower()
    return "://" in source or source.startswith("www.")


def index_line(memory: Memory, now: datetime, fails: Overturned | None = None) -> str:
    """Return its line in the index; `fails` is what overturns it."""
    doubts = list(_origin(memory)) if memory.trust < DOUBTED or is_from_the_web(memory) else []
    return _line([age(memory.at, now), what(memory), *doubts, *_that(fails), _id(memory)], title_of(memory))


def attributed_line(
    memory: Memory, now: datetime, text: str, length: int, said: str | None = None, fails: Overturned | None = None
) -> str:
    """Return a line with the author, for memories that weigh more than their neighbours."""
    parts = [age(memory.at, now), said or what(memory), *_origin(memory), *_that(fails), _id(memory)]
    return _line(parts, on_one_line(text, length))


def checkpoint_line(session: str | None, messages: int, at: datetime, now: datetime) -> str:
    whose = f" of session {_part(session)}" if session else ""
    return _line([age(at, now), "checkpoint"], f"{messages:,} messages{whose} were saved")


def waiting_line(count: int) -> str:
    what = "lesson waits" if count == 1 else "lessons wait"
    return _line(["undecided"], f"{count:,} {what} for a person to accept or decline: pieria upkeep proposals")


def rules_waiting_line(count: int) -> str:
    what = "rule waits" if count == 1 else "rules wait"
    return _line(["undecided"], f"{count:,} {what} for a person to accept or decline: pieria rules")


def whole(memory: Memory, now: datetime, passage: str | None = None, fails: Overturned | None = None) -> str:
    """Return the whole memory. Of a long one show the passage that answers, or the beginning."""
    files = [_part(file) for file in memory.files[:FILES]]
    if more := len(memory.files) - len(files):
        files.append(f"{more} more files")
    about = [f"about {', '.join(files)}"] if files else []
    label = [age(memory.at, now), what(memory), *_origin(memory), *about, *_that(fails), _id(memory)]
    told = list(_told(memory, passage))
    title = on_one_line(memory.title, TITLE) if memory.title else ""
    if title and _holds(told[0], title):
        return "\n".join([_line(label, told[0]), *(f"  {line}" for line in told[1:])])
    return "\n".join([_line(label, title), *(f"  {line}" for line in told)])


def _holds(text: str, title: str) -> bool:
    """Return whether the text has the words of the title, perhaps cut off."""
    return title.removesuffix("…").rstrip(" .").casefold() in text.casefold()


def says_no_more(memory: Memory) -> bool:
    """Return whether its index line holds everything it says."""
    return memory.title is None and " ".join(inert(said_by(memory)).split()) == title_of(memory)


def _told(memory: Memory, passage: str | None) -> Iterator[str]:
    text = said_by(memory).strip()
    if len(text) > WHOLE:
        shown = passage or snippet(text, (), length=EXCERPT)
        yield " ".join(inert(shown).split())
        yield f"(part of {len(text):,} characters; the id opens all of it)"
    else:
        yield from (line.rstrip() for line in inert(text).split("\n") if line.strip())


def _origin(memory: Memory) -> Iterator[str]:
    kind = memory.author_type or "author unknown"
    if memory.author_type == "human" and memory.via not in RULING:
        kind = "human, as claimed"
    yield f"{_part(memory.author)} ({kind})" if memory.author else kind
    if memory.source:
        yield f"from {_part(memory.source)}"
    yield f"trust {memory.trust:g}"


def _that(fails: Overturned | None) -> list[str]:
    if fails is None:
        return []
    day = fails.at.date().isoformat()
    return [f"no longer so since {day}" if fails.by is None else f"overturned {day} by {_spelt(fails.by)}"]


def _id(memory: Memory) -> str:
    """Return the id verbatim if it is plain. Otherwise encode it as JSON, without characters that could end a label."""
    return f"id {_spelt(memory.id)}"


def _spelt(id: str) -> str:
    plain = id.isascii() and id.isprintable() and not set(id) & set(' []"<>')
    return id if plain else json.dumps(id).translate(_ESCAPED)


def _part(text: str) -> str:
    """Return text for a label, without characters that could end the label."""
    return on_one_line(text, NAME).translate(_BRACKETS)


_BRACKETS = str.maketrans("[]·", "()-")
_ESCAPED = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "[]<>\x7f"})


def _line(parts: list[str], text: str) -> str:
    return f"- [{' · '.join(parts)}] {text}".rstrip()
