"""The tools `export` and `import`, for files of Pieria and of the original Mnemosyne."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pieria.bank import Bank
from pieria.bank.facts.extracted import MENTIONS
from pieria.bank.scratchpad import COLLECTION, key_of
from pieria.bank.transfer.files import check_export
from pieria.bank.transfer.foreign_records import taken_in
from pieria.errors import TransferError
from pieria.exporters import export_to
from pieria.record.json_text import parsed
from pieria.toolsets.host import Call
from pieria.toolsets.mnemosyne.original import (
    FACTS,
    HEADER,
    IMPORTED,
    LEFT,
    MEMORIES,
    VERSIONS,
    Line,
    Original,
    Problem,
    Reading,
    is_original,
    version_of,
)
from pieria.toolsets.mnemosyne.upkeep import SUMMARY
from pieria.toolsets.mnemosyne.words import here

if TYPE_CHECKING:
    from pieria.bank.results.transfer import ImportReport

LARGEST = 1 << 30
"""Largest file of the original, in bytes: it is one JSON value, read at once."""
MOST_TOLD = 100
"""How many problems a reply lists; it counts all."""
COUNTED = (*MEMORIES[:2], "scratchpad", "legacy_memories", *FACTS, "sync_events")
"""Sections that a reply on an export counts."""
_START = 4_096


def export(call: Call, output_path: str) -> dict[str, Any]:
    bank = call.bank
    path = call.host.paths.allowed(output_path, "output_path")
    if path.suffix.lower() == ".json":
        return _as_original(call, bank, path)
    report = bank.export(path, progress=call.host.progress)
    counts = _counted(report.path)
    return {
        "status": "exported",
        "path": call.host.paths.told(report.path),
        "bytes": report.bytes,
        "sha256": report.sha256,
        "lines": dict(report.counts),
        "working_memory_count": counts["said"],
        "episodic_memory_count": counts["summaries"],
        "scratchpad_count": counts["scratchpad"],
        "legacy_memories_count": 0,
        "triples_count": counts["triples"],
        "annotations_count": counts["mentions"],
        "canonical_facts_count": 0,
        "sync_events_count": report.counts.get("change", 0),
        **here(call, bank),
    }


def _as_original(call: Call, bank: Bank, path: Path) -> dict[str, Any]:
    """Write the original's own format, which has a place only for what the bank holds now."""
    report = export_to(bank, IMPORTED, path, replace=_begins_as_original(path), progress=call.host.progress)
    return {
        "status": "exported",
        "path": call.host.paths.told(report.path),
        "format": IMPORTED,
        "bytes": report.bytes,
        "left": dict(report.left),
        **{f"{section}_count": report.counts.get(section, 0) for section in COUNTED},
        **here(call, bank),
    }


def _begins_as_original(path: Path) -> bool:
    """Return whether the file is an export in the original's format, which another one may replace."""
    try:
        with path.open("rb") as file:
            return file.read(_START).lstrip().startswith(b'{"' + HEADER.encode())
    except OSError:
        return False


def import_(call: Call, input_path: str) -> dict[str, Any]:
    host = call.host
    path = host.paths.allowed(input_path, "input_path")
    document = _document(path)
    if document is None and not host.banks.has(host.bank_name):
        # Check the file first: a broken one must not create a bank.
        check_export(path, host.progress)
    bank = call.bank
    if document is None:
        report = bank.import_(path, on_error="skip", progress=call.host.progress)
        return _answer(call, bank, "pieria", _own(report), _listed(report, lambda line: ("line", str(line))), report)
    read = Reading(document, bank.name, bank.clock()).whole()
    report, numbered = _taken_in(call, bank, read)
    problems = [*read.problems, *_listed(report, lambda line: numbered.get(line, ("file", str(line))))]
    stats = _sections(bank, read, report, {problem.record for problem in problems if not problem.taken})
    answer = _answer(call, bank, IMPORTED, stats, problems, report)
    answer["warnings"] = [_kept_to_itself(session, number) for session, number in read.private.items()]
    return answer


def _kept_to_itself(session: str, number: int) -> str:
    what = "memory is" if number == 1 else "memories are"
    return (
        f"{number:,} {what} of the session {session} and seen by it alone: `--session {session}` speaks as that one, "
        "and `pieria update ID --scope bank` with it shows a memory to all."
    )


def _counted(path: Path) -> Counter[str]:
    """Return counts of the file's current content."""
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            what = line.get("line")
            if what == "record":
                counts[line["collection"]] += 1
            elif what == "state" and "known_until" not in line:
                counts["summaries" if line["kind"] == SUMMARY else "said"] += 1
            elif what == "fact" and "known_until" not in line and not line["ended"]:
                counts[MENTIONS if line["predicate"] == MENTIONS else "triples"] += 1
    return counts


