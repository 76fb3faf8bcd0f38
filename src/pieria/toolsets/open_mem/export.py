"""The tools `export` and `import`: a project's memories as one JSON payload and back.

A history is exported or imported complete, or not at all.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pieria.bank import Bank
from pieria.record.time import iso
from pieria.toolsets.host import Call
from pieria.toolsets.open_mem.import_plan import Here, Plan, planned, taken_in
from pieria.toolsets.open_mem.payload import VERSION, WRITER, Incoming, lineages, memories, observation, read, summary
from pieria.toolsets.open_mem.words import (
    NOTED,
    PROJECT,
    SPOKEN,
    SUMMARY,
    USER,
    Answer,
    Screened,
    answer,
    asked_types,
    own_scope,
)

STANDING = ("invalid", "archived")
OUTDATED = "summaries: {:,} left out, since something was removed from their sessions after they were written."
WORDS = "observations: {:,} turns are left out; `pieria export` takes them along."
SHOWN = 10


def export(call: Call, scope: str, format: str, type: str | None = None, limit: int | None = None) -> Answer:
    bank = call.bank
    # Read everything as of one moment, even if others write meanwhile.
    known_at = next((change.at for change in bank.changes(last=1)), None)
    types = asked_types([type] if type else None)
    asked: dict[str, Any] = {"kinds": NOTED, "types": types, "include": STANDING, "known_at": known_at}
    # Keep the newest if there are more than `limit`.
    kept = deque(memories(bank, **asked), maxlen=limit and min(limit, sys.maxsize))
    left = bank.count(scope=own_scope(bank), **asked) - len(kept)
    revisions, before, removed_at = lineages(bank, known_at)
    heads = [observation(bank, memory, before.get(memory.id)) for memory in kept]
    whole = left <= 0 and type is None
    sessions = None if whole else {head["sessionId"] for head in heads}
    summaries, outdated = _summaries(bank, sessions, known_at, removed_at)
    spoken = bank.count(scope=own_scope(bank), kinds=SPOKEN, known_at=known_at) if whole else 0
    payload: dict[str, Any] = {
        "version": VERSION,
        "exportedAt": iso(bank.clock()),
        "project": bank.name,
        "writer": WRITER,
        "scope": scope,
        "observations": heads,
        "revisions": revisions if whole else _led_to(revisions, heads),
        "summaries": summaries,
        "truncated": left > 0,
    }
    counts = {name: len(payload[name]) for name in ("observations", "revisions", "summaries")}
    warnings = [OUTDATED.format(outdated)] * bool(outdated) + [WORDS.format(spoken)] * bool(spoken)
    return answer(
        call, bank, {"payload": payload, "format": format}, counts=counts, left=left if left > 0 else None,
        warnings=warnings or None,
    )  # fmt: skip


def _led_to(revisions: list[dict[str, Any]], heads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the revisions that led to the exported heads."""
    by_id = {one["id"]: one for one in revisions}
    wanted: set[str] = set()
    waiting = [head["revisionOf"] for head in heads]
    while waiting:
        id = waiting.pop()
        if id in by_id and id not in wanted:
            wanted.add(id)
            waiting.append(by_id[id]["revisionOf"])
    return [one for one in revisions if one["id"] in wanted]


def _summaries(
    bank: Bank, sessions: set[str] | None, known_at: datetime | None, removed_at: Mapping[str | None, datetime]
) -> tuple[list[dict[str, Any]], int]:
    """Return the summaries of these sessions, or of all, and how many are left out.

    A summary from before a removal may hold the removed text, so it is left out until it is written again.
    """
    found = memories(bank, kinds=SUMMARY, include=STANDING, known_at=known_at)
    asked = [memory for memory in found if sessions is None or memory.session in sessions]
    current = [memory for memory in asked if memory.known_from >= removed_at.get(memory.session, memory.known_from)]
    return [summary(bank, memory) for memory in current], len(asked) - len(current)


def import_(call: Call, payload: str, mode: str) -> Answer:
    incoming = read(payload)
    bank = call.bank
    here = Here.of(bank)
    plan = planned(incoming, here, mode)
    report = taken_in(call, bank, plan, mode, is_ours=incoming.is_ours, is_empty=here.is_empty)
    written: set[str] = set()
    if report.changes is not None:
        first, last = report.changes
        written = {id for change in bank.changes(since=first - 1, limit=last - first + 1) for id in change.ids}
    targets = [plan.targets.get(record.id) for record in incoming.observations]
    came = [target for target in targets if target in written]
    _sum_up(bank, here, incoming, {id for id, target in plan.targets.items() if target in written})
    summed = [plan.targets.get(record.id) for record in incoming.summaries]
    imported_summaries = sum(target in written for target in summed)
    data = {
        "imported": len(came),
        "skipped": len(targets) - len(came),
        "mode": mode,
        "updated": sum(target in here.standing for target in came),
        "summaries": {"imported": imported_summaries, "skipped": len(summed) - imported_summaries},
        "revisions": sum(plan.targets.get(record.id) in written for record in incoming.revisions),
        "errors": [],
    }
    screened = Screened(bank, incoming.texts(lambda record: plan.targets.get(record.id) in written))
    left = {what: dict(why) for what, why in report.left.items()}
    if plan.purged:
        left["histories"] = {"purged here": plan.purged}
    if plan.loose:
        left["revisions"] = {"lead to nothing in the payload": plan.loose}
    return answer(
        call, bank, data, **screened.as_dict(), project=incoming.project, scope=PROJECT, left=left or None,
        ignored=sorted(incoming.ignored) or None, warnings=[*_told(bank, incoming, plan)] or None,
    )  # fmt: skip


def _sum_up(bank: Bank, here: Here, incoming: Incoming, came: set[str]) -> None:
    """Queue new summaries for sessions that had one here and grew. Skip all others: a large import would call a model
    thousands of times.
    """
    grown = {one.values.get("sessionId") for one in (*incoming.observations, *incoming.revisions) if one.id in came}
    brought = {one.values.get("sessionId") for one in incoming.summaries if one.id in came}
    for session in sorted(here.summaries.keys() & grown - brought):
        bank.upkeep.summarize_later(session)


def _told(bank: Bank, incoming: Incoming, plan: Plan) -> Iterator[str]:
    """Yield a warning for each kind of value that the import changed."""
    theirs = sum(record.values.get("scope") == USER for record in incoming.observations)
    if theirs and not bank.is_user_bank:
        yield f"scope: {theirs:,} of the user's observations now belong to the project."
    if incoming.untold:
        yield f"narrative: {incoming.untold:,} had none; their titles are used instead."
    if plan.parted:
        shown = ", ".join(plan.parted[:SHOWN])
        yield f"revisionOf: two revisions had the same predecessor, so the later one was kept; it now follows {shown}."
