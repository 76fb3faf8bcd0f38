"""`pieria facts`: one command for each verb of `bank.facts`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, console, counted, inert, line, pairs, row, table
from pieria.doors.cli.memories import show_receipt
from pieria.doors.cli.parser import Group, speaking
from pieria.doors.cli.person import confirm
from pieria.doors.cli.values import NUMBER, TIME, TIME_AHEAD, WHOLE, OneOf, given
from pieria.record.days import first_day, last_day

if TYPE_CHECKING:
    from rich.table import Table

    from pieria import Bank, Fact


Function = TypeVar("Function", bound=Callable[..., Any])
_jsonl = click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each fact.")
_known_at = click.option("--known-at", type=TIME, help="Use what the bank knew at this time.")
_limit = click.option("-n", "--limit", type=WHOLE, help="At most this many, the last ones.")
LISTS = {"closed": "made room:", "conflicts": "in conflict with this:"}
ENDLESS = 1 << 20
"""Terminal width at which any table has its natural width."""


@click.group(cls=Group)
def facts() -> None:
    """Store and query facts: a subject, a predicate and an object, with the time when they are valid."""


def _triple(function: Function) -> Function:
    for name in ("object", "predicate", "subject"):
        function = click.argument(name)(function)
    return function


def _evidence(function: Function) -> Function:
    for option in (
        click.option("--source", metavar="SOURCE", help="Where it comes from."),
        click.option(
            "--memory", metavar="ID", help="The memory that states it; a purge of the memory erases the fact too."
        ),
        click.option("--confidence", type=NUMBER, help="How certain it is, from 0 to 1."),
    ):
        function = option(function)
    return function


@facts.command()
@_triple
@click.option("--valid-from", type=TIME, help="Valid from this day or time on; now by default.")
@click.option("--valid-until", type=TIME_AHEAD, help="Valid through this day, or until this time.")
@click.option("--supersede", is_flag=True, help="End all other values of its subject and predicate.")
@_evidence
@speaking
@click.pass_obj
def add(call: Call, /, subject: str, predicate: str, object: str, **values: Any) -> None:
    """State a fact. Stating it again confirms or extends it, and never duplicates it.

    Of a predicate such as lives_in only one value holds at a time, so the one before ends.
    """
    with call.opened() as bank:
        stated = bank.facts.state(subject, predicate, object, **given(values))
        zone = bank.zone
    lists = {"closed": stated.closed, "conflicts": stated.conflicts}

    def people() -> Parts:
        yield from show_fact("stated" if stated.is_new else "known", stated.fact)
        for name, found in lists.items():
            if found:
                yield line((LISTS[name], "yellow"))
                yield from show_facts(found, zone)

    document = {name: [fact.as_dict(zone) for fact in found] for name, found in lists.items()}
    call.reply({**stated.fact.as_dict(zone), **document}, people(), [stated.fact.id])


@facts.command()
@_triple
@click.option("--at", type=TIME, help="Valid from this day or time on; now by default.")
@click.option("--valid-until", type=TIME_AHEAD, help="Valid through this day, or until this time.")
@_evidence
@speaking
@click.pass_obj
def supersede(call: Call, /, subject: str, predicate: str, object: str, **values: Any) -> None:
    """State a fact, and end all other values of its subject and predicate."""
    with call.opened() as bank:
        _answer_one(call, bank, "stated", bank.facts.supersede(subject, predicate, object, **given(values)))


@facts.command()
@_triple
@click.option("--at", type=TIME, help="Its last day, or the time when it ended; now by default.")
@click.option("--reason", help="The reason.")
@speaking
@click.pass_obj
def invalidate(call: Call, /, subject: str, predicate: str, object: str, **values: Any) -> None:
    """Mark a fact as no longer valid."""
    with call.opened() as bank:
        _answer(call, bank, bank.facts.invalidate(subject, predicate, object, **given(values)))


@facts.command()
@click.argument("fact_id", metavar="ID")
@click.option("--reason", help="The reason.")
@click.option("--purge", is_flag=True, help="Erase it for good, with all its versions.")
@click.option("--dry-run", is_flag=True, help="With --purge: only show what would be erased.")
@click.option(
    "--as-told", metavar="DIGEST", help="Refuse if the digest differs from this one, which --dry-run printed."
)
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
@speaking
@click.pass_obj
def remove(
    call: Call, /, fact_id: str, reason: str | None, purge: bool, dry_run: bool, as_told: str | None, yes: bool
) -> None:
    """Remove a fact that should not have been stated. It stays in the history.

    --purge erases it instead, which cannot be undone. On a terminal the command asks first. Afterwards it lists the
    places that it could not clean.
    """
    if not purge and (dry_run or as_told or yes):
        raise click.UsageError("--dry-run, --as-told and --yes go with --purge", click.get_current_context())
    if purge and reason is not None:
        raise click.UsageError("--purge keeps nothing, so it takes no --reason", click.get_current_context())
    with call.opened() as bank:
        if not purge:
            _answer_one(call, bank, "removed", bank.facts.remove(fact_id, reason=reason))
            return
        if not (yes or dry_run):
            as_told = _agreed(bank, fact_id, as_told)
        receipt = bank.facts.purge(fact_id, dry_run=dry_run, as_told=as_told)
    call.reply(receipt.as_dict(), show_receipt(receipt, dry_run), receipt.ids)


def _agreed(bank: Bank, fact_id: str, as_told: str | None) -> str | None:
    """Return the digest that a person saw and confirmed. Without a terminal, return the given one."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return as_told
    told = bank.facts.purge(fact_id, dry_run=True, as_told=as_told)
    said = (f"{fact.subject} {fact.predicate} {fact.object}" for fact in bank.facts.history(fact_id)[-1:])
    lines = (f"  {inert(fact_id)}  {inert(each, one_line=True)}" for each in said)
    confirm(lines, "Erase this for good, with all its versions?", "nothing was erased")
    return told.digest


