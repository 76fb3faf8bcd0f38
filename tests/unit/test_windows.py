"""The turns that are read together with a turn."""

from hypothesis import given
from hypothesis import strategies as st

from pieria.language.windows import LIMIT, Turn, window

SAID = ("I adopted a cat.", "What is it called?", "Pixel!", "Lovely name.", "Thanks.", "Bye.")
TALK = [Turn(text, author) for text, author in zip(SAID, ("Maya", "Ben") * 3, strict=True)]
names = st.none() | st.text(max_size=80)
talks = st.lists(st.builds(Turn, st.text(max_size=300), names), min_size=1, max_size=8)


def test_a_turn_is_read_with_its_neighbours_and_their_authors() -> None:
    found = window(TALK, 2)
    lines = ("Maya: I adopted a cat.", "Ben: What is it called?", "Maya: Pixel!", "Ben: Lovely name.", "Maya: Thanks.")
    assert found.text == "\n".join(lines)
    assert found.members == (0, 1, 2, 3, 4)
    assert not found.truncated
    assert [window(TALK, middle).members for middle in (0, 5, 1)] == [(0, 1, 2), (3, 4, 5), (0, 1, 2, 3)]
    assert window(TALK, 2, before=0, after=1).members == (2, 3)
    assert window([Turn("one"), Turn(" \n"), Turn("two"), Turn("")], 2).members == (0, 2)
    for text in ("Maya: hi", "**Maya**: hi", "maya : hi", "[Maya]: hi", "Maya： hi"):
        assert window([Turn(text, "Maya")], 0).text == text
    for text in ("Maya, hi", "Mayan: hi", "hi Maya"):
        assert window([Turn(text, "Maya")], 0).text == f"Maya: {text}"
    for none in ("M" * 65, "user", "Assistant", "AI"):
        assert window([Turn("Hello.", none), Turn("Hi.", "Maya")], 0).text == "Hello.\nMaya: Hi."


def test_the_middle_is_whole_and_neighbours_share_the_rest() -> None:
    middle = "middle " * 60
    found = window([Turn("first " * 120), Turn(middle), Turn("last " * 120), Turn("short")], 1)
    lines = found.text.split("\n")
    assert (found.members, found.truncated) == ((0, 1, 2, 3), True)
    assert (lines[1], lines[3]) == (middle.strip(), "short")
    assert abs(len(lines[0]) - len(lines[2])) < 20
    assert len(found.text) <= LIMIT
    counted = " ".join(str(number) for number in range(1_000))
    lines = window([Turn(counted), Turn("middle"), Turn(counted)], 1).text.split("\n")
    for line in (lines[0], lines[2]):
        assert line.startswith("0 1 2")
        assert set(line.split()) <= set(counted.split())
    turns = [Turn("far " * 30), Turn("near " * 30), Turn("m" * 830), Turn("near " * 30), Turn("far " * 30)]
    members = {420: (0, 1, 2, 3, 4), 200: (1, 2, 3), 120: (1, 2)}
    assert {limit: window(turns, 2, limit=limit).members for limit in members} == members
    found = window([Turn("before"), Turn("word " * 1_000), Turn("after")], 1)
    assert (found.members, found.truncated) == ((0, 1, 2), True)
    assert found.text.startswith("before\nword word") and found.text.endswith("word\nafter")
    assert LIMIT - 5 <= len(found.text) <= LIMIT
    found = window([Turn("a" * 2_000), Turn("b " * 900), Turn("c " * 900), Turn("d " * 900), Turn("e" * 2_000)], 2)
    before, middle, after = found.text.split("\n")
    assert found.members == (1, 2, 3)
    assert LIMIT * 0.5 < len(middle) <= LIMIT * 0.55
    assert abs(len(before) - len(after)) < 3


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
