"""Drafts: check the values of `remember` and turn them into stored form. Rows come from no other source.

A check reports all problems of a draft together, before anything is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, tzinfo
from difflib import get_close_matches
from typing import Any, NamedTuple

from pieria.errors import InputError
from pieria.record import check
from pieria.record.changeset import NewVector
from pieria.record.memory import AUTHOR_TYPES, EMPTY, KINDS, SCOPES, End, nothing
from pieria.record.time import instant, micros
from pieria.record.trust import GIVEN

Instant = date | str | float
"""Accepted forms of a time: a datetime, a date, ISO 8601 text, seconds since the epoch."""

BODIES: dict[str, dict[str, type | tuple[type, ...]]] = {
    "observation": {"type": str, "subtitle": str, "facts": list, "discovery_tokens": int},
    "episodic": {"observation": str, "action": str, "state": str, "subgoal": str, "reward": (int, float)},
    "semantic": {"proposition": str},
    "procedural": {"instruction": str, "condition": str, "expected_outcome": str, "return_score": (int, float)},
    "subgoal": {"parent_goal": str},
    "source": {"episode_id": str, "step_index": int},
    "diary": {"topic": str},
}
"""Body fields with a fixed meaning, by kind, and their types. A body may hold other fields."""


@dataclass(slots=True)
class NewMemory:
    """The arguments of `remember`, under the same names."""

    text: str
    id: str | None = None
    title: str | None = None
    kind: str = "note"
    body: Mapping[str, Any] = field(default_factory=nothing)
    tags: Collection[str] = ()
    entities: Collection[str] = ()
    files: Collection[str] = ()
    importance: float = 0.5
    confidence: float | None = None
    strength: float = 1.0
    scope: str = "bank"
    source: str | None = None
    context: str | None = None
    author: str | None = None
    author_type: str | None = None
    channel: str | None = None
    session: str | None = None
    sequence: int | None = None
    place: str | End | None = None
    at: Instant | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    pinned: bool = False
    meta: Mapping[str, Any] = field(default_factory=nothing)
    vectors: object = None
    unless_exists: str | None = None
    extract: bool = False
    via: str | None = None
    """How it came in. None means: the way the bank was opened. Doors must not take it from a caller."""


class NewFact(NamedTuple):
    """A fact of another system."""

    id: str
    subject: str
    predicate: str
    object: str
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    confidence: float | None = None
    memory: str | None = None
    """The memory that it was drawn from."""
    source: str | None = None
    at: Instant | None = None
    """When it was stated."""
    author: str | None = None


class NewLink(NamedTuple):
    """A link of another system, between memories or places."""

    id: str
    source: End
    relation: str
    target: End
    weight: float = 1.0
    label: str | None = None
    meta: Mapping[str, Any] = {}


class NewEntry(NamedTuple):
    """An entry of another system, with its id and times. Without a time, it was written now."""

    id: str
    content: str
    session: str | None
    created_at: Instant | None = None
    updated_at: Instant | None = None


_FIELDS = tuple(f.name for f in fields(NewMemory))


def as_new(item: str | NewMemory | Mapping[str, Any]) -> NewMemory:
    """Return a draft from a text, or from a mapping with the names of `remember`.

    Raise `InputError` for an unknown name, with the nearest valid one. If the item is not a mapping, the error names
    no parameter: the caller knows the item's position.
    """
    if isinstance(item, NewMemory):
        return item
    if isinstance(item, str):
        return NewMemory(item)
    if not isinstance(item, Mapping):
        raise InputError("", "a text, a mapping or a NewMemory record", item)
    problems = Problems()
    for key in item:
        if key not in _FIELDS:
            near = get_close_matches(str(key), _FIELDS, 1)
            hint = f"Did you mean {near[0]}?" if near else None
            problems.found.append(InputError(str(key), "a parameter of remember", key, hint=hint))
    if "text" not in item:
        problems.found.append(InputError("text", "a text", None))
    problems.settle()
    return NewMemory(**item)


class Problems:
    """Collects errors, so that one reply can report all of them."""

    def __init__(self) -> None:
        self.found: list[InputError] = []

    def of(self, check_value: Any, *arguments: Any) -> Any:
        try:
            return check_value(*arguments)
        except InputError as problem:
            self.found += [problem, *(error for error in problem.errors if isinstance(error, InputError))]
            problem.errors = ()
            return None

    def settle(self) -> None:
        if self.found:
            first, *others = self.found
            first.errors = tuple(others)
            raise first


def moment(value: object, parameter: str, *, end: bool = False, zone: tzinfo = UTC) -> int:
    return micros(instant(value, parameter, end_of_day=end, zone=zone))


def last_moment(value: object, parameter: str) -> int:
    """Return the moment of a query in microseconds. A date alone means its last moment, to include changes of that
    day.
    """
    begin, end = moment(value, parameter), moment(value, parameter, end=True)
    return begin if begin == end else end - 1


def interval(problems: Problems, begin: object, end: object) -> tuple[int | None, int | None]:
    """Return a validity interval from unchecked values. A date alone as the end includes that day."""
    valid_from = None if begin is None else problems.of(moment, begin, "valid_from")
    valid_until = None if end is None else problems.of(_end, end)
    if valid_from is not None and valid_until is not None and valid_until <= valid_from:
        problems.found.append(InputError("valid_until", f"a time after valid_from ({begin})", end))
    return valid_from, valid_until


def _end(value: object) -> int:
    return moment(value, "valid_until", end=True)


def body(value: object, kind: str) -> str | None:
    written = check.mapping(value, "body")
    known = BODIES.get(kind)
    if written is not None and known:
        assert isinstance(value, Mapping)
        for key, wanted in known.items():
            if value.get(key) is not None and not isinstance(value[key], wanted):
                expected = " or ".join(t.__name__ for t in (wanted if isinstance(wanted, tuple) else (wanted,)))
                raise InputError(f"body.{key}", expected, value[key])
    return written


@dataclass(slots=True)
class Draft:
    """A checked draft: instants in microseconds, lists as tuples, mappings as JSON text."""

    new: NewMemory
    text: str
    title: str | None
    context: str | None
    body: str | None
    meta: str | None
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    files: tuple[str, ...]
    at: int | None
    valid_from: int | None
    valid_until: int | None
    place: str | None
    flags: tuple[str, ...] = ()
    vectors: Sequence[NewVector] = ()


def checked(new: NewMemory) -> Draft:
    """Return the checked draft. Raise the first `InputError`, with any others in its `errors`."""
    problems = Problems()
    of = problems.of
    text = of(check.text, new.text, "text")
    if new.id is not None:
        of(check.identifier, new.id, "id")
    new = _trimmed(new, problems)
    title = None if new.title is None else of(check.text, new.title, "title")
    context = None if new.context is None else of(check.text, new.context, "context")
    if new.kind not in KINDS:
        of(check.one_of, new.kind, "kind", KINDS)
    if new.scope not in SCOPES:
        of(check.one_of, new.scope, "scope", SCOPES)
    if new.scope == "session":
        of(seen_by, new.session, new.channel)
    if new.author_type is not None:
        of(check.one_of, new.author_type, "author_type", AUTHOR_TYPES)
    if new.via is not None:
        of(check.one_of, new.via, "via", GIVEN)
    _judgement(new, problems)
    tags = of(check.names, new.tags, "tags") if new.tags else ()
    entities = of(check.names, new.entities, "entities") if new.entities else ()
    files = of(check.names, new.files, "files") if new.files else ()
    place = None if new.place is None else str(new.place)
    at = None if new.at is None else of(moment, new.at, "at")
    valid_from = valid_until = None
    if new.valid_from is not None or new.valid_until is not None:
        valid_from, valid_until = interval(problems, new.valid_from, new.valid_until)
    kept_body = of(body, new.body, new.kind) if new.body is not EMPTY else None
    meta = of(check.mapping, new.meta, "meta") if new.meta is not EMPTY else None
    problems.settle()
    return Draft(new, text, title, context, kept_body, meta, tags, entities, files, at, valid_from, valid_until, place)


_NAMES = (*((name, check.name) for name in ("source", "author", "channel", "session")), ("place", check.place))


def _trimmed(new: NewMemory, problems: Problems) -> NewMemory:
    """Return the draft with normalised names. An id stays unchanged: it may come from another system."""
    kept = {}
    for parameter, check_value in _NAMES:
        value = getattr(new, parameter)
        if value is not None:
            name = problems.of(check_value, value, parameter)
            if name is not None and name != value:
                kept[parameter] = name
    return replace(new, **kept) if kept else new


def seen_by(session: str | None, channel: str | None) -> None:
    """Raise `InputError` if scope `session` has neither session nor channel: no reader would ever see the memory."""
    if session is None and channel is None:
        hint = "Give session or channel, or open the bank for one."
        raise InputError("scope", "a session or channel that may see it", "session", hint=hint)


def _judgement(new: NewMemory, problems: Problems) -> None:
    if new.importance != 0.5:
        problems.of(check.number, new.importance, "importance")
    if new.confidence is not None:
        problems.of(check.number, new.confidence, "confidence")
    if new.strength != 1.0 or isinstance(new.strength, bool):
        problems.of(check.number, new.strength, "strength", 0.0, 2.0)
    if new.sequence is not None:
        problems.of(check.whole, new.sequence, "sequence")
    problems.of(check.flag, new.pinned, "pinned")
    if new.unless_exists is not None:
        problems.of(check.one_of, new.unless_exists, "unless_exists", ("id", "text"))
