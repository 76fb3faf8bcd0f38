"""Reads for ranking: columns of given rows, without building memories."""

import itertools
from typing import Any

import pytest
from tests.contract.single_calls import noted, read
from tests.contract.store_helpers import ALL, DAY, NOW, HandClock, apply, memory, next_version, standing, tie, triple

from pieria.record.filter import ANY_TIME, Filter, Shared, Viewer
from pieria.record.usage import UNUSED, Use
from pieria.store.parts import Met
from pieria.store.protocol import ORDERS, Store
from pieria.store.sql import reader as sql_reader
from pieria.store.sql.tally import PART


def test_content_of_a_row_is_read_until_it_is_purged(store: Store) -> None:
    first = memory("first", "a", title="a title", tags=["x"])
    private = memory("private", "b", scope="session", session="s")
    rows = apply(store, first, private, memory("gone", "c"), memory("erased", "d")).rows
    rows += apply(store, next_version(first, "second")).rows
    apply(store, standing(memory("gone", "c"), rows[2], ended="removed"), erase=["d"])
    found = read(store).contents([*rows, 99])
    assert [(content.id, content.version, content.text) for content in found.values()] == [
        ("a", 1, "first"), ("b", 1, "private"), ("c", 1, "gone"), ("a", 2, "second"),
    ]  # fmt: skip
    assert found[rows[0]] == first.content


def test_outline_holds_what_ranking_looks_at(store: Store) -> None:
    said: dict[str, Any] = {
        "author": "Ada",
        "author_type": "human",
        "session": "s",
        "at": NOW - DAY,
        "valid_from": NOW - 2 * DAY,
    }
    write = memory("text", "a", kind="turn", importance=0.75, strength=1.5, pinned=True, **said)
    rows = apply(store, write, memory("plain", "b")).rows
    full, plain = read(store).outlines(rows, ALL).values()
    assert [full.pinned, plain.pinned] == [True, False]
    assert isinstance(full.pinned, bool)
    assert full == (
        rows[0], "a", "turn", NOW - DAY, "Ada", "human", "s", None, "bank", 0.75, 1.5, write.state.trust,
        NOW - 2 * DAY, True, "Ada",
    )  # fmt: skip
    assert (plain.author, plain.author_type, plain.session, plain.valid_from) == (None, None, None, None)


