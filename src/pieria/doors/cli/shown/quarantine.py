"""Traces and quarantines, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pieria.doors.cli.shown.console import line, pairs, row, table
from pieria.record.time import iso

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pieria.bank.results.general import Lifted, Quarantine, Trace


def traced(found: Trace) -> Iterator[RenderableType]:
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


def hidden(done: Quarantine) -> Iterator[RenderableType]:
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


def listed(found: Sequence[Quarantine]) -> Iterator[RenderableType]:
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


def lifted(done: Lifted) -> Iterator[RenderableType]:
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
