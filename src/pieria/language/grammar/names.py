"""Names in a text: entities of the record, technologies in one spelling, times, and people and places by cues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from pieria.language.entities import entities
from pieria.language.grammar import Named
from pieria.language.grammar.clauses import stated
from pieria.language.grammar.times import bare, times
from pieria.language.names import Names
from pieria.language.packs import pack, phrases, words


class Placed(NamedTuple):
    """A named thing at `text[start:end]`."""

    start: int
    end: int
    named: Named


def named(text: str, spotted: Iterable[Placed] | None = None) -> list[Named]:
    """Return each named thing once, in one spelling and in order.

    `spotted` has people, places and the like from a better source than capital letters; it replaces the names of the
    rules.
    """
    known = list(_technologies(text))
    dates = [Placed(start, end, Named(bare(text[start:end]), "date")) for start, end in times(text)]
    others = [Placed(found.start, found.end, Named(found.name, found.kind)) for found in entities(text)]
    if spotted is not None:
        others = [*spotted, *(placed for placed in others if placed.named.kind not in ("name", "acronym"))]
    told = _told(text)
    found: dict[str, Named] = {}
    for placed in _apart([*known, *dates], others):
        name, kind = placed.named.name, placed.named.kind
        kind = told.get(name, kind) if kind == "name" else kind
        found.setdefault(name.casefold(), Named(name, kind))
    return [held for key, held in found.items() if not _is_plural(key, held, found)]


def _apart(first: list[Placed], others: list[Placed]) -> Iterator[Placed]:
    """Yield the names in order, without overlaps. The longer one wins; of equal length, the one from `first`."""
    taken_to = 0
    ranked = sorted(
        [(placed, 0) for placed in first] + [(placed, 1) for placed in others],
        key=lambda pair: (pair[0].start, -pair[0].end, pair[1]),
    )
    for placed, _ in ranked:
        if placed.start >= taken_to:
            taken_to = placed.end
            yield placed


def _is_plural(key: str, held: Named, found: Mapping[str, Named]) -> bool:
    """Return whether the singular is named, too, with the same kind: `Herons` and `Heron`."""
    single = found.get(key[:-1]) if key.endswith("s") and len(key) > 4 else None
    return single is not None and single.kind == held.kind and held.kind in ("name", "technology")


def _told(text: str) -> Mapping[str, str]:
    """Return the kinds, person or place, that statements of the text show."""
    told: dict[str, str] = {}
    pets = words("nouns", "pets")
    for triple in stated(text):
        relation = triple.predicate.removeprefix("has_").replace("_", " ")
        related = triple.predicate.startswith("has_") and relation in pack("nouns")["relations"]
        if triple.predicate in words("predicates", "to_places"):
            told.setdefault(triple.object, "place")
        if triple.predicate in words("predicates", "of_people") or (related and triple.subject not in told):
            told.setdefault(triple.subject, "person")
        if triple.predicate in words("predicates", "between_people") or (related and relation not in pets):
            told.setdefault(triple.object, "person")
    return told


# --- technologies


@cache
def _spellings() -> Mapping[str, str]:
    """Return the usual name for each spelling."""
    found: dict[str, str] = {}
    for entry in phrases("technologies", "plain"):
        name, *others = entry.split("=")
        found |= dict.fromkeys((name, *others), name)
    return found


@cache
def _careful() -> Mapping[str, str]:
    return {name: name for name in phrases("technologies", "careful")}


@cache
def _known() -> Names:
    return Names([*_spellings(), *_careful()])


def _technologies(text: str) -> Iterator[Placed]:
    found = _known().found_in(text)
    sure = any(name in _spellings() for name, _, _ in found)
    for name, start, end in found:
        if name in _spellings():
            yield Placed(start, end, Named(_spellings()[name], "technology"))
        elif text[start:end] == name and (sure or _is_inside(text, start)):
            yield Placed(start, end, Named(name, "technology"))


def _is_inside(text: str, start: int) -> bool:
    """Return whether the word follows one that leads to a tool: in Rust, with Flask, uses Go."""
    before = text[max(0, start - 40) : start].rstrip().lower().split()
    return bool(before) and before[-1] in words("technologies", "leading")
