"""What ranking reads of rows at hand: narrow, without memories around it."""

import pytest
from tests.contract.making import ALL, DAY, NOW, apply, ids_of, memory, next_version, open_state, select, standing

from pieria.record.changeset import Changeset
from pieria.record.filter import Filter, Viewer
from pieria.record.time import micros, moment
from pieria.record.usage import UNUSED, Use
from pieria.store.parts import Asked
from pieria.store.protocol import ORDERS, Store


def row_of(store: Store, id: str) -> int:
    return open_state(store, id).row


def test_the_content_of_a_row_is_read_whatever_became_of_it(store: Store) -> None:
    first = memory("first", "a", title="a title", tags=["x"])
    apply(store, first, memory("private", "b", scope="session", session="s"), memory("gone", "c"))
    rows = {id: row_of(store, id) for id in "abc"}
    apply(store, next_version(first, "second"))
    apply(store, standing(memory("gone", "c"), rows["c"], ended="removed"))
    with store.reading() as reader:
        found = reader.contents([*rows.values(), row_of(store, "a"), 99])
    assert [(content.id, content.version, content.text) for content in found.values()] == [
        ("a", 1, "first"),
        ("b", 1, "private"),
        ("c", 1, "gone"),
        ("a", 2, "second"),
    ]
    assert found[rows["a"]] == first.content


def test_the_content_of_a_purged_row_is_gone(store: Store) -> None:
    apply(store, memory("kept", "a"), memory("erased", "b"))
    erased = row_of(store, "b")
    apply(store, erase=["b"])
    with store.reading() as reader:
        assert reader.contents([erased]) == {}


def test_an_outline_says_what_ranking_looks_at(store: Store) -> None:
    at, valid = moment(NOW - DAY).isoformat(), moment(NOW - 2 * DAY).isoformat()
    write = memory(
        "text", "a", kind="turn", at=at, author="Ada", author_type="human", session="s", importance=0.75, strength=1.5,
        pinned=True, valid_from=valid,
    )  # fmt: skip
    apply(store, write, memory("plain", "b"))
    with store.reading() as reader:
        full, plain = (reader.outlines([row_of(store, id)], ALL).popitem()[1] for id in "ab")
    assert full.pinned is True
    assert full == (
        row_of(store, "a"), "a", "turn", NOW - DAY, "Ada", "human", "s", None, "bank", 0.75, 1.5, write.state.trust,
        NOW - 2 * DAY, True, "Ada",
    )  # fmt: skip
    assert (plain.author, plain.author_type, plain.session, plain.valid_from) == (None, None, None, None)
    assert plain.pinned is False


def test_outlines_are_held_to_the_whole_filter(store: Store) -> None:
    changed = memory("old words", "changed")
    apply(
        store,
        changed,
        memory("plain", "plain", tags=["x"], author="Ada", session="s", at=moment(NOW - DAY).isoformat()),
        memory("whispered", "whispered", scope="session", session="s"),
        memory("over", "over", valid_until=moment(NOW - 1).isoformat()),
        memory("removed", "removed"),
    )
    rows = [row_of(store, id) for id in ("changed", "plain", "whispered", "over", "removed")]
    with store.reading() as reader:
        before = reader.head().known
    apply(store, next_version(changed, "new words"))
    apply(store, standing(memory("removed", "removed"), rows[-1], ended="removed"))
    rows.append(row_of(store, "changed"))

    def seen(filter: Filter) -> list[str]:
        with store.reading() as reader:
            found = reader.outlines([*rows, 99], filter)
            spots = reader.spots([*rows, 99], filter)
        assert all(outline.row == row for row, outline in found.items())
        assert {spot.row: (spot.id, spot.kind, spot.at) for spot in spots} == {
            row: (outline.id, outline.kind, outline.at) for row, outline in found.items()
        }
        return sorted(outline.id for outline in found.values())

    assert seen(ALL) == ["changed", "plain"]
    assert seen(ALL.having(viewer=Viewer(session="s"))) == ["changed", "plain", "whispered"]
    assert seen(ALL.having(known_at=before)) == ["changed", "plain", "removed"]
    assert seen(ALL.having(valid_at=NOW - 2)) == ["changed", "over", "plain"]
    for narrow in (
        {"ids": ("plain",)}, {"tags": ("x",)}, {"author": "Ada"}, {"session": "s"}, {"until": NOW},
        {"author": "Ada", "ids": ("plain", "removed"), "session": "s", "since": NOW - DAY, "kinds": ("note",)},
    ):  # fmt: skip
        assert seen(ALL.having(**narrow)) == ["plain"]


def test_what_a_version_says_comes_without_the_rest_of_it(store: Store) -> None:
    write = memory("text", "a", kind="observation", body={"type": "decision"}, session="s", sequence=3, confidence=0.5)
    gone = memory("gone", "b")
    rows = apply(store, write, gone).rows
    apply(store, standing(gone, rows[1], ended="removed"))
    with store.reading() as reader:
        found = {said.row: said for said in reader.said([*rows, 99], ALL)}
        whole = reader.memories([*rows, 99], ALL)
    assert found.keys() == whole.keys() == set(rows)
    for row, said in found.items():
        assert said == tuple(getattr(whole[row], name) for name in said._fields)


