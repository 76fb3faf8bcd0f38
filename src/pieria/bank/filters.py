"""Check the arguments of readers: build one `Filter`, named as in `recall` and `list`; a query, and its deadline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypedDict

from pieria.errors import InputError
from pieria.language.index_terms import compared
from pieria.record import check
from pieria.record.draft import Instant, Problems, last_moment, moment
from pieria.record.filter import ANY_TIME, Filter, Viewer
from pieria.record.memory import AUTHOR_TYPES, KINDS, SCOPES, STATUSES, VISIBLE_STATUSES, End

Names = str | Iterable[str]
WITHOUT = "-"
INCLUDE = ("removed", "revised", "invalid", "archived")
LONGEST_DEADLINE = 600_000
QUERY_LIMIT = 1 << 20
EMBEDDED = 8_000
"""Characters of a query that are embedded: more than any model reads."""
QUESTION_SECONDS = 5.0
"""Seconds that a remote model may take to embed a query; then recall goes on without its vector."""


class Filters(TypedDict, total=False):
    """Which memories a verb looks at. A list matches any of its values; None is no condition."""

    kinds: Names | None
    types: Names | None
    tags: Names | None
    entities: Names | None
    files: Names | None
    author: str | None
    author_type: str | None
    channel: str | None
    session: str | None
    scope: Names | None
    source: str | None
    place: str | End | None
    meta: Mapping[str, Any] | None
    since: Instant | None
    until: Instant | None
    valid_at: Instant | None
    known_at: Instant | None
    status: Names | None
    used_since: Instant | None


class ListFilters(Filters, total=False):
    """The filters of lists and counts, which also show what recall leaves out."""

    include: Names
    pinned: bool | None


def asked_filter(asked: Mapping[str, Any], now: int, viewer: Viewer) -> Filter:
    """Return the filter for the arguments. A reader that names a session or channel is also a viewer of it."""
    problems = Problems()
    found = {
        name: problems.of(_CHECKS[name], value, name)
        for name, value in asked.items()
        if value is not None and name in _CHECKS
    }
    include = found.pop("include", None) or ()
    wanted = found.pop("types", None)
    if wanted is not None:
        found["types"], found["not_types"] = wanted
    if "scope" in found:
        found["scopes"] = found.pop("scope")
    since, until = found.get("since"), found.get("until")
    if since is not None and until is not None and until <= since:
        problems.found.append(InputError("until", f"a time after since ({asked['since']})", asked["until"]))
    problems.settle()
    if "archived" in include:
        found.setdefault("status", (*VISIBLE_STATUSES, "archived"))
    if "invalid" in include:
        found["valid_at"] = ANY_TIME
    session, channel = found.get("session") or viewer.session, found.get("channel") or viewer.channel
    endings = ("", *(ending for ending in ("removed", "revised") if ending in include)) if include else ("",)
    return Filter(now, Viewer(session, channel, viewer.everything), endings=endings, **found)


def for_lists(filter: Filter) -> Filter:
    """Return the filter for lists and counts, which show statements of facts only if `kinds` asks for them."""
    return filter if filter.kinds is not None else filter.having(lists=True)


def place_filter(value: object, parameter: str = "place") -> str:
    """Return the checked place: `wing`, `wing/room`, or `*/room` for a room of any wing."""
    kept = check.name(check.spelt_place(value), parameter)
    wing, slash, room = (part.strip() for part in kept.partition("/"))
    if not wing or (slash and (not room or "/" in room)):
        raise InputError(parameter, "a place spelt wing, wing/room or */room", value)
    return f"{wing}/{room}" if slash else wing


def shared(by: object, values: object) -> tuple[str, dict[str | End, str]]:
    """Return the field that memories must share, and its values by how they were given, as filters spell them."""
    field = check.one_of(by, "by", tuple(_SPELT))
    items = (values,) if isinstance(values, str | End) else values
    if isinstance(items, bytes | Mapping) or not isinstance(items, Iterable):
        raise InputError("values", "a name, a Place, or a list of them", values)
    kept = {item: _SPELT[field](item, "values") for item in items}
    if not kept:
        raise InputError("values", "at least one name or Place", values)
    return field, kept


def _label(value: object, parameter: str) -> str:
    return compared(check.name(value, parameter))


def _until(value: object, parameter: str) -> int:
    return moment(value, parameter, end=True)


def _names(value: object, parameter: str) -> tuple[str, ...]:
    return check.names([value] if isinstance(value, str) else value, parameter)


def _types(value: object, parameter: str) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the wanted types and the unwanted ones, which begin with a minus."""
    named = _names(value, parameter)
    wanted = tuple(name for name in named if not name.startswith(WITHOUT))
    unwanted = tuple(name.removeprefix(WITHOUT) for name in named if name.startswith(WITHOUT))
    return (wanted if wanted or not unwanted else None), unwanted or None


def _labels(value: object, parameter: str) -> tuple[str, ...]:
    return tuple(compared(label) for label in _names(value, parameter))


def _meta(value: object, parameter: str) -> object:
    check.mapping(value, parameter)
    return value


_CHECKS: Mapping[str, Callable[[Any, str], Any]] = {
    "kinds": partial(check.choices, allowed=KINDS),
    "types": _types,
    "tags": _labels,
    "entities": _labels,
    "files": _names,
    "author": check.name,
    "author_type": partial(check.one_of, allowed=AUTHOR_TYPES),
    "channel": check.name,
    "session": check.name,
    "scope": partial(check.choices, allowed=SCOPES),
    "source": check.name,
    "place": place_filter,
    "meta": _meta,
    "since": moment,
    "until": _until,
    "valid_at": last_moment,
    "known_at": last_moment,
    "status": partial(check.choices, allowed=STATUSES),
    "used_since": moment,
    "include": partial(check.choices, allowed=INCLUDE),
    "pinned": check.flag,
}


_SPELT: Mapping[str, Callable[[object, str], str]] = {
    "tags": _label, "entities": _label, "files": check.name, "place": check.place,
}  # fmt: skip


def deadline_seconds(deadline_ms: object) -> float:
    return check.whole(deadline_ms, "deadline_ms", 1, LONGEST_DEADLINE) / 1000


def embeddable(question: str) -> str:
    """Return the text to embed, without unpaired surrogates, which no model reads."""
    return question[:EMBEDDED].encode("utf-8", "replace").decode("utf-8")


def question_text(query: object) -> str:
    """Return the query. Any text is legal up to `QUERY_LIMIT` characters."""
    if not isinstance(query, str):
        raise InputError("query", "a text", query)
    if len(query) > QUERY_LIMIT:
        raise InputError("query", f"at most {QUERY_LIMIT:,} characters", query, hint="Ask for the part that matters.")
    return query
