"""The text index: matches, counts, and when a look-up may stop. Ranking is tested elsewhere."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from tests.contract.conftest import Opens
from tests.contract.making import ALL, apply, ids_of, memory, next_version, open_state, select, standing, state_of

from pieria.errors import LimitError
from pieria.language.analyser import terms
from pieria.record.changeset import Changeset, Content, Mark
from pieria.record.filter import Filter
from pieria.runtime import effort
from pieria.store.protocol import ORDERS, Store, TextMatch
from pieria.store.rows import terms_of
from pieria.store.sql import sieves, text, wordings, writer
from pieria.store.text import rarest_first, rough_order, weight

WIDE = ALL.having(since=0)
"""Pass everything as well, but make the store list the passing rows instead of looking up terms."""


def asked(store: Store, *words: str, filter: Filter = ALL, want: int = 1_000, budget: int = 1_000) -> TextMatch:
    with store.reading() as reader:
        return reader.text(words, filter, want, budget)


def found(match: TextMatch) -> dict[int, dict[str, int]]:
    return {candidate.row: dict(candidate.held.counts) for candidate in match.candidates}


def fill(store: Store, texts: Sequence[str], prefix: str = "m", **values: Any) -> list[int]:
    return apply(store, *(memory(text, f"{prefix}{n}", **values) for n, text in enumerate(texts))).rows


def test_candidates_hold_some_term_and_count_each(store: Store) -> None:
    rows = fill(store, ["heron heron stork", "stork", "crane", "stork heron stork crane"])
    for filter in (ALL, WIDE):
        match = asked(store, "heron", "stork", "nobody", "heron", filter=filter)
        assert found(match) == {
            rows[0]: {"heron": 2, "stork": 1}, rows[1]: {"stork": 1}, rows[3]: {"heron": 1, "stork": 2},
        }  # fmt: skip
        assert {candidate.row: candidate.held.length for candidate in match.candidates} == {
            rows[0]: 3, rows[1]: 1, rows[3]: 4,
        }  # fmt: skip
        assert (match.documents, match.terms, match.cut, match.exact) == (4, 9, (), True)
        assert dict(match.frequencies) == {"heron": 2, "stork": 3, "nobody": 0}
        assert set(match.looked_up) == {"heron", "stork"}
        assert found(asked(store, filter=filter)) == found(asked(store, "nobody", filter=filter)) == {}


def test_frequencies_count_every_version_of_a_text(store: Store) -> None:
    first, other = memory("heron", "m"), memory("stork", "n")
    rows = apply(store, first, other, memory("heron", "removed", state={"ended": "removed"})).rows
    apply(store, next_version(first, "heron again"), standing(other, rows[1], status="promoted"))
    match = asked(store, "heron", "stork")
    assert dict(match.frequencies) == {"heron": 3, "stork": 1}
    assert match.documents == 4
    assert len(match.candidates) == 2
    with store.reading() as reader:
        assert reader.frequencies(["heron", "stork", "crane"]) == {"heron": 3, "stork": 1, "crane": 0}


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


def test_every_term_of_any_text_finds_it(store: Store) -> None:
    rows = fill(store, STRANGE)
    held = {row: Counter(terms(text)) for row, text in zip(rows, STRANGE, strict=True)}
    for term in {term for counts in held.values() for term in counts}:
        expected = {row: {term: counts[term]} for row, counts in held.items() if counts[term]}
        for filter in (ALL, WIDE):
            match = asked(store, term, filter=filter, budget=2)
            assert found(match) == expected, term
            assert match.frequencies[term] == len(expected), term
    write = memory("plain", "m", tags=["wader"], entities=["Maya"], files=["src/heron.py"], body={"a": ["egret"]})
    [row] = apply(store, write).rows
    for term in (*terms("wader"), *terms("Maya"), *terms("egret"), *terms("heron.py")):
        assert row in found(asked(store, term)), term


def test_rare_terms_are_looked_up_frequent_ones_counted(store: Store) -> None:
    rows = fill(store, [f"common often{n % 5} once{n}" for n in range(40)])
    match = asked(store, "common", "often3", "once13", want=20, budget=10)
    assert match.looked_up == ("once13", "often3")
    assert match.cut == ("common",)
    assert not match.exact
    assert {c.row for c in match.candidates} == {rows[n] for n in range(3, 40, 5)}
    assert found(match)[rows[13]] == {"common": 1, "often3": 1, "once13": 1}
    # The rarest term is looked up at any cost.
    match = asked(store, "common", want=1_000, budget=1)
    assert set(found(match)) == set(rows)
    assert match.exact


def test_look_up_widens_while_too_few_are_visible(store: Store) -> None:
    hidden = {"state": {"ended": "removed"}}
    fill(store, ["rare common"] * 10, "hidden rare", **hidden)
    fill(store, ["common"] * 60, "shown")
    match = asked(store, "rare", "common", want=80, budget=10)
    assert (len(match.candidates), match.cut, match.exact) == (60, (), True)
    fill(store, ["common"] * 100, "hidden", **hidden)
    match = asked(store, "common", want=1_000, budget=5)
    assert (len(match.candidates), match.exact) == (60, True)


def test_look_up_stops_when_it_has_what_is_wanted(store: Store) -> None:
    rows = fill(store, ["heron stork crane", *["heron"] * 300])
    match = asked(store, "heron", want=10, budget=100_000)
    assert 10 <= len(match.candidates) < 300
    assert not match.exact
    newest = sorted(rows, reverse=True)[: len(match.candidates)]
    assert sorted((c.row for c in match.candidates), reverse=True) == newest
    # What holds more of the question is kept.
    match = asked(store, "heron", "stork", "crane", want=5, budget=100_000)
    assert [c.row for c in match.candidates if len(c.held.counts) == 3] == rows[:1]
    # Of a term beyond the budget, the newest are read.
    match = asked(store, "heron", want=20, budget=100)
    assert sorted(candidate.row for candidate in match.candidates) == rows[-20:]
    assert not match.exact


def test_filter_that_few_pass_is_answered_whole(store: Store) -> None:
    fill(store, ["common rare", "common"] * 20, tags=["t"])
    fill(store, ["common rare"] * 30, "other")
    tagged = ALL.having(tags=("t",))
    for want in (10, 10_000):
        match = asked(store, "rare", filter=tagged, want=want, budget=10_000)
        assert 10 <= len(match.candidates) <= 20
    assert len(match.candidates) == 20
    assert match.exact
    few = asked(store, "common", "rare", filter=tagged.having(ids=("m4", "m5", "other1")), want=10)
    assert sorted(len(c.held.counts) for c in few.candidates) == [1, 2]


def test_cached_counts_follow_the_bank(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "FREQUENT", 50)
    fill(store, ["common"] * 60)
    assert asked(store, "common").frequencies["common"] == 60
    # The count of a frequent term may be cached, its rows may not.
    [row] = fill(store, ["common heron"], "new")
    match = asked(store, "common", want=100_000, budget=100_000)
    assert row in found(match)
    assert len(match.candidates) == 61
    fill(store, ["common"] * 20, "more")
    assert asked(store, "common").frequencies["common"] == 81
    apply(store, erase=[f"more{n}" for n in range(20)])
    assert asked(store, "common").frequencies["common"] == 61


def test_count_of_a_broken_write_does_not_survive(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "FREQUENT", 20)
    fill(store, ["stork"] * 60)
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.apply(Changeset("test", writes=[memory("heron stork", f"n{n}") for n in range(40)]))
        assert writer.text(["heron"], ALL, 10, 10).frequencies["heron"] == 40
        raise ZeroDivisionError
    fill(store, ["heron"] * 40, "k")
    assert asked(store, "heron").frequencies["heron"] == 40
    apply(store, erase=[f"k{n}" for n in range(40)])
    assert asked(store, "heron", want=10, budget=10).frequencies["heron"] == 0


def test_two_openings_see_each_others_words(opens: Opens) -> None:
    one, other = opens(), opens()
    [row] = apply(one, memory("heron", "a")).rows
    assert found(asked(other, "heron")) == {row: {"heron": 1}}
    apply(other, erase=["a"])
    assert found(asked(one, "heron")) == {}


# --- twins


def twins(store: Store, text: str, filter: Filter = ALL) -> list[str]:
    with store.reading() as reader:
        return ids_of(reader.twins(text, terms(text), filter))


def test_twins_are_the_same_text_to_the_letter(store: Store) -> None:
    texts = ["A heron stood.", "A heron stood", "a heron stood.", "A heron stood. ", "stood heron a", "A heron  stood."]
    fill(store, texts)
    assert {text: twins(store, text) for text in texts} == {text: [f"m{n}"] for n, text in enumerate(texts)}
    assert twins(store, "a heron") == []
    for mark in ("…", "!?", "—", "§"):
        # A text without terms has twins too.
        apply(store, memory(mark, "a"), memory(mark, "b"), memory("…!", "c"), memory(mark, "d", title="a title"))
        assert set(twins(store, mark)) == {"a", "b", "d"}, mark
        apply(store, erase=["a", "b", "c", "d"])


def test_twins_are_visible_and_the_oldest_first(store: Store) -> None:
    past = memory("heron", "5")
    apply(
        store,
        memory("heron", "1", state={"ended": "removed"}),
        memory("heron", "2"),
        memory("heron", "3", kind="diary"),
        memory("heron", "4", title="Stork"),
        past,
    )
    apply(store, next_version(past, "stork"))
    assert twins(store, "heron") == ["2", "3", "4"]
    assert twins(store, "heron", ALL.having(kinds=("diary",))) == ["3"]
    assert twins(store, "stork") == ["5"]


def test_namesakes_are_short_and_hold_the_rarest_term(store: Store) -> None:
    fill(store, ["a Heron", "HERON", "the heron of the lake, in the morning", "a gull"])
    with store.reading() as reader:
        assert ids_of(reader.namesakes(terms("heron"), 10, ALL)) == ["m0", "m1"]


# --- rebuilding the index


def test_reindexing_builds_the_index_from_the_record(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "REINDEX_BATCH", 10)
    first = memory("heron", "m", title="A title", tags=["wader"], body={"k": ["deep"]}, files=["src/a.py"])
    apply(store, first, memory("stork", "gone"))
    apply(store, next_version(first, "heron again"))
    apply(store, erase=["gone"])
    fill(store, [f"heron once{n}" for n in range(25)], "more")
    progress: list[tuple[int, int]] = []
    words = ("heron", "again", "titl", "wader", "deep", "stork", "a.py", "once24")
    before = asked(store, *words)
    assert store.reindex(terms_of, 42, lambda done, whole: progress.append((done, whole))) == 27
    after = asked(store, *words)
    with store.reading() as reader:
        assert reader.head().analyser == 42
    assert found(after) == found(before)
    assert after.frequencies == before.frequencies
    assert (after.documents, after.terms) == (before.documents, before.terms)
    assert progress[-1] == (27, 27)
    assert store.scrub() == []
    assert [finding.check for finding in store.check() if not finding.well] == ["analyser"]


def test_reindexing_with_another_analyser_changes_matches(store: Store) -> None:
    [row] = fill(store, ["Heron"])

    def breaks(content: Content) -> list[str]:
        raise ZeroDivisionError

    def shouted(content: Content) -> list[str]:
        return [word.lower() * 2 for word in content.text.split()]

    with pytest.raises(ZeroDivisionError):
        store.reindex(breaks, store.analyser + 1)
    assert found(asked(store, "heron")) == {row: {"heron": 1}}
    assert all(finding.well for finding in store.check())
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


# --- fields that let many or few through


def test_common_and_rare_values_are_both_found(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write more rows of one value than a store lists, and a few of another."""
    monkeypatch.setattr(text, "SIEVE", 60)
    monkeypatch.setattr(sieves, "NARROW", 60)
    values: list[dict[str, Any]] = [
        {"kind": "note", "author": "ann", "source": "a.txt", "place": "w/a", "body": {"type": "plan"}},
        {"kind": "drawer", "author": "bob", "source": "b.txt", "place": "v/b", "body": {"type": "bug"}},
    ]
    writes = [memory("heron", f"m{n}", **values[n % 40 == 7]) for n in range(120)]
    rows = apply(store, *writes).rows
    rare = rows[7::40]
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
            assert reader.count(ALL.having(**many)) == {"total": 117}
    with store.reading() as reader:
        session, seq = reader._session, reader.head().seq  # type: ignore[attr-defined]
        sieve = sieves.Sieves().of(session, ALL.having(place="*/b"), seq, 120)
    assert sieve is not None, "a room of any wing is listed by an index, and not by reading everything"
    assert sieve.number == 3
    nobody = ALL.having(kinds=("note",), author="bob")
    assert asked(store, "heron", filter=nobody).candidates == []