def test_outlines_and_spots_obey_the_whole_filter(store: Store) -> None:
    changed, removed = memory("old words", "changed"), memory("removed", "removed")
    plain = memory("plain", "plain", tags=["x"], author="Ada", session="s", at=NOW - DAY)
    whispered = memory("whispered", "whispered", scope="session", session="s")
    rows = apply(store, changed, plain, whispered, memory("over", "over", valid_until=NOW - 1), removed).rows
    before = read(store).head().known
    rows += apply(store, next_version(changed, "new words")).rows
    apply(store, standing(removed, rows[4], ended="removed"), standing(plain, rows[1], pinned=1))

    def seen(filter: Filter) -> list[str]:
        found, spots = read(store).outlines([*rows, 99], filter), read(store).spots([*rows, 99], filter)
        assert all(outline.row == row for row, outline in found.items())
        known = {id: held.known_from for id, held in read(store).states([spot.id for spot in spots], filter).items()}
        assert {tuple(spot) for spot in spots} == {
            (row, outline.id, outline.kind, outline.at, known[outline.id]) for row, outline in found.items()
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
    assert read(store).spots([], ALL) == []


def test_rows_are_those_of_select_in_every_order(store: Store) -> None:
    for n in range(12):
        at, importance, kind = NOW - (n * 7) % 5 * DAY, n * 5 % 4 / 4, ("note", "turn")[n % 2]
        apply(store, memory(f"note {n}", f"m{n}", at=at, importance=importance, kind=kind))
    filters = (ALL, ALL.having(kinds=("turn",)), ALL.having(since=NOW - 2 * DAY), ALL.having(ids=("m3", "m9")))
    with store.reading() as reader:
        for order, filter, limit in itertools.product(ORDERS, filters, (1, 4, 50)):
            selected = [memory.row for memory in reader.select(filter, order, limit)]
            assert reader.rows(filter, order, limit) == selected, (order, filter)
        assert len(reader.rows(ALL, ORDERS[0], 50)) == 12


def test_terms_are_counted_in_any_row(store: Store) -> None:
    first = memory("cat dog cat bird", "a")
    rows = apply(store, first, memory("fish", "b", scope="session", session="s"), memory("…", "c")).rows
    apply(store, next_version(first, "dog"))
    found = read(store).counts([*rows, 99], ["cat", "bird", "horse", "fish"])
    assert list(found.items()) == [
        (rows[0], (4, 3, {"cat": 2, "bird": 1})), (rows[1], (1, 1, {"fish": 1})), (rows[2], (0, 0, {})),
    ]  # fmt: skip


def test_candidates_are_given_in_columns(store: Store) -> None:
    assert read(store).candidates([1, 2], ALL) == Met()
    write = memory("cat dog cat bird", "a", author="Ada", session="s", channel="c")
    rows = apply(store, write, memory("Bob: fish", "b"), memory("whispered", "c", scope="session", session="s")).rows
    apply(store, usage=[Use("a", 2, NOW)])
    met = read(store).candidates([*rows, 99], ALL.having(viewer=Viewer()))
    outlined = read(store).outlines(rows, ALL.having(viewer=Viewer()))
    glances = read(store).glances(rows)
    order = [met.ids.index(id) for id in "ab"]
    assert sorted(met.rows) == sorted(rows[:2])
    for column, attribute in ((met.kinds, "kind"), (met.at, "at"), (met.authors, "author"), (met.channels, "channel")):
        assert [column[line] for line in order] == [getattr(outlined[row], attribute) for row in rows[:2]]
    assert [met.used[line].accesses for line in order] == [2, 0]
    assert met.used[order[1]] is UNUSED
    assert [(glances[row].speaker, glances[row].length) for row in rows[:2]] == [(None, 16), ("Bob", 9)]


def test_terms_and_runs_are_counted_over_all_texts_at_once(store: Store) -> None:
    held = read(store).holdings([1, 2], ["heron"], [])
    assert (held.rows, held.counts.shape, held.runs.shape, len(held.parts.lines)) == ([], (1, 0), (0, 0), 0)
    texts = ("red car, green car; red car", "car red", "a boat", "red", "red red boat car, red boat")
    rows = apply(store, *(memory(text, f"m{n}") for n, text in enumerate(texts))).rows
    runs = [("red", "car"), ("car", "red"), ("heron", "red"), ("red", "boat", "car")]
    held = read(store).holdings(rows, ["red", "car", "heron"], runs)
    assert held.rows == rows
    assert held.counts.tolist() == [[2, 1, 0, 1, 3], [3, 1, 0, 0, 1], [0] * 5]
    assert held.runs.tolist() == [[2, 0, 0, 0, 0], [1, 1, 0, 0, 1], [0] * 5, [0, 0, 0, 0, 1]]
    assert held.lengths.tolist() == [6, 2, 2, 1, 6]
    assert held.distinct.tolist() == [3, 2, 2, 1, 3]
    apply(store, erase=["m0"])
    store.scrub()
    assert read(store).holdings(rows[:2], ["red"], []).rows == rows[1:2]


def test_long_text_is_counted_in_parts_that_hold_something(store: Store) -> None:
    beginning, middle, end = "heron nest " * 30, "water " * 500, "heron " * 2
    rows = apply(store, memory("a short heron", "b"), memory(beginning + middle + end, "a")).rows
    held = read(store).holdings(rows, ["heron", "nest", "boat"], [])
    assert held.counts.tolist() == [[1, 32], [0, 30], [0, 0]]
    assert held.parts.lines.tolist() == [1, 1]
    assert held.parts.counts.tolist() == [[30, 2], [30, 0], [0, 0]]
    assert held.parts.lengths.tolist() == [PART, 562 % PART]


# --- hubs: the last written links come first, no more than requested, and none that is hidden


def test_newest_links_from_a_hub_come_first_then_those_to_it(store: Store) -> None:
    writes = [memory(id, id) for id in "abcde"]
    rows = apply(store, *writes).rows
    ends = ["ab", "ac", "ad", "ea", "ba", ("a", "attic/birds"), ("a", "nobody"), "bc"]
    apply(store, links=[tie(str(n), source, target) for n, (source, target) in enumerate(ends)])

    def tied(ids: str, newest: int, filter: Filter = ALL) -> dict[str, str]:
        found = read(store).tied(ids.split(), filter, newest)
        return {id: "".join("abcde"[rows.index(row)] for row in others) for id, others in found.items()}

    assert tied("a", 9) == {"a": "dcbbe"}
    assert tied("a b nobody", 1) == {"a": "db", "b": "ca", "nobody": "a"}
    assert tied("", 1) == {}
    then = ALL.having(known_at=read(store).head().known)
    apply(store, standing(writes[3], rows[3], status="archived"), links=[tie("4", "b", "a", ended="removed")])
    assert tied("a", 2) == {"a": "cbe"}
    assert tied("a", 2, then) == {"a": "dcbe"}


def test_ties_are_current_links_to_visible_memories(store: Store) -> None:
    writes = [memory(id, id) for id in "abcd"]
    rows = apply(store, *writes).rows
    ends = ["ab", "ca", "ad", "bc", ("a", "nobody"), ("a", "attic/birds")]
    apply(store, links=[tie(str(n), source, target, f"r{n}") for n, (source, target) in enumerate(ends)])
    found = sorted(read(store).ties_of("ab", ALL), key=lambda tie: (tie.id, tie.entry))
    assert [(tie.id, tie.other, tie.relation) for tie in found] == [
        ("a", "b", "r0"), ("a", "c", "r1"), ("a", "d", "r2"), ("b", "a", "r0"), ("b", "c", "r3"),
    ]  # fmt: skip
    assert sorted(read(store).ties()) == [
        ("a", "r0", "b"), ("a", "r2", "d"), ("a", "r4", "nobody"), ("b", "r3", "c"), ("c", "r1", "a"),
    ]  # fmt: skip
    there = sorted({(tie.row, tie.other, tie.kind, tie.at, tie.known_from) for tie in found})
    assert there == sorted(read(store).spots(rows, ALL))
    assert {tie.other for tie in read(store).ties_of("ab", ALL.having(ids=("d",)))} == {"d"}
    assert read(store).ties_of([], ALL) == []
    apply(store, standing(writes[3], rows[3], ended="removed"), links=[tie("0", "a", "b", "r0", ended="removed")])
    assert ("a", "r0", "b") not in set(read(store).ties())
    assert {tie.other for tie in read(store).ties_of(["a"], ALL)} == {"c"}
    assert [tie[:2] for tie in read(store).ties_of(["nobody"], ALL)] == [("nobody", "r4")]


def test_labelled_memories_come_newest_first(store: Store) -> None:
    writes = [memory(f"m{n}", f"m{n}", entities=["Vienna"] if n % 2 else ["Graz", "Vienna"]) for n in range(6)]
    rows = apply(store, *writes, memory("none", "none")).rows
    apply(store, standing(writes[5], rows[5], ended="removed"))
    labelled = read(store).labelled
    assert labelled("entities", ["vienna"], ALL, 3) == [rows[4], rows[3], rows[2]]
    assert labelled("entities", ["vienna", "graz"], ALL, 9) == rows[4::-1]
    assert labelled("entities", ["vienna"], ALL.having(entities=("graz",)), 9) == [rows[4], rows[2], rows[0]]
    assert labelled("entities", ["linz"], ALL, 9) == labelled("standing", ["vienna"], ALL, 9) == []


def test_newest_facts_are_those_visible_and_valid(store: Store) -> None:
    writes = [memory("a", "a"), memory("b", "b"), memory("c", "c", valid_until="2026-02-01"), memory("d", "d")]
    rows = apply(store, *writes).rows
    facts = [triple(str(n), "Vienna", "holds", f"t{n}", memory=id) for n, id in enumerate("abcd")]
    past = triple("past", "Vienna", "holds", "y", memory="a", valid_until=NOW - DAY)
    apply(store, facts=[*facts, triple("without", "Vienna", "holds", "x"), past])
    apply(store, standing(writes[3], rows[3], status="archived"))

    def drawn(filter: Filter, *keys: str, newest: int = 1) -> list[str]:
        return [span.id for span in read(store).drawn(keys or ("vienna",), filter, newest)]

    assert drawn(ALL) == ["1"]
    assert drawn(ALL, newest=9) == ["0", "1"]
    assert drawn(ALL.having(status=None)) == ["3"]
    assert drawn(ALL.having(ids=("a",))) == ["0"]
    assert drawn(ALL.having(valid_at=NOW - 40 * DAY)) == ["past"]
    assert drawn(ALL, "t0", "t1", "vienna", newest=9) == drawn(ALL, "t1", "t0", newest=9) == ["0", "1"]
    assert drawn(ALL, "linz") == []
    assert drawn(ALL.having(valid_at=ANY_TIME), newest=2) == ["2", "past"]
    before = ALL.having(known_at=read(store).head().known)
    apply(store, facts=[triple("1", "Vienna", "holds", "t1", memory="b", ended="ended")])
    assert drawn(ALL) == ["0"]
    assert drawn(before) == ["1"]


# --- the rows of several tags, entities, files or places, read at once


COMMON: dict[Shared, tuple[str, ...]] = {
    "tags": ("zoo", "ant", "nobody's", 'quote"d, and\\cut'),
    "entities": ("maya", "ada"),
    "files": ("src/a.py", "src/A.py"),
    "place": ("den/wolf", "den/fox", "no/where"),
}
FILTERS: list[Filter] = [
    ALL,
    ALL.having(viewer=Viewer(session="s1")),
    ALL.having(kinds=("diary",), since=NOW - 5 * DAY, until=NOW - DAY),
    ALL.having(tags=("zoo",), place="den"),
    ALL.having(valid_at=ANY_TIME, status=None, endings=("", "removed", "revised")),
]


def filled(store: Store, count: int = 36) -> None:
    """Write memories: some at the same time, some private to a session, some expired or removed."""
    tags, places = COMMON["tags"], COMMON["place"]
    writes = [
        memory(
            f"text {n}", f"m{n}", kind=("note", "diary")[n % 2], place=places[n % 2], session="s1",
            tags=[tags[each] for each in (0, 1, 3) if n % (each + 2)], entities=["Maya", "Ada"][: n % 3],
            files=list(COMMON["files"][: n % 3]), scope="session" if n % 5 == 1 else "bank", importance=(n % 4) / 4,
            at=NOW - n // 4 * DAY, valid_until=NOW - DAY if n % 7 == 2 else None,
        )
        for n in range(count)
    ]  # fmt: skip
    rows = apply(store, *writes).rows
    apply(store, *(standing(writes[n], rows[n], ended="removed") for n in range(0, count, 9)))


def test_each_of_several_has_the_rows_that_it_has_alone(
    store: Store, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store)
    known = read(store).head().known
    clock.move(hours=1)
    apply(store, memory("later", "later", tags=["zoo"], entities=["Ada"], place="den/fox"), erase=["m5"])
    pages = itertools.cycle(zip(ORDERS, (3, 100, 7, 1), strict=True))
    for few in (sql_reader.FEW, 9):
        monkeypatch.setattr(sql_reader, "FEW", few)
        found = 0
        with store.reading() as reader:
            for by, at, asked in itertools.product(COMMON, (None, known), FILTERS):
                (order, limit), values, filter = next(pages), COMMON[by], asked.having(known_at=at)
                each = reader.rows_each(filter, by, values, order, limit)
                alone = {v: reader.rows(filter.having_shared(by, v), order, limit) for v in values}
                assert list(each.items()) == list(alone.items()), (by, filter, order)
                found += sum(map(len, each.values()))
        assert found > 125


def test_several_take_one_statement_unless_very_frequent(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(store)
    monkeypatch.setattr(sql_reader, "FEW", 20)

    def taken(by: Shared, *values: str) -> int:
        with store.reading() as reader:
            # A transaction checks the quarantine once.
            reader.hides()
            asked = noted(reader)
            reader.rows_each(ALL, by, values)
        return len(asked)

    assert taken("place", *COMMON["place"]) == 1
    assert taken("tags", "nobody's", "zoo") == taken("tags", "zoo") == 1
    assert taken("tags", "nobody's", "ant") == 2
