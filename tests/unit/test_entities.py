"""The names in a text by rules, and the known names it mentions."""

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.language.entities import KINDS, entities
from pieria.language.names import Names, named_in

SAMPLES = samples("entities")


def names_in(text: str, known: list[str]) -> list[str]:
    return [found.name for found in named_in(text, known)]


def test_names_are_found_by_their_kind_and_no_others() -> None:
    for text, kind, names in SAMPLES["found"]:
        assert "|".join(found.name for found in entities(text) if found.kind == kind) == names
    assert {kind for _, kind, _ in SAMPLES["found"]} == set(KINDS)
    assert [found.name for found in entities("Did Caroline visit Oslo?")] == ["Caroline", "Oslo"]
    for text in (*SAMPLES["none"], "x" * 300 + "@example.com"):
        assert entities(text) == [], text


scraps = st.sampled_from(
    [*(text for text, _, _ in SAMPLES["found"]), *("A", "The", "of", ". ", "\n", '"', "`", "İ", "@", "#", "/", "://")]
)


@given(st.text() | st.lists(scraps).map("".join))
def test_an_entity_is_where_it_says(text: str) -> None:
    found = entities(text)
    for name, kind, start, end in found:
        assert kind in KINDS
        assert 0 <= start < end <= len(text)
        assert " ".join(text[start:end].split()) == name
    assert found == sorted(found, key=lambda entity: entity.start)


def test_known_names_are_found_in_any_spelling() -> None:
    known = SAMPLES["known_names"]
    assert [[text, "|".join(names_in(text, known))] for text, _ in SAMPLES["mentioned"]] == SAMPLES["mentioned"]
    [found] = named_in("ask Élodie’s boss", ["elodie"])
    assert (found.name, found.start, found.end) == ("elodie", 4, 10)
    assert names_in("maya", ["MAYA", "maya", "Maya"]) == ["MAYA"]
    name = " ".join(f"word{number}" for number in range(16))
    assert names_in(f"so {name} it is", [name]) == [name]
    for none in ("", " ", "?!", "京", "word " * 17):
        assert names_in(f"京 word {none}", [none]) == []


words = st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=4), st.text(), st.sampled_from(["{}", "so {}!", "({})", "“{}’s” a"]))
def test_a_name_is_found_in_other_signs_and_names_do_not_overlap(parts: list[str], text: str, around: str) -> None:
    name = " ".join(parts)
    if Names([name]).found_in(name):
        said = around.format(name)
        assert any(name in said[found.start : found.end] for found in Names([name]).found_in(said))
    behind = 0
    for found in named_in(text + around.format(name), parts):
        assert found.name in parts
        assert behind <= found.start < found.end <= len(text + around.format(name))
        behind = found.end
