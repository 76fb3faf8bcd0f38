"""Snippets: the passage that answers, cut at words, for texts and repeats of any length."""

from pieria.recall.snippet import LENGTH, snippet

FILLER = "lorem ipsum dolor sit amet "
FAR = FILLER * 20
LONG = FAR + "the bird stood in the reeds " + FAR
NEAR = LONG.index("the bird")
RARE = {"heron": 5.0, "stork": 1.0, "crane": 1.0}


def test_the_passage_with_most_terms_is_chosen() -> None:
    text = FAR + "heron heron heron " + FAR + "a heron met a stork and a crane " + FAR
    found = snippet(text, {"heron", "stork", "crane"})
    assert "a heron met a stork and a crane" in found
    assert found.startswith("… ") and found.endswith(" …") and len(found) <= LENGTH + 4
    # Terms far apart are in no window together; two close by are.
    text = "heron " + FAR + "stork " + FAR + "crane stork " + FAR
    assert "crane stork" in snippet(text, {"heron", "stork", "crane"})
    assert "first heron" in snippet(FAR + "first heron " + FAR + "second heron " + FAR, {"heron"})
    text = FAR + "a stork met a crane " + FAR + "a heron stood there " + FAR
    assert "a stork met a crane" in snippet(text, {"heron", "stork", "crane"})
    assert "a heron stood there" in snippet(text, RARE)
    far = "a stork met a crane " + FILLER * 2_000 + "a heron stood there " + FILLER
    assert len(far) > 2 * 20_000
    assert "a heron stood there" in snippet(far, RARE)
    found = snippet("heron " * 20_000, {"heron", "stork"})
    assert found.startswith("heron heron") and found.endswith("heron …")
    assert "heron stork heron" in snippet("heron " * 3_000 + "stork " + "heron " * 300, {"heron", "stork", "crane"})
    assert snippet("A heron\n stood.", {"heron"}) == "A heron stood."


def test_a_text_without_a_shared_word_is_shown_at_the_nearest() -> None:
    found = snippet(LONG, {"heron"}, NEAR)
    assert found.startswith("… the bird stood in the reeds lorem")
    assert found.endswith(" …") and len(found) <= LENGTH + 4
    text = FILLER * 2_000 + "the bird stood in the reeds " + FILLER * 2_000
    assert snippet(text, {"heron"}, text.index("the bird")).startswith("… the bird stood in the reeds lorem")
    assert snippet(FAR + "the bird stood.", {"heron"}, NEAR) == "… the bird stood."
    assert snippet(LONG, {"heron"}, 0) == snippet(LONG, {"heron"}, None) == snippet(LONG, {"heron"})
    assert snippet("A bird stood in the reeds.", {"heron"}, 7) == "A bird stood in the reeds."


def test_words_far_behind_in_a_long_text_are_shown() -> None:
    behind = FILLER * 2_500
    assert len(behind) > 2 * 20_000
    for text in (f"{behind}the heron stood. {FILLER}", f"{behind}\n\nthe heron stood."):
        found = snippet(text, {"heron"}, NEAR)
        assert "the heron stood." in found
        assert found.startswith("… ") and len(found) <= 244
    assert snippet("x" * 50_000 + " heron", {"heron"}).endswith("heron")
    assert snippet(behind, {"heron"}, None) == snippet(behind, (), None)
    assert "met a heron" in snippet(LONG + "met a heron " + FAR, {"heron"}, NEAR)
    text = "a stork " + LONG
    near = text.index("the bird")
    assert "the bird stood" in snippet(text, {"heron": 5.0, "stork": 1.0}, near)
    assert snippet(text, {"heron": 1.0, "stork": 1.0}, near).startswith("a stork")
