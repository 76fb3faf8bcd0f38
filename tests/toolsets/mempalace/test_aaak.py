"""AAAK: decoding returns what was encoded, and decoding never fails."""

from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.toolsets.conftest import Ask, requirement

from pieria.errors import InputError
from pieria.toolsets.mempalace.aaak import Entry, Header, Legend, Line, Relation, Sentence, brief, decode, encode

ROOT = Path(__file__).parents[3]

TEXT = st.text(max_size=12).filter(lambda text: text == text.strip() and text.isprintable() | ("\n" in text))
SOME = TEXT.filter(bool) | st.sampled_from(
    ["-", "|", "a|b", '"', "a>b", "MAY=x", "@", ": x", "\\", "\\n", "a_b", "(x)"]
)
CODES = st.from_regex(r"[A-Z0-9]{2,6}", fullmatch=True)
DAYS = st.sampled_from(["", "2026", "2026-01", "2026-01-31", "2026-01-31T09:30:00Z"])
SEVERAL = st.lists(SOME, max_size=3).map(tuple)
LINES: st.SearchStrategy[Line] = st.one_of(
    st.builds(Legend, CODES, SOME),
    st.builds(Header, *[SOME | st.just("")] * 4),
    st.builds(
        Entry, SEVERAL, st.lists(st.lists(SOME, min_size=1, max_size=3).map(tuple), max_size=3).map(tuple),
        SOME | st.just(""), st.integers(0, 5), SEVERAL, SEVERAL,
    ),
    st.builds(Relation, SOME, SOME, SOME, DAYS, DAYS),
    st.builds(Sentence, SOME),
)  # fmt: skip


@requirement("aaak.roundtrip")
@given(st.lists(LINES, max_size=5))
def test_encoded_lines_are_decoded_the_same(lines: list[Line]) -> None:
    assert decode(encode(lines)) == lines


@requirement("aaak.roundtrip")
@given(st.text(max_size=300) | st.text('AB|+_=>"-:@\\*(. ', max_size=30))
def test_any_text_is_decoded_and_becomes_an_entry(text: str) -> None:
    assert len(decode(text)) == sum(bool(line.strip()) for line in text.splitlines())
    legend, entry = brief(text)
    assert decode(encode([*legend, entry])) == [*legend, entry]
    assert {line.code for line in legend} == set(entry.codes)


@requirement("aaak.roundtrip")
def test_entry_says_who_what_and_how() -> None:
    legend, entry = brief("Yesterday Maya decided to drop the API. Maya was relieved; Omar was not.", stars=4)
    assert legend[:1] == [Legend("MAY", "Maya")]
    assert (entry.stars, entry.feelings, entry.flags) == (4, ("relief",), ("DECISION", "TECHNICAL"))
    assert brief("Capital letters.")[1].flags == ()
    assert brief("Maya sails.", {"Maya": "MJ"})[0] == [Legend("MJ", "Maya")]
    assert brief("Maya met Mayra at the UN.")[0] == [Legend("MAY", "Maya"), Legend("MAYR", "Mayra")]


@requirement("aaak.roundtrip")
def test_examples_of_the_specification_hold(ask: Ask) -> None:
    spec = ask("mempalace_get_aaak_spec")["aaak_spec"]
    assert spec == (files("pieria.toolsets.mempalace") / "aaak.md").read_text()
    assert spec in (ROOT / "docs" / "toolsets" / "mempalace.md").read_text()
    found = [line for line in spec.splitlines() if line and not line.startswith(" ")]
    kinds = [type(decode(line)[0]) for line in found[1:6]]
    assert kinds == [Legend, Header, Entry, Relation, Sentence]
    entry = decode(found[3])[0]
    assert isinstance(entry, Entry)
    assert (entry.codes, entry.topics, entry.stars) == (("MAY", "OMR"), (("billing", "invoices"),), 4)
    assert decode(found[4]) == [Relation("MAY", "works_on", "BIL", "2026-01-10", "2026-03-01")]


@requirement("aaak.roundtrip")
def test_invalid_lines_are_refused() -> None:
    wrong: list[Line] = [
        Legend("maya", "Maya"), Legend("MAY", " "), Entry(stars=6), Entry(topics=((),)), Sentence(""),
        Relation("a", "b", "c", "soon"), Relation("a", "", "c"), Header(" x "),
    ]  # fmt: skip
    for line in wrong:
        with pytest.raises(InputError):
            encode([line])
