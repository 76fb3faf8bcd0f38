"""`pieria recall`: a query, and the options that every recall takes."""

from __future__ import annotations

import json
from typing import Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.filters import filtering
from pieria.doors.cli.parser import Command
from pieria.doors.cli.values import NUMBER, WEIGHTS, WHOLE, OneOf, given, text_of

POLICIES = ("hybrid", "similarity", "weighted", "decay", "value")


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
    """
    question = text_of(query, "the question")
    with call.opened(reading=True) as bank:
        found = bank.recall(question, **given(values))
    if jsonl:
        call.lines(hit.as_dict() for hit in found)
        call.note_more(found.cursor)
        return

    def people() -> Any:
        from pieria.doors.cli.shown.console import block
        from pieria.doors.cli.shown.memories import recalled

        yield from recalled(found)
        if plan:
            yield block(json.dumps(dict(found.plan), ensure_ascii=False, indent=2))

    call.reply(found.as_dict(), people, [hit.memory.id for hit in found])
