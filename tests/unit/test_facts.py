"""Facts: the folding of names, intervals, the time of a statement with open bounds, and facts as sentences."""

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.bank.facts.statements import object_in, sentence_of
from pieria.errors import InputError
from pieria.facts.validity import (
    BEGINNING,
    EVER,
    Held,
    Said,
    Slot,
    Span,
    begin_today,
    cut,
    joined,
    span_of,
    spanned,
    stated_span,
)  # fmt: skip
from pieria.record.changeset import FOREVER
from pieria.record.fact import Fact, FactRow, checked_name, checked_predicate, fact_of, folded, folded_predicate, row_of
from pieria.record.time import instant, micros, moment

# --- names

SAMPLES = samples("fact_names")


def test_spellings_of_a_name_have_one_key() -> None:
    for name, *spellings in SAMPLES["same"]:
        assert {folded(spelling) for spelling in spellings} == {folded(name)}
    assert [pair for pair in SAMPLES["others"] if folded(pair[0]) == folded(pair[1])] == []
    for spelling in ("works on", "WORKS_ON", "works__on", "_works  on_", "works＿on"):
        assert folded_predicate(spelling) == "works on"
    assert checked_name("  Maya ", "subject") == "Maya"
    assert checked_name("é" * 500, "subject") == "é" * 500
    for value in ("", " ", "\u200b", "\u2060 \ufeff", "a\0b", "a\nb", "\ud800", "x" * 501, None, 5, b"x"):
        with pytest.raises(InputError) as caught:
            checked_name(value, "subject")
        assert caught.value.parameter == "subject"
    with pytest.raises(InputError, match="predicate"):
        checked_predicate("_ _")


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30))
def test_no_form_of_a_name_changes_its_key(name: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert folded(unicodedata.normalize(form, name)) == folded(name)
    assert folded(name.casefold()) == folded(folded(name)) == folded(name)
    assert folded_predicate(folded_predicate(name)) == folded_predicate(name)


def test_a_fact_survives_its_row() -> None:
    at = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
    fact = Fact("f", "Zoë", "works on", "X", at, None, at, None, 0.5, "m", "chat", "", "moved")
    assert fact_of(row_of(fact), at) == fact
    assert row_of(fact).subject_key == folded("ZOË")


@st.composite
def spans(draw: st.DrawFn) -> Span:
    begin = draw(st.integers(0, 9))
    end = draw(st.integers(begin + 1, 10))
    return Span(BEGINNING if begin == 0 else begin, FOREVER if end == 10 else end)


def moments(*spans: Span) -> set[int]:
    return {moment for moment in range(-1, 12) for span in spans if span.holds(moment)}


@given(spans(), spans())
def test_intervals_relate_as_their_moments_do(one: Span, other: Span) -> None:
    assert one.overlaps(other) == other.overlaps(one) == bool(moments(one) & moments(other))
    assert one.meets(other) == (moments(one) | moments(other) == moments(joined([one, other])))
    assert one.covers(other) == (moments(other) <= moments(one))
    left = one.without(other)
    assert moments(*left) == moments(one) - moments(other)
    assert all(span.begin < span.end for span in left)
    common = one.within(other)
    assert common == other.within(one)
    assert moments(*([common] if common else [])) == moments(one) & moments(other)
    assert one.within(EVER) == one
    begin, end = one.bounds()
    assert (begin is None, end is None) == (one.begin == BEGINNING, one.end == FOREVER)
    assert spanned(begin, end) == one


NOW = 100


def held(begin: int, end: int) -> Held:
    fact = Fact("f", "Maya", "lives_in", "Rome", moment(0))
    valid_from, valid_until = Span(begin, end).bounds()
    row = row_of(fact)._replace(valid_from=valid_from, valid_until=valid_until)
    return Held(fact_of(row, moment(0)), Span(begin, end), Span(begin, end))


def several(begin: int | None = None, end: int | None = None, *same: Held, at: int = NOW) -> Span:
    """Return the time of a statement where several values may hold at a time."""
    return stated_span(Said(begin, end, at), Slot([*same], [], False), NOW)


def single(
    begin: int | None = None,
    end: int | None = None,
    *others: Held,
    same: tuple[Held, ...] = (),
    last: int | None = None,
) -> Span:
    """Return the time of a statement where one value holds at a time. `last` ends the day of the start."""
    slot = Slot([*same], [*others], True)
    return stated_span(begin_today(Said(begin, end, NOW, last), slot, NOW), slot, NOW)


def test_a_statement_joins_what_is_known_and_ends_when_over() -> None:
    assert several() == Span(NOW, FOREVER)
    assert several(at=70) == Span(70, FOREVER), "from when its memory was said"
    assert several(None, 150, at=200) == Span(NOW, 150), "which may be later than its end"
    assert several(None, None, held(50, 150)) == Span(50, 150)
    assert several(60, None, held(50, 150)) == Span(60, 150)
    assert several(40, None, held(50, 150)) == Span(40, 150)
    assert several(None, None, held(10, 20), at=70) == Span(NOW, FOREVER), "it holds again"
    assert several(None, None, held(200, 300)) == Span(NOW, FOREVER)
    assert several(None, 50) == Span(BEGINNING, 50)
    assert several(None, 50, at=30) == Span(30, 50)
    assert several(None, 50, held(30, 50)) == Span(30, 50)
    assert several(None, 50, held(10, 20)) == Span(20, 50)
    assert several(None, 50, held(60, FOREVER)) == Span(BEGINNING, 50)
    assert single(None, 50, held(10, 20)) == Span(20, 50)
    assert single(None, 50, held(40, FOREVER)) == Span(40, 50)


def test_one_value_at_a_time_lasts_from_now_to_the_next() -> None:
    assert single() == Span(NOW, FOREVER)
    assert single(None, 300) == Span(NOW, 300)
    others = held(20, 60), held(60, FOREVER)
    assert single(5, None, *others) == Span(5, 20)
    assert single(20, None, *others) == Span(20, 60)
    assert single(30, None, *others) == Span(30, 60)
    assert single(70, None, *others) == Span(70, FOREVER)
    assert single(5, 30, *others) == Span(5, 30)
    assert single(5, None, *others, same=(held(90, FOREVER),)) == Span(5, 20)


def test_the_later_statement_of_a_day_wins_the_day() -> None:
    assert single(15, None, held(20, FOREVER), last=25) == Span(15, FOREVER), "a day in the past"
    assert single(15, None, held(30, FOREVER), last=25) == Span(15, 30)
    assert single(90, None, held(95, FOREVER), last=110) == Span(NOW, FOREVER), "today: both keep their part"
    assert single(90, None, held(80, FOREVER), last=110) == Span(90, FOREVER)
    assert single(90, 120, held(95, FOREVER), last=110) == Span(90, 120)


def test_a_cut_fact_keeps_its_id_in_the_first_piece() -> None:
    for taken, left in (
        (Span(40, FOREVER), [Span(20, 40)]),
        (Span(0, 40), [Span(40, 60)]),
        (Span(30, 40), [Span(20, 30), Span(40, 60)]),
    ):
        rows = cut(held(20, 60), taken)
        assert [span_of(fact_of(row, datetime.now(UTC))) for row in rows] == left
        assert [row.id == "f" for row in rows] == [True, False][: len(left)]
        assert {row.ended for row in rows} == {""}
    [row] = cut(held(20, 60), Span(20, 60))
    assert (row.id, row.ended, row.valid_from, row.valid_until) == ("f", "removed", 20, 60)
    assert row.reason


def fact(
    predicate: str = "lives_in", object: str = "Madrid", begin: str | None = None, end: str | None = None
) -> FactRow:
    bounds = [None if each is None else micros(instant(each, "at")) for each in (begin, end)]
    row = row_of(Fact("f", "Caroline", predicate, object, moment(0)))
    return row._replace(valid_from=bounds[0], valid_until=bounds[1])


def test_a_fact_and_its_object_are_read_as_a_sentence() -> None:
    sentences = {
        fact(): "Caroline lives in Madrid.",
        fact(begin="2024-05-01"): "Caroline lives in Madrid.",
        fact(end="2026-02-01"): "Caroline lives in Madrid (until 2026-01-31).",
        fact(end="2026-02-01T08:00:00Z"): "Caroline lives in Madrid (until 2026-02-01).",
        fact(begin="2024-05-01", end="2026-02-01"): "Caroline lives in Madrid (from 2024-05-01 until 2026-01-31).",
        fact("livesIn"): "Caroline lives in Madrid.",
        fact("works at", "Acme Inc."): "Caroline works at Acme Inc.",
        fact("works at", "Acme Inc.", end="2026-02-01"): "Caroline works at Acme Inc (until 2026-01-31).",
        fact(end="0001-01-01"): "Caroline lives in Madrid (until 0001-01-01).",
    }
    assert {row: sentence_of(row) for row in sentences} == sentences
    for said in ("Caroline lives in Porto.", "caroline  lives in Porto", "Caroline lives in Porto (until 2026-01-31)."):
        assert object_in(said, fact()) == "Porto"
    assert [object_in(other, fact()) for other in ("Caroline lives in .", "Caroline moved to Porto.", "")] == [None] * 3
