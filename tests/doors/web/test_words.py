"""User text is shown as text, with any content."""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.doors.http.conftest import Served

from pieria.doors.web.words import MOST_MARKS, asked_terms, counted, milliseconds, moment, one_line, size, words
from pieria.doors.web.zones import UNIVERSAL
from pieria.record.time import instant

TAGS = re.compile(r"<(?:/?mark|/?span(?: class=\"(?:unseen|cut)\"(?: title=\"[^\"<>]*\")?)?)>")


@given(st.text(), st.text(max_size=20), st.none() | st.integers(0, 30))
def test_no_tag_of_a_text_is_shown_as_a_tag(text: str, asked: str, limit: int | None) -> None:
    shown = str(words(text, asked_terms(asked), limit))
    rest = TAGS.sub("", shown)
    assert "<" not in rest and ">" not in rest
    assert re.search(r"&(?!(?:lt|gt|amp|#34|#39);)", rest) is None


def test_invisible_characters_are_shown_by_their_code() -> None:
    codes = {"\u202eevil": "U+202E", "a\x00b": "U+0000", "zero\u200bwidth": "U+200B", "half \ud800": "U+D800"}
    codes |= {"\u2066" * 9: "U+2066 ×9", "\U000e0041": "U+E0041"}
    assert [code for text, code in codes.items() if f">{code}</span>" not in words(text)] == []
    visible = ["tab\tand\nline", "naïve café", "👩‍👩‍👧", "שלום", "日本語"]
    assert [words(text) for text in visible] == visible
    shown = words("a\u202e" * 10 * MOST_MARKS)
    assert shown.count("<span") == MOST_MARKS and "\u202e" not in shown


def test_searched_words_are_marked_and_cuts_shown(served: Served) -> None:
    asked = asked_terms("how do APIs authenticate?")
    assert words("The API <authenticates> us", asked) == ("The <mark>API</mark> &lt;<mark>authenticates</mark>&gt; us")
    assert words("abcdef", limit=3) == 'abc<span class="cut" title="more follows">…</span>'
    assert one_line("a\nb\t c") == "a b c"
    served.bank.remember("The words are below.", title="Zebra crossings", id="zebra")
    assert "<mark>Zebra</mark> crossings" in served.page("/banks/notes/recall?q=zebra")


def test_ages_and_numbers_are_shown_in_words() -> None:
    now = instant("2026-03-04T12:00:00Z", "now")
    ages = {
        "2026-03-04T11:59:30Z": "just now", "2026-03-04T11:00:00Z": "1 hour ago", "2026-03-03T08:00:00Z": "yesterday",
        "2026-03-01T08:00:00Z": "3 days ago", "2026-02-01T08:00:00Z": "1 February",
        "2024-02-01T08:00:00Z": "1 February 2024", "2027-02-01T08:00:00Z": "1 February 2027",
    }  # fmt: skip
    shown = {at: str(moment(instant(at, "at"), UNIVERSAL, now)) for at in ages}
    assert {at: re.sub(r"<[^>]*>", "", text) for at, text in shown.items()} == ages
    assert 'title="2026-03-04 11:00:00 UTC"' in shown["2026-03-04T11:00:00Z"]
    assert [size(each) for each in (0, 999, 1000, 2_500_000, None)] == ["0 B", "999 B", "1.0 kB", "2.5 MB", "–"]
    assert [milliseconds(each) for each in (3.14159, 120.4, 12_345)] == ["3.1 ms", "120 ms", "12.3 s"]
    assert (counted(1, "memory", "memories"), counted(2, "fact")) == ("1 memory", "2 facts")


def test_hostile_text_is_text_on_every_page(served: Served) -> None:
    for path in ("recall", "recall?q=bold", "memories", "memories?tags=%3Cb%3Etag%3C/b%3E"):
        text = served.page(f"/banks/notes/{path}")
        assert "&lt;i&gt;not&lt;/i&gt; a title" in text
        for evil in ("<script>document", "<svg onload", "<b>bold", "<b>tag", "\u202e", "\x1b"):
            assert evil not in text, (path, evil)
    served.bank.remember("Word by \u202eword, " * 20, id="long")
    for path in ("memory?id=long", f"recall?q={'word+' * 30}"):
        page = served.page(f"/banks/notes/{path}")
        title = page.partition("<title>")[2].partition("</title>")[0]
        assert title.lower().startswith("word ") and title.endswith("… · notes · Pieria") and "span" not in title
