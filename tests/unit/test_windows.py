"""The turns that are read together with a turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.windows import LIMIT, Turn, window

TALK = [
    Turn("I adopted a cat.", "Maya"),
    Turn("What is it called?", "Ben"),
    Turn("Pixel!", "Maya"),
    Turn("Lovely name.", "Ben"),
    Turn("Thanks.", "Maya"),
    Turn("Bye.", "Ben"),
]
names = st.none() | st.text(max_size=80)
talks = st.lists(st.builds(Turn, st.text(max_size=300), names), min_size=1, max_size=8)


def test_a_turn_is_read_with_its_neighbours_and_their_authors() -> None:
    found = window(TALK, 2)

    assert (
        found.text == "Maya: I adopted a cat.\nBen: What is it called?\nMaya: Pixel!\nBen: Lovely name.\nMaya: Thanks."
    )
    assert found.members == (0, 1, 2, 3, 4)
    assert not found.truncated


@pytest.mark.parametrize(("middle", "members"), [(0, (0, 1, 2)), (5, (3, 4, 5)), (1, (0, 1, 2, 3))])
def test_at_the_ends_there_are_fewer(middle: int, members: tuple[int, ...]) -> None:
    assert window(TALK, middle).members == members


def test_how_many_neighbours_is_the_callers_choice() -> None:
    assert window(TALK, 2, before=0, after=1).members == (2, 3)


@pytest.mark.parametrize("text", ["Maya: hi", "**Maya**: hi", "maya : hi", "[Maya]: hi", "Maya： hi"])
def test_a_name_that_is_there_is_not_put_again(text: str) -> None:
    assert window([Turn(text, "Maya")], 0).text == text


@pytest.mark.parametrize("text", ["Maya, hi", "Mayan: hi", "hi Maya"])
def test_a_name_that_only_occurs_is_put_before(text: str) -> None:
    assert window([Turn(text, "Maya")], 0).text == f"Maya: {text}"


def test_what_is_too_long_for_a_name_is_none() -> None:
    assert window([Turn("hi", "M" * 65)], 0).text == "hi"


def test_blank_neighbours_are_left_out() -> None:
    assert window([Turn("one"), Turn(" \n"), Turn("two"), Turn("")], 2).members == (0, 2)


def test_the_middle_is_whole_and_long_neighbours_share_what_remains() -> None:
    middle = "middle " * 60
    turns = [Turn("first " * 120), Turn(middle), Turn("last " * 120), Turn("short")]

    found = window(turns, 1)
    lines = found.text.split("\n")

    assert found.members == (0, 1, 2, 3)
    assert found.truncated
    assert lines[1] == middle.strip()
    assert lines[3] == "short"
    assert abs(len(lines[0]) - len(lines[2])) < 20
    assert len(found.text) <= LIMIT


def test_of_a_neighbour_whole_words_of_the_beginning_are_kept() -> None:
    counted = " ".join(str(number) for number in range(1_000))

    lines = window([Turn(counted), Turn("middle"), Turn(counted)], 1).text.split("\n")

    assert all(line.startswith("0 1 2") for line in (lines[0], lines[2]))
    assert set(lines[0].split()) <= set(counted.split())
    assert set(lines[2].split()) <= set(counted.split())


def test_the_farthest_neighbour_gives_way_when_there_is_little_room() -> None:
    turns = [Turn("far " * 30), Turn("near " * 30), Turn("m" * 830), Turn("near " * 30), Turn("far " * 30)]

    assert window(turns, 2, limit=420).members == (0, 1, 2, 3, 4)
    assert window(turns, 2, limit=200).members == (1, 2, 3)
    assert window(turns, 2, limit=120).members == (1, 2)


def test_a_turn_that_does_not_fit_is_cut_and_leaves_its_neighbours_room() -> None:
    found = window([Turn("before"), Turn("word " * 1_000), Turn("after")], 1)

    assert found.members == (0, 1, 2)
    assert found.truncated
    assert found.text.startswith("before\nword word")
    assert found.text.endswith("word\nafter")
    assert LIMIT - 5 <= len(found.text) <= LIMIT


def test_a_long_turn_has_more_than_half_and_its_nearest_neighbours_the_rest() -> None:
    found = window([Turn("a" * 2_000), Turn("b " * 900), Turn("c " * 900), Turn("d " * 900), Turn("e" * 2_000)], 2)
    before, middle, after = found.text.split("\n")

    assert found.members == (1, 2, 3)
    assert LIMIT * 0.5 < len(middle) <= LIMIT * 0.55
    assert abs(len(before) - len(after)) < 3


@pytest.mark.parametrize("role", ["user", "Assistant", "AI"])
def test_a_role_is_no_name(role: str) -> None:
    assert window([Turn("Hello there.", role), Turn("Hi.", "Maya")], 0).text == "Hello there.\nMaya: Hi."


@given(talks, st.data(), st.integers(1, 400))
def test_a_window_keeps_to_its_limit_and_holds_its_middle(talk: list[Turn], data: st.DataObject, limit: int) -> None:
    middle = data.draw(st.integers(0, len(talk) - 1))
    found = window(talk, middle, limit=limit)
    said = talk[middle].text.strip()

    assert len(found.text) <= limit
    assert middle in found.members
    assert list(found.members) == sorted(set(found.members))
    assert all(abs(place - middle) <= 2 for place in found.members)
    assert found == window(talk, middle, limit=limit)
    if len(said) + 66 <= 0.55 * limit:
        assert said in found.text
