"""The store's checks on a server: the rules of the record, and each projection against its source."""

from __future__ import annotations

from collections.abc import Iterator

from pieria.store.postgres.erasure import erasure_finding
from pieria.store.postgres.session import PostgresSession
from pieria.store.postgres.vector_indexes import index_finding
from pieria.store.protocol import Finding
from pieria.store.sql.checks import analyser_finding, every_rule, rule_finding
from pieria.store.sql.reader import counters


def findings(session: PostgresSession) -> Iterator[Finding]:
    """Yield the findings that take reading the whole bank."""
    for file, rule, meaning in every_rule():
        broken = session.execute(session.statements(file)[f"check.{rule}"]).fetchone()
        yield rule_finding(rule, broken[0] if broken else 0, meaning)
    astray = session.execute(session.statements("queries.sql")["check_index"]).fetchone()
    yield rule_finding("text index", astray[0] if astray else 0, "it agrees with the record")


def marks(session: PostgresSession, analyser: int, now: int) -> list[Finding]:
    """Return the findings that follow from counters, marks and indexes alone."""
    held = counters(session)
    return [
        erasure_finding(session, now),
        analyser_finding(held, analyser),
        index_finding(session),
    ]
