"""`pieria recall`: a question, and the options that every recall takes."""

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
@click.option("-k", "-n", "--limit", "k", type=WHOLE, help="How many answers at most; 10 otherwise.")
@click.option("--min-score", type=NUMBER, help="Only answers that score this much, from 0 to 1.")
@click.option("--min-confidence", type=NUMBER, help="Only what answers, and nothing where that is less sure than this.")
@click.option("--least-retention", type=NUMBER, help="Only what has not faded below this, such as 0.1.")
@click.option("--review", is_flag=True, help="With memories that are due for a review, in places of their own.")
@click.option("--cursor", help="Go on after an earlier recall.")
@click.option("--plan", is_flag=True, help="Show what was searched, and how long it took.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each hit.")
@filtering
@click.option(
    "--policy",
    type=OneOf(*POLICIES),
    metavar="NAME",
    help="What a score is made of: hybrid (the default), similarity, weighted, decay or value.",
)
@click.option(
    "--weights",
    type=WEIGHTS,
    multiple=True,
    metavar="FEATURE:=NUMBER",
    help="Weigh a feature otherwise; 0 takes it out. The plan lists them.",
)
@click.option("--deadline-ms", type=WHOLE, help="Begin no look-up after this time; answer with what there is.")
@click.option("--budget-tokens", type=WHOLE, help="As many answers as fit into so many tokens, by an estimate.")
@click.option("--time-zone", metavar="ZONE", help="Whose days yesterday and last week are, such as Europe/Berlin.")
@click.pass_obj
def recall(call: Call, /, query: tuple[str, ...], plan: bool, jsonl: bool, **values: Any) -> None:
    """Find what answers QUERY, best first, with reasons.

    Any text is a question. The query may come through a pipe. Without --session, what a session said to itself stays
    hidden, unless PIERIA_SESSION names it.
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
