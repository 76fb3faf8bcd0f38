"""Which candidates only repeat the question, by their texts. Only texts that may do so are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set

from pieria.language.echo import Query, query_of
from pieria.recall.part import Part
from pieria.record.changeset import Content

LONGER = 160
"""How many characters a repetition may be longer than twice the question."""
SAID = ("turn", "drawer", "episodic")
"""Kinds that hold what was said."""
TYPE = "type"


def find_echoes(part: Part, question: str) -> Set[int]:
    """Return the rows of these candidates."""
    query = query_of(question)
    if query is None:
        return frozenset()
    met = part.look_at_found()
    most = 2 * len(question) + LONGER
    held = _shared(part)
    is_rule = part.rules | part.wishes
    maybe = {
        row: kind in SAID
        for row, kind in zip(met.rows, met.kinds, strict=True)
        if held.get(row, 0) >= query.fewest and row not in is_rule
        if row in part.glances and part.glances[row].length <= most
    }
    found = part.source.reader.readable(list(maybe)) if maybe else {}
    return frozenset(row for row, content in found.items() if _is_echo(query, content, is_said=maybe[row]))


def _shared(part: Part) -> Mapping[int, int]:
    """Return by row how many terms of the question it holds."""
    if part.held is None:
        return {}
    return dict(zip(part.held.rows, (part.held.counts > 0).sum(axis=0).tolist(), strict=True))


def _is_echo(query: Query, content: Content, *, is_said: bool) -> bool:
    """A title or a body says more, unless the title only repeats the text."""
    if content.body is not None and set(json.loads(content.body)) - {TYPE}:
        return False
    title = (content.title or "").rstrip(".…?! ")
    return content.text.startswith(title) and query.is_repeated_by(content.text, is_said=is_said)
