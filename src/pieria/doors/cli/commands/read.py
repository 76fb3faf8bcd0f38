"""The filter options of recall, list and count: one option for each filter of those verbs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.health import show_changes, show_counts
from pieria.doors.cli.console import age, block, counted, stamp
from pieria.doors.cli.memories import show_history, show_memory, show_page, show_recall
from pieria.doors.cli.parser import Command, speaking
from pieria.doors.cli.server_recall import recalled_by_server
from pieria.doors.cli.values import NUMBER, PAIRS, TIME, WEIGHTS, WHOLE, OneOf, given, text_of
from pieria.errors import NotFoundError
from pieria.record.ids import parse_reference
from pieria.record.memory import AUTHOR_TYPES, KINDS, SCOPES, STATUSES
from pieria.record.time import iso, system_clock
from pieria.record.usage import Usage

if TYPE_CHECKING:
    from pieria import Bank, Memory


Function = TypeVar("Function", bound=Callable[..., Any])

INCLUDED = ("removed", "revised", "invalid", "archived")

_FILTERS = (
    click.option("--kind", "kinds", metavar="KIND", type=OneOf(*KINDS), multiple=True,
                 help="Only this kind: note, observation, drawer, diary, turn, summary, …"),
    click.option("--type", "types", metavar="TYPE", multiple=True, help="Only this type of body."),
    click.option("-t", "--tag", "tags", metavar="TAG", multiple=True, help="Only with this tag."),
    click.option("--entity", "entities", metavar="NAME", multiple=True, help="Only about this entity."),
    click.option("--file", "files", metavar="PATH", multiple=True, help="Only about this file."),
    click.option("--place", metavar="WING[/ROOM]", help="Only in this place; */ROOM matches that room in any wing."),
    click.option("--scope", type=OneOf(*SCOPES), multiple=True, help="Only with this scope."),
    click.option("--session", metavar="ID", help="Only from this session, its private memories included."),
    click.option("--channel", metavar="NAME", help="Only from this channel, its sessions' private memories included."),
    click.option("--author", metavar="NAME", help="Only by this author."),
    click.option("--author-type", type=OneOf(*AUTHOR_TYPES), help="Only by this type of author."),
    click.option("--source", metavar="SOURCE", help="Only from this source."),
    click.option("--meta", type=PAIRS, multiple=True, help="Only with this value in meta; key:=JSON if not text."),
    click.option("--since", type=TIME, help="Only said, or happened, at this time or later."),
    click.option("--until", type=TIME, help="Only said, or happened, before this time; a date includes that day."),
    click.option("--used-since", type=TIME, help="Only used at this time or later; writing counts as a use."),
    click.option("--valid-at", type=TIME, help="Memories that were valid at this time, instead of now."),
    click.option("--known-at", type=TIME, help="Use what the bank knew at this time."),
    click.option("--status", type=OneOf(*STATUSES), multiple=True,
                 help="Only active, promoted, archived, proposed or declined; active and promoted by default."),
)  # fmt: skip

_BEYOND = (
    click.option(
        "--include", type=OneOf(*INCLUDED), multiple=True, help="Also include these, which are left out by default."
    ),
    click.option("--pinned/--not-pinned", default=None, help="Only pinned memories, or only others."),
)
POLICIES = ("hybrid", "similarity", "weighted", "decay", "value")
COUNTED = (
    "kind", "type", "place", "scope", "session", "channel", "author", "author_type", "source", "status", "tier",
    "tags", "entities", "files",
)  # fmt: skip
LAST = 20


def filtering(function: Function) -> Function:
    """Add the filters of every reader. A repeated filter matches any of its values."""
    return _with(function, _FILTERS)


def choosing(function: Function) -> Function:
    """Add the filters of lists and counts, including those for memories that recall never returns."""
    return _with(function, (*_FILTERS, *_BEYOND))


def _with(function: Function, options: tuple[Callable[[Function], Function], ...]) -> Function:
    for option in reversed(options):
        function = option(function)
    return function


@click.command(cls=Command)
@click.argument("query", nargs=-1)
@click.option("-k", "-n", "--limit", "k", type=WHOLE, help="At most this many hits; 10 by default.")
@click.option("--min-score", type=NUMBER, help="Leave out hits with a lower score, from 0 to 1.")
@click.option(
    "--min-confidence", type=NUMBER, help="Return nothing if the confidence is lower, and leave out weak hits."
)
@click.option("--least-retention", type=NUMBER, help="Leave out memories that have faded below this, such as 0.1.")
@click.option("--review", is_flag=True, help="Give some places to memories that are due for a review.")
@click.option("--cursor", help="Continue after an earlier recall.")
@click.option("--plan", is_flag=True, help="Show what was searched, and how long it took.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each hit.")
@filtering
@click.option(
    "--policy",
    type=OneOf(*POLICIES),
    metavar="NAME",
    help="How to score: hybrid (the default), similarity, weighted, decay or value.",
)
@click.option(
    "--weights",
    type=WEIGHTS,
    multiple=True,
    metavar="FEATURE:=NUMBER",
    help="Change the weight of a feature; 0 turns it off. --plan lists the features.",
)
@click.option("--deadline-ms", type=WHOLE, help="Start no look-up after this time, and return the hits found by then.")
@click.option("--budget-tokens", type=WHOLE, help="Return only as many hits as fit into this many tokens (estimated).")
@click.option(
    "--time-zone", metavar="ZONE", help="The time zone of 'yesterday' and 'last week', such as Europe/Berlin."
)
@click.pass_obj
def recall(call: Call, /, query: tuple[str, ...], plan: bool, jsonl: bool, **values: Any) -> None:
    """Find the memories that answer QUERY, best first, with reasons.

    QUERY is any text, and may come from a pipe. Private memories of a session stay hidden, unless --session or
    PIERIA_SESSION names that session.

    `pieria search` is the same command.
    """
    question = text_of(query, "the question")
    found = recalled_by_server(call, question, given(values))
    if found is None:
        with call.opened(reading=True, recalling=True) as bank:
            found = bank.recall(question, **given(values))
    if jsonl:
        call.lines(hit.as_dict() for hit in found)
        call.note_more(found.cursor)
        return

    def people() -> Any:
        yield from show_recall(found)
        if plan:
            yield block(json.dumps(dict(found.plan), ensure_ascii=False, indent=2))

    call.reply(found.as_dict(), people(), [hit.memory.id for hit in found])


@click.command(cls=Command)
@click.argument("reference", metavar="ID[@VERSION]")
@click.option("--known-at", type=TIME, help="Show the version that the bank knew at this time.")
@click.option("--removed", is_flag=True, help="Show it even if it was removed.")
@speaking
@click.pass_obj
def get(call: Call, /, reference: str, known_at: Any, removed: bool) -> None:
    """Show the current version of a memory or fact, or another one."""
    with call.opened(reading=True) as bank:
        memory = bank.get(reference, known_at=known_at, include_removed=removed)
        if memory is None:
            raise _missing(bank, reference, known_at)
        # A fact drawn from a memory is not used, only its memory is.
        usage = bank.usage(memory.id)[memory.id] if memory.is_stored else Usage()
    call.reply({**memory.as_dict(), "usage": usage.as_dict()}, show_memory(memory, usage), [memory.id])


def _missing(bank: Bank, reference: str, known_at: Any) -> NotFoundError:
    """Return the error for a missing reference: it was removed, was not yet known, or never existed."""
    hidden = bank.get(reference, known_at=known_at, include_removed=True)
    if hidden is not None:
        return _removed(hidden, reference)
    id, version = parse_reference(reference)
    stretches = bank.history(reference if version is None else id)
    last = max(memory.version for memory in stretches)
    if version is not None and version > last:
        return NotFoundError("version", reference, hint=f"The last version of {id} is {last}.")
    return NotFoundError("memory", reference, hint=f"The bank has known it since {iso(stretches[0].known_from)}.")


def _removed(memory: Memory, reference: str) -> NotFoundError:
    hint = f"`pieria unforget {memory.id}` restores it; `pieria get --removed {reference}` shows it."
    told = NotFoundError("memory", reference, hint=hint)
    why = f", because: {memory.standing.reason}" if memory.standing.reason else ""
    when = f"{stamp(memory.known_from)} ({age(memory.known_from, system_clock())})"
    told.args = (f"memory {memory.id} was removed on {when}{why}",)
    return told


@click.command("list", cls=Command)
@click.option(
    "--order",
    type=OneOf("newest", "oldest", "changed", "important"),
    metavar="ORDER",
    help="What comes first: newest (the default), oldest, changed or important.",
)
@click.option("-n", "--limit", type=WHOLE, help="At most this many; 50 by default.")
@click.option("--cursor", help="Continue after an earlier list.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each memory.")
@choosing
@click.pass_obj
def list_memories(call: Call, /, jsonl: bool, **values: Any) -> None:
    """List memories, newest first or in another order."""
    with call.opened(reading=True) as bank:
        page = bank.list(**given(values))
    if jsonl:
        call.lines(memory.as_dict() for memory in page)
        call.note_more(page.cursor)
        return
    call.reply(page.as_dict(), show_page(page), [memory.id for memory in page])


@click.command(cls=Command)
@click.option(
    "--by",
    type=OneOf(*COUNTED),
    metavar="NAME",
    help="Count by kind, type, place, scope, session, author, source, status, tier, tags, entities, files, …",
)
@choosing
@click.pass_obj
def count(call: Call, /, by: str | None, **values: Any) -> None:
    """Count memories: all of them, or by kind, tag and so on."""
    with call.opened(reading=True) as bank:
        found = bank.count(by=by, **given(values))
    if by is None:
        call.reply({"count": found}, [(counted(found, "memory", "memories"),)], [str(found)])
        return
    call.reply({"by": by, "counts": found}, show_counts(found), map(str, found.values()))


@click.command(cls=Command)
@click.argument("id")
@click.option("--revisions", is_flag=True, help="Also show its earlier and later revisions.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each entry.")
@speaking
@click.pass_obj
def history(call: Call, /, id: str, revisions: bool, jsonl: bool) -> None:
    """Show every version of a memory or fact, and every change of its status, oldest first."""
    with call.opened(reading=True) as bank:
        stretches = bank.history(id, revisions=revisions)
    if jsonl:
        call.lines(memory.as_dict() for memory in stretches)
        return
    references = dict.fromkeys(memory.reference for memory in stretches)
    call.reply({"id": id, "history": [memory.as_dict() for memory in stretches]}, show_history(stretches), references)


@click.command(cls=Command)
@click.option("--since", metavar="SEQ", type=WHOLE, help="Only changes after this number.")
@click.option("--limit", type=WHOLE, help="At most this many, the first ones.")
@click.option("-n", "--last", type=WHOLE, help=f"At most this many, the last ones; {LAST} if no other option is given.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each change.")
@click.pass_obj
def changes(call: Call, /, jsonl: bool, **values: Any) -> None:
    """Show the bank's journal of changes, oldest first: when, who, what, and the ids."""
    asked = given(values)
    with call.opened(reading=True) as bank:
        found = bank.changes(**(asked or {"last": LAST + 1}))
    if not asked and len(found) > LAST:
        found = found[1:]
        call.note(f"these are the last {LAST}: --last NUMBER shows more, --since 0 shows all")
    if jsonl:
        call.lines(change.as_dict() for change in found)
        return
    call.reply(
        {"changes": [change.as_dict() for change in found]}, show_changes(found), [str(change.seq) for change in found]
    )


@click.command(cls=Command)
@click.argument("seq", type=WHOLE)
@click.pass_obj
def undo(call: Call, /, seq: Any) -> None:
    """Undo the change with this number. `pieria changes` shows the numbers.

    Later changes that depend on it prevent this. Memories that the change added are removed, not erased. Purges cannot
    be undone.
    """
    with call.opened() as bank:
        change = bank.undo(seq)
    people = ("undid ", "green"), (f"change {seq}", "bold"), (f"  as change {change.seq}", "dim")
    call.reply(change.as_dict(), [people], [str(change.seq)])
