"""`pieria forget` and `unforget`: removing, erasing for good, and bringing back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.write import for_each
from pieria.doors.cli.console import Parts, inert, line, pairs, row, table
from pieria.doors.cli.memories import show_receipt
from pieria.doors.cli.parser import Command, expecting, speaking
from pieria.doors.cli.person import confirm, must_be_person
from pieria.doors.cli.values import TIME, WHOLE, given
from pieria.record.time import iso

if TYPE_CHECKING:
    from pieria import Bank, Receipt
    from pieria.bank.results.general import Forgotten, Lifted, Quarantine, Trace


SHOWN = 20
"""Most memories shown before everything from one source is forgotten."""


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--source", metavar="SOURCE", help="Everything from this source: a file, an address, or an ingested experience."
)
@click.option("--of-session", metavar="ID", help="Everything said or learned in this session.")
@click.option(
    "--dry-run", is_flag=True, help="With --source, --of-session or --purge: only show what would be removed."
)
@click.option(
    "--as-told", metavar="DIGEST", help="Refuse if the digest differs from this one, which --dry-run printed."
)
@click.option("--reason", help="The reason, which the history shows.")
@click.option("--purge", is_flag=True, help="Erase them for good: every version, and everything derived from them.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
@expecting
@speaking
@click.pass_obj
def forget(
    call: Call,
    /,
    ids: tuple[str, ...],
    source: str | None,
    of_session: str | None,
    dry_run: bool,
    as_told: str | None,
    reason: str | None,
    purge: bool,
    yes: bool,
    unless_changed_since: str | None,
) -> None:
    """Remove memories or facts, so that no search finds them. `pieria unforget` restores them.

    --source and --of-session remove everything from there, and everything derived from that alone. This is one change,
    which `pieria undo` reverts.

    --purge erases the memories instead, which cannot be undone. On a terminal the command first shows them and asks. It
    erases nothing if they have changed since. Afterwards it lists what it erased, and the places that it could not
    clean.

    `pieria delete` is the same command.
    """
    from_there = source is not None or of_session is not None
    if bool(ids) == from_there:
        raise click.UsageError("give either ids, or --source or --of-session", click.get_current_context())
    if (dry_run or as_told) and not (from_there or purge):
        raise click.UsageError(
            "--dry-run and --as-told go with --source, --of-session or --purge", click.get_current_context()
        )
    if unless_changed_since is not None and from_there:
        raise click.UsageError("--unless-changed-since goes with ids", click.get_current_context())
    if purge and reason is not None:
        raise click.UsageError("--purge keeps nothing, so it takes no --reason", click.get_current_context())
    from pieria.bank.results.general import Forgotten

    do: Callable[..., Forgotten | Receipt]
    with call.opened() as bank:
        if from_there:
            do = partial(bank.forget, source=source, session=of_session, purge=purge, reason=reason)
        elif purge:
            do = partial(bank.purge, ids, unless_changed_since=unless_changed_since)
        else:
            remove = partial(bank.remove, reason=reason, unless_changed_since=unless_changed_since)
            for_each(call, ids, "removed", remove)
            return
        if purge and not yes and not dry_run:
            as_told = _agreed(bank, partial(do, dry_run=True, as_told=as_told)) or as_told
        done = do(dry_run=dry_run, as_told=as_told)
    people = _gone(done) if isinstance(done, Forgotten) else show_receipt(done, dry_run)
    call.reply(done.as_dict(), people, (*done.ids, *done.also))


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@speaking
@click.pass_obj
def unforget(call: Call, /, ids: tuple[str, ...]) -> None:
    """Restore removed memories or facts unchanged."""
    with call.opened() as bank:
        for_each(call, ids, "restored", bank.restore)


def _gone(told: Forgotten) -> Parts:
    if told.receipt is not None:
        yield from show_receipt(told.receipt, is_told=False)
    yield pairs(
        [
            ("would be removed" if told.dry_run else "removed", f"{len(told.ids):,}"),
            ("derived from them alone", f"{len(told.also):,}"),
            ("facts", f"{len(told.facts):,}"),
            *([("digest", told.digest)] if told.dry_run else []),
        ]
    )
    if told.seq is not None and told.receipt is None:
        yield line((f"to restore them: pieria undo {told.seq}", "dim"))


def _agreed(bank: Bank, tell: Callable[[], Forgotten | Receipt]) -> str | None:
    """Return the digest that a person saw and confirmed, or None without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    told, lines = tell(), []
    for id in told.ids[:SHOWN]:
        memory = bank.get(id, include_removed=True)
        said = (memory.title or memory.text)[:70] if memory else "not found"
        lines.append(f"  {inert(id)}  {inert(said, one_line=True)}")
    if len(told.ids) > SHOWN:
        lines.append(f"  and {len(told.ids) - SHOWN:,} more")
    if told.also:
        derived = inert(" ".join(told.also[:SHOWN]), one_line=True)
        lines.append(f"  and {len(told.also):,} derived from them: {derived}")
    confirm(lines, "Erase all of this for good, with every version?", "nothing was erased")
    return told.digest


