"""Half-open intervals, checked against the plain set of moments they hold."""

from hypothesis import given
from hypothesis import strategies as st

from pieria.facts.validity import BEGINNING, EVER, Span, joined, spanned
from pieria.record.changeset import FOREVER

MOMENTS = range(-1, 12)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    begin = draw(st.integers(0, 9))
    end = draw(st.integers(begin + 1, 10))
    return Span(BEGINNING if begin == 0 else begin, FOREVER if end == 10 else end)


def held(*spans: Span) -> set[int]:
    return {moment for moment in MOMENTS for span in spans if span.holds(moment)}


@given(spans(), spans())
def test_overlapping_is_having_a_moment_in_common(one: Span, other: Span) -> None:
    assert one.overlaps(other) == other.overlaps(one) == bool(held(one) & held(other))


@given(spans(), spans())
def test_meeting_is_making_one_interval(one: Span, other: Span) -> None:
    whole = joined([one, other])
    assert one.meets(other) == (held(one) | held(other) == held(whole))


@given(spans(), spans())
def test_without_leaves_the_moments_of_the_one_alone(one: Span, other: Span) -> None:
    left = one.without(other)
    assert held(*left) == held(one) - held(other)
    assert all(span.begin < span.end for span in left)


@given(spans(), spans())
def test_covering_is_holding_every_moment(one: Span, other: Span) -> None:
    assert one.covers(other) == (held(other) <= held(one))


@given(spans())
def test_open_ends_are_written_as_none(span: Span) -> None:
    begin, end = span.bounds()
    assert (begin is None) == (span.begin == BEGINNING)
    assert (end is None) == (span.end == FOREVER)
    assert spanned(begin, end) == span


@given(spans(), spans())
def test_what_two_intervals_have_in_common(one: Span, other: Span) -> None:
    common = one.within(other)
    assert common == other.within(one)
    assert held(*([common] if common else [])) == held(one) & held(other)
    assert one.within(EVER) == one
