"""Merging a memory in the file with the one in the bank: the later version, and the labels of both."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.record.changeset import Content, State
from pieria.record.draft import NewMemory, checked
from pieria.store.rows import first_write, names_of, written_list
from pieria.transfer.join import Side, merged, replaced
from pieria.transfer.lines import written_json


def side(text: str = "words", *, known: int = 0, since: int = 0, tags: tuple[str, ...] = (), **standing: Any) -> Side:
    write = first_write(checked(NewMemory(text, tags=tags)), "m", 0, "bank/note")
    assert isinstance(write.content, Content)
    return Side(write.state._replace(**standing), known, write.content, since)


SIDES = st.builds(
    side,
    st.sampled_from(["one", "two", "three"]),
    known=st.integers(0, 3),
    since=st.integers(0, 3),
    tags=st.lists(st.sampled_from(["a", "A", "b", "c"]), max_size=3, unique=True).map(tuple),
    importance=st.sampled_from([0.1, 0.9]),
    pinned=st.integers(0, 1),
    ended=st.sampled_from(["", "removed"]),
)


def held_after(ours: Side, state: State | None, content: Content | None) -> Side:
    """Return our side after the outcome is written, later than everything."""
    if state is None:
        return ours
    return Side(state, 9, content or ours.content, ours.since if content is None else 9)


@given(SIDES, SIDES)
def test_no_label_is_lost_and_none_is_doubled(ours: Side, theirs: Side) -> None:
    after = held_after(ours, *merged(ours, theirs, 2))
    labels = names_of(after.content.tags)
    both = {tag.casefold() for tag in (*names_of(ours.content.tags), *names_of(theirs.content.tags))}
    assert sorted(label.casefold() for label in labels) == sorted(both)


@given(SIDES, SIDES)
def test_a_second_merge_finds_nothing_to_do(ours: Side, theirs: Side) -> None:
    after = held_after(ours, *merged(ours, theirs, 2))
    assert merged(after, theirs, 3) == (None, None)


@given(SIDES, SIDES)
def test_a_second_replacement_finds_nothing_to_do(ours: Side, theirs: Side) -> None:
    after = held_after(ours, *replaced(ours, theirs, 2))
    assert replaced(after, theirs, 3) == (None, None)
    assert after.state._replace(row=0, version=0) == theirs.state._replace(row=0, version=0)


@given(SIDES, SIDES)
def test_a_new_version_comes_only_with_new_content(ours: Side, theirs: Side) -> None:
    for outcome in (merged(ours, theirs, 7), replaced(ours, theirs, 7)):
        if outcome.state is not None:
            expected = ours.state.version if outcome.content is None else 7
            assert outcome.state.version == expected
            assert outcome.content is None or outcome.content.version == 7


@pytest.mark.parametrize(
    ("ours", "theirs", "text", "importance"),
    [
        ((1, 1), (2, 2), "theirs", 0.9),
        ((2, 2), (1, 1), "ours", 0.1),
        ((1, 1), (1, 1), "ours", 0.1),
        ((1, 2), (2, 1), "ours", 0.9),
        ((2, 1), (1, 2), "theirs", 0.1),
    ],
)
def test_content_and_standing_each_follow_their_own_time(
    ours: tuple[int, int], theirs: tuple[int, int], text: str, importance: float
) -> None:
    here = side("ours", known=ours[0], since=ours[1], importance=0.1)
    there = side("theirs", known=theirs[0], since=theirs[1], importance=0.9)
    after = held_after(here, *merged(here, there, 2))
    assert (after.content.text, after.state.importance) == (text, importance)


BODY = {"facts": ["One.", "Two."], "files_read": ["a.py"], "subtitle": "Ours", "level": [1]}


@pytest.mark.parametrize(("since", "facts"), [(0, ["One.", "Two.", "Three."]), (2, ["Three.", "Two.", "One."])])
def test_the_lists_of_texts_in_both_bodies_come_to_one_and_all_else_is_the_later_s(
    since: int, facts: list[str]
) -> None:
    ours = with_body(side(since=1), BODY)
    theirs = with_body(side(since=since), {"facts": ["Three.", "Two."], "subtitle": "Theirs", "level": [2]})
    later = BODY if since < 1 else {"subtitle": "Theirs", "level": [2]}
    after = held_after(ours, *merged(ours, theirs, 2))
    assert json.loads(after.content.body or "") == {**later, "facts": facts, "files_read": ["a.py"]}
    assert merged(after, theirs, 3) == (None, None)


def with_body(one: Side, body: dict[str, Any]) -> Side:
    return one._replace(content=one.content._replace(body=written_json(body)))


def test_flags_alone_make_no_new_version() -> None:
    ours = side()
    theirs = side(known=1, since=1)
    flagged = theirs._replace(content=theirs.content._replace(flags=written_list(("secret:key",))))
    assert merged(ours, flagged, 2) == (None, None)
