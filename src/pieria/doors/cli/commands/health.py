"""`pieria stats`, `doctor` and `where`: the bank's health and counts, and the bank in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.console import Parts, age, counted, day_and_age, line, pairs, row, size, table
from pieria.doors.cli.parser import Command, Group
from pieria.errors import InputError
from pieria.record.time import system_clock

if TYPE_CHECKING:
    from pieria import Change
    from pieria.bank.results.general import Diagnosis, Stats
    from pieria.bank.results.upkeep import Storage

NUMBERS = ("calls", "failed", "tokens in", "out", "seconds")
DEFAULT = "default"
"""The origin of a setting that has its default."""
SHOWN_IDS = 10
"""Most ids of a change; a line has room for fewer."""


@click.command(cls=Command)
@click.pass_obj
def stats(call: Call, /) -> None:
    """Show counts and sizes, and no text of any memory."""
    with call.opened(reading=True) as bank:
        found = bank.stats()
    call.reply(found.as_dict(), show_stats(found), [found.bank])


@click.command(cls=Command)
@click.option("--repair", is_flag=True, help="Rebuild damaged parts that can be rebuilt, such as the text index.")
@click.option("--all", "shows_all", is_flag=True, help="Also show the settings that have their defaults, as JSON does.")
@click.pass_context
def doctor(ctx: click.Context, repair: bool, shows_all: bool) -> None:
    """Check the bank's file, its index, the disk and the clock, and show the settings that were set, and where.

    Exits with 1 if a check fails. Shows no text of any memory.
    """
    call: Call = ctx.obj
    with call.opened(reading=True) as bank, call.progress("checking") as progress:
        diagnosis = bank.doctor(repair=repair, progress=progress)
        is_empty = not bank.changes(limit=1)
    people = show_diagnosis(diagnosis, shows_all=shows_all)
    call.reply(diagnosis.as_dict(), people, [f.check for f in diagnosis.findings if not f.well])
    _capture_told(call)
    _web_told(call)
    _model_told(call)
    if is_empty:
        _offers_told(call, bank.name)
    if not diagnosis.well:
        ctx.exit(1)


def _capture_told(call: Call) -> None:
    """Note events that were refused. They belong to no bank, so no bank's report shows them."""
    from pieria.capture.spool import spool_of

    with call.workspace() as workspace:
        refused = spool_of(workspace).standing().refused
    if refused:
        call.note("some captured events were refused: `pieria hooks status` shows how many")


def _web_told(call: Call) -> None:
    """Note missing web files. They belong to no bank either."""
    from pieria.doors.web import vendor

    if vendor.missing():
        call.note(f"the web page works as plain HTML, but does not update live without its scripts: {vendor.ADVICE}")


def _model_told(call: Call) -> None:
    """Note why the local model was not fetched: a server says so only in its log."""
    from pieria.workspace.model_fetch import failure

    with call.workspace() as workspace:
        reason = failure(workspace)
    if reason:
        call.note(f"the local model could not be fetched: {reason} To try again: pieria models install")


def _offers_told(call: Call, bank: str) -> None:
    """Note the stores of other systems that this bank could take in."""
    from pieria.importers.offers import Once

    with call.workspace() as workspace:
        offers = Once(workspace.data, offered=workspace.resolved.settings.offer_imports)(bank, lambda: True)
    for offer in offers:
        call.note(offer)


@click.command(cls=Command)
@click.pass_obj
def where(call: Call, /) -> None:
    """Show which bank and data folder are used, and why. The command opens no bank and creates none."""
    from pieria.workspace import doubts_about

    with call.workspace() as workspace:
        resolved = workspace.resolved
        settings = resolved.settings
        spot = workspace.place.at(settings.bank)
        found: dict[str, Any] = {
            "bank": {"value": settings.bank, "from": resolved.origins["bank"]},
            "data": {"value": str(workspace.place), "from": resolved.origins["data"]},
            "file": str(spot),
            "exists": spot.is_there,
            "sealed": workspace.is_sealed(settings.bank),
            "project": str(resolved.project.root) if resolved.project else None,
            "banks": workspace.banks(),
            "untrusted": [
                {"what": remark.what, "remedy": remark.remedy}
                for remark in (*resolved.ignored, *doubts_about(resolved, spot))
            ],
        }
    call.reply(found, show_place(found), [settings.bank])


