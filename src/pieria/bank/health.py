"""Statistics, health checks and repair of a bank. No output contains remembered text.

The store checks and repairs its own files; this module checks what surrounds the store.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable

from pieria.bank.core import EVERYTHING, Core
from pieria.bank.jobs.queue import by_state
from pieria.bank.results.general import Diagnosis, Stats
from pieria.bank.sessions.records import Census, counted
from pieria.errors import InputError, StorageError, UnavailableError
from pieria.record import check
from pieria.record.filter import ANY_TIME
from pieria.record.memory import STATEMENT
from pieria.record.time import iso, moment
from pieria.store.parts import counts
from pieria.store.protocol import Finding, Progress, Reader
from pieria.store.rows import terms_of

DEAD = "pieria jobs list --state dead says why; then replay or cancel them."
LITTLE_SPACE = 200 << 20
LEFT_LYING = 86_400_000_000
"""Microseconds after which captured events count as left behind: no worker and no command has processed them."""
SECOND = 1_000_000
CLOCK_TOLERANCE = 5_000_000
"""The lead of known time over the clock, in microseconds, that `doctor` tolerates."""


def stats(core: Core) -> Stats:
    from pieria.facts import query

    everything = core.filter().having(viewer=EVERYTHING, status=None, valid_at=ANY_TIME)
    with core.reading() as reader:
        tally, totals = reader.tally(), reader.totals()
        waiting = reader.pending_count()
        last = reader.changes(since=max(0, reader.head().seq - 1), limit=1)
        facts = query.stats(reader, core.clock(), everything)
        jobs, models = by_state(reader.job_counts()), core.meter.told(reader)
        sessions = _census(core, reader).by_state
    described = core.store.describe()
    standing = [each for each in tally if each.ended == "" and each.kind != STATEMENT]
    return Stats(
        bank=core.name,
        counts=counts(tally, totals),
        by_kind=_summed((each.kind, each.number) for each in standing),
        by_status=_summed((each.status, each.number) for each in standing),
        by_tier=_summed((each.tier, each.number) for each in standing),
        by_scope=_summed((each.scope, each.number) for each in standing),
        facts={"facts": facts.facts, "current": facts.current, "entities": facts.entities},
        store=described,
        pending={"vectors": waiting} if core.embedding.embedder else {},
        jobs=jobs,
        sessions=sessions,
        models=models,
        last_change=last[0].as_dict() | {"ids": len(last[0].ids)} if last else None,
    )


def doctor(core: Core, *, repair: bool, up_to: int | None, progress: Progress | None) -> Diagnosis:
    check.flag(repair, "repair")
    thorough = _is_small(core, up_to, repair)
    findings = core.store.check(progress, thorough=thorough)
    repaired = core.store.repair(findings, terms_of) if repair else []
    if repaired:
        findings = core.store.check(progress)
    findings += [
        *_embedding_findings(core),
        _reranker_finding(core),
        _llm_finding(core),
        _work(core),
        *_raw(core),
        *_proposals(core),
        *_sessions(core),
        *_disk(core),
        _clock_finding(core),
        _engine(core),
        *core.remarks,
    ]
    return Diagnosis(tuple(findings), core.origins, tuple(repaired), thorough, _folders(core))


def _is_small(core: Core, up_to: int | None, repair: bool) -> bool:
    if up_to is None:
        return True
    check.whole(up_to, "up_to")
    if repair:
        raise InputError("up_to", "no value together with a repair", up_to)
    with core.reading() as reader:
        return reader.head().documents <= up_to


def sync(core: Core, timeout: float | None, progress: Progress | None) -> bool:
    if timeout is not None:
        check.number(timeout, "timeout", 0.0, 86_400.0)
    core.check_open()
    deadline = None if timeout is None else time.monotonic() + timeout
    user = None if core.is_user_bank else core.user_core(False)
    counted = core.uses.flush()
    caught_up = core.embedding.sync(timeout, progress) and counted
    if user is None:
        return caught_up
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    return sync(user, left, progress) and caught_up


def use_embedder(core: Core) -> str:
    core.check_open()
    space = core.embedding.use()
    if space is None:
        hint = "Set embedder to a model."
        raise UnavailableError("embedder", "no embedder is set, so the bank cannot move to another model", hint=hint)
    return space.name


def _embedding_findings(core: Core) -> list[Finding]:
    """Report the embedder and its backlog. A hashing embedder that replaces a missing model is reported."""
    embedder = core.embedding.embedder
    with core.reading() as reader:
        standing = core.embedding.readiness(reader)
        held = reader.space()
    if embedder is None:
        return [Finding("embedder", True, "none: recall searches by words only")]
    problem = core.embedding.problem
    if isinstance(problem, StorageError):
        problem = problem.placeless()
    if problem is not None:
        return [Finding("embedder", False, problem.message, problem.hint or "Pieria tries again automatically."),
                _waiting(standing.pending)]  # fmt: skip
    if held is not None and not standing.usable and standing.model == held.name:
        remedy = "Set embedder to the model of the bank's vectors, or move the bank: pieria models use NAME."
        return [Finding("embedder", False, str(standing.reason), remedy)]
    advice = "Run pieria models install." if embedder.is_floor else None
    detail = f"{standing.model}: {standing.reason}" if standing.reason else str(standing.model)
    return [Finding("embedder", True, detail, advice), _waiting(standing.pending, core.embedding.refused.told)]


def _reranker_finding(core: Core) -> Finding:
    if core.reranker is None:
        return Finding("reranker", True, "none: results keep the order of recall")
    return Finding("reranker", True, core.reranker.about)


def _llm_finding(core: Core) -> Finding:
    if core.llm is not None:
        return Finding("llm", True, core.llm.about)
    steps, _ = core.origins.get("llm_steps", (None, ""))
    remedy = "The setting llm_steps has no effect without llm." if steps else None
    return Finding("llm", True, "none: Pieria calls no language model", remedy)


def _work(core: Core) -> Finding:
    """Report the jobs. Dead jobs are no damage, but a user should look at them."""
    with core.reading() as reader:
        counted = by_state(reader.job_counts())
    detail = ", ".join(f"{number:,} {state}" for state, number in counted.items()) or "no jobs"
    return Finding("work", True, detail, DEAD if "dead" in counted else None)


def _raw(core: Core) -> list[Finding]:
    """Report captured events that are not distilled yet; recall does not find them."""
    from pieria.learning.distilling import pieces

    with core.reading() as reader:
        waiting = [state for state in pieces.states(reader) if state.new]
    if not waiting:
        return []
    events, sessions = sum(state.new for state in waiting), len(waiting)
    detail = f"{events:,} captured events of {sessions:,} sessions are not distilled yet"
    # A time in the future means that the clock was wrong during capture; count it as left behind.
    left = any(not -CLOCK_TOLERANCE <= core.now() - state.touched <= LEFT_LYING for state in waiting)
    return [Finding("capture", True, detail, "bank.distil() distils them now." if left else None)]


def _proposals(core: Core) -> list[Finding]:
    from pieria.bank.capture.decisions import waiting

    with core.reading() as reader:
        count = waiting(reader, core.now())
    if not count:
        return []
    return [Finding("lessons", True, f"{count:,} wait for a decision", "pieria upkeep proposals shows them.")]


def _census(core: Core, reader: Reader) -> Census:
    return counted(reader, core.now(), int(core.session_lease * SECOND))


def _sessions(core: Core) -> list[Finding]:
    """Report unfinished sessions. An abandoned session is no damage: its steps are kept."""
    with core.reading() as reader:
        found = _census(core, reader)
    if not found.by_state:
        return []
    told = [f"{number:,} {state}" for state, number in found.by_state.items()]
    if found.left:
        told.append(f"{found.left:,} of them were not finished")
    advice = "Continue or discard them: Workspace.sessions lists them, Workspace.resume opens one."
    return [Finding("sessions", True, ", ".join(told), advice if found.left else None)]


def _folders(core: Core) -> dict[str, str]:
    """Map folders to their short names. Skip the root folder.

    The data folder comes first, because it may lie in the home folder.
    """
    folders = {str(core.data): "DATA", os.path.expanduser("~"): "~"}
    return {folder: spoken for folder, spoken in folders.items() if folder.strip(os.sep)}


def _disk(core: Core) -> list[Finding]:
    """Report free space if the bank is on this machine."""
    if "path" not in core.store.describe():
        return []
    free = shutil.disk_usage(core.data if core.data.is_dir() else core.data.parent).free
    well = free > LITTLE_SPACE
    remedy = None if well else "Free some space before you write more."
    return [Finding("disk", well, f"{free / 1e6:,.0f} MB free", remedy)]


def _clock_finding(core: Core) -> Finding:
    with core.reading() as reader:
        known = reader.head().known
    ahead = known - core.now()
    well = ahead <= CLOCK_TOLERANCE
    detail = (
        "the last change is not ahead of the clock" if well else f"the last change has the time {iso(moment(known))}"
    )
    return Finding(
        "clock", well, detail, None if well else "Correct the clock. New changes get times after the last one."
    )


def _engine(core: Core) -> Finding:
    held = core.store.describe()
    told = [f"{held['engine']} {held['engine_version']}", f"durability {held['synchronous']}"]
    if held.get("sealed"):
        told.append("sealed")
    if "connections" in held:
        pool = held["connections"]
        told += [
            f"pgvector {held['pgvector']}",
            f"{pool['in_use']} in use and {pool['idle']} idle of {pool['most']} connections",
            f"row security {'on' if held['row_security'] else 'off'}",
            "a read-only replica" if held["read_only_copy"] else "takes writes",
        ]
    return Finding("engine", True, ", ".join(told))


def _summed(numbers: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the sum for each name, largest first."""
    found = Counter[str]()
    for name, number in numbers:
        found[name] += number
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _waiting(pending: int, refusal: str | None = None) -> Finding:
    detail = f"vectors not yet made: {pending:,}" if pending else "all texts are embedded"
    if pending and refusal is not None:
        return Finding(
            "vectors",
            True,
            f"{detail}; {refusal}",
            "Recall finds these texts by their words. To try them again, open the bank again.",
        )
    return Finding("vectors", True, detail)
