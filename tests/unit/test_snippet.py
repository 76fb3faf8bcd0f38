"""Snippets: the passage that answers, cut at words, for texts and repeats of any length."""

from pieria.recall.snippet import LENGTH, snippet

FILLER = "lorem ipsum dolor sit amet "


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("A heron\n stood.", {"heron"}) == "A heron stood."


def test_the_passage_with_most_different_terms_is_chosen() -> None:
    text = FILLER * 20 + "heron heron heron " + FILLER * 20 + "a heron met a stork and a crane " + FILLER * 20
    found = snippet(text, {"heron", "stork", "crane"})
    assert "a heron met a stork and a crane" in found
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert len(found) <= LENGTH + 4


def test_a_rare_word_outweighs_two_common_ones() -> None:
    text = FILLER * 20 + "a stork met a crane " + FILLER * 20 + "a heron stood there " + FILLER * 20
    assert "a stork met a crane" in snippet(text, {"heron", "stork", "crane"})
    assert "a heron stood there" in snippet(text, {"heron": 5.0, "stork": 1.0, "crane": 1.0})
    far = "a stork met a crane " + FILLER * 2_000 + "a heron stood there " + FILLER
    assert len(far) > 2 * 20_000
    assert "a heron stood there" in snippet(far, {"heron": 5.0, "stork": 1.0, "crane": 1.0})


def test_a_text_that_holds_only_a_common_word_is_shown_where_its_meaning_is_nearest() -> None:
    text = "a stork " + LONG
    near = text.index("the bird")
    assert "the bird stood" in snippet(text, {"heron": 5.0, "stork": 1.0}, near)
    assert snippet(text, {"heron": 1.0, "stork": 1.0}, near).startswith("a stork")


def test_a_term_that_left_the_window_counts_no_longer() -> None:
    """Terms far apart are in no window together; two close by are."""
    text = "heron " + FILLER * 20 + "stork " + FILLER * 20 + "crane stork " + FILLER * 20
    assert "crane stork" in snippet(text, {"heron", "stork", "crane"})


def test_of_equal_passages_the_first_is_chosen() -> None:
    text = FILLER * 20 + "first heron " + FILLER * 20 + "second heron " + FILLER * 20
    assert "first heron" in snippet(text, {"heron"})


def test_repeats_without_end_and_a_term_that_is_not_there() -> None:
    """The text never holds all terms, so every window is searched."""
    text = "heron " * 20_000
    found = snippet(text, {"heron", "stork"})
    assert found.startswith("heron heron")
    assert found.endswith("heron …")
    assert "heron stork heron" in snippet("heron " * 3_000 + "stork " + "heron " * 300, {"heron", "stork", "crane"})


# --- without a shared word


LONG = FILLER * 20 + "the bird stood in the reeds " + FILLER * 20
NEAR = LONG.index("the bird")


def test_a_text_that_shares_no_word_is_shown_where_its_meaning_is_nearest() -> None:
    found = snippet(LONG, {"heron"}, NEAR)
    assert found.startswith("… the bird stood in the reeds lorem")
    assert found.endswith(" …")
    assert len(found) <= LENGTH + 4


def test_a_word_that_is_shared_goes_before_what_is_near() -> None:
    assert "met a heron" in snippet(LONG + "met a heron " + FILLER * 20, {"heron"}, NEAR)


def test_the_end_of_a_text_is_shown_whole() -> None:
    text = FILLER * 20 + "the bird stood."
    assert snippet(text, {"heron"}, text.index("the bird")) == "… the bird stood."


def test_what_is_near_from_the_beginning_or_in_a_short_text_is_shown_from_there() -> None:
    assert snippet(LONG, {"heron"}, 0) == snippet(LONG, {"heron"}, None) == snippet(LONG, {"heron"})
    assert snippet("A bird stood in the reeds.", {"heron"}, 7) == "A bird stood in the reeds."


def test_what_is_near_may_stand_beyond_what_is_looked_through_for_words() -> None:
    text = FILLER * 2_000 + "the bird stood in the reeds " + FILLER * 2_000
    assert snippet(text, {"heron"}, text.index("the bird")).startswith("… the bird stood in the reeds lorem")


def test_words_far_behind_in_a_long_text_are_shown() -> None:
    behind = FILLER * 2_500
    assert len(behind) > 2 * 20_000
    for text in (f"{behind}the heron stood. {FILLER}", f"{behind}\n\nthe heron stood."):
        found = snippet(text, {"heron"}, NEAR)
        assert "the heron stood." in found
        assert found.startswith("… ")
        assert len(found) <= 244
    assert snippet("x" * 50_000 + " heron", {"heron"}).endswith("heron")
    assert snippet(behind, {"heron"}, None) == snippet(behind, (), None)