def show_stats(stats: Stats) -> Parts:
    """Yield the bank's counts and sizes."""
    groups = {"kind": stats.by_kind, "status": stats.by_status, "tier": stats.by_tier, "scope": stats.by_scope}
    yield line(("bank ", "dim"), (stats.bank, "bold"))
    yield pairs(
        [
            *((name.replace("_", " "), f"{number:,}") for name, number in stats.counts.items()),
            *((f"facts: {name}", f"{number:,}") for name, number in stats.facts.items() if name not in stats.counts),
            *(
                (f"by {by}", "  ".join(f"{name} {number:,}" for name, number in group.items()))
                for by, group in groups.items()
            ),
            *((f"pending: {name}", f"{number:,}") for name, number in stats.pending.items()),
            *((f"jobs: {state}", f"{number:,}") for state, number in stats.jobs.items()),
            *((f"sessions: {state}", f"{number:,}") for state, number in stats.sessions.items()),
            *((name.replace("_", " "), _described(name, value)) for name, value in stats.store.items()),
            ("last change", _last(stats.last_change)),
        ]
    )
    yield from _models(stats.models)


def show_diagnosis(diagnosis: Diagnosis, *, shows_all: bool) -> Parts:
    """Yield every check with its result and advice, and the settings with their origins."""
    made = table("", "check", "found", wide=("found",))
    for finding in diagnosis.findings:
        mark = ("ok", "green") if finding.well else ("FAILED", "bold red")
        row(made, mark, finding.check, finding.detail)
    yield made
    for finding in diagnosis.findings:
        if finding.remedy or not finding.well:
            yield line((f"{finding.check}: ", "yellow" if finding.well else "bold red"), finding.detail)
            yield line(("  what to do: ", "cyan"), finding.remedy or "nothing")
    for name in diagnosis.repaired:
        yield line(("repaired ", "green"), name)
    yield line()
    settings = table("setting", "from", "value", wide=("value",))
    shown = {name: it for name, it in diagnosis.settings.items() if shows_all or it[1] != DEFAULT}
    for name, (value, origin) in shown.items():
        row(settings, name, (origin, "dim"), "" if value is None else str(value))
    if shown:
        yield settings
    if defaults := len(diagnosis.settings) - len(shown):
        yield line((f"{counted(defaults, 'more setting')} by default: pieria doctor --all", "dim"))
    unwell = sum(not finding.well for finding in diagnosis.findings)
    yield line()
    yield line((counted(unwell, "check") + " failed", "bold red") if unwell else ("all checks passed", "green"))


def show_changes(changes: Sequence[Change]) -> Parts:
    """Yield a line for each change of the journal."""
    if not changes:
        yield line("No changes.")
        return
    now = system_clock()
    made = table("seq", "when", "who", "what", "of", "ids", wide=("ids",), right=("seq", "of"))
    for change in changes:
        ids = " ".join(change.ids[:SHOWN_IDS])
        row(made, f"{change.seq}", age(change.at, now), change.who, change.what, f"{len(change.ids):,}", (ids, "dim"))
    yield made


def show_counts(tally: Mapping[str, int]) -> Parts:
    """Yield the counts, largest first."""
    made = table("memories", "", wide=("",), right=("memories",))
    for name, number in tally.items():
        row(made, f"{number:,}", name or "(none)")
    yield made if made.row_count else line("Nothing to count.")


def show_place(found: Mapping[str, Any]) -> Parts:
    """Yield bank and folder, and the origin of each."""
    yield pairs(
        [
            ("bank", f"{found['bank']['value']}  (from {found['bank']['from']})"),
            ("data", f"{found['data']['value']}  (from {found['data']['from']})"),
            ("file", found["file"] if found["exists"] else f"{found['file']}  (does not exist yet)"),
            ("sealed", "yes" if found["sealed"] else None),
            ("project", found["project"]),
            ("banks here", "  ".join(found["banks"]) or "none"),
        ]
    )
    for one in found["untrusted"]:
        yield line(("trust: ", "yellow"), one["what"])
        yield line(("  what to do: ", "cyan"), one["remedy"])


def show_written(what: str, path: Path | str, length: int, counts: Mapping[str, int]) -> Parts:
    """Yield the written file, its size and its counts."""
    yield line((f"{what} ", "green"), (str(path), "bold"), (f"  {size(length)}", "dim"))
    if counts:
        yield line(("  ".join(f"{name} {number:,}" for name, number in counts.items()), "dim"))


