"""Sentences that overturn others, and sentences that only look like it."""

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.language.reversal import find_reversals
from pieria.language.reversal_forms import BACK, CHANGED, DROPPED, FORMS
from pieria.language.reversal_target import SHORT, measure_fit

SAMPLES = samples("reversals")


def overturns(new: str, old: str) -> bool:
    return any(measure_fit(reversal, old) for reversal in find_reversals(new))


def test_a_reversal_overturns_a_statement_and_others_do_not() -> None:
    assert [pair for pair in SAMPLES["overturned"] if not overturns(pair[1], pair[0])] == []
    assert [pair for pair in SAMPLES["left"] if overturns(pair[1], pair[0])] == []
    assert all(cues for _, cues, _ in FORMS)
    padding = "\n\n".join(f"Paragraph {number} is about the garden and the weather." for number in range(40))
    reversal = "We no longer deploy with Helm."
    assert overturns(f"{padding}\n\n{reversal}\n\n{padding}", "We deploy with Helm.")
    assert not overturns(reversal, f"We deploy with Helm. {padding}"[: SHORT + 1])
    assert overturns(reversal, f"We deploy with Helm. {padding}"[:SHORT])


def test_a_reversal_names_what_goes_and_what_comes() -> None:
    [found] = find_reversals("We deploy to staging with Kustomize instead of Helm.")
    assert (found.kind, found.dropped, found.instead) == (DROPPED, ("helm",), ("kustomiz",))
    assert set(found.beside) == {"deploy", "stage"}
    [found] = find_reversals("The standup is now at 10:30.")
    assert (found.kind, found.about, found.new) == (CHANGED, ("standup",), "at 10:30")
    [found] = find_reversals("We went back to Postgres for the event store.")
    assert (found.kind, found.instead, found.beside) == (BACK, ("postgr",), ("event", "store"))


WORDS = "we no longer use instead of helm , not now moved from to is . ! new the my for me back X 10:30"


@given(st.text(max_size=300) | st.lists(st.sampled_from(WORDS.split()), max_size=60).map(" ".join))
def test_any_text_can_be_read(text: str) -> None:
    for found in find_reversals(text):
        assert 0 <= found.start < found.end <= len(text)
        measure_fit(found, text)
