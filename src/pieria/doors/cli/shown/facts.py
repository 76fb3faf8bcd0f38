"""Facts, entities and predicates for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType

from pieria.doors.cli.shown.console import line, pairs, row, table
from pieria.doors.cli.shown.words import counted, stamp

if TYPE_CHECKING:
    from pieria import Fact


def stated(facts: Sequence[Fact], none: str) -> Iterator[RenderableType]:
    """A line for each fact, with the time it held."""
    if not facts:
        yield line(none)
        return
    made = table("id", "from", "until", "subject", "predicate", "object", wide=("object",))
    for fact in facts:
        begin, end = (stamp(moment)[:10] if moment else None for moment in (fact.valid_from, fact.valid_until))
        style = "dim" if fact.ended or fact.known_until else ""
        row(made, (fact.id, "dim"), begin, end, (fact.subject, style), (fact.predicate, style), (fact.object, style))
    yield made
    yield line((counted(len(facts), "fact"), "dim"))


def said_of(done: str, fact: Fact) -> Iterator[RenderableType]:
    """What was done to one fact, in a line."""
    yield line(
        (f"{done} ", "green"),
        (fact.subject, "bold"),
        f" {fact.predicate} ",
        (fact.object, "bold"),
        (f"  {fact.id}", "dim"),
    )


def named(headings: tuple[str, str], rows: Iterable[tuple[str, str]], none: str) -> Iterator[RenderableType]:
    """Names with something said of each."""
    made = table(*headings, wide=(headings[1],))
    for name, said in rows:
        row(made, name, said)
    yield made if made.row_count else line(none)


def numbers(counts: Mapping[str, object]) -> Iterator[RenderableType]:
    """Names and numbers below one another."""
    yield pairs((name.replace("_", " "), _spelt(value)) for name, value in counts.items())


def _spelt(value: object) -> str:
    if isinstance(value, Mapping):
        return "  ".join(f"{name} {number:,}" for name, number in value.items())
    if isinstance(value, list):
        return "  ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
