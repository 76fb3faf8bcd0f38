"""Selecting, counting and opening: orders, pages, versions, histories, and reads within one snapshot."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from tests.contract.conftest import Opens
from tests.contract.making import (
    ALL,
    DAY,
    NOW,
    START,
    apply,
    everything,
    ids_of,
    memory,
    next_version,
    open_state,
    select,
    standing,
    tie,
)

from pieria.errors import NotFoundError
from pieria.record.changeset import FOREVER, Changeset, State
from pieria.record.decay import Wear
from pieria.record.memory import Memory
from pieria.record.time import micros, moment
from pieria.record.usage import UNUSED, Use
from pieria.store.parts import Aged, Placed
from pieria.store.protocol import ORDERS, Store


def order_value(memory: Memory, order: str) -> float:
    if order == "important":
        return memory.importance
    return micros(memory.known_from if order == "changed" else memory.at)


def fill(store: Store) -> None:
    """Write twelve memories whose order differs by time, change and importance, with ties in each."""
    for n in range(12):
        at = (n * 7) % 5
        apply(
            store,
            memory(f"note {n}", f"m{n:02}", importance=(n * 5) % 4 / 4, at=moment(NOW - at * DAY).isoformat()),
        )
    for n in (3, 8):
        row = open_state(store, f"m{n:02}").row
        apply(store, standing(memory(f"note {n}", f"m{n:02}", importance=(n * 5) % 4 / 4), row, at=NOW - n * DAY))


def test_memories_come_in_order_and_by_pages(store: Store) -> None:
    fill(store)
    with store.reading() as reader:
        for order in ORDERS:
            whole = reader.select(ALL, order, 100)
            keys = [(order_value(memory, order), memory.row) for memory in whole]
            assert len(whole) == 12
            assert keys == sorted(keys, reverse=order != "oldest"), order
            for page in (1, 5, 12):
                turned: list[str] = []
                after = None
                while found := reader.select(ALL, order, page, after):
                    turned += ids_of(found)
                    after = (order_value(found[-1], order), found[-1].row)
                assert turned == ids_of(whole), (order, page)
        assert reader.select(ALL, "newest", 0) == []


def test_page_goes_on_where_it_ended_after_a_write(store: Store) -> None:
    fill(store)
    for order in ORDERS:
        with store.reading() as reader:
            whole = reader.select(ALL, order, 100)
        middle = whole[5]
        far = 1.0 if order == "important" else 0.5
        when = moment(NOW + 99 * DAY if order != "oldest" else NOW - 99 * DAY).isoformat()
        apply(store, memory("a newcomer that belongs before the page", f"new {order}", importance=far, at=when))
        with store.reading() as reader:
            rest = reader.select(ALL, order, 100, (order_value(middle, order), middle.row))
        assert ids_of(rest) == ids_of(whole)[6:], order


def test_empty_bank_answers_everything_with_nothing(store: Store) -> None:
    with store.reading() as reader:
        nothing: list[object] = [
            reader.select(ALL), reader.count(ALL, "kind"), reader.memories([1, 2], ALL), reader.memories([], ALL),
            reader.states(["a"]), reader.states([]), reader.history("a"), reader.version("a", 1), reader.links(),
            reader.text(["a"], ALL, 10, 10).candidates, reader.twins("a", ["a"], ALL), reader.twins("…", [], ALL),
            reader.names(ALL), reader.usage(["a"]), reader.records("a"), reader.purged(["a"]), reader.changes(),
        ]  # fmt: skip
        assert not any(nothing)
        assert reader.count(ALL) == {"total": 0}
        head = reader.head()
        assert (head.seq, head.known, head.documents, head.terms, head.analyser) == (0, 0, 0, 0, 0)
        with pytest.raises(NotFoundError):
            reader.opened(1)
    assert not any(everything(store).values())


COUNTS = {
    "kind": {"note": 2, "diary": 1},
    "type": {"bug": 1},
    "place": {"bank/note": 2, "a/b": 1},
    "scope": {"bank": 2, "user": 1},
    "session": {"s": 1},
    "channel": {"c": 1},
    "author": {"maya": 1},
    "author_type": {"human": 1},
    "source": {"mail": 1},
    "status": {"active": 2, "promoted": 1},
    "tier": {"working": 2, "kept": 1},
    "pinned": {"0": 2, "1": 1},
    "tags": {"A": 1, "b": 1},
    "entities": {"Maya": 1},
    "files": {"A.py": 1},
}
"""The counts by each field of two plain memories and one with a value of its own in every field."""


def test_counts_are_by_value_most_frequent_first(store: Store) -> None:
    values: dict[str, Any] = {
        "kind": "diary", "body": {"type": "bug"}, "place": "a/b", "scope": "user", "session": "s", "channel": "c",
        "author": "maya", "author_type": "human", "source": "mail", "pinned": True, "tags": ["A", "b"],
        "entities": ["Maya"], "files": ["A.py"],
    }  # fmt: skip
    third = memory("three", "3", state={"status": "promoted", "tier": "kept"}, **values)
    gone = memory("gone", "4", state={"ended": "removed"}, **values)
    apply(store, memory("one", "1"), memory("two", "2"), third, gone)
    with store.reading() as reader:
        counted = {by: list(reader.count(ALL, by).items()) for by in COUNTS}
    assert {by: dict(counts) for by, counts in counted.items()} == COUNTS
    for counts in counted.values():
        assert [count for _, count in counts] == sorted((count for _, count in counts), reverse=True)


def test_tally_counts_all_that_is_known_now(store: Store) -> None:
    first = memory("one", "1")
    rows = apply(store, first, memory("two", "2", kind="diary"), memory("three", "3", scope="user")).rows
    apply(store, standing(first, rows[0], ended="removed"), next_version(memory("two", "2", kind="diary"), "anew"))
    apply(store, memory("four", "4", state={"status": "promoted", "tier": "kept"}), memory("five", "5", kind="diary"))
    with store.reading() as reader:
        assert sorted(reader.tally()) == [
            ("", "diary", "active", "working", "bank", 2),
            ("", "note", "active", "working", "user", 1),
            ("", "note", "promoted", "kept", "bank", 1),
            ("removed", "note", "active", "working", "bank", 1),
        ]


def test_memory_comes_back_as_it_was_written(store: Store) -> None:
    write = memory(
        "Ein Reiher, 鷺, 🪶 — \u202etfel\u202c and 'quotes' \"double\" %s :x ?",
        "ид 1@2",
        title="A title", kind="observation", body={"type": "discovery", "facts": ["a", 1, None, {"deep": [True]}]},
        tags=["Tag", "日本"], entities=["Maya"], files=["a/b.py"], importance=0.123456789, confidence=0.0, strength=2.0,
        scope="session", source="mail", context="said in passing", author="maya", author_type="human", channel="c",
        session="s", sequence=2**53, place="wing/room", at="0001-01-01T00:00:00Z", pinned=True,
        valid_from="1969-12-31T23:59:59.999999Z", valid_until="9999-12-31T23:59:59.999999Z",
        meta={"n": 1.5, "": "", "nested": {"list": []}},
        state={"status": "promoted", "tier": "settled", "reason": "why", "superseded_by": "other"},
    )  # fmt: skip
    applied = apply(store, write)
    with store.reading() as reader:
        [found] = reader.history("ид 1@2")
        dumped = next(reader.dump("content")) | next(reader.dump("state"))
    assert found.row == applied.rows[0]
    assert found.times.known_from == applied.change.at
    assert found.known_until is None
    assert write.content is not None
    expected = write.content._asdict() | write.state._asdict() | {"row": applied.rows[0]}
    assert {name: dumped[name] for name in expected} == expected
    assert (dumped["known_from"], dumped["known_until"]) == (micros(applied.change.at), FOREVER)
    assert found.body["facts"] == ["a", 1, None, {"deep": [True]}]
    assert found.tags == ("Tag", "日本")
    assert (found.sequence, found.at.year, found.pinned, found.confidence) == (2**53, 1, True, 0.0)


def test_each_version_and_state_has_a_time_of_its_own(store: Store) -> None:
    first = memory("first words")
    made = apply(store, first)
    archived = apply(store, standing(first, made.rows[0], status="archived"))
    second = next_version(first, "second words")
    changed = apply(store, second)
    with store.reading() as reader:
        history = reader.history("m")
        assert [(m.version, m.status, m.text) for m in history] == [
            (1, "active", "first words"),
            (1, "archived", "first words"),
            (2, "active", "second words"),
        ]
        assert [m.known_from for m in history] == [made.change.at, archived.change.at, changed.change.at]
        assert [m.known_until for m in history] == [archived.change.at, changed.change.at, None]
        assert reader.version("m", 1) == history[:2]
        assert reader.version("m", 2) == history[2:]
        assert reader.version("m", 3) == []
        assert reader.states(["m"])["m"].state.row == changed.rows[0]
        at_first = ALL.having(known_at=micros(made.change.at))
        rows = [made.rows[0], changed.rows[0]]
        assert {row: m.text for row, m in reader.memories(rows, at_first).items()} == {rows[0]: "first words"}
        assert {row: m.text for row, m in reader.memories(rows, ALL).items()} == {rows[1]: "second words"}
        assert reader.states(["m"], at_first)["m"].known_until == micros(archived.change.at)


def test_reading_sees_one_moment_until_its_block_ends(opens: Opens) -> None:
    store, other = opens(), opens()
    apply(store, memory("a", "a"))
    with store.reading() as outer:
        assert ids_of(outer.select(ALL)) == ["a"]
        with store.reading() as inner:
            apply(other, memory("b", "b"))
            apply(store, memory("c", "c"))
            assert inner.head().seq == 1
        # The end of the inner block does not end the outer one.
        apply(other, memory("d", "d"))
        assert outer.head().seq == 1
        assert ids_of(outer.select(ALL)) == ["a"]
    assert set(select(store)) == {*"abcd"}
    with pytest.raises(ZeroDivisionError), store.reading() as reader:
        assert reader.head().seq == 4
        raise ZeroDivisionError
    apply(other, memory("e", "e"))
    with store.reading() as reader:
        assert reader.head().seq == 5


def test_writer_reads_its_own_writes_and_readers_do_not(store: Store) -> None:
    apply(store, memory("one heron", "a"))
    with store.writing() as writer:
        writer.apply(Changeset("test", writes=[memory("two herons", "b")]))
        assert ids_of(writer.select(ALL, "oldest")) == ["a", "b"]
        assert writer.head().seq == 2
        assert len(writer.text(["heron"], ALL, 10, 10).candidates) == 2
        with store.reading() as reader:
            assert ids_of(reader.select(ALL)) == ["a"]
        writer.apply(Changeset("test", writes=[memory("three", "c")]))
        assert [change.seq for change in writer.changes()] == [1, 2, 3]
    assert sorted(select(store)) == ["a", "b", "c"]


def test_threads_see_whole_changes_and_write_in_turns(opens: Opens) -> None:
    """Every change adds a pair. A reader must see both or none, and counts that agree with the head."""
    store, writers, rounds, done = opens(), 3, 6, threading.Event()

    def read() -> set[tuple[int, ...]]:
        seen = set[tuple[int, ...]]()
        while not done.is_set():
            with store.reading() as reader:
                head, match = reader.head(), reader.text(["heron"], ALL, 1_000, 5)
                found = len(match.candidates), match.documents, reader.count(ALL)["total"]
                seen.add((head.seq * 2, head.documents, *found))
        return seen

    def write(name: str) -> None:
        for n in range(rounds):
            apply(store, memory("a heron", f"{name}{n}"), memory("another heron", f"{name}{n}b"))

    with ThreadPoolExecutor() as threads:
        readers = [threads.submit(read) for _ in range(3)]
        try:
            for writer in [threads.submit(write, f"{worker}-") for worker in range(writers)]:
                writer.result(60)
        finally:
            done.set()
        assert all(len(set(counts)) == 1 for reader in readers for counts in reader.result(30))
    with store.reading() as reader:
        changes = reader.changes()
    assert [change.seq for change in changes] == list(range(1, writers * rounds + 1))
    assert len({change.at for change in changes}) == len(changes)
    assert [finding for finding in store.check() if not finding.well] == []


def test_newest_version_is_the_highest_there_ever_was(store: Store) -> None:
    first = memory("heron", "m")
    second = next_version(first, "heron again")
    apply(store, first, memory("stork", "n"))
    apply(store, second)
    row = apply(store, next_version(second, "and again", ended="removed")).rows[0]
    apply(store, standing(first, row - 2))
    with store.reading() as reader:
        assert [reader.newest_version(id) for id in ("m", "n", "nobody")] == [3, 1, 0]


def test_sessions_are_spans_of_visible_memories(store: Store) -> None:
    begun = {"a": (0, 3), "b": (1, 1), "c": (1, 2), None: (2, 2)}
    for name, (first, last) in begun.items():
        for number in dict.fromkeys((first, last)):
            at = moment(NOW + number * DAY).isoformat()
            apply(store, memory("said", f"{name}{number}", session=name, at=at))
    apply(store, memory("hidden", "h", session="a", scope="session", at=moment(NOW - DAY).isoformat()))
    expected = [(None, 2, 2, 1), ("c", 1, 2, 2), ("b", 1, 1, 1), ("a", 0, 3, 2)]
    with store.reading() as reader:
        spans = reader.sessions(ALL, 10)
        pages = [reader.sessions(ALL, 1)]
        while pages[-1]:
            end = pages[-1][-1]
            pages.append(reader.sessions(ALL, 1, (end.first, end.session or "")))
        assert reader.sessions(ALL.having(session="b"), 10) == [span for span in spans if span.session == "b"]
    told = [(s.session, (s.first - NOW) // DAY, (s.last - NOW) // DAY, s.memories) for s in spans]
    assert told == expected
    assert [span for page in pages for span in page] == spans


def test_ended_memories_extend_the_span_of_their_session(store: Store) -> None:
    for number, ended in enumerate(("removed", "", "revised")):
        said = memory("said", f"a{number}", session="a", at=moment(NOW + number * DAY).isoformat())
        apply(store, said)
        if ended:
            apply(store, standing(said, open_state(store, f"a{number}").row, ended=ended))
    gone = memory("gone", "b0", session="b")
    apply(store, gone)
    apply(store, standing(gone, open_state(store, "b0").row, ended="removed"))
    with store.reading() as reader:
        [span] = reader.sessions(ALL.having(endings=("", "removed", "revised")), 10)
        [visible] = reader.sessions(ALL, 10)
        assert reader.sessions(ALL.having(endings=("", "removed", "revised")), 10, (span.first, "a")) == []
    assert span == ("a", NOW, NOW + 2 * DAY, 1)
    assert visible == ("a", NOW + DAY, NOW + DAY, 1)


def test_placed_memories_have_types_times_and_entities(store: Store) -> None:
    apply(store, memory("One.", "one", place="a/b", entities=["Maya", "JWT"], body={"type": "decision"}))
    apply(store, memory("Two.", "two", place="a/c", valid_from=START, valid_until=START + timedelta(days=1)))
    row = open_state(store, "two").row
    apply(store, memory("Three.", "three", place="a/c"))
    with store.reading() as reader:
        found = {one.id: one for one in reader.placed(ALL.having(ids=("one", "two", "none")))}
        assert {one.id for one in reader.placed(ALL.having(place="a"))} == {"one", "two", "three"}
        assert {one.id for one in reader.placed(ALL.having(now=NOW + 2 * DAY))} == {"one", "three"}
    assert found["one"] == Placed("one", "a/b", "decision", NOW, None, None, ("Maya", "JWT"))
    assert found["two"] == Placed("two", "a/c", "note", NOW, NOW, NOW + DAY, ())
    ended = memory("Two.", "two", place="a/c", state={"ended": "removed"})
    apply(store, standing(ended, row))
    with store.reading() as reader:
        assert {one.id for one in reader.placed(ALL)} == {"one", "three"}


def test_row_keeps_the_time_when_it_was_written(store: Store) -> None:
    first = memory("a note", "m", tags=["Blue", "green"])
    written = apply(store, first)
    [row] = written.rows
    apply(store, standing(first, row, status="archived"))
    again = apply(store, next_version(first, "another note"), memory("untagged", "n"))
    later, untagged = again.rows
    with store.reading() as reader:
        found = reader.written([row, later, untagged, 10**6])
    assert list(found) == [row, later, untagged]
    assert [found[each].known_from for each in (row, later)] == [micros(one.change.at) for one in (written, again)]
    assert [found[each].version for each in (row, later, untagged)] == [1, 2, 1]
    assert sorted(found[row].tags) == ["blue", "green"]
    assert found[untagged].tags == ()


def test_wear_in_columns_equals_wear_one_by_one(store: Store) -> None:
    first = memory("a note", "m01", tags=["Blue"], strength=1.5, importance=0.7)
    [row] = apply(store, first).rows
    apply(store, standing(first, row, status="promoted"))
    apply(store, next_version(first, "another note"), memory("used", "m02"), memory("unused", "m03"))
    apply(store, memory("gone", "m04", state={"ended": "removed"}))
    apply(store, usage=[Use("m01", 2, 70, 1, 80, 1, 0.5, 1, 0.25), Use("m02", 1, 90)])
    found, after = list[Aged](), 0
    with store.reading() as reader:
        while part := reader.aged(ALL, after, 2):
            found += part
            after = part[-1].row
        held = list[State]()
        while states := reader.standing(ALL, held[-1].row if held else 0, 2):
            held += [one.state for one in states]
        used, written = reader.usage([one.id for one in held]), reader.written([one.row for one in held])
    assert [one.id for one in held] == ["m01", "m02", "m03"]
    assert found == [
        Aged(
            one.row, one.id, one.importance,
            Wear(one.at, one.kind, one.strength, used.get(one.id, UNUSED), *written[one.row][:2]),
        )
        for one in held
    ]  # fmt: skip


def test_current_links_between_memories_are_ties(store: Store) -> None:
    ties = [tie("l1", "m01", "m02", "sibling"), tie("l2", "m01", "nobody", "about"), tie("l3", "m01", "wing/room")]
    apply(store, links=[*ties, tie("l4", "m03", "m04", "sibling")])
    apply(store, links=[tie("l4", "m03", "m04", "sibling", ended="removed")])
    with store.reading() as reader:
        assert sorted(reader.ties()) == [("m01", "about", "nobody"), ("m01", "sibling", "m02")]