def test_a_spot_tells_since_when_a_version_stands_as_it_does(store: Store) -> None:
    write = memory("text", "a")
    apply(store, write)
    row = row_of(store, "a")
    before = open_state(store, "a")
    applied = apply(store, standing(write, row, pinned=1))
    with store.reading() as reader:
        assert [spot.known_from for spot in reader.spots([row], ALL)] == [micros(applied.change.at)]
        then = ALL.having(known_at=micros(applied.change.at) - 1)
        assert reader.spots([row], then) == [(row, "a", "note", before.at, reader.states(["a"], then)["a"].known_from)]
        assert reader.spots([], ALL) == []


@pytest.mark.parametrize("order", ORDERS)
def test_rows_are_those_of_select_in_its_order(store: Store, order: str) -> None:
    for n in range(12):
        at = moment(NOW - (n * 7) % 5 * DAY).isoformat()
        apply(store, memory(f"note {n}", f"m{n}", at=at, importance=n * 5 % 4 / 4, kind=("note", "turn")[n % 2]))
    for filter in (ALL, ALL.having(kinds=("turn",)), ALL.having(since=NOW - 2 * DAY), ALL.having(ids=("m3", "m9"))):
        for limit in (1, 4, 50):
            with store.reading() as reader:
                assert reader.rows(filter, order, limit) == [
                    memory.row for memory in reader.select(filter, order, limit)
                ]
    assert len(select(store)) == 12


def test_terms_are_counted_in_any_row(store: Store) -> None:
    first = memory("cat dog cat bird", "a")
    apply(store, first, memory("fish", "b", scope="session", session="s"), memory("…", "c"))
    rows = [row_of(store, id) for id in "abc"]
    apply(store, next_version(first, "dog"))
    with store.reading() as reader:
        found = reader.counts([*rows, 99], ["cat", "bird", "horse", "fish"])
    assert list(found) == rows
    assert found[rows[0]] == (4, 3, {"cat": 2, "bird": 1}, {}, ())
    assert found[rows[1]] == (1, 1, {"fish": 1}, {}, ())
    assert found[rows[2]] == (0, 0, {}, {}, ())
    with store.reading() as reader:
        held = reader.holding([*rows, 99], ["cat", "bird", "horse", "fish", "ish", "cat"])
    assert held == {rows[0]: ["cat", "bird"], rows[1]: ["fish"], rows[2]: []}


def test_pairs_are_counted_where_they_stand_side_by_side_in_their_order(store: Store) -> None:
    apply(store, memory("red car, green car; red car", "a"), memory("car red", "b"), memory("red green car", "c"))
    rows = [row_of(store, id) for id in "abc"]
    with store.reading() as reader:
        found = reader.counts(rows, ["red", "green", "car"], [("red", "car"), ("green", "car"), ("car", "car")])
    assert [dict(found[row].runs) for row in rows] == [
        {("red", "car"): 2, ("green", "car"): 1},
        {},
        {("green", "car"): 1},
    ]
    with store.reading() as reader:
        assert reader.counts([], ["red"], [("red", "car")]) == {}


def test_a_write_transaction_reads_its_own_rows(store: Store) -> None:
    with store.writing() as writer:
        writer.apply(Changeset("test", "tests", writes=[memory("within", "a")]))
        (row,) = writer.rows(ALL)
        assert writer.contents([row])[row].text == "within"
        assert writer.counts([row], ["within"])[row].counts == {"within": 1}
        assert ids_of(writer.outlines([row], ALL).values()) == ["a"]


def test_a_candidate_is_told_with_its_words_its_ends_and_its_uses(store: Store) -> None:
    write = memory("cat dog cat bird", "a", author="Ada", session="s", channel="c")
    apply(store, write, memory("Bob: fish", "b"), memory("whispered", "c", scope="session", session="s"))
    rows = {id: row_of(store, id) for id in "abc"}
    apply(store, usage=[Use("a", 2, NOW)])
    asked = Asked(["cat", "fish"], [("cat", "dog"), ("dog", "bird")], 3, 4)
    with store.reading() as reader:
        found = reader.candidates([*rows.values(), 99], ALL.having(viewer=Viewer()), asked)
        outlined = reader.outlines(list(rows.values()), ALL.having(viewer=Viewer()))
    assert {row: met.outline for row, met in found.items()} == outlined
    assert set(found) == {rows["a"], rows["b"]}
    full, plain = found[rows["a"]], found[rows["b"]]
    assert (full.excerpt.end, full.excerpt.length, full.used.accesses) == ("bird", 16, 2)
    assert full.excerpt.begin.startswith("cat")
    assert full.held == (4, 3, {"cat": 2}, {("cat", "dog"): 1}, ())
    assert (full.outline.channel, full.outline.speaker) == ("c", "Ada")
    assert (plain.outline.author, plain.outline.speaker, plain.used) == (None, "Bob", UNUSED)


def test_a_long_text_is_told_in_parts_that_hold_something(store: Store) -> None:
    beginning, middle, end = "heron nest " * 30, "water " * 500, "heron " * 2
    apply(store, memory(beginning + middle + end, "a"))
    row = row_of(store, "a")
    with store.reading() as reader:
        held = reader.candidates([row], ALL, Asked(["heron", "nest", "boat"], [], 0, 1))[row].held
    assert held is not None
    assert held.counts == {"heron": 32, "nest": 30}
    first, last = held.parts[0], held.parts[-1]
    assert first[1] == {"heron": 30, "nest": 30}
    assert last[1] == {"heron": 2}
    assert sum(counts["heron"] for _, counts in held.parts) == 32
    assert all(0 < length <= 300 for length, _ in held.parts)
