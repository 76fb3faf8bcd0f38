"""How a memory is told in a context: on a line, or whole; each time with its age, its origin and its id.

Only our own words begin a line: whatever is a memory's stands behind a label or is indented, so that no text can pass
for a heading, another memory, or the end of the block.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from pieria.recall.answer import Overturned
from pieria.recall.snippet import snippet
from pieria.record.fence import inert
from pieria.record.memory import Memory
from pieria.record.procedure import purpose
from pieria.record.trust import RULING

TITLE, SENTENCE, PINNED, NAME = 90, 300, 400, 60
"""Characters of what stands on one line."""
CONDITION = 45
"""Of a title: what says when a procedure is for, so that there is room for what to do."""
WHOLE, EXCERPT = 1_600, 600
"""Characters of a text that is told whole; of a longer one there are so many."""
DOUBTED = 0.5
"""Of what is trusted less every line says so, and whose it is."""
FILES = 4
SEARCHED = 20_000
_HOUR, _DAY, _MONTH, _YEAR = 60, 60 * 24, 60 * 24 * 30, 60 * 24 * 365
_NO_TYPE = ("session",)


def on_one_line(text: str, length: int) -> str:
    return " ".join(inert(snippet(text, (), length=length)).split())


def title_of(memory: Memory) -> str:
    return on_one_line(memory.title or said_by(memory, CONDITION), TITLE)


def said_by(memory: Memory, length: int = WHOLE) -> str:
    """Its text; of a procedure before it what it is for, where the text does not say so itself."""
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
    """Its type where it has one, or else its kind."""
    type = memory.body.get("type")
    return _part(type) if isinstance(type, str) and type.strip() and type not in _NO_TYPE else memory.kind


def is_from_the_web(memory: Memory) -> bool:
    source = (memory.source or "").lower()
    return "://" in source or source.startswith("www.")


def index_line(memory: Memory, now: datetime, fails: Overturned | None = None) -> str:
    """Its line of the index; `fails` is what says that it holds no longer."""
    doubts = list(_origin(memory)) if memory.trust < DOUBTED or is_from_the_web(memory) else []
    return _line([age(memory.at, now), what(memory), *doubts, *_that(fails), _id(memory)], title_of(memory))


def attributed_line(
    memory: Memory, now: datetime, text: str, length: int, said: str | None = None, fails: Overturned | None = None
) -> str:
    """A line with who says so, for what counts for more than its neighbours."""
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
    """Everything it says or, where that is too much, the passage that bears on the question, or its beginning."""
    files = [_part(file) for file in memory.files[:FILES]]
    if more := len(memory.files) - len(files):
        files.append(f"{more} more files")
    about = [f"about {', '.join(files)}"] if files else []
    label = [age(memory.at, now), what(memory), *_origin(memory), *about, *_that(fails), _id(memory)]
    title = on_one_line(memory.title, TITLE) if memory.title else ""
    return "\n".join([_line(label, title), *(f"  {line}" for line in _told(memory, passage))])


def says_no_more(memory: Memory) -> bool:
    """Whether its line of the index holds all that it says."""
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
    """As it is where it looks like one; otherwise as JSON writes it, with nothing in it that would end a label."""
    return f"id {_spelt(memory.id)}"


def _spelt(id: str) -> str:
    plain = id.isascii() and id.isprintable() and not set(id) & set(' []"<>')
    return id if plain else json.dumps(id).translate(_ESCAPED)


def _part(text: str) -> str:
    """A part of a label, which only we may end."""
    return on_one_line(text, NAME).translate(_BRACKETS)


_BRACKETS = str.maketrans("[]·", "()-")
_ESCAPED = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "[]<>\x7f"})


def _line(parts: list[str], text: str) -> str:
    return f"- [{' · '.join(parts)}] {text}".rstrip()
