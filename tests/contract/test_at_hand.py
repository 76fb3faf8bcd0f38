"""Reads for ranking: columns of given rows, without building memories."""

import contextlib

import pytest
from tests.contract.making import ALL, DAY, NOW, apply, ids_of, memory, next_version, open_state, select, standing

from pieria.record.changeset import Changeset
from pieria.record.filter import Filter, Viewer
from pieria.record.time import micros, moment
from pieria.record.usage import UNUSED, Use
from pieria.store.parts import Met
from pieria.store.protocol import ORDERS, Store
from pieria.store.sql.tally import PART


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
    assert found[rows[0]] == (4, 3, {"cat": 2, "bird": 1})
    assert found[rows[1]] == (1, 1, {"fish": 1})
    assert found[rows[2]] == (0, 0, {})


def test_a_write_transaction_reads_its_own_rows(store: Store) -> None:
    with store.writing() as writer:
        writer.apply(Changeset("test", "tests", writes=[memory("within", "a")]))
        (row,) = writer.rows(ALL)
        assert writer.contents([row])[row].text == "within"
        assert writer.counts([row], ["within"])[row].counts == {"within": 1}
        assert ids_of(writer.outlines([row], ALL).values()) == ["a"]


def test_candidates_are_told_in_columns(store: Store) -> None:
    write = memory("cat dog cat bird", "a", author="Ada", session="s", channel="c")
    apply(store, write, memory("Bob: fish", "b"), memory("whispered", "c", scope="session", session="s"))
    rows = {id: row_of(store, id) for id in "abc"}
    apply(store, usage=[Use("a", 2, NOW)])
    with store.reading() as reader:
        met = reader.candidates([*rows.values(), 99], ALL.having(viewer=Viewer()))
        outlined = reader.outlines(list(rows.values()), ALL.having(viewer=Viewer()))
        glances = reader.glances(list(rows.values()))
    order = [met.ids.index(id) for id in "ab"]
    assert sorted(met.rows) == sorted([rows["a"], rows["b"]])
    for column, attribute in ((met.kinds, "kind"), (met.at, "at"), (met.authors, "author"), (met.channels, "channel")):
        assert [column[line] for line in order] == [getattr(outlined[rows[id]], attribute) for id in "ab"]
    assert [met.used[line].accesses for line in order] == [2, 0]
    assert met.used[order[1]] is UNUSED
    assert [glances[rows[id]].speaker for id in "ab"] == [None, "Bob"]
    assert [glances[rows[id]].length for id in "ab"] == [16, 9]


def test_nobody_is_a_candidate_where_nothing_is_seen(store: Store) -> None:
    with store.reading() as reader:
        assert reader.candidates([1, 2], ALL) == Met()
        held = reader.holdings([1, 2], ["heron"], [])
    assert (held.rows, held.counts.shape, held.runs.shape, len(held.parts.lines)) == ([], (1, 0), (0, 0), 0)


def test_holdings_are_counted_over_all_texts_at_once(store: Store) -> None:
    texts = ("red car, green car; red car", "car red", "a boat", "red")
    apply(store, *(memory(text, f"m{n}") for n, text in enumerate(texts)))
    rows = [row_of(store, f"m{n}") for n in range(len(texts))]
    with store.reading() as reader:
        held = reader.holdings(rows, ["red", "car", "heron"], [("red", "car"), ("car", "red"), ("heron", "red")])
    assert held.rows == rows
    assert held.counts.tolist() == [[2, 1, 0, 1], [3, 1, 0, 0], [0, 0, 0, 0]]
    assert held.runs.tolist() == [[2, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert held.lengths.tolist() == [6, 2, 2, 1]
    assert held.distinct.tolist() == [3, 2, 2, 1]


def test_a_long_text_is_told_in_parts_that_hold_something(store: Store) -> None:
    beginning, middle, end = "heron nest " * 30, "water " * 500, "heron " * 2
    apply(store, memory("a short heron", "b"), memory(beginning + middle + end, "a"))
    with store.reading() as reader:
        held = reader.holdings([row_of(store, "b"), row_of(store, "a")], ["heron", "nest", "boat"], [])
    assert held.counts.tolist() == [[1, 32], [0, 30], [0, 0]]
    assert held.parts.lines.tolist() == [1, 1]
    assert held.parts.counts.tolist() == [[30, 2], [30, 0], [0, 0]]
    assert held.parts.lengths.tolist() == [PART, 562 % PART]


def test_what_was_never_committed_is_not_kept(store: Store) -> None:
    class Undone(Exception):
        pass

    with contextlib.suppress(Undone), store.writing() as writer:
        writer.apply(Changeset("test", "tests", writes=[memory("heron", "a")]))
        [row] = writer.rows(ALL)
        assert writer.holdings([row], ["heron"], []).counts.tolist() == [[1]]
        raise Undone
    apply(store, memory("stork", "b"))
    with store.reading() as reader:
        assert reader.holdings(reader.rows(ALL), ["heron", "stork"], []).counts.tolist() == [[0], [1]]


def test_nothing_of_what_is_purged_is_left_in_memory(store: Store) -> None:
    apply(store, memory("heron", "a"))
    row = row_of(store, "a")
    with store.reading() as reader:
        assert reader.holdings([row], ["heron"], []).counts.tolist() == [[1]]
    apply(store, erase=["a"])
    store.scrub()
    with store.reading() as reader:
        assert reader.holdings([row], ["heron"], []).rows == []
