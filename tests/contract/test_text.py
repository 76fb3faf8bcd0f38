"""The text index: matches, counts, and when a look-up may stop. Ranking is tested elsewhere."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from tests.contract.single_calls import ids_of, open_state, read, select
from tests.contract.store_helpers import ALL, apply, memory, next_version, standing
from tests.contract.test_vectors import well

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
    return read(store).text(words, filter, want, budget)


def found(match: TextMatch) -> dict[int, dict[str, int]]:
    return {candidate.row: dict(candidate.held.counts) for candidate in match.candidates}


def fill(store: Store, texts: Sequence[str], prefix: str = "m", **values: Any) -> list[int]:
    return apply(store, *(memory(text, f"{prefix}{n}", **values) for n, text in enumerate(texts))).rows


def test_candidates_hold_some_term_and_count_each(store: Store) -> None:
    a, b, _, d = fill(store, ["heron heron stork", "stork", "crane", "stork heron stork crane"])
    for filter in (ALL, WIDE):
        match = asked(store, "heron", "stork", "nobody", "heron", filter=filter)
        assert found(match) == {a: {"heron": 2, "stork": 1}, b: {"stork": 1}, d: {"heron": 1, "stork": 2}}
        assert {candidate.row: candidate.held.length for candidate in match.candidates} == {a: 3, b: 1, d: 4}
        assert (match.documents, match.terms, match.cut, match.exact) == (4, 9, (), True)
        assert dict(match.frequencies) == {"heron": 2, "stork": 3, "nobody": 0}
        assert set(match.looked_up) == {"heron", "stork"}
        assert found(asked(store, filter=filter)) == found(asked(store, "nobody", filter=filter)) == {}


def test_frequencies_count_every_version_of_a_text(store: Store) -> None:
    first, other = memory("heron", "m"), memory("stork", "n")
    rows = apply(store, first, other, memory("heron", "removed", state={"ended": "removed"})).rows
    apply(store, next_version(first, "heron again"), standing(other, rows[1], status="promoted"))
    match = asked(store, "heron", "stork", "crane")
    assert match.frequencies == read(store).frequencies(["heron", "stork", "crane"])
    assert match.frequencies == {"heron": 3, "stork": 1, "crane": 0}
    assert (match.documents, len(match.candidates)) == (4, 2)


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
    assert (match.looked_up, match.cut, match.exact) == (("once13", "often3"), ("common",), False)
    assert found(match).keys() == {rows[n] for n in range(3, 40, 5)}
    assert found(match)[rows[13]] == {"common": 1, "often3": 1, "once13": 1}
    # The rarest term is looked up at any cost.
    match = asked(store, "common", budget=1)
    assert match.exact
    assert found(match).keys() == set(rows)


def test_look_up_widens_while_too_few_are_visible(store: Store) -> None:
    hidden = {"state": {"ended": "removed"}}
    fill(store, ["rare common"] * 10, "hidden rare", **hidden)
    fill(store, ["common"] * 60, "shown")
    match = asked(store, "rare", "common", want=80, budget=10)
    assert (len(match.candidates), match.cut, match.exact) == (60, (), True)
    fill(store, ["common"] * 100, "hidden", **hidden)
    match = asked(store, "common", budget=5)
    assert (len(match.candidates), match.exact) == (60, True)


def test_look_up_stops_when_it_has_what_is_wanted(store: Store) -> None:
    rows = fill(store, ["heron stork crane", *["heron"] * 300])
    match = asked(store, "heron", want=10, budget=100_000)
    assert not match.exact
    assert 10 <= len(match.candidates) < 300
    assert sorted(found(match)) == rows[-len(match.candidates) :], "the newest"
    # What holds more of the question is kept.
    match = asked(store, "heron", "stork", "crane", want=5, budget=100_000)
    assert [c.row for c in match.candidates if len(c.held.counts) == 3] == rows[:1]
    # Of a term beyond the budget, the newest are read.
    match = asked(store, "heron", want=20, budget=100)
    assert not match.exact
    assert sorted(found(match)) == rows[-20:]


def test_filter_that_few_pass_is_answered_whole(store: Store) -> None:
    fill(store, ["common rare", "common"] * 20, tags=["t"])
    fill(store, ["common rare"] * 30, "other")
    tagged = ALL.having(tags=("t",))
    assert 10 <= len(asked(store, "rare", filter=tagged, want=10, budget=10_000).candidates) <= 20
    match = asked(store, "rare", filter=tagged, want=10_000, budget=10_000)
    assert (len(match.candidates), match.exact) == (20, True)
    few = asked(store, "common", "rare", filter=tagged.having(ids=("m4", "m5", "other1")), want=10)
    assert sorted(len(c.held.counts) for c in few.candidates) == [1, 2]


def test_cached_counts_follow_the_bank(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "FREQUENT", 50)
    rows = fill(store, ["common"] * 60)
    assert asked(store, "common").frequencies["common"] == 60
    # The count of a frequent term may be cached, its rows may not.
    rows += fill(store, ["common heron"], "new")
    assert found(asked(store, "common", want=100_000, budget=100_000)).keys() == set(rows)
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


def twins(store: Store, text: str, filter: Filter = ALL) -> list[str]:
    return ids_of(read(store).twins(text, terms(text), filter))


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
    removed, diary, past = (
        memory("heron", "1", state={"ended": "removed"}),
        memory("heron", "3", kind="diary"),
        memory("heron", "5"),
    )
    diary, titled = memory("heron", "3", kind="diary"), memory("heron", "4", title="Stork")
    apply(store, removed, memory("heron", "2"), diary, titled, past)
    apply(store, next_version(past, "stork"))
    assert twins(store, "heron") == ["2", "3", "4"]
    assert twins(store, "heron", ALL.having(kinds=("diary",))) == ["3"]
    assert twins(store, "stork") == ["5"]


def test_namesakes_are_short_and_hold_the_rarest_term(store: Store) -> None:
    fill(store, ["a Heron", "HERON", "the heron of the lake, in the morning", "a gull"])
    assert ids_of(read(store).namesakes(terms("heron"), 10, ALL)) == ["m0", "m1"]


# --- rebuilding the index


def test_reindexing_builds_the_index_from_the_record(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "REINDEX_BATCH", 10)
    first = memory("heron", "m", title="A title", tags=["wader"], body={"k": ["deep"]}, files=["src/a.py"])
    apply(store, first, memory("stork", "gone"))
    apply(store, next_version(first, "heron again"))
    apply(store, erase=["gone"])
    fill(store, [f"heron once{n}" for n in range(25)], "more")
    words = ("heron", "again", "titl", "wader", "deep", "stork", "a.py", "once24")
    before, progress = asked(store, *words), list[tuple[int, int]]()
    assert store.reindex(terms_of, 42, lambda done, whole: progress.append((done, whole))) == 27
    assert progress[-1] == (27, 27)
    after = asked(store, *words)
    assert (found(after), after.frequencies) == (found(before), before.frequencies)
    assert (after.documents, after.terms) == (before.documents, before.terms)
    assert read(store).head().analyser == 42
    assert store.scrub() == []
    assert [finding.check for finding in store.check() if not finding.well] == ["analyser"]


def test_reindexing_with_another_analyser_changes_matches(store: Store) -> None:
    [row] = fill(store, ["Heron"])

    def breaks(content: Content) -> list[str]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.reindex(breaks, store.analyser + 1)
    assert found(asked(store, "heron")) == {row: {"heron": 1}}
    well(store)
    store.reindex(lambda content: [word.lower() * 2 for word in content.text.split()], 43)
    assert found(asked(store, "heron")) == {}
    assert found(asked(store, "heronheron")) == {row: {"heronheron": 1}}
    assert asked(store, "heronheron").terms == 1
    store.analyser = 43
    well(store)


def test_reindexing_finds_standing_rules_again(store: Store) -> None:
    said = "Always answer in metric units."
    ours = memory(said, "ours", tags=["kept"])
    apply(
        store,
        memory("heron", "told", author_type="human"),
        memory(said, "agent", author_type="agent"),
        ours._replace(labels=[Mark("tag", "kept", "kept"), Mark("standing", "profile", "profile")]),
        memory(said, "summary", kind="summary"),
        memory(said, "in another's name", author_type="human", state={"trust": 0.6}),
    )
    apply(store, next_version(memory("heron", "told"), "I prefer window seats."))
    apply(store, standing(ours, open_state(store, "ours").row, author_type="agent", trust=0.6))
    for _ in range(2):
        store.reindex(terms_of, store.analyser)
        assert select(store, ALL.having(standing=("rule",))) == ["agent", "ours", "in another's name"]
        assert select(store, ALL.having(standing=("preference",))) == ["told"]
        assert select(store, ALL.having(standing=("profile",))) == []
        assert select(store, ALL.having(tags=("kept",))) == ["ours"]


# --- fields that let many or few through


FEW_AND_MANY: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"kinds": ("drawer",)}, {"kinds": ("note",)}), ({"author": "bob"}, {"author": "ann"}),
    ({"source": "b.txt"}, {"source": "a.txt"}), ({"place": "v"}, {"place": "w"}), ({"place": "v/b"}, {"place": "w/a"}),
    ({"place": "*/b"}, {"place": "*/a"}), ({"types": ("bug",)}, {"types": ("plan",)}),
    ({"types": ("bug", "diary")}, {"types": ("plan", "note")}),
    ({"kinds": ("drawer",), "types": ("bug",), "author": "bob"}, {"kinds": ("note",), "author": "ann"}),
]  # fmt: skip


def test_common_and_rare_values_are_both_found(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write more rows of one value than a store lists, and a few of another."""
    monkeypatch.setattr(text, "SIEVE", 60)
    monkeypatch.setattr(sieves, "NARROW", 60)
    values: list[dict[str, Any]] = [
        {"kind": "note", "author": "ann", "source": "a.txt", "place": "w/a", "body": {"type": "plan"}},
        {"kind": "drawer", "author": "bob", "source": "b.txt", "place": "v/b", "body": {"type": "bug"}},
    ]
    rows = apply(store, *(memory("heron", f"m{n}", **values[n % 40 == 7]) for n in range(120))).rows
    rare = rows[7::40]
    for few, many in ((ALL.having(**few), ALL.having(**many)) for few, many in FEW_AND_MANY):
        assert found(asked(store, "heron", filter=few, want=50)).keys() == set(rare)
        assert len(asked(store, "heron", filter=many, want=50).candidates) >= 50
        for order in ORDERS:
            assert {m.row for m in read(store).select(few, order, 50)} == set(rare)
        newest = [m.row for m in read(store).select(many, "newest", 5)]
        assert newest == [row for row in reversed(rows) if row not in rare][:5]
        assert read(store).count(few) == {"total": 3}
        assert read(store).count(many) == {"total": 117}
    with store.reading() as reader:
        session, seq = reader._session, reader.head().seq  # type: ignore[attr-defined]
        sieve = sieves.Sieves().of(session, ALL.having(place="*/b"), seq, 120)
    assert sieve is not None, "a room of any wing is listed by an index, and not by reading everything"
    assert sieve.number == 3
    assert asked(store, "heron", filter=ALL.having(kinds=("note",), author="bob")).candidates == []


