"""The tools that update, invalidate and forget memories, `sleep`, and the memory's health. Counts show no texts."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pieria.bank import Bank
from pieria.bank.results.general import Stats
from pieria.errors import ConflictError, InputError, NotFoundError, PieriaError
from pieria.record.banks import same_bank
from pieria.record.memory import GIVEN_KINDS, Memory, unchanged_source
from pieria.record.time import is_over
from pieria.toolsets.host import Call, Host
from pieria.toolsets.mnemosyne.words import LONGEST, here, stamp

if TYPE_CHECKING:
    from pieria.bank.results.upkeep import Slept


log = logging.getLogger(__name__)

ELSEWHERE = 20
"""How many other banks are searched for an unknown id."""
TEXTS, IDS = 20, 50
"""How many texts and ids a reply on a sleep lists; `more` counts the rest."""
RECENT = 20
"""How many recent changes are searched for the caller's own, because others write as well."""
SUMMARY = "summary"
SAID = tuple(kind for kind in GIVEN_KINDS if kind != SUMMARY)
ALL = ("archived", "invalid")
"""Statuses that are counted although recall skips them."""
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
Found = tuple[str, bool, str, str | None]


def forget(call: Call, memory_id: str) -> dict[str, Any]:
    bank = call.bank
    with _looking_elsewhere(call, memory_id):
        receipt = bank.purge(memory_id)
    return {
        "status": "deleted",
        "memory_id": memory_id,
        "deleted": dict(receipt.erased),
        "also": list(receipt.also),
        "unreached": list(receipt.unreached),
        **here(call, bank),
    }


def update(call: Call, memory_id: str, content: str | None = None, importance: float | None = None) -> dict[str, Any]:
    bank = call.bank
    if content is None and importance is None:
        raise InputError("content", "content, importance, or both", None, hint="Only what is given is changed.")
    changes: dict[str, Any] = {"text": content, "importance": importance}
    with _looking_elsewhere(call, memory_id):
        before = bank.get(memory_id)
        after = bank.update(memory_id, **{name: value for name, value in changes.items() if value is not None})
    changed = {} if before is None else _changed(before, after)
    return {
        "status": "updated" if changed else "unchanged",
        "memory_id": after.id,
        "changed": changed,
        "version": after.version,
        "warnings": unchanged_source(after),
        **here(call, bank),
    }


def invalidate(call: Call, memory_id: str, replacement_id: str | None = None) -> dict[str, Any]:
    bank = call.bank
    if replacement_id is not None and bank.get(replacement_id) is None:
        hint = "mnemosyne_remember returns the id of a new memory; mnemosyne_recall finds existing ones."
        raise InputError("replacement_id", "the id of an existing memory", replacement_id, hint=hint)
    with _looking_elsewhere(call, memory_id):
        memory, already = _ended(bank, memory_id, replacement_id)
    return {
        "status": "invalidated",
        "memory_id": memory.id,
        "already": already,
        "valid_until": stamp(memory.valid_until),
        "replacement_id": memory.superseded_by,
        "undo": None if already else _way_back(bank, memory),
        "warnings": unchanged_source(memory),
        **here(call, bank),
    }


def sleep(call: Call, dry_run: bool = False, bank: str | None = None) -> dict[str, Any]:
    target = call.host.other(bank)
    slept = target.upkeep.sleep(dry_run=dry_run, progress=call.host.progress)
    result, beam = _result(slept), _beam(target, target.stats())
    return {
        "status": result["status"],
        "result": result,
        "working": beam["working"],
        "episodic": beam["episodic"],
        **here(call, target),
    }


def _changed(before: Memory, after: Memory) -> dict[str, Any]:
    """Return the changed fields, with values before and after."""
    changed: dict[str, Any] = {}
    if before.text != after.text:
        changed["content"] = {"before": before.text[:LONGEST], "after": after.text[:LONGEST]}
        if max(len(before.text), len(after.text)) > LONGEST:
            changed["truncated"] = True
    if before.importance != after.importance:
        changed["importance"] = {"before": before.importance, "after": after.importance}
    return changed


def _ended(bank: Bank, id: str, replacement: str | None) -> tuple[Memory, bool]:
    """Return the memory, and whether it had already ended (with this replacement, if one is given)."""
    try:
        return bank.invalidate(id, replacement=replacement), False
    except ConflictError:
        held = bank.get(id)
        over = held is not None and is_over(held.valid_until, bank.clock())
        if held is None or not over or replacement not in (None, held.superseded_by):
            raise
        return held, True


def _way_back(bank: Bank, memory: Memory) -> dict[str, Any] | None:
    """Return the change to undo, if it is among the recent ones."""
    own = [change for change in bank.changes(last=RECENT) if memory.id in change.ids and change.what == "invalidate"]
    return {"change": own[-1].seq, "command": f"pieria undo {own[-1].seq} --bank {bank.name}"} if own else None


