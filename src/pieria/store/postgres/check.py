"""The store's checks of itself on a server: the rules of the record, and each projection against its source."""

from __future__ import annotations

from pieria.store.postgres.indexing import index_finding
from pieria.store.postgres.session import PostgresSession
from pieria.store.protocol import Finding
from pieria.store.sql.checks import RULES, analyser_finding, purge_finding, rule_finding
from pieria.store.sql.reader import counters


def findings(session: PostgresSession, analyser: int, now: int) -> list[Finding]:
    sql = session.statements("queries.sql")
    found = []
    for file, rules in RULES.items():
        for rule, meaning in rules.items():
            broken = session.execute(session.statements(file)[f"check.{rule}"]).fetchone()
            found.append(rule_finding(rule, broken[0] if broken else 0, meaning))
    astray = session.execute(sql["check_index"]).fetchone()
    found.append(rule_finding("text index", astray[0] if astray else 0, "it agrees with the record"))
    held = counters(session)
    found.append(purge_finding(held["unscrubbed"], now, "of what was purged nothing is left in the tables"))
    found.append(analyser_finding(held, analyser))
    found.append(index_finding(session))
    return found
