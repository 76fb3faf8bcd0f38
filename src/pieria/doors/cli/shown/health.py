"""Counts, checks, settings and the journal for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from pieria.doors.cli.shown.console import line, pairs, row, table
from pieria.doors.cli.shown.words import age, counted, day_and_age, size
from pieria.record.time import system_clock

if TYPE_CHECKING:
    from pieria import Change
    from pieria.bank.results.general import Diagnosis, Stats


NUMBERS = ("calls", "failed", "tokens in", "out", "seconds")
SHOWN_IDS = 10
"""Most ids of a change; a line has room for fewer."""


def counts(stats: Stats) -> Iterator[RenderableType]:
    """Yield the bank's counts and sizes."""
    yield line(("bank ", "dim"), (stats.bank, "bold"))
    yield pairs(
        [
            *((name.replace("_", " "), f"{number:,}") for name, number in stats.counts.items()),
            *((f"facts: {name}", f"{number:,}") for name, number in stats.facts.items() if name not in stats.counts),
            *((f"by {by}", _breakdown(group)) for by, group in _groups(stats).items()),
            *((f"pending: {name}", f"{number:,}") for name, number in stats.pending.items()),
            *((f"jobs: {state}", f"{number:,}") for state, number in stats.jobs.items()),
            *((f"sessions: {state}", f"{number:,}") for state, number in stats.sessions.items()),
            *((name.replace("_", " "), _described(name, value)) for name, value in stats.store.items()),
            ("last change", _last(stats.last_change)),
        ]
    )
    yield from _models(stats.models)


def checked(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """Yield every check with its result and advice, and every setting with its origin."""
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
    yield Text()
    settings = table("setting", "from", "value", wide=("value",))
    for name, (value, origin) in diagnosis.settings.items():
        row(settings, name, (origin, "dim"), "" if value is None else str(value))
    yield settings
    unwell = sum(not finding.well for finding in diagnosis.findings)
    yield Text()
    yield line((counted(unwell, "check") + " failed", "bold red") if unwell else ("all checks passed", "green"))


def happened(changes: Sequence[Change]) -> Iterator[RenderableType]:
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


def tallied(tally: Mapping[str, int]) -> Iterator[RenderableType]:
    """Yield the counts, largest first."""
    made = table("memories", "", wide=("",), right=("memories",))
    for name, number in tally.items():
        row(made, f"{number:,}", name or "(none)")
    yield made if made.row_count else line("Nothing to count.")


def located(found: Mapping[str, Any]) -> Iterator[RenderableType]:
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


def written_to(what: str, path: Path | str, length: int, counts: Mapping[str, int]) -> Iterator[RenderableType]:
    """Yield the written file, its size and its counts."""
    yield line((f"{what} ", "green"), (str(path), "bold"), (f"  {size(length)}", "dim"))
    if counts:
        yield line(("  ".join(f"{name} {number:,}" for name, number in counts.items()), "dim"))


def _models(models: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the use of models, today and in total, if there was any."""
    made = table("models", "step", "model", "calls", "failed", "tokens in", "out", "seconds", right=NUMBERS)
    for period in ("today", "total"):
        for spent in models[period]:
            numbers = (f"{spent[name]:,}" for name in ("calls", "failures", "input_tokens", "output_tokens"))
            row(made, period, spent["step"], spent["model"], *numbers, f"{spent['seconds']:,.1f}")
    if made.row_count:
        yield Text()
        yield made
    limits = [f"{limit:,} {name.replace('_', ' ')}" for name, limit in models["budgets"].items() if limit is not None]
    if limits:
        yield line(("budget ", "dim"), ", ".join(limits))


def _groups(stats: Stats) -> dict[str, Mapping[str, int]]:
    return {"kind": stats.by_kind, "status": stats.by_status, "tier": stats.by_tier, "scope": stats.by_scope}


def _breakdown(group: Mapping[str, int]) -> str:
    return "  ".join(f"{name} {number:,}" for name, number in group.items())


def _described(name: str, value: Any) -> str:
    return size(value) if name.endswith("bytes") and isinstance(value, int) else str(value)


def _last(change: Mapping[str, Any] | None) -> str | None:
    if change is None:
        return None
    when = day_and_age(datetime.fromisoformat(change["at"]), system_clock())
    return f"{change['seq']:,}: {change['what']} by {change['who']}, {when}"