# --- what any store shares


def test_rarer_terms_weigh_more_and_none_less_than_zero() -> None:
    weights = [weight(1_000, frequency) for frequency in (1, 10, 500, 999, 1_000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_terms_are_chosen_rarest_first_within_the_budget() -> None:
    frequencies = {"a": 5, "b": 3, "c": 0, "d": 100}
    assert {budget: rarest_first(frequencies, budget) for budget in (8, 7, 1, 108)} == {
        8: (["b", "a"], ["d"]), 7: (["b"], ["a", "d"]), 1: (["b"], ["a", "d"]), 108: (["b", "a", "d"], []),
    }  # fmt: skip
    assert rarest_first({"c": 0}, 10) == ([], [])


def test_rows_are_roughly_ordered_by_weight_then_newest() -> None:
    assert list(rough_order([(2.0, [1, 3]), (1.0, [1, 2, 2, 4])])) == [1, 3, 2, 4]
    assert list(rough_order([(1.0, [1, 2, 3])])) == [3, 2, 1]
    assert list(rough_order([])) == []


def test_words_that_no_text_can_hold_find_nothing(store: Store) -> None:
    apply(store, memory("heron", "m", author="Maya"))
    for odd in ("her\0on", "her\ud800on", "\udfff\0"):
        assert read(store).states([odd]) == {}
        assert read(store).labelled("entities", [odd], ALL, 10) == []
        assert read(store).drawn([odd], ALL, 10) == []
        assert not asked(store, odd).candidates


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
        assert len(read(store).counts([1, 2, 3], ["heron"])) == 1
    assert len(match.candidates) == 1
    assert not match.exact
    monkeypatch.setattr(wordings, "READ_AT_ONCE", 3_000)
    monkeypatch.setattr(wordings, "READ_EACH", 10)
    match = asked(store, "heron", want=20, budget=100)
    assert 1 <= len(match.candidates) <= 6
    assert not match.exact