def _result(slept: Slept) -> dict[str, Any]:
    done = slept.summaries or slept.settled or slept.shortened
    status = "dry_run" if slept.dry_run else "consolidated" if done else "no_op"
    shortened = [{"id": one.memory.id, "before": one.memory.text, "after": one.text} for one in slept.shortened[:TEXTS]]
    consolidated = [memory.id for summary in slept.summaries for memory in summary.sources]
    levels = [one.level for one in slept.shortened]
    by_model = slept.mind != "rules" and bool(slept.summaries or slept.shortened)
    return {
        "status": status,
        "items_consolidated": slept.consolidated,
        "summaries_created": len(slept.summaries),
        "method": slept.mind,
        "llm_used": by_model,
        "consolidated_ids": consolidated[:IDS],
        "summaries": [
            {**summary, "sources": summary["sources"][:IDS]}
            for summary in (each.as_dict() for each in slept.summaries[:TEXTS])
        ],
        "promoted": [{"id": one.memory.id, "why": one.why, "tier": "semantic"} for one in slept.settled[:IDS]],
        "more": {
            "consolidated_ids": max(0, len(consolidated) - IDS),
            "summaries": max(0, len(slept.summaries) - TEXTS),
            "promoted": max(0, len(slept.settled) - IDS),
            "texts": max(0, len(slept.shortened) - TEXTS),
            "failed": max(0, len(slept.failed) - TEXTS),
        },
        "degradation": {
            "status": "dry_run" if slept.dry_run else "ok",
            "tier1_to_tier2": levels.count(1),
            "tier2_to_tier3": levels.count(2),
            "texts": shortened,
        },
        "examined": slept.examined,
        "left": slept.left,
        "failed": [{**failure.as_dict(), "ids": list(failure.ids[:IDS])} for failure in slept.failed[:TEXTS]],
        "stopped": slept.stopped,
        "reasons": list(slept.reasons),
    }


def _holds(call: Call, name: str, id: str) -> bool:
    try:
        return call.host.other(name).get(id) is not None
    except PieriaError as problem:
        # A fault in another bank must not fail this call.
        log.warning("bank %s is not looked into for an id (%s)", name, problem.code)
        return False


@contextmanager
def _looking_elsewhere(call: Call, id: str) -> Iterator[None]:
    """If the id is unknown here, name the bank that has it."""
    try:
        yield
    except NotFoundError as problem:
        own = call.bank.name
        others = [name for name in call.host.bank_names() if name != own]
        for name in others[:ELSEWHERE]:
            if _holds(call, name, id):
                raise NotFoundError("memory", id, hint=f"It is in the bank {name}, not in {own}.") from problem
        if "purged" in str(problem.hint):
            raise
        raise NotFoundError("memory", id, hint="mnemosyne_recall returns the ids.") from problem


def _beam(bank: Bank, stats: Stats) -> dict[str, dict[str, Any]]:
    """Return the counts of working, episodic and semantic memory, as far as the caller may see it.

    Working memory is memories other than summaries: those a sleep has consolidated and those it has not. The number of
    vectors is that of the whole bank.
    """
    tiers: dict[str, int] = bank.count(by="tier", include=ALL)
    said: dict[str, int] = bank.count(by="tier", kinds=SAID, include=ALL)
    waiting, total = said.get("working", 0), sum(said.values())
    return {
        "working": {
            "total": total,
            "consolidated": total - waiting,
            "unconsolidated": waiting,
            "last": _last(bank, SAID),
        },
        "episodic": {
            "total": tiers.get("kept", 0),
            "summaries": sum(tiers.values()) - total,
            "last": _last(bank, (SUMMARY,)),
            "vectors": stats.store["vectors"],
            "vec_type": stats.store["vector_type"],
        },
        "semantic": {"total": tiers.get("settled", 0)},
    }


def _last(bank: Bank, kinds: tuple[str, ...]) -> str | None:
    return next((stamp(memory.at) for memory in bank.list(limit=1, kinds=kinds, include=ALL)), None)


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
        "stats": {**whole, "banks": sorted(by_bank), "by_bank": by_bank if len(by_bank) > 1 else None},
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
    stats = bank.stats()
    beam = _beam(bank, stats)
    sessions = bank.count(by="session", include=ALL)
    return {
        "total_memories": beam["working"]["total"] + beam["episodic"]["summaries"],
        "total_sessions": len([name for name in sessions if name]),
        "sources": {name or UNNAMED: number for name, number in bank.count(by="source", include=ALL).items()},
        "last_memory": max((part["last"] for part in beam.values() if part.get("last")), default=None),
        "mode": stats.store["engine"],
        "bytes": stats.store["bytes"] + stats.store["log_bytes"],
        "pending": dict(stats.pending),
        "jobs": dict(stats.jobs),
        "beam": {
            **{f"{name}_memory": part for name, part in beam.items()},
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