@facts.command()
@click.argument("entity", required=False)
@click.option("--subject", metavar="NAME", help="Only with this subject.")
@click.option("--predicate", metavar="NAME", help="Only with this predicate.")
@click.option("--object", metavar="NAME", help="Only with this object.")
@click.option(
    "--direction", type=OneOf("both", "out", "in"), help="ENTITY as subject (out), as object (in), or either."
)
@click.option("--valid-at", type=TIME, help="Facts that were valid at this time, instead of now.")
@_known_at
@click.option("--history", is_flag=True, default=None, help="Facts of all times.")
@_limit
@_jsonl
@speaking
@click.pass_obj
def query(call: Call, /, jsonl: bool, **values: Any) -> None:
    """Show the facts about ENTITY, or those that match the options, that are valid now."""
    with call.opened(reading=True) as bank:
        _answer(call, bank, bank.facts.query(**given(values)), jsonl)


@facts.command()
@click.argument("entity", required=False)
@_known_at
@_limit
@_jsonl
@speaking
@click.pass_obj
def timeline(call: Call, /, entity: str | None, jsonl: bool, **values: Any) -> None:
    """Show the facts of all times, all or those about ENTITY, ordered by their start."""
    with call.opened(reading=True) as bank:
        _answer(call, bank, bank.facts.timeline(entity, **given(values)), jsonl)


@facts.command()
@click.argument("fact_id", metavar="ID")
@_jsonl
@speaking
@click.pass_obj
def history(call: Call, /, fact_id: str, jsonl: bool) -> None:
    """Show every version of a fact, oldest first."""
    with call.opened(reading=True) as bank:
        _answer(call, bank, bank.facts.history(fact_id), jsonl)


@facts.command()
@click.option("--subject", metavar="NAME", help="Only with this subject.")
@click.option("--predicate", metavar="NAME", help="Only with this predicate.")
@speaking
@click.pass_obj
def conflicts(call: Call, /, **values: Any) -> None:
    """Show facts that contradict each other: several objects at a time for a single-valued predicate."""
    with call.opened(reading=True) as bank:
        found, zone = bank.facts.conflicts(**given(values)), bank.zone
    involved = [fact for conflict in found for fact in conflict.facts]
    document = {"conflicts": [_conflict(conflict, zone) for conflict in found]}
    call.reply(document, show_facts(involved, zone, "No conflicts."), [fact.id for fact in involved])


@facts.command()
@click.argument("predicate")
@click.option(
    "--single-valued/--many-valued",
    "single_valued",
    default=True,
    help="One value at a time (the default), or any number.",
)
@click.pass_obj
def declare(call: Call, /, predicate: str, single_valued: bool) -> None:
    """Declare whether a predicate has one value at a time, and show the facts that conflict with this."""
    with call.opened() as bank:
        against, zone = bank.facts.declare(predicate, single_valued), bank.zone
    involved = [fact for conflict in against for fact in conflict.facts]

    def people() -> Parts:
        yield line(("declared ", "green"), (predicate, "bold"), "  single-valued" if single_valued else "  many-valued")
        if involved:
            yield line(("in conflict with this:", "yellow"))
            yield from show_facts(involved, zone)

    document = {
        "predicate": predicate,
        "single_valued": single_valued,
        "conflicts": [_conflict(conflict, zone) for conflict in against],
    }
    call.reply(document, people(), [predicate])


@facts.command()
@click.pass_obj
def predicates(call: Call, /) -> None:
    """Show the predicates that are in use or declared."""
    with call.opened(reading=True) as bank:
        found = bank.facts.predicates()
    rows = [(one.name, f"{one.facts:,}{'  single-valued' if one.single_valued else ''}") for one in found]
    document = {"predicates": [one.as_dict() for one in found]}
    _answer_named(call, document, ("predicate", "facts"), rows, "No predicates.")


@facts.command()
@click.argument("name")
@click.argument("of")
@click.pass_obj
def alias(call: Call, /, name: str, of: str) -> None:
    """Make NAME another name of the entity OF in every look-up."""
    with call.opened() as bank:
        entity = bank.facts.alias(name, of)
    rows = [(entity.name, ", ".join(entity.aliases))]
    _answer_named(call, entity.as_dict(), ("entity", "other names"), rows, "")


