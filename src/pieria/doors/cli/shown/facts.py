"""Facts, entities and predicates for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table

from pieria.doors.cli.shown.console import console, line, pairs, row, table
from pieria.doors.cli.shown.words import counted, stamp

if TYPE_CHECKING:
    from pieria import Fact

ENDLESS = 1 << 20
"""Terminal width at which any table has its natural width."""


def stated(facts: Sequence[Fact], none: str) -> Iterator[RenderableType]:
    """Yield a line for each fact with its validity; two lines if the terminal is too narrow."""
    if not facts:
        yield line(none)
        return
    screen, made = console(), _side_by_side(facts)
    whole = screen.measure(made, options=screen.options.update(max_width=ENDLESS)).maximum
    yield from [made] if whole <= screen.width else _below_one_another(facts)
    yield line((counted(len(facts), "fact"), "dim"))


def _side_by_side(facts: Sequence[Fact]) -> Table:
    made = table("id", "from", "until", "subject", "predicate", "object")
    for fact in facts:
        style = _style(fact)
        row(made, (fact.id, "dim"), *_days(fact), (fact.subject, style), (fact.predicate, style), (fact.object, style))
    return made


def _below_one_another(facts: Sequence[Fact]) -> Iterator[RenderableType]:
    for fact in facts:
        yield line((f"{fact.subject}  {fact.predicate}  {fact.object}", _style(fact)))
        times = (f"  {word} {day}" for word, day in zip(("from", "until"), _days(fact), strict=True) if day)
        yield line((f"  {fact.id}{''.join(times)}", "dim"))


def _days(fact: Fact) -> tuple[str | None, str | None]:
    begin, end = (stamp(moment)[:10] if moment else None for moment in (fact.valid_from, fact.valid_until))
    return begin, end


def _style(fact: Fact) -> str:
    return "dim" if fact.ended or fact.known_until else ""


def said_of(done: str, fact: Fact) -> Iterator[RenderableType]:
    """Yield a line about a change to one fact."""
    yield line(
        (f"{done} ", "green"),
        (fact.subject, "bold"),
        f" {fact.predicate} ",
        (fact.object, "bold"),
        (f"  {fact.id}", "dim"),
    )


def named(headings: tuple[str, str], rows: Iterable[tuple[str, str]], none: str) -> Iterator[RenderableType]:
    """Yield a table of names with a remark for each."""
    made = table(*headings, wide=(headings[1],))
    for name, said in rows:
        row(made, name, said)
    yield made if made.row_count else line(none)


def numbers(counts: Mapping[str, object]) -> Iterator[RenderableType]:
    """Yield a table of names and numbers."""
    yield pairs((name.replace("_", " "), _spelt(value)) for name, value in counts.items())


def _spelt(value: object) -> str:
    if isinstance(value, Mapping):
        return "  ".join(f"{name} {number:,}" for name, number in value.items())
    if isinstance(value, list):
        return "  ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
