"""Scores: their scale, what changes their order and what does not, and the rank of derived memories."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.recall.bm25 import Corpus, behind_sources, corpus, coverage, lexical, ranked
from pieria.store.parts import Terms
from pieria.store.protocol import Candidate, TextMatch
from pieria.store.text import weight


def candidate(row: int = 1, length: int = 10, **counts: int) -> Candidate:
    return Candidate(row, Terms(length, len(counts), counts))


def plain(known: Corpus, one: Candidate) -> float:
    """Return BM25 from its definition."""
    damping = 1.2 * (0.4 + 0.6 * one.held.length / known.mean_length)
    return sum(known.weights[term] * count * 2.2 / (count + damping) for term, count in one.held.counts.items())


def test_weights_are_those_by_which_stores_choose() -> None:
    known = corpus(100, 1_000, {"rare": 1, "common": 80})
    assert known.weights == {"rare": weight(100, 1), "common": weight(100, 80)}
    assert known.mean_length == 10
    known = corpus(2**53, 2**53, {"rare": 1, "unknown": 0})
    assert all(math.isfinite(value) for value in (*known.weights.values(), known.whole))
    # A count that is older than a purge.
    assert min(corpus(2_080, 20_800, {"common": 2_100, "rare": 1}).weights.values()) > 0


def test_matches_score_alike_in_banks_of_any_size() -> None:
    """A half that is in no text makes the question larger, by as much as any rare word."""
    for documents in (1, 2, 10, 1_000, 1_000_000):
        known = corpus(documents, 10 * documents, {"heron": 1, "stork": 1})
        assert lexical(candidate(heron=1, stork=1), known) == pytest.approx(1 / 2.2)
        assert coverage({"heron", "stork"}, known) == 1
        known = corpus(documents, 10 * documents, {"heron": 1, "stork": 0})
        assert lexical(candidate(heron=1), known) == pytest.approx(0.5 / 2.2, rel=0.12)
        assert coverage({"heron"}, known) == pytest.approx(0.5, rel=0.12)
    for unknown in ({}, {"heron": 0}):
        known = corpus(0, 0, unknown)
        assert lexical(candidate(heron=1), known) == coverage({"heron"}, known) == 0
    frequencies = {"heron": 3, "stork": 40, "crane": 7}
    asked, longer = corpus(50, 600, frequencies), corpus(50, 600, {**frequencies, "nobody": 0, "nothing": 0})
    texts = [candidate(heron=1), candidate(stork=5), candidate(crane=2, stork=1), candidate(length=80, heron=2)]
    assert all(0 < lexical(text, longer) < lexical(text, asked) for text in texts)
    before, after = ([lexical(text, known) for text in texts] for known in (asked, longer))
    assert sorted(range(4), key=before.__getitem__) == sorted(range(4), key=after.__getitem__)


counts = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 9), min_size=1)
texts = st.lists(st.tuples(counts, st.integers(1, 500)), min_size=2, max_size=8)
frequencies = st.fixed_dictionaries({term: st.integers(1, 60) for term in "abcd"})


@given(texts, frequencies, st.integers(1, 60), st.integers(0, 3))
def test_scores_keep_the_order_of_bm25_and_lie_within_0_and_1(
    drawn: list[tuple[dict[str, int], int]], held: dict[str, int], documents: int, unknown: int
) -> None:
    known = corpus(documents, 50 * documents, {**held, **{f"u{n}": 0 for n in range(unknown)}})
    found = [candidate(row, length, **counts) for row, (counts, length) in enumerate(drawn)]
    assert all(0 <= lexical(one, known) <= 1 and 0 <= coverage(one.held.counts, known) <= 1 for one in found)
    for one, other in itertools.combinations(found, 2):
        if plain(known, one) > plain(known, other) * (1 + 1e-9):
            assert lexical(one, known) > lexical(other, known)


@given(counts, frequencies)
def test_a_score_does_not_depend_on_the_order_of_terms(held: dict[str, int], known: dict[str, int]) -> None:
    """A cursor finds its place by score, in another process too."""
    bank = corpus(60, 600, known)
    orders = itertools.permutations(held.items(), len(held))
    assert len({lexical(candidate(1, 20, **dict(order)), bank) for order in orders}) == 1


def test_of_equals_the_newest_comes_first_and_the_bank_first() -> None:
    match = TextMatch(3, 30, {"heron": 3}, [candidate(1, heron=1), candidate(3, heron=1), candidate(2, heron=1)])
    found = ranked([match, match], corpus(6, 60, {"heron": 6}))
    assert [(entry.which, entry.candidate.row) for entry in found] == [(0, 3), (0, 2), (0, 1), (1, 3), (1, 2), (1, 1)]
    assert [entry.key for entry in found] == sorted(entry.key for entry in found)


def test_derived_hits_move_behind_their_sources() -> None:
    for case in (
        *("abc > abc", "abc ac > bca", "abc ca > abc", "abc ab bc > cba", "abcd ac bc > cabd", "abcd ac ad > bcda"),
        *("abc ab ba > cab", "abc ax xb > abc", "abc aa > abc", "abc ac ac > bca"),
    ):
        given, expected = case.split(" > ")
        order, *pairs = given.split()
        assert "".join(behind_sources(list(order), [(pair[0], pair[1]) for pair in pairs])) == expected, case


@given(st.permutations(range(7)), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12))
def test_no_hit_is_lost_and_none_stands_before_its_source(order: list[int], pairs: list[tuple[int, int]]) -> None:
    acyclic = [(one, other) for one, other in pairs if one > other]
    after = behind_sources(order, acyclic)
    assert sorted(after) == sorted(order)
    place = {id: number for number, id in enumerate(after)}
    assert all(place[one] > place[other] for one, other in acyclic if one in place and other in place)
    free = [id for id in order if id not in {one for one, _ in acyclic}]
    assert [id for id in after if id in free] == free
    assert sorted(behind_sources(order, pairs)) == sorted(order)