@click.command(cls=Command)
@click.argument("id", required=False)
@click.option("--source", metavar="SOURCE", help="A source: a file, an address, or an ingested experience.")
@click.option("--session", metavar="ID", help="A session: everything said or learned in it.")
@click.option("--limit", type=WHOLE, default=200, show_default=True, help="List at most this many.")
@click.pass_obj
def trace(call: Call, /, id: str | None, **values: Any) -> None:
    """Show everything derived from a memory, source or session, and the sessions that saw any of it.

    The list holds summaries, lessons, revisions, facts and vault notes, ended and quarantined ones included.
    """
    asked = given({"id": id, **values})
    if sum(name in asked for name in ("id", "source", "session")) != 1:
        raise click.UsageError("give an id, --source or --session", click.get_current_context())
    with call.opened(reading=True) as bank:
        found = bank.trace(**asked)
    call.reply(found.as_dict(), show_trace(found), [item.id for item in found.items])


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", metavar="SOURCE", help="Everything from this source: a file, an address.")
@click.option("--session", metavar="ID", help="Everything said or learned in this session.")
@click.option("--author", metavar="NAME", help="Everything by this author.")
@click.option("--channel", metavar="NAME", help="Everything from this channel.")
@click.option("--via", metavar="WAY", help="Everything that came in this way, such as hearsay or outside.")
@click.option("--since", metavar="TIME", type=TIME, help="Only what was said at this time or later.")
@click.option("--until", metavar="TIME", type=TIME, help="Only what was said before this time.")
@click.option("--reason", help="The reason, which readers of these memories see.")
@click.option("--dry-run", is_flag=True, help="Only show what would be hidden.")
@click.option("--list", "listing", is_flag=True, help="List the quarantines in force.")
@click.option("--lift", metavar="NUMBER", type=WHOLE, help="End the quarantine with this number.")
@click.pass_obj
def quarantine(
    call: Call,
    /,
    ids: tuple[str, ...],
    reason: str | None,
    dry_run: bool,
    listing: bool,
    lift: Any,
    **values: Any,
) -> None:
    """Hide memories and everything derived from them, until the quarantine is lifted.

    A memory must match every option; IDs add further memories. No command that reads shows them, now or with
    --known-at. New memories that match join the quarantine. --lift restores exactly what was there.
    """
    selected = given(values)
    chosen = bool(selected or ids)
    if chosen + listing + (lift is not None) != 1:
        message = "give the memories to hide, or --list, or --lift NUMBER"
        raise click.UsageError(message, click.get_current_context())
    if not chosen and (reason is not None or dry_run):
        raise click.UsageError("--reason and --dry-run need memories to hide", click.get_current_context())
    if listing:
        _list(call)
    elif lift is not None:
        _lift(call, lift)
    else:
        _hide(call, {**selected, "ids": ids, "reason": reason, "dry_run": dry_run})


def _hide(call: Call, asked: dict[str, Any]) -> None:
    with call.opened(reading=True) as bank:
        done = bank.quarantine(**asked)
    call.reply(done.as_dict(), show_hidden(done), [] if done.number is None else [str(done.number)])


def _list(call: Call) -> None:
    with call.opened(reading=True) as bank:
        found = bank.quarantines()
    call.reply(
        {"quarantines": [each.as_dict() for each in found]},
        show_quarantines(found),
        [str(each.number) for each in found],
    )


def _lift(call: Call, number: Any) -> None:
    must_be_person()
    with call.opened(reading=True) as bank:
        done = bank.lift(number)
    call.reply(done.as_dict(), show_lifted(done), [str(done.seq)])


def show_trace(found: Trace) -> Parts:
    items = table("id", "kind", "how", "from", "what", wide=("what",))
    for item in found.items:
        held = f" (in quarantine {', '.join(map(str, item.quarantines))})" if item.quarantines else ""
        ended = f" ({item.ended})" if item.ended else ""
        row(items, item.id, item.kind, item.how or "origin", item.of or "", f"{item.excerpt}{ended}{held}")
    yield items
    yield pairs((kind, f"{number:,}") for kind, number in found.counts.items())
    for told in found.told:
        context = ", in its starting context" if told.in_context else ""
        often = f"{told.times:,} time{'s' if told.times != 1 else ''}"
        yield line(("shown to session ", "yellow"), f"{told.session}: {often}, last {iso(told.last)}{context}")
    for path in found.notes:
        yield line(("written to the vault: ", "yellow"), path)
    if found.hidden:
        yield line((f"{found.hidden:,} more belong to other sessions and are not shown", "dim"))
    if found.truncated:
        yield line(("there is more: --limit NUMBER lists it", "dim"))


def show_hidden(done: Quarantine) -> Parts:
    yield pairs(
        [
            ("would be hidden" if done.dry_run else "hidden", f"{done.memories:,} memories, {done.facts:,} facts"),
            ("kinds", _counted(done.counts)),
            ("digest", done.digest),
        ]
    )
    for place in done.unreached:
        yield line(("not reached: ", "yellow"), place)
    if done.number is not None:
        yield line((f"to restore this: pieria quarantine --lift {done.number}", "dim"))


def show_quarantines(found: Sequence[Quarantine]) -> Parts:
    if not found:
        yield line("nothing is in quarantine")
        return
    shown = table("number", "since", "by", "what", "holds", "why", wide=("why",), right=("number",))
    for each in found:
        selected = ", ".join(f"{name} {value}" for name, value in each.selectors.items() if name != "ids")
        named = len(each.selectors.get("ids", ()))
        what = ", ".join(filter(None, (selected, f"{named:,} by id" if named else "")))
        row(shown, str(each.number), iso(each.at), each.who, what, _counted(each.counts), each.reason or "")
    yield shown


def show_lifted(done: Lifted) -> Parts:
    yield line(
        ("lifted ", "green"),
        (f"quarantine {done.number}", "bold"),
        f": {done.memories:,} memories, {done.facts:,} facts",
        (f"  as change {done.seq}", "dim"),
    )
    if done.still_held:
        yield line((f"{done.still_held:,} of them stay hidden: other quarantines hold them as well", "yellow"))


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
