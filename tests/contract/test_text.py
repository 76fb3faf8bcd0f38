"""The text index: matches, counts, and when a look-up may stop. Ranking is tested elsewhere."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.conftest import Opens
from tests.contract.making import (
    ALL,
    NOW,
    apply,
    ids_of,
    memory,
    next_version,
    open_state,
    select,
    standing,
    state_of,
)

from pieria.errors import LimitError
from pieria.language.analyser import terms
from pieria.record.changeset import Changeset, Content, Mark, Write
from pieria.record.filter import Filter
from pieria.runtime import effort
from pieria.store.protocol import ORDERS, Store, TextMatch
from pieria.store.rows import terms_of
from pieria.store.sql import wordings
from pieria.store.sql.sieves import Sieves
from pieria.store.text import rarest_first, rough_order, weight

WIDE = ALL.having(since=0)
"""Pass everything as well, but make the store list the passing rows instead of looking up terms."""


def asked(store: Store, *words: str, filter: Filter = ALL, want: int = 1_000, budget: int = 1_000) -> TextMatch:
    with store.reading() as reader:
        return reader.text(words, filter, want, budget)


def found(match: TextMatch) -> dict[int, dict[str, int]]:
    return {candidate.row: dict(candidate.held.counts) for candidate in match.candidates}


def fill(store: Store, texts: Sequence[str]) -> list[int]:
    writes = [memory(text, f"m{n}") for n, text in enumerate(texts)]
    return apply(store, *writes).rows


@pytest.mark.parametrize("filter", [ALL, WIDE], ids=["postings", "sieve"])
def test_candidates_hold_some_term_and_count_each(store: Store, filter: Filter) -> None:
    rows = fill(store, ["heron heron stork", "stork", "crane", "stork heron stork crane"])
    match = asked(store, "heron", "stork", "nobody", filter=filter)
    assert found(match) == {
        rows[0]: {"heron": 2, "stork": 1},
        rows[1]: {"stork": 1},
        rows[3]: {"heron": 1, "stork": 2},
    }
    assert {candidate.row: candidate.held.length for candidate in match.candidates} == {
        rows[0]: 3, rows[1]: 1, rows[3]: 4,
    }  # fmt: skip
    assert (match.documents, match.terms) == (4, 9)
    assert dict(match.frequencies) == {"heron": 2, "stork": 3, "nobody": 0}
    assert match.exact
    assert match.cut == ()
    assert set(match.looked_up) == {"heron", "stork"}


def test_frequencies_count_every_version_and_candidates_only_the_visible(store: Store) -> None:
    first = memory("heron", "m")
    apply(store, first, memory("heron", "removed", state={"ended": "removed"}))
    apply(store, next_version(first, "heron again"))
    match = asked(store, "heron")
    assert dict(match.frequencies) == {"heron": 3}
    assert match.documents == 3
    assert len(match.candidates) == 1


def test_a_change_of_standing_leaves_the_index_alone(store: Store) -> None:
    write = memory("heron", "m")
    [row] = apply(store, write).rows
    apply(store, standing(write, row, status="promoted"))
    match = asked(store, "heron")
    assert dict(match.frequencies) == {"heron": 1}
    assert found(match) == {row: {"heron": 1}}


def test_no_terms_and_unknown_terms_find_nothing(store: Store) -> None:
    fill(store, ["heron"])
    for filter in (ALL, WIDE):
        assert found(asked(store, filter=filter)) == {}
        assert found(asked(store, "nobody", filter=filter)) == {}


def test_a_term_asked_twice_is_one_term(store: Store) -> None:
    fill(store, ["heron"])
    for filter in (ALL, WIDE):
        match = asked(store, "heron", "heron", filter=filter)
        assert dict(match.frequencies) == {"heron": 1}
        assert len(match.candidates) == 1


STRANGE = [
    "O'Brien's naïve café — STRASSE straße İstanbul",
    "C++ and C# and .NET, foo_bar.baz(qux) == __init__ && a->b; $HOME/x-y@z.com #tag %PATH% [a]{b}|c ~d`e^f",
    'quoted "words" and \\backslash\\ and NEAR(a b) OR NOT * AND col:val -minus +plus',
    "日本語の文章と鷺。한국어 문장, ภาษาไทย मानक हिन्दी עברית العربية",
    "😀🪶 emoji 👩‍👩‍👧 ﬁne ①② x²",
    "2026-03-01T12:00Z 192.168.0.1 v1.2.3 1,000.50 deadbeefcafe 0x1F",
    "a\tb\nc\x0bd\x0ce\x1cf\x85g\u2028h\u200bi\u00a0j\ufeffk\x01l\x7fm",
    "the of and a",
    "A" * 500 + " " + "é" * 500,
]


@pytest.mark.parametrize("text", STRANGE)
def test_every_term_of_any_text_finds_it(store: Store, text: str) -> None:
    [row] = fill(store, [text])
    counts = Counter(terms(text))
    for filter in (ALL, WIDE):
        for term, count in counts.items():
            match = asked(store, term, filter=filter)
            assert found(match) == {row: {term: count}}, term
            assert dict(match.frequencies) == {term: 1}, term


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=8))
def test_both_ways_to_candidates_find_exactly_what_the_texts_hold(store: Store, texts: list[str]) -> None:
    texts = [f"x{text}".replace("\0", " ") for text in texts]
    writes = [memory(text, f"m{n}") for n, text in enumerate(texts)]
    rows = apply(store, *writes).rows
    held = {row: Counter(terms(text)) for row, text in zip(rows, texts, strict=True)}
    try:
        for term in {term for counts in held.values() for term in counts}:
            expected = {row: {term: counts[term]} for row, counts in held.items() if counts[term]}
            for filter in (ALL, WIDE):
                match = asked(store, term, filter=filter, budget=2)
                assert found(match) == expected
                assert match.frequencies[term] == len(expected)
        assert all(finding.well for finding in store.check() if finding.check != "purge")
    finally:
        apply(store, erase=[write.state.id for write in writes])


def test_rare_terms_are_looked_up_and_frequent_ones_only_counted(store: Store) -> None:
    texts = [f"common often{n % 5} once{n}" for n in range(40)]
    rows = fill(store, texts)
    match = asked(store, "common", "often3", "once13", want=20, budget=10)
    assert match.looked_up == ("once13", "often3")
    assert match.cut == ("common",)
    assert not match.exact
    assert {c.row for c in match.candidates} == {rows[n] for n in range(3, 40, 5)}
    assert found(match)[rows[13]] == {"common": 1, "often3": 1, "once13": 1}


def test_the_rarest_term_is_looked_up_whatever_it_costs(store: Store) -> None:
    rows = fill(store, ["common"] * 50)
    match = asked(store, "common", want=1_000, budget=1)
    assert set(found(match)) == set(rows)
    assert match.exact


def test_a_look_up_widens_while_too_few_of_its_candidates_are_visible(store: Store) -> None:
    """All rows of the rare term are hidden. The visible rows hold only the frequent one."""
    hidden = [memory("rare common", f"h{n}", state={"ended": "removed"}) for n in range(10)]
    shown = [memory("common", f"s{n}") for n in range(60)]
    apply(store, *hidden, *shown)
    match = asked(store, "rare", "common", want=80, budget=10)
    assert len(match.candidates) == 60
    assert match.cut == ()
    assert match.exact


def test_a_look_up_widens_past_the_newest_rows_of_a_frequent_term(store: Store) -> None:
    apply(store, *(memory("common", f"s{n}") for n in range(30)))
    apply(store, *(memory("common", f"h{n}", state={"ended": "removed"}) for n in range(100)))
    match = asked(store, "common", want=1_000, budget=5)
    assert len(match.candidates) == 30
    assert match.exact


def test_a_look_up_stops_when_it_has_what_is_wanted(store: Store) -> None:
    rows = fill(store, ["common"] * 2_000)
    match = asked(store, "common", want=10, budget=100_000)
    assert 10 <= len(match.candidates) < 2_000
    assert not match.exact
    newest = sorted(rows, reverse=True)[: len(match.candidates)]
    assert sorted((c.row for c in match.candidates), reverse=True) == newest


def test_what_holds_more_of_the_question_is_kept_when_a_look_up_stops(store: Store) -> None:
    best = memory("heron stork crane", "best")
    apply(store, best, *(memory("heron", f"h{n}") for n in range(1_200)))
    match = asked(store, "heron", "stork", "crane", want=5, budget=100_000)
    [row] = [c.row for c in match.candidates if len(c.held.counts) == 3]
    assert row == 1


@pytest.mark.parametrize("size", [1_990, 2_400])
def test_a_filter_that_few_pass_is_answered_whole(store: Store, size: int) -> None:
    """Below and above the largest number of passing rows that is listed, the answer must be the same."""
    writes = [memory("common" if n % 2 else "common rare", f"m{n}", tags=["t"]) for n in range(size)]
    apply(store, *writes)
    apply(store, *(memory("common rare", f"other{n}") for n in range(300)))
    tagged = ALL.having(tags=("t",))
    match = asked(store, "rare", filter=tagged, want=10_000)
    assert len(match.candidates) == size // 2
    assert match.exact
    few = asked(store, "common", "rare", filter=tagged.having(ids=("m4", "m5", "other1")))
    assert sorted(len(c.held.counts) for c in few.candidates) == [1, 2]


def test_a_frequent_term_is_counted_anew_when_the_bank_has_grown(store: Store) -> None:
    fill(store, ["common"] * 2_100)
    assert asked(store, "common").frequencies["common"] == 2_100
    apply(store, *(memory("common", f"more{n}") for n in range(400)))
    assert asked(store, "common").frequencies["common"] == 2_500
    apply(store, erase=[f"more{n}" for n in range(400)])
    assert asked(store, "common").frequencies["common"] == 2_100


def test_a_frequent_term_is_found_wherever_it_was_written_since(store: Store) -> None:
    """The count of a frequent term may be cached, its rows may not."""
    fill(store, ["common"] * 2_100)
    asked(store, "common")
    [row] = apply(store, memory("common heron", "new")).rows
    match = asked(store, "common", want=100_000, budget=100_000)
    assert row in found(match)
    assert len(match.candidates) == 2_101


@pytest.mark.slow
def test_a_count_taken_inside_a_broken_write_does_not_outlive_it(store: Store) -> None:
    fill(store, ["stork"] * 3_000)
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.apply(Changeset("test", writes=[memory("heron stork", f"n{n}") for n in range(2_050)]))
        assert writer.text(["heron"], ALL, 10, 10).frequencies["heron"] == 2_050
        raise ZeroDivisionError
    apply(store, *(memory("heron", f"k{n}") for n in range(2_050)))
    assert asked(store, "heron").frequencies["heron"] == 2_050
    apply(store, erase=[f"k{n}" for n in range(2_050)])
    assert asked(store, "heron", want=10, budget=10).frequencies["heron"] == 0


def test_two_openings_see_each_others_words(opens: Opens) -> None:
    one, other = opens(), opens()
    [row] = apply(one, memory("heron", "a")).rows
    assert found(asked(other, "heron")) == {row: {"heron": 1}}
    apply(other, erase=["a"])
    assert found(asked(one, "heron")) == {}


# --- twins


def test_namesakes_are_short_and_hold_the_rarest_of_the_terms(store: Store) -> None:
    fill(store, ["a Heron", "HERON", "the heron of the lake, in the morning", "a gull"])
    with store.reading() as reader:
        assert ids_of(reader.namesakes(terms("heron"), 10, ALL)) == ["m0", "m1"]


def twins(store: Store, text: str, filter: Filter = ALL) -> list[str]:
    with store.reading() as reader:
        return ids_of(reader.twins(text, terms(text), filter))


def test_twins_are_the_same_text_to_the_letter(store: Store) -> None:
    texts = ["A heron stood.", "A heron stood", "a heron stood.", "A heron stood. ", "stood heron a", "A heron  stood."]
    fill(store, texts)
    for n, text in enumerate(texts):
        assert twins(store, text) == [f"m{n}"], text
    assert twins(store, "a heron") == []


def test_twins_come_oldest_first_and_only_when_visible(store: Store) -> None:
    apply(
        store,
        memory("heron", "1", state={"ended": "removed"}),
        memory("heron", "2"),
        memory("heron", "3", kind="diary"),
        memory("heron", "4", title="Stork"),
    )
    assert twins(store, "heron") == ["2", "3", "4"]
    assert twins(store, "heron", ALL.having(kinds=("diary",))) == ["3"]


@pytest.mark.parametrize("text", ["…", "!?", "—", "😀" if not terms("😀") else "§"])
def test_a_text_without_terms_has_twins_too(store: Store, text: str) -> None:
    apply(store, memory(text, "a"), memory(text, "b"), memory("…!", "c"), memory(text, "d", title="a title"))
    assert set(twins(store, text)) == {"a", "b", "d"}


def test_a_past_version_is_no_twin(store: Store) -> None:
    write = memory("heron", "a")
    apply(store, write)
    apply(store, next_version(write, "stork"))
    assert twins(store, "heron") == []
    assert twins(store, "stork") == ["a"]


# --- rebuilding the index


def test_reindexing_builds_the_index_from_the_record(store: Store) -> None:
    first = memory("heron", "m", title="A title", tags=["wader"], body={"k": ["deep"]}, files=["src/a.py"])
    apply(store, first, memory("stork", "gone"))
    apply(store, next_version(first, "heron again"))
    apply(store, erase=["gone"])
    seen: list[tuple[int, int]] = []
    words = ("heron", "again", "titl", "wader", "deep", "stork", "a.py")
    before = asked(store, *words)
    assert store.reindex(terms_of, 42, lambda done, whole: seen.append((done, whole))) == 2
    after = asked(store, *words)
    with store.reading() as reader:
        assert reader.head().analyser == 42
    assert found(after) == found(before)
    assert after.frequencies == before.frequencies
    assert (after.documents, after.terms) == (before.documents, before.terms)
    assert seen[-1] == (2, 2)
    assert store.scrub() == []
    assert [finding.check for finding in store.check() if not finding.well] == ["analyser"]


def test_reindexing_with_another_analyser_changes_what_is_found(store: Store) -> None:
    [row] = fill(store, ["Heron"])

    def shouted(content: Content) -> list[str]:
        return [word.lower() * 2 for word in content.text.split()]

    store.reindex(shouted, 43)
    assert found(asked(store, "heron")) == {}
    assert found(asked(store, "heronheron")) == {row: {"heronheron": 1}}
    assert asked(store, "heronheron").terms == 1
    store.analyser = 43
    assert all(finding.well for finding in store.check())


def test_reindexing_finds_standing_rules_again(store: Store) -> None:
    said = "Always answer in metric units."
    ours = memory(said, "ours", tags=["kept"])
    apply(
        store,
        state_of(memory("heron", "told", author_type="human")),
        memory(said, "agent", author_type="agent"),
        ours._replace(labels=[Mark("tag", "kept", "kept"), Mark("standing", "profile", "profile")]),
        memory(said, "summary", kind="summary"),
        state_of(memory(said, "in another's name", author_type="human"), trust=0.6),
    )
    apply(store, next_version(memory("heron", "told"), "I prefer window seats."))
    kept = open_state(store, "ours")
    apply(store, standing(ours, kept.row, author_type="agent", trust=0.6))
    for _ in range(2):
        store.reindex(terms_of, store.analyser)
        assert select(store, ALL.having(standing=("rule",))) == ["agent", "ours", "in another's name"]
        assert select(store, ALL.having(standing=("preference",))) == ["told"]
        assert select(store, ALL.having(standing=("profile",))) == []
        assert select(store, ALL.having(tags=("kept",))) == ["ours"]


def test_a_broken_reindexing_leaves_the_index_as_it_was(store: Store) -> None:
    [row] = fill(store, ["heron"])

    def breaks(content: Content) -> list[str]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.reindex(breaks, store.analyser + 1)
    assert found(asked(store, "heron")) == {row: {"heron": 1}}
    assert all(finding.well for finding in store.check())
    with store.reading() as reader:
        assert reader.head().analyser == store.analyser


def test_reindexing_many_takes_every_one(store: Store) -> None:
    fill(store, [f"heron once{n}" for n in range(2_500)])
    assert store.reindex(terms_of, store.analyser) == 2_500
    assert len(asked(store, "heron", want=10_000, budget=10_000).candidates) == 2_500
    assert len(asked(store, "once2499").candidates) == 1


# --- fields that let many or few through


def test_a_common_value_and_a_rare_one_are_both_found_by(store: Store) -> None:
    """Write more rows of one value than any store lists, and a few of another."""
    values: list[dict[str, Any]] = [
        {"kind": "note", "author": "ann", "source": "a.txt", "place": "w/a", "body": {"type": "plan"}},
        {"kind": "drawer", "author": "bob", "source": "b.txt", "place": "v/b", "body": {"type": "bug"}},
    ]
    writes = [memory("heron", f"m{n}", **values[n % 500 == 7]) for n in range(1_200)]
    rows = apply(store, *writes).rows
    rare = [row for row, write in zip(rows, writes, strict=True) if write.state.author == "bob"]
    assert len(rare) == 3
    fields: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"kinds": ("drawer",)}, {"kinds": ("note",)}),
        ({"author": "bob"}, {"author": "ann"}),
        ({"source": "b.txt"}, {"source": "a.txt"}),
        ({"place": "v"}, {"place": "w"}),
        ({"place": "v/b"}, {"place": "w/a"}),
        ({"place": "*/b"}, {"place": "*/a"}),
        ({"types": ("bug",)}, {"types": ("plan",)}),
        ({"types": ("bug", "diary")}, {"types": ("plan", "note")}),
        ({"kinds": ("drawer",), "types": ("bug",), "author": "bob"}, {"kinds": ("note",), "author": "ann"}),
    ]
    for few, many in fields:
        assert set(found(asked(store, "heron", filter=ALL.having(**few), want=50))) == set(rare)
        assert len(asked(store, "heron", filter=ALL.having(**many), want=50).candidates) >= 50
        with store.reading() as reader:
            for order in ORDERS:
                assert {m.row for m in reader.select(ALL.having(**few), order, 50)} == set(rare)
            newest = [m.row for m in reader.select(ALL.having(**many), "newest", 5)]
            assert newest == [row for row in reversed(rows) if row not in rare][:5]
            assert reader.count(ALL.having(**few)) == {"total": 3}
            assert reader.count(ALL.having(**many)) == {"total": 1_197}
    with store.reading() as reader:
        sieve = Sieves().of(reader._session, ALL.having(place="*/b"), reader.head().seq, 1_200)  # type: ignore[attr-defined]
    assert sieve is not None, "a room of any wing is listed by an index, and not by reading everything"
    assert sieve.number == 3
    nobody = ALL.having(kinds=("note",), author="bob")
    assert asked(store, "heron", filter=nobody).candidates == []


# --- what any store shares


def test_rarer_terms_weigh_more_and_none_less_than_nothing() -> None:
    weights = [weight(1_000, frequency) for frequency in (1, 10, 500, 999, 1_000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_terms_are_chosen_rarest_first_within_the_budget() -> None:
    frequencies = {"a": 5, "b": 3, "c": 0, "d": 100}
    assert rarest_first(frequencies, 8) == (["b", "a"], ["d"])
    assert rarest_first(frequencies, 7) == (["b"], ["a", "d"])
    assert rarest_first(frequencies, 1) == (["b"], ["a", "d"])
    assert rarest_first(frequencies, 108) == (["b", "a", "d"], [])
    assert rarest_first({"c": 0}, 10) == ([], [])


def test_rows_are_roughly_ordered_by_weight_then_newest() -> None:
    assert list(rough_order([(2.0, [1, 3]), (1.0, [1, 2, 2, 4])])) == [1, 3, 2, 4]
    assert list(rough_order([(1.0, [1, 2, 3])])) == [3, 2, 1]
    assert list(rough_order([])) == []


def test_labels_and_body_are_found_as_text(store: Store) -> None:
    write: Write = memory(
        "plain", "m", tags=["wader"], entities=["Maya"], files=["src/heron.py"], body={"a": ["egret"]}
    )
    [row] = apply(store, write).rows
    for term in (*terms("wader"), *terms("Maya"), *terms("egret"), *terms("heron.py")):
        assert row in found(asked(store, term)), term
    assert NOW


def test_of_a_term_beyond_the_budget_the_newest_are_looked_at(store: Store) -> None:
    apply(store, *(memory("heron", f"h{n}") for n in range(300)))
    match = asked(store, "heron", want=20, budget=100)
    assert sorted(candidate.row for candidate in match.candidates) == list(range(281, 301))
    assert not match.exact


def test_runs_are_counted_word_after_word(store: Store) -> None:
    apply(store, memory("heron stork crane, stork owl finch", "a"), memory("heron stork owl, heron stork owl", "b"))
    with store.reading() as reader:
        found = reader.holdings([1, 2], [], [("heron", "stork"), ("heron", "stork", "owl")])
    assert found.runs.tolist() == [[1, 2], [0, 2]]


def test_frequencies_count_every_version(store: Store) -> None:
    apply(store, memory("heron stork", "a"), memory("heron", "b"))
    with store.reading() as reader:
        assert reader.frequencies(["heron", "stork", "crane"]) == {"heron": 2, "stork": 1, "crane": 0}


def test_what_no_text_can_hold_is_asked_for_in_vain(store: Store) -> None:
    apply(store, memory("heron", "m", author="Maya"))
    with store.reading() as reader:
        for odd in ("her\0on", "her\ud800on", "\udfff\0"):
            assert reader.states([odd]) == {}
            assert reader.labelled("entities", [odd], ALL, 10) == []
            assert reader.drawn([odd], ALL, 10) == []
            assert not reader.text([odd], ALL, 10, 10).candidates


def test_a_term_that_texts_repeat_without_end_is_found_once(store: Store) -> None:
    apply(store, memory("heron " * 1_000, "a"), memory("heron stork", "b"), memory("stork " * 100 + "crane", "c"))
    match = asked(store, "heron stork crane", want=2, budget=100)
    assert {candidate.row for candidate in match.candidates} <= {1, 2, 3}
    with store.reading() as reader:
        found = reader.text(["heron", "crane"], ALL, 10, 100)
    assert {candidate.row: candidate.held.counts for candidate in found.candidates} == {
        1: {"heron": 1_000},
        2: {"heron": 1},
        3: {"crane": 1},
    }


def test_a_look_up_that_is_late_answers_with_what_it_has(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordings, "READ_ANYHOW", 1)
    apply(store, *(memory("heron", f"h{n}") for n in range(50)))
    with effort.until(0.0):
        match = asked(store, "heron", want=20, budget=100)
    assert len(match.candidates) == 1
    assert not match.exact
    with effort.until(0.0), store.reading() as reader:
        assert len(reader.counts([1, 2, 3], ["heron"])) == 1


def test_a_look_up_reads_only_so_much(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(store, *(memory("heron " + "stork " * 100, f"h{n}") for n in range(50)))
    monkeypatch.setattr(wordings, "READ_AT_ONCE", 3_000)
    monkeypatch.setattr(wordings, "READ_EACH", 10)
    match = asked(store, "heron", want=20, budget=100)
    assert 1 <= len(match.candidates) <= 6
    assert not match.exact


def test_spent_processor_time_breaks_a_read_off(store: Store) -> None:
    apply(store, memory("heron", "a"))
    with effort.limited(1e-9), pytest.raises(LimitError), store.reading() as reader:
        reader.head()
    assert asked(store, "heron").candidates