def _document(path: Path) -> dict[str, Any] | None:
    """Return the original's document; None for other files, which the bank's own import checks."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            start = file.read(_START).lstrip(b"\xef\xbb\xbf \t\r\n")
        if not start.startswith(b"{") or start.startswith(b'{"pieria"'):
            return None
        if path.stat().st_size > LARGEST:
            raise TransferError(path, f"it is one JSON value of more than {LARGEST >> 30} GiB")
        document = parsed(path.read_bytes())
    except OSError:
        # The bank's own import reports what is wrong with the file.
        return None
    except ValueError as problem:
        raise TransferError(path, "its JSON is damaged or cut off") from problem
    if not is_original(document):
        return None
    version = version_of(document)
    if version not in VERSIONS:
        hint = f"Versions {', '.join(VERSIONS)} can be read."
        raise TransferError(path, f"it is of version {version} of the original's format", hint=hint)
    kept: dict[str, Any] = document
    return kept


def _taken_in(call: Call, bank: Bank, read: Original) -> tuple[ImportReport, dict[int, tuple[str, str]]]:
    """Import the records. Return the report, and the section and record of each line."""
    entries = [_entry(own or call.host.session, entry) for own, entry in read.scratchpad]
    report, lines = taken_in(
        bank.core, IMPORTED, read.memories, [*read.links, *read.facts], entries, progress=call.host.progress
    )
    return report, {number: (line.section, line.id) for number, line in lines.items()}


def _entry(session: str | None, entry: Line) -> Line:
    key = key_of(session, entry.id)
    return entry._replace(values={"line": "record", "collection": COLLECTION, "key": key, "value": entry.values})


def _answer(
    call: Call, bank: Bank, origin: str, stats: dict[str, Any], problems: list[Problem], report: ImportReport
) -> dict[str, Any]:
    untold = max(0, report.problem_count - len(report.problems))
    return {
        "status": "imported",
        "from": origin,
        "complete": all(problem.taken for problem in problems) and not untold,
        "stats": stats,
        "problem_count": len(problems) + untold,
        "problems": [problem.as_dict() for problem in problems[:MOST_TOLD]],
        "left": {what: dict(why) for what, why in report.left.items()},
        "changes": list(report.changes) if report.changes else None,
        "warnings": [],
        **here(call, bank),
    }


def _listed(report: ImportReport, whose: Callable[[int], tuple[str, str]]) -> list[Problem]:
    """Return the problems with lines, as problems of their records."""
    found = []
    for problem in report.problems:
        section, record = whose(problem.line)
        found.append(Problem(section, record, f"{problem.parameter}: expected {problem.expected}", taken=False))
    return found


def _own(report: ImportReport) -> dict[str, Any]:
    """Return what a Pieria export added, by the original's sections."""

    def came(what: str) -> dict[str, int]:
        skipped = report.unchanged.get(what, 0) + sum(report.left.get(what, {}).values())
        return {"inserted": report.added.get(what, 0), "skipped": skipped, "overwritten": report.changed.get(what, 0)}

    return {
        "beam": {"memories": came("memories"), "links": came("links"), "scratchpad": came("records")},
        "legacy": _none(0),
        "triples": came("facts"),
        "annotations": _none(0),
        "canonical": _none(0),
        "sync_events": _none(report.not_carried.get("changes", 0)),
    }


def _none(skipped: int) -> dict[str, int]:
    return {"inserted": 0, "skipped": skipped}


def _sections(bank: Bank, read: Original, report: ImportReport, broken: set[str]) -> dict[str, Any]:
    """Return what was added, by the original's sections. The journal says which ids were written."""
    written: set[str] = set()
    if report.changes is not None:
        first, last = report.changes
        written = {id for change in bank.changes(since=first - 1, limit=last - first + 1) for id in change.ids}
    written -= broken
    inserted = Counter(state.section for _, state in read.memories if state.id in written)
    inserted.update(line.section for line in read.facts if line.id in written)
    known = {id.rpartition(":")[2] for id in written if id.startswith(f"{COLLECTION}:")}
    replayed = {entry.id for _, entry in read.scratchpad} if report.replayed else known
    inserted["scratchpad"] = sum(entry.id in replayed for _, entry in read.scratchpad)

    def came(section: str) -> dict[str, int]:
        return {"inserted": inserted[section], "skipped": read.counts.get(section, 0) - inserted[section]}

    beam = {section: {**came(section), "overwritten": 0} for section in MEMORIES[:2]}
    beam["episodic_memory"]["embeddings_inserted"] = 0
    log, events, *vectors = (read.counts.get(section, 0) for section in LEFT)
    return {
        "beam": {**beam, "scratchpad": came("scratchpad"), "consolidation_log": _none(log)},
        "legacy": came("legacy_memories"),
        **dict(zip(("triples", "annotations", "canonical"), map(came, FACTS), strict=True)),
        "sync_events": _none(events),
        "embeddings": _none(sum(vectors)),
    }
