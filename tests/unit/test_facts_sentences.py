"""The sentence of a fact, and what another sentence says about it."""

import pytest

from pieria.bank.facts.statements import object_in, sentence_of
from pieria.record.fact import Fact, FactRow, row_of
from pieria.record.time import instant, micros, moment


def fact(
    predicate: str = "lives_in", object: str = "Madrid", begin: str | None = None, end: str | None = None
) -> FactRow:
    bounds = [None if each is None else micros(instant(each, "at")) for each in (begin, end)]
    row = row_of(Fact("f", "Caroline", predicate, object, moment(0)))
    return row._replace(valid_from=bounds[0], valid_until=bounds[1])


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (fact(), "Caroline lives in Madrid."),
        (fact(begin="2024-05-01"), "Caroline lives in Madrid."),
        (fact(end="2026-02-01"), "Caroline lives in Madrid (until 2026-01-31)."),
        (fact(end="2026-02-01T08:00:00Z"), "Caroline lives in Madrid (until 2026-02-01)."),
        (fact(begin="2024-05-01", end="2026-02-01"), "Caroline lives in Madrid (from 2024-05-01 until 2026-01-31)."),
        (fact("livesIn"), "Caroline lives in Madrid."),
        (fact("works at", "Acme Inc."), "Caroline works at Acme Inc."),
        (fact("works at", "Acme Inc.", end="2026-02-01"), "Caroline works at Acme Inc (until 2026-01-31)."),
        (fact(end="0001-01-01"), "Caroline lives in Madrid (until 0001-01-01)."),
    ],
)
def test_a_fact_reads_as_a_sentence(row: FactRow, sentence: str) -> None:
    assert sentence_of(row) == sentence


@pytest.mark.parametrize(
    ("sentence", "object"),
    [
        ("Caroline lives in Porto.", "Porto"),
        ("caroline  lives in Porto", "Porto"),
        ("caroline lives in Porto", "Porto"),
        ("Caroline lives in Porto (until 2026-01-31).", "Porto"),
        ("Caroline lives in .", None),
        ("Caroline moved to Porto.", None),
        ("", None),
    ],
)
def test_another_object_is_read_where_the_rest_is_the_same(sentence: str, object: str | None) -> None:
    assert object_in(sentence, fact()) == object
