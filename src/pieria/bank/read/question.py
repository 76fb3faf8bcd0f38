"""A query as a caller gives it: its text, what is embedded of it, and its deadline."""

from __future__ import annotations

from pieria.errors import InputError
from pieria.record import check

LONGEST_DEADLINE = 600_000
QUERY_LIMIT = 1 << 20
EMBEDDED = 8_000
"""Characters of a query that are embedded: more than any model reads."""
QUESTION_SECONDS = 5.0
"""Seconds that a remote model may take to embed a query; then recall goes on without its vector."""


def deadline_seconds(deadline_ms: object) -> float:
    return check.whole(deadline_ms, "deadline_ms", 1, LONGEST_DEADLINE) / 1000


def embeddable(question: str) -> str:
    """Return the text to embed, without unpaired surrogates, which no model reads."""
    return question[:EMBEDDED].encode("utf-8", "replace").decode("utf-8")


def question_text(query: object) -> str:
    """Return the query. Any text is legal up to `QUERY_LIMIT` characters."""
    if not isinstance(query, str):
        raise InputError("query", "a text", query)
    if len(query) > QUERY_LIMIT:
        raise InputError("query", f"at most {QUERY_LIMIT:,} characters", query, hint="Ask for the part that matters.")
    return query
