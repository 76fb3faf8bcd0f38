"""`pieria link`, `unlink`, `neighbors` and `touch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, row, table
from pieria.doors.cli.memories import show_neighbors
from pieria.doors.cli.parser import Command, speaking
from pieria.doors.cli.values import NUMBER, PAIRS, WHOLE, OneOf, given
from pieria.record.link import End, Place

if TYPE_CHECKING:
    from pieria import Link, Usage

PLACE = "place:"
_ENDS = "SOURCE and TARGET are ids of memories, or places written place:WING/ROOM."


def _end(spelling: str) -> str | End:
    return Place(spelling.removeprefix(PLACE)) if spelling.startswith(PLACE) else spelling


@click.command(cls=Command, epilog=_ENDS)
@click.argument("source")
@click.argument("target")
@click.option(
    "-r",
    "--relation",
    metavar="NAME",
    help="related (the default), hierarchical, provenance, sibling, tunnel, membership, or your own name.",
)
@click.option("--weight", type=NUMBER, help="How strong the link is, from 0 to 1; 1 by default.")
@click.option("--label", help="A text that describes the link.")
@click.option("--meta", type=PAIRS, multiple=True, help="Your own values; key:=JSON if not text.")
@speaking
@click.pass_obj
def link(call: Call, /, source: str, target: str, **values: Any) -> None:
    """Link SOURCE to TARGET. Linking them again only changes weight, label and meta."""
    with call.opened() as bank:
        tied = bank.link(_end(source), _end(target), **given(values))
    call.reply(tied.as_dict(), _lines("linked", [tied]), [tied.id])


@click.command(cls=Command, epilog=_ENDS)
@click.argument("source", metavar="LINK|SOURCE")
@click.argument("target", required=False)
@click.option("-r", "--relation", metavar="NAME", help="Only links of this relation.")
@speaking
@click.pass_obj
def unlink(call: Call, /, source: str, target: str | None, relation: str | None) -> None:
    """Remove one link by its id, or all links between SOURCE and TARGET."""
    with call.opened() as bank:
        if target is None:
            untied = bank.unlink(source, relation=relation)
        else:
            untied = bank.unlink(_end(source), _end(target), relation)
    document = {"unlinked": [link.as_dict() for link in untied]}
    call.reply(document, _lines("unlinked", untied), [link.id for link in untied])


@click.command(cls=Command)
@click.argument("id", metavar="ID|place:WING/ROOM")
@click.option("-r", "--relation", metavar="NAME", help="Only links of this relation.")
@click.option(
    "--direction", type=OneOf("both", "out", "in"), help="Only outgoing links (out), or only incoming ones (in)."
)
@click.option("--hops", type=WHOLE, help="At most this many links away; 1 by default.")
@click.option("-n", "--limit", type=WHOLE, help="At most this many; 50 by default.")
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line for each neighbor.")
@speaking
@click.pass_obj
def neighbors(call: Call, /, id: str, jsonl: bool, **values: Any) -> None:
    """Show what a memory or place is linked to, nearest first."""
    with call.opened(reading=True) as bank:
        found = bank.neighbors(_end(id), **given(values))
    if found.truncated:
        call.note(f"there are more than these {len(found):,}: --limit shows more")
    if jsonl:
        call.lines(neighbor.as_dict() for neighbor in found)
        return

    names = [neighbor.memory.id if neighbor.memory else f"{PLACE}{neighbor.place}" for neighbor in found]
    call.reply(found.as_dict(), show_neighbors(found), names)


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--accesses", type=WHOLE, help="The number of uses; 1 by default.")
@click.option("--reviews", type=WHOLE, help="The number of reviews.")
@click.option("--crossings", type=WHOLE, help="The number of uses in a foreign context.")
@click.option("--boost", is_flag=True, help="Also raise their strength.")
@click.option("--reward", type=NUMBER, help="How well they served, from -1 to 1.")
@speaking
@click.pass_obj
def touch(call: Call, /, ids: tuple[str, ...], **values: Any) -> None:
    """Record that memories were used. Used memories fade later."""
    with call.opened() as bank:
        used = bank.touch(ids, **given(values))
    call.reply({"usage": {id: usage.as_dict() for id, usage in used.items()}}, _used(used), used)


def _lines(what: str, links: list[Link]) -> Parts:
    for link in links:
        ends = f"{link.source} - {link.relation} - {link.target}"
        yield (f"{what} ", "green"), ends, (f"  {link.id}", "dim")


def _used(used: dict[str, Usage]) -> Parts:
    made = table(
        "id", "accesses", "reviews", "crossings", "reward", right=("accesses", "reviews", "crossings", "reward")
    )
    for id, usage in used.items():
        reward = "" if usage.average_reward is None else f"{usage.average_reward:.2f}"
        row(made, id, f"{usage.accesses:,}", f"{usage.reviews:,}", f"{usage.crossings:,}", reward)
    yield made