def _models(models: Mapping[str, Any]) -> Parts:
    """Yield the use of models, today and in total, if there was any."""
    made = table("models", "step", "model", "calls", "failed", "tokens in", "out", "seconds", right=NUMBERS)
    for period in ("today", "total"):
        for spent in models[period]:
            numbers = (f"{spent[name]:,}" for name in ("calls", "failures", "input_tokens", "output_tokens"))
            row(made, period, spent["step"], spent["model"], *numbers, f"{spent['seconds']:,.1f}")
    if made.row_count:
        yield line()
        yield made
    limits = [f"{limit:,} {name.replace('_', ' ')}" for name, limit in models["budgets"].items() if limit is not None]
    if limits:
        yield line(("budget ", "dim"), ", ".join(limits))


def _described(name: str, value: Any) -> str:
    return size(value) if name.endswith("bytes") and isinstance(value, int) else str(value)


def _last(change: Mapping[str, Any] | None) -> str | None:
    if change is None:
        return None
    when = day_and_age(datetime.fromisoformat(change["at"]), system_clock())
    return f"{change['seq']:,}: {change['what']} by {change['who']}, {when}"


@click.group(cls=Group)
@click.option("--storage-path", metavar="FOLDER", help="The data folder, or the folder of a Mnemex store.")
@click.pass_obj
def maintenance(call: Call, /, storage_path: str | None) -> None:
    """Show how much disk space a bank takes, and free what it does not need."""
    call.data = storage_path or call.data


@maintenance.command("stats")
@click.pass_obj
def storage_stats(call: Call, /) -> None:
    """Show counts and disk space. For a Mnemex store, also show how to import it."""
    theirs, has_banks = _found(call)
    document: dict[str, Any] = {}
    if theirs is None or has_banks:
        with call.opened(reading=True) as bank:
            document = {"bank": bank.name, "storage_path": str(bank.data), **_named(bank.upkeep.storage())}
    if theirs is not None:
        document = {**document, "store": theirs} if document else theirs
    call.reply(document, _shown(document), [str(document["memories"]["active"])])


@maintenance.command()
@click.pass_obj
def compact(call: Call, /) -> None:
    """Free the space of erased and moved data. All memories stay, with every version."""
    theirs, has_banks = _found(call)
    if theirs is not None and not has_banks:
        raise InputError("storage_path", "a data folder of Pieria", call.data, hint=theirs["hint"])
    with call.opened(reading=True) as bank:
        done = bank.upkeep.compact()
        document = {"bank": bank.name, **done.as_dict()}

    def people() -> Parts:
        yield line(("compacted ", "green"), (bank.name, "bold"))
        yield pairs(
            [
                ("before", f"{done.before.bytes:,} bytes"),
                ("after", f"{done.after.bytes:,} bytes"),
                ("not freed", "; ".join(done.unreached) or None),
            ]
        )

    call.reply(document, people(), [str(done.before.bytes), str(done.after.bytes)])


def _found(call: Call) -> tuple[dict[str, Any] | None, bool]:
    """Return the statistics of another system's store in the data folder, and whether it holds banks as well."""
    from pieria.importers.mnemex import stats

    with call.workspace() as workspace:
        theirs = stats(workspace.data)
        if theirs is not None:
            theirs["hint"] = f"Import it: pieria import {quote(str(workspace.data))} --from {theirs['system']}"
        return theirs, bool(workspace.banks())


def _named(storage: Storage) -> dict[str, Any]:
    """Return the statistics under the original's names. Compaction here only frees bytes."""
    memories = {"active": storage.memories, "total_lines": storage.versions, "file_size_bytes": storage.bytes}
    relations = {"active": storage.links, "total_lines": storage.links, "file_size_bytes": 0}
    return {
        "memories": {**memories, "compaction_savings": 0},
        "relations": {**relations, "compaction_savings": 0},
        "should_compact": storage.should_compact,
        "free_bytes": storage.free,
    }


def _shown(document: dict[str, Any]) -> Parts:
    what = document.get("bank") or f"a store of {document['system']}"
    yield line((str(what), "bold"))
    yield pairs(
        [
            *((name, _counts(document[name])) for name in ("memories", "relations")),
            ("damaged lines", f"{document['bad_lines']:,}" if document.get("bad_lines") else None),
            ("compacting", "recommended" if document["should_compact"] else "not needed"),
            ("next", document.get("hint")),
        ]
    )
    if "store" in document:
        yield from _shown(document["store"])


def _counts(counts: dict[str, int]) -> str:
    return f"{counts['active']:,} of {counts['total_lines']:,} written, {counts['file_size_bytes']:,} bytes"
