"""Differences between two versions: changed values, and the changed words of a text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from pieria.doors.web.zones import Zone
from pieria.record.lesson import condition

if TYPE_CHECKING:
    from pieria import Memory

COMPARED = 4_000
"""Longest texts compared word by word, in words. Longer texts are compared by line, up to the same number of lines."""
MATCHED = 100_000
"""Most pairs of equal words or lines in a diff: the matcher visits each pair, often more than once."""
AROUND = 200
"""Characters of unchanged text that are shown before and after a change."""
KEPT, GONE, CAME = "kept", "gone", "came"
NAMES = (
    "title", "kind", "tags", "entities", "files", "place", "scope", "importance", "confidence", "strength", "pinned",
    "status", "tier", "ended", "at", "valid_from", "valid_until", "source", "condition", "context", "meta",
    "author", "superseded_by",
)  # fmt: skip
REVISED = ("ended", "superseded_by")
"""Fields set when a memory is revised; its revision starts without them."""
TIMES = ("at", "valid_from", "valid_until")


@dataclass(frozen=True, slots=True)
class Changed:
    """One value before and after a change."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changes:
    """`text` lists kept, removed and added parts; it is empty if the text is unchanged. A first version has neither."""

    values: tuple[Changed, ...] = ()
    text: tuple[tuple[str, str], ...] = ()
    is_first: bool = False


def changes(before: Memory | None, after: Memory, zone: Zone) -> Changes:
    if before is None:
        return Changes(is_first=True)
    was, now = _values(before, zone), _values(after, zone)
    names = NAMES if before.id == after.id else [name for name in NAMES if name not in REVISED]
    values = tuple(Changed(name, _told(was[name]), _told(now[name])) for name in names if was[name] != now[name])
    return Changes(values, () if before.text == after.text else tuple(parts(before.text, after.text)))


def _values(memory: Memory, zone: Zone) -> dict[str, Any]:
    times = {name: getattr(memory, name) for name in TIMES}
    return (
        memory.as_dict()
        | {"condition": condition(memory)}
        | {name: zone.written(at) for name, at in times.items() if at is not None}
    )


def parts(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield (kind of change, text) for each stretch. Unchanged text far from a change is left out."""
    one, other = _pieces(before), _pieces(after)
    head = _alike(one, other)
    tail = _alike(one[head:][::-1], other[head:][::-1])
    if head:
        yield KEPT, _near("".join(one[:head]), is_first=True)
    yield from _between("".join(one[head : len(one) - tail]), "".join(other[head : len(other) - tail]))
    if tail:
        yield KEPT, _near("".join(one[len(one) - tail :]), is_last=True)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common beginning."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def _between(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the changes between the common beginning and end."""
    one, other = _pieces(before), _pieces(after)
    if not _are_few(one, other):
        one, other = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if not _are_few(one, other):
        one, other = [before], [after]
    # Separators between words repeat everywhere, so the matcher treats them as junk.
    for step, a, b, c, d in SequenceMatcher(str.isspace, one, other, autojunk=False).get_opcodes():
        if step == "equal":
            yield KEPT, _near("".join(one[a:b]))
            continue
        if b > a:
            yield GONE, "".join(one[a:b])
        if d > c:
            yield CAME, "".join(other[c:d])


def _are_few(one: Sequence[str], other: Sequence[str]) -> bool:
    if len(one) > COMPARED or len(other) > COMPARED:
        return False
    numbers = Counter(other)
    return sum(numbers[piece] for piece in one if not piece.isspace()) <= MATCHED


def _near(kept: str, is_first: bool = False, is_last: bool = False) -> str:
    if len(kept) <= 2 * AROUND:
        return kept
    head = "" if is_first else kept[:AROUND]
    tail = "" if is_last else kept[-AROUND:]
    return f"{head} … {tail}"


def _pieces(text: str) -> Sequence[str]:
    return re.findall(r"\s+|\w+|[^\w\s]", text)


def _told(value: Any) -> str:
    if value in (None, "", {}):
        return "–"
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
