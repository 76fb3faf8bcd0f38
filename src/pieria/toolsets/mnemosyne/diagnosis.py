"""The memory's health: counts over all banks, and each check with its remedy. Never shows memories' texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pieria.bank import Bank
from pieria.errors import PieriaError
from pieria.record.banks import same_bank
from pieria.toolsets.host import Call, Host
from pieria.toolsets.mnemosyne.counts import ALL, Counting
from pieria.toolsets.mnemosyne.words import here

PROVIDER = "pieria"
UNNAMED = "(none)"
CATEGORIES = {
    "storage": ("file", "schema", "file mode", "leftovers", "disk", "engine", "purge"),
    "record": ("rows", "sums", "states", "open", "gaps", "journal", "clock", "lineage", "conflicts"),
    "index": (
        "terms", "term sums", "text index", "analyser", "passages", "windows", "strays", "codes", "vectors",
        "vector sums",
    ),
    "models": ("embedder", "llm", "reranker"),
    "work": ("jobs", "work"),
}  # fmt: skip
LINEAGE = "pieria upkeep repair removes broken links."
CONFLICTS = "mnemosyne_triple_query shows them; pieria facts invalidate ends the outdated ones."


def get_stats(call: Call, bank: str | None = None) -> dict[str, Any]:
    host = call.host
    warnings: list[str] = []
    if bank is None and not host.is_named:
        by_bank = dict(_all_counted(host, warnings))
    else:
        one = host.other(bank)
        by_bank = {one.name: _counted(one)}
    whole = _together(list(by_bank.values()))
    return {
        "provider": PROVIDER,
        "session_id": host.session,
        "stats": {**whole, "banks": sorted(by_bank), "by_bank": by_bank},
        "bank": next(iter(by_bank)) if bank is not None or host.is_named else None,
        "session": host.session,
        "warnings": warnings,
    }


def _all_counted(host: Host, warnings: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each bank's counts. Raise if the caller's own bank fails; warn about others and skip them."""
    for name in host.bank_names():
        try:
            found = host.other(name)
            yield found.name, _counted(found)
        except PieriaError as problem:
            if same_bank(name) == same_bank(host.bank_name):
                raise
            warnings.append(f"bank {name} cannot be counted ({problem.code}); pieria doctor --bank {name} says more.")


def diagnose(call: Call) -> dict[str, Any]:
    bank = call.bank
    told = bank.doctor().placeless()
    found = [(one.check, one.well, one.detail, one.remedy) for one in told.findings]
    entries = [_entry(*finding) for finding in (*found, *_between_records(bank))]
    failed = [entry for entry in entries if entry["status"] == "fail"]
    advised = [entry for entry in entries if entry["status"] == "advice"]
    return {
        "checks_total": len(entries),
        "checks_passed": len(entries) - len(failed),
        "checks_failed": len(failed),
        "key_findings": [f"{entry['check']}: {entry['detail']}" for entry in (*failed, *advised)],
        "fixable": [{"check": entry["check"], "remedy": entry["remedy"]} for entry in failed if entry["remedy"]],
        "entries": entries,
        "settings": {name: origin for name, (_, origin) in told.settings.items() if origin != "default"},
        **here(call, bank),
    }


def _counted(bank: Bank) -> dict[str, Any]:
    counting = Counting(bank)
    stats = counting.stats
    sessions = bank.count(by="session", include=ALL)
    parts = counting.working(), counting.episodic(), counting.semantic()
    return {
        "total_memories": counting.total,
        "total_sessions": len([name for name in sessions if name]),
        "sources": {name or UNNAMED: number for name, number in bank.count(by="source", include=ALL).items()},
        "last_memory": max((part["last"] for part in parts if part.get("last")), default=None),
        "mode": stats.store["engine"],
        "bytes": stats.store["bytes"] + stats.store["log_bytes"],
        "pending": dict(stats.pending),
        "jobs": dict(stats.jobs),
        "beam": {
            "working_memory": parts[0],
            "episodic_memory": parts[1],
            "semantic_memory": parts[2],
            "triples": {"total": bank.facts.stats().facts},
        },
    }


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the counts of banks: add numbers, keep the latest time or the shared value."""
    if not parts:
        return {}
    return {name: _joined([part.get(name) for part in parts]) for name in parts[0]}


def _joined(values: list[Any]) -> Any:
    held = [value for value in values if value is not None]
    if held and all(isinstance(value, dict) for value in held):
        names = dict.fromkeys(name for value in held for name in value)
        return {name: _joined([value.get(name) for value in held]) for name in names}
    if held and all(isinstance(value, int) for value in held):
        return sum(held)
    return max(held, default=None)


Found = tuple[str, bool, str, str | None]


def _between_records(bank: Bank) -> list[Found]:
    """Return the checks between records: lineage and conflicts."""
    problems = Counter(problem.kind for problem in bank.upkeep.validate().problems)
    at_odds = len(bank.facts.conflicts())
    told = ", ".join(f"{number:,} {kind}" for kind, number in problems.items())
    if problems:
        lineage: Found = ("lineage", False, told, LINEAGE)
    else:
        lineage = ("lineage", True, "every derived memory has its sources", None)
    if at_odds:
        conflicts: Found = (
            "conflicts",
            False,
            f"{at_odds:,} subjects with several values of a single-valued predicate",
            CONFLICTS,
        )
    else:
        conflicts = ("conflicts", True, "no triples contradict others", None)
    return [lineage, conflicts]


def _entry(check: str, well: bool, detail: str, remedy: str | None) -> dict[str, Any]:
    category = next((name for name, checks in CATEGORIES.items() if check in checks), "other")
    return {
        "category": category,
        "check": check,
        "status": "fail" if not well else "advice" if remedy else "pass",
        "detail": detail,
        "remedy": remedy,
    }
