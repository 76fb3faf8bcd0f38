"""The checks and repairs that all SQL stores share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pieria.record.changeset import Content
from pieria.store.protocol import Finding, Progress, Store

RULES = {
    "queries.sql": {
        "rows": "every version belongs to a state",
        "states": "every state has its version",
        "open": "every memory has exactly one present state",
        "gaps": "known time has no gaps",
        "terms": "the text index has every version, and its counts agree",
        "journal": "known time never runs backwards",
    },
    "vectors.sql": {
        "passages": "every version has its vectors or waits for embedding",
        "windows": "every turn of a session has its window or waits for embedding",
        "strays": "every vector belongs to an existing text",
    },
    "queue.sql": {
        "jobs": "every job is in one state, under a lease while it runs, and with its end when it has ended",
    },
}
"""By the file with the rules' statements."""
PURGE_TAKES = 120_000_000
"""Microseconds that another process may need to finish a purge."""
MENDED = {*RULES["vectors.sql"], "codes", "vector sums"}
"""Checks that embedding again and rebuilding from vectors repairs."""
REBUILT = {"terms", "term sums", "text index", "analyser"}
"""Checks that rebuilding the text index repairs."""
BELIEVED = {"sums"}
"""Checks that must pass before anything is rebuilt from the record."""
SCRUBBED = {"purge"}
"""Checks that finishing a purge repairs."""
REPAIR = "Run `pieria doctor --repair`."
RESTORE = "Copy the file to another place, then restore a backup with `pieria restore`."


def every_rule() -> list[tuple[str, str, str]]:
    """Return (file, name, meaning) of every rule."""
    return [(file, rule, meaning) for file, rules in RULES.items() for rule, meaning in rules.items()]


def told(found: Iterable[Finding], whole: int, progress: Progress | None) -> Iterator[Finding]:
    """Yield each finding, reporting progress out of `whole`."""
    for done, each in enumerate(found, 1):
        if progress is not None:
            progress(done, whole)
        yield each


def finding(check: str, well: bool, good: str, bad: str) -> Finding:
    remedy = REPAIR if check in REBUILT | SCRUBBED | MENDED else RESTORE
    return Finding(check, well, good if well else bad, None if well else remedy)


def rule_finding(rule: str, broken: int, meaning: str) -> Finding:
    return finding(rule, broken == 0, meaning, f"{broken} violate: {meaning}")


def purge_finding(since: int, now: int, good: str) -> Finding:
    """Return the finding on purges. `since` is when erased data may have left traces; 0 if there are none."""
    if since and now - since < PURGE_TAKES:
        return Finding("purge", True, "a purge is being completed now")
    return finding("purge", not since, good, "traces may remain")


def analyser_finding(held: Mapping[str, int], ours: int) -> Finding:
    version = held["analyser"]
    well = version == ours or not held["documents"]
    newer = "Upgrade Pieria: a newer one made the text index."
    return Finding("analyser", well, f"version {version}", None if well else newer if version > ours else REPAIR)


def repaired(
    store: Store,
    found: Sequence[Finding],
    terms_of: Callable[[Content], Sequence[str]],
    scrub: Callable[[], Sequence[str]],
) -> list[str]:
    """Rebuild from the record what a check found wrong, and finish purges with `scrub`. Return what was repaired."""
    ill = {finding.check for finding in found if not finding.well and finding.remedy == REPAIR}
    if any(not finding.well for finding in found if finding.check in BELIEVED):
        ill &= SCRUBBED
    done = []
    if ill & REBUILT:
        store.reindex(terms_of, store.analyser)
        done.append("text index")
    if ill & MENDED:
        with store.writing() as writer:
            writer.mend_vectors()
        done.append("vectors")
    if ill & SCRUBBED and not scrub():
        done.append("purge")
    return done
