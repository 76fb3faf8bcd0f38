"""User text is shown as text, with any content."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doors.http.conftest import Served
from tests.doors.web.conftest import HOSTILE

import pieria
from pieria.doors.web.words import MOST_MARKS, asked_terms, counted, milliseconds, moment, one_line, size, words
from pieria.doors.web.zones import UNIVERSAL
from pieria.record.time import instant

TAGS = re.compile(r"<(?:/?mark|/?span(?: class=\"(?:unseen|cut)\"(?: title=\"[^\"<>]*\")?)?)>")


@given(st.text(), st.text(max_size=20), st.none() | st.integers(0, 30))
def test_whatever_was_written_no_tag_of_theirs_comes_out(text: str, asked: str, limit: int | None) -> None:
    shown = str(words(text, asked_terms(asked), limit))
    rest = TAGS.sub("", shown)
    assert "<" not in rest and ">" not in rest
    assert re.search(r"&(?!(?:lt|gt|amp|#34|#39);)", rest) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202eevil", "U+202E"),
        ("a\x00b", "U+0000"),
        ("zero\u200bwidth", "U+200B"),
        ("half \ud800", "U+D800"),
        ("\u2066" * 9, "U+2066 ×9"),
        ("\U000e0041", "U+E0041"),
    ],
)
def test_what_nobody_sees_is_shown_by_its_code(text: str, shown: str) -> None:
    assert f">{shown}</span>" in words(text)


@pytest.mark.parametrize("text", ["tab\tand\nline", "naïve café", "👩‍👩‍👧", "שלום", "日本語"])
def test_what_is_seen_is_left_as_it_is(text: str) -> None:
    assert words(text) == text


def test_signs_are_bounded_however_many_there_are() -> None:
    shown = words("a\u202e" * 10 * MOST_MARKS)
    assert shown.count("<span") == MOST_MARKS
    assert "\u202e" not in shown


def test_what_was_asked_is_marked_in_all_its_forms() -> None:
    asked = asked_terms("how do APIs authenticate?")
    assert words("The API <authenticates> us", asked) == ("The <mark>API</mark> &lt;<mark>authenticates</mark>&gt; us")


def test_a_cut_says_that_it_is_one() -> None:
    assert words("abcdef", limit=3) == 'abc<span class="cut" title="more follows">…</span>'
    assert one_line("a\nb\t c") == "a b c"


def test_times_are_told_as_people_say_them() -> None:
    now = instant("2026-03-04T12:00:00Z", "now")

    def told(at: str) -> str:
        return re.sub(r"<[^>]*>", "", moment(instant(at, "at"), UNIVERSAL, now))

    assert told("2026-03-04T11:59:30Z") == "just now"
    assert told("2026-03-04T11:00:00Z") == "1 hour ago"
    assert told("2026-03-03T08:00:00Z") == "yesterday"
    assert told("2026-03-01T08:00:00Z") == "3 days ago"
    assert told("2026-02-01T08:00:00Z") == "1 February"
    assert told("2024-02-01T08:00:00Z") == "1 February 2024"
    assert told("2027-02-01T08:00:00Z") == "1 February 2027"
    assert 'title="2026-03-04 11:00:00 UTC"' in moment(instant("2026-03-04T11:00:00Z", "at"), UNIVERSAL, now)


def test_numbers_are_told_with_their_units() -> None:
    assert [size(each) for each in (0, 999, 1000, 2_500_000, None)] == ["0 B", "999 B", "1.0 kB", "2.5 MB", "–"]
    assert [milliseconds(each) for each in (3.14159, 120.4, 12_345)] == ["3.1 ms", "120 ms", "12.3 s"]
    assert (counted(1, "memory", "memories"), counted(2, "fact")) == ("1 memory", "2 facts")


def test_what_was_asked_is_marked_in_a_title_too(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.remember("The words are below.", title="Zebra crossings", id="zebra")
    assert "<mark>Zebra</mark> crossings" in served.client.get("/banks/notes/recall?q=zebra").text


@pytest.mark.parametrize("path", ["memory?id=long", f"recall?q={'word+' * 30}"])
def test_the_title_of_a_window_holds_words_alone(served: Served, path: str) -> None:
    with pieria.open("notes") as bank:
        bank.remember("Word by \u202eword, " * 20, id="long")
    title = served.client.get(f"/banks/notes/{path}").text.partition("<title>")[2].partition("</title>")[0]
    assert title.lower().startswith("word ") and title.endswith("… · notes · Pieria") and "span" not in title


@pytest.mark.parametrize("path", ["recall", "recall?q=bold", "memories", "memories?tags=%3Cb%3Etag%3C/b%3E"])
def test_a_hostile_memory_is_text_on_every_page(served: Served, path: str) -> None:
    text = served.client.get(f"/banks/notes/{path}").text
    assert "&lt;i&gt;not&lt;/i&gt; a title" in text
    assert (
        "<script>document" not in text and "<svg onload" not in text and "<b>bold" not in text and "<b>tag" not in text
    )
    assert "\u202e" in HOSTILE and "\u202e" not in text and "\x1b" not in text
