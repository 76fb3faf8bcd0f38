"""The tables of a bank and their columns, which are copied between stores.

Projections, such as the text index, are missing: the target store rebuilds them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pieria.record.changeset import Content, State
from pieria.store.sql.session import Session


class Table(NamedTuple):
    """The first `keys` columns are the primary key; with `vector`, the last column is a vector."""

    columns: tuple[str, ...]
    keys: int = 1
    vector: bool = False


TABLES = {
    "content": Table(("row", *Content._fields)),
    "terms": Table(("row", "length", "terms")),
    "state": Table(("row", "known_from", "known_until", *State._fields[1:]), keys=2),
    "label": Table(("what", "value", "row", "spelt"), keys=3),
    "link": Table((
        "entry", "id", "source_is", "source", "relation", "target_is", "target", "weight", "label", "meta", "ended",
        "known_from", "known_until",
    )),
    "fact": Table((
        "entry", "id", "subject", "subject_key", "predicate", "predicate_key", "object", "object_key", "valid_from",
        "valid_until", "confidence", "memory", "source", "ended", "reason", "known_from", "known_until",
    )),
    "usage": Table((
        "id", "accesses", "last_access", "reviews", "last_review", "crossings", "rewards", "rewarded",
        "spaced",
    )),
    "record": Table(("collection", "key", "value"), keys=2),
    "journal": Table(("seq", "at", "who", "what", "ids")),
    "purged": Table(("id", "at")),
    "quarantine": Table(("what", "held", "seq"), keys=3),
    "told": Table(("id", "session", "times", "first", "last"), keys=2),
    "space": Table(("number", "name", "dimension", "first_entry", "current", "known_from")),
    "vector": Table((
        "entry", "row", "what", "number", "space", "start", "stop", "known_from", "vector",
    ), vector=True),
    "member": Table(("entry", "row"), keys=2),
    "pending": Table(("row", "what", "seq"), keys=2),
    "job": Table((
        "entry", "id", "kind", "key", "payload", "memory", "version", "digest", "priority", "state", "due", "attempts",
        "tries", "takeovers", "lease", "until", "worker", "made", "begun", "ended", "done", "whole", "what", "code",
        "message",
    )),
    "ledger": Table((
        "day", "step", "model", "calls", "failures", "input_tokens", "output_tokens", "seconds",
    ), keys=3),
}  # fmt: skip
"""Each table comes after the tables that it refers to."""

_NAMED = re.compile(r"(\w+\.)?@(\w+)")


def with_columns(written: str) -> str:
    """Replace `@content` and other placeholders by the columns of that table, each with the alias before it.

    Their order is the one that the shared code expects; a store's further columns are left out.
    """
    return _NAMED.sub(_columns, written)


def _columns(found: re.Match[str]) -> str:
    alias, table = found.groups(default="")
    return ", ".join(f"{alias}{column}" for column in TABLES[table].columns)


def statement(session: Session, what: str, name: str) -> str:
    """Return the SQL to count, read or insert the rows of a table: `what` is `count`, `lines` or `put`."""
    table = TABLES[name]
    columns = table.columns[:-1] if table.vector else table.columns
    return session.statements("copying.sql")[f"{what}.vectors" if table.vector else what].format(
        table=name, columns=", ".join(columns), keys=", ".join(table.columns[: table.keys]),
        values=", ".join("?" * len(table.columns)),
    )  # fmt: skip