@facts.command()
@click.argument("name")
@click.pass_obj
def unalias(call: Call, /, name: str) -> None:
    """Remove an alias: NAME is an entity of its own again."""
    with call.opened() as bank:
        entity = bank.facts.unalias(name)
    rows = [(entity.name, ", ".join(entity.aliases))]
    _answer_named(call, entity.as_dict(), ("entity", "other names"), rows, "")


@facts.command()
@click.pass_obj
def aliases(call: Call, /) -> None:
    """Show every alias with its entity."""
    with call.opened(reading=True) as bank:
        found = bank.facts.aliases()
    _answer_named(call, {"aliases": found}, ("alias", "entity"), found.items(), "No aliases.")


@facts.command()
@click.argument("prefix", required=False)
@click.pass_obj
def entities(call: Call, /, prefix: str | None) -> None:
    """Show the entities in facts: all, or those with a name that starts with PREFIX."""
    with call.opened(reading=True) as bank:
        found = bank.facts.entities(prefix or "")
    rows = [(one.name, "  ".join([f"{one.facts:,}", *one.aliases])) for one in found]
    document = {"entities": [one.as_dict() for one in found]}
    _answer_named(call, document, ("entity", "facts, and other names"), rows, "No entities.")


@facts.command()
@click.pass_obj
def stats(call: Call, /) -> None:
    """Show counts of facts, entities and predicates."""
    with call.opened(reading=True) as bank:
        found = bank.facts.stats().as_dict()
    call.reply(found, show_numbers(found), [str(found["facts"])])


def _answer(call: Call, bank: Bank, found: Sequence[Fact], jsonl: bool = False) -> None:
    zone = bank.zone
    if jsonl:
        call.lines(fact.as_dict(zone) for fact in found)
        return
    document = {"facts": [fact.as_dict(zone) for fact in found]}
    call.reply(document, show_facts(found, zone), [fact.id for fact in found])


def _answer_one(call: Call, bank: Bank, done: str, fact: Fact) -> None:
    call.reply(fact.as_dict(bank.zone), show_fact(done, fact), [fact.id])


def _conflict(conflict: Any, zone: tzinfo) -> dict[str, Any]:
    return {**conflict.as_dict(), "facts": [fact.as_dict(zone) for fact in conflict.facts]}


def _answer_named(
    call: Call, document: Any, headings: tuple[str, str], rows: Iterable[tuple[str, str]], none: str
) -> None:
    held = list(rows)
    call.reply(document, show_names(headings, held, none), [name for name, _ in held])


def show_facts(facts: Sequence[Fact], zone: tzinfo, none: str = "No such facts.") -> Parts:
    """Yield a line for each fact with its first and last day; two lines if the terminal is too narrow."""
    if not facts:
        yield line(none)
        return
    screen, made = console(), _side_by_side(facts, zone)
    whole = screen.measure(made, options=screen.options.update(max_width=ENDLESS)).maximum
    yield from [made] if whole <= screen.width else _below_one_another(facts, zone)
    yield line((counted(len(facts), "fact"), "dim"))


def _side_by_side(facts: Sequence[Fact], zone: tzinfo) -> Table:
    made = table("id", "from", "until", "subject", "predicate", "object")
    for fact in facts:
        style = _style(fact)
        row(
            made,
            (fact.id, "dim"),
            *_days(fact, zone),
            (fact.subject, style),
            (fact.predicate, style),
            (fact.object, style),
        )
    return made


def _below_one_another(facts: Sequence[Fact], zone: tzinfo) -> Parts:
    for fact in facts:
        yield line((f"{fact.subject}  {fact.predicate}  {fact.object}", _style(fact)))
        times = (f"  {word} {day}" for word, day in zip(("from", "until"), _days(fact, zone), strict=True) if day)
        yield line((f"  {fact.id}{''.join(times)}", "dim"))


def _days(fact: Fact, zone: tzinfo) -> tuple[str | None, str | None]:
    begin = None if fact.valid_from is None else first_day(fact.valid_from, zone).isoformat()
    return begin, None if fact.valid_until is None else last_day(fact.valid_until, zone).isoformat()


def _style(fact: Fact) -> str:
    return "dim" if fact.ended or fact.known_until else ""


def show_fact(done: str, fact: Fact) -> Parts:
    """Yield a line about a change to one fact."""
    yield line(
        (f"{done} ", "green"),
        (fact.subject, "bold"),
        f" {fact.predicate} ",
        (fact.object, "bold"),
        (f"  {fact.id}", "dim"),
    )


def show_names(headings: tuple[str, str], rows: Iterable[tuple[str, str]], none: str) -> Parts:
    """Yield a table of names with a remark for each."""
    made = table(*headings, wide=(headings[1],))
    for name, said in rows:
        row(made, name, said)
    yield made if made.row_count else line(none)


def show_numbers(counts: Mapping[str, object]) -> Parts:
    """Yield a table of names and numbers."""
    yield pairs((name.replace("_", " "), _spelt(value)) for name, value in counts.items())


def _spelt(value: object) -> str:
    if isinstance(value, Mapping):
        return "  ".join(f"{name} {number:,}" for name, number in value.items())
    if isinstance(value, list):
        return "  ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