# --- what any store shares


def test_rarer_terms_weigh_more_and_none_less_than_zero() -> None:
    weights = [weight(1_000, frequency) for frequency in (1, 10, 500, 999, 1_000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_terms_are_chosen_rarest_first_within_the_budget() -> None:
    frequencies = {"a": 5, "b": 3, "c": 0, "d": 100}
    assert {budget: rarest_first(frequencies, budget) for budget in (8, 7, 1, 108)} == {
        8: (["b", "a"], ["d"]),
        7: (["b"], ["a", "d"]),
        1: (["b"], ["a", "d"]),
        108: (["b", "a", "d"], []),
    }
    assert rarest_first({"c": 0}, 10) == ([], [])


def test_rows_are_roughly_ordered_by_weight_then_newest() -> None:
    assert list(rough_order([(2.0, [1, 3]), (1.0, [1, 2, 2, 4])])) == [1, 3, 2, 4]
    assert list(rough_order([(1.0, [1, 2, 3])])) == [3, 2, 1]
    assert list(rough_order([])) == []


# --- odd words, long texts, little time


def test_words_that_no_text_can_hold_find_nothing(store: Store) -> None:
    apply(store, memory("heron", "m", author="Maya"))
    with store.reading() as reader:
        for odd in ("her\0on", "her\ud800on", "\udfff\0"):
            assert reader.states([odd]) == {}
            assert reader.labelled("entities", [odd], ALL, 10) == []
            assert reader.drawn([odd], ALL, 10) == []
            assert not reader.text([odd], ALL, 10, 10).candidates


def test_term_repeated_in_a_text_is_found_once(store: Store) -> None:
    rows = fill(store, ["heron " * 1_000, "heron stork", "stork " * 100 + "crane"])
    expected = {rows[0]: {"heron": 1_000}, rows[1]: {"heron": 1}, rows[2]: {"crane": 1}}
    assert found(asked(store, "heron", "crane", want=10, budget=100)) == expected


def test_look_up_stops_at_its_limits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, ["heron " + "stork " * 100] * 50)
    with effort.limited(1e-9), pytest.raises(LimitError), store.reading() as reader:
        reader.head()
    with monkeypatch.context() as patched, effort.until(0.0):
        patched.setattr(wordings, "READ_ANYHOW", 1)
        match = asked(store, "heron", want=20, budget=100)
        with store.reading() as reader:
            assert len(reader.counts([1, 2, 3], ["heron"])) == 1
    assert len(match.candidates) == 1
    assert not match.exact
    monkeypatch.setattr(wordings, "READ_AT_ONCE", 3_000)
    monkeypatch.setattr(wordings, "READ_EACH", 10)
    match = asked(store, "heron", want=20, budget=100)
    assert 1 <= len(match.candidates) <= 6
    assert not match.exact
