"""Selecting, counting and opening: orders, pages, versions, histories, and reads within one snapshot."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.contract.conftest import Opens
from tests.contract.single_calls import ids_of, open_state, read, select
from tests.contract.store_helpers import ALL, DAY, NOW, apply, everything, memory, next_version, standing
from tests.contract.test_vectors import well

from pieria.errors import NotFoundError
from pieria.record.changeset import FOREVER, Changeset, State, Write
from pieria.record.decay import Wear
from pieria.record.filter import Filter
from pieria.record.memory import Memory
from pieria.record.time import micros
from pieria.record.usage import UNUSED, Use
from pieria.store.parts import Aged, Placed
from pieria.store.protocol import ORDERS, Store


def order_value(memory: Memory, order: str) -> float:
    return memory.importance if order == "important" else micros(memory.known_from if order == "changed" else memory.at)


def fill(store: Store) -> None:
    """Write twelve memories whose order differs by time, change and importance, with ties in each."""
    writes = [memory(f"note {n}", f"m{n:02}", importance=n * 5 % 4 / 4, at=NOW - n * 7 % 5 * DAY) for n in range(12)]
    rows = [apply(store, write).rows[0] for write in writes]
    for n in (3, 8):
        apply(store, standing(writes[n], rows[n], at=NOW - n * DAY))


def test_memories_come_in_order_and_by_pages(store: Store) -> None:
    fill(store)
    for order in ORDERS:
        whole = read(store).select(ALL, order, 100)
        places = [(order_value(memory, order), memory.row) for memory in whole]
        assert places == sorted(places, reverse=order != "oldest"), order
        for page in (1, 5, 12):
            turned, after = list[str](), None
            while found := read(store).select(ALL, order, page, after):
                turned += ids_of(found)
                after = (order_value(found[-1], order), found[-1].row)
            assert turned == ids_of(whole), (order, page)
        importance, at = 1.0 if order == "important" else 0.5, NOW + (-99 if order == "oldest" else 99) * DAY
        apply(store, memory("it belongs on a page before", f"new {order}", importance=importance, at=at))
        assert ids_of(read(store).select(ALL, order, 100, places[5])) == ids_of(whole)[6:], order
    assert len(select(store)) == 12 + len(ORDERS)
    assert select(store, limit=0) == []


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
    "kind": {"note": 2, "diary": 1}, "type": {"bug": 1}, "place": {"bank/note": 2, "a/b": 1},
    "scope": {"bank": 2, "user": 1}, "session": {"s": 1}, "channel": {"c": 1}, "author": {"maya": 1},
    "author_type": {"human": 1}, "source": {"mail": 1}, "status": {"active": 2, "promoted": 1},
    "tier": {"working": 2, "kept": 1}, "pinned": {"0": 2, "1": 1}, "tags": {"A": 1, "b": 1}, "entities": {"Maya": 1},
    "files": {"A.py": 1},
}  # fmt: skip
"""The counts by each field of two plain memories and one with a value of its own in every field."""


def test_counts_are_by_value_most_frequent_first(store: Store) -> None:
    values: dict[str, Any] = {
        "kind": "diary", "body": {"type": "bug"}, "place": "a/b", "scope": "user", "session": "s", "channel": "c",
        "author": "maya", "author_type": "human", "source": "mail", "pinned": True, "tags": ["A", "b"],
        "entities": ["Maya"], "files": ["A.py"],
    }  # fmt: skip
    third = memory("three", "3", state={"status": "promoted", "tier": "kept"}, **values)
    apply(
        store, memory("one", "1"), memory("two", "2"), third, memory("gone", "4", state={"ended": "removed"}, **values)
    )
    counted = {by: read(store).count(ALL, by) for by in COUNTS}
    assert counted == COUNTS
    for counts in counted.values():
        assert list(counts.values()) == sorted(counts.values(), reverse=True)


def test_tally_counts_all_that_is_known_now(store: Store) -> None:
    first, second = memory("one", "1"), memory("two", "2", kind="diary")
    rows = apply(store, first, second, memory("three", "3", scope="user")).rows
    apply(store, standing(first, rows[0], ended="removed"), next_version(second, "anew"))
    apply(store, memory("four", "4", state={"status": "promoted", "tier": "kept"}), memory("five", "5", kind="diary"))
    assert sorted(read(store).tally()) == [
        ("", "diary", "active", "working", "bank", 2), ("", "note", "active", "working", "user", 1),
        ("", "note", "promoted", "kept", "bank", 1), ("removed", "note", "active", "working", "bank", 1),
    ]  # fmt: skip


def test_memory_comes_back_as_it_was_written(store: Store) -> None:
    write = memory(
        "Ein Reiher, 鷺, 🪶 — \u202etfel\u202c and 'quotes' \"double\" %s :x ?", "ид 1@2",
        title="A title", kind="observation", body={"type": "discovery", "facts": ["a", 1, None, {"deep": [True]}]},
        tags=["Tag", "日本"], entities=["Maya"], files=["a/b.py"], importance=0.123456789, confidence=0.0, strength=2.0,
        scope="session", source="mail", context="said in passing", author="maya", author_type="human", channel="c",
        session="s", sequence=2**53, place="wing/room", at="0001-01-01T00:00:00Z", pinned=True,
        valid_from="1969-12-31T23:59:59.999999Z", valid_until="9999-12-31T23:59:59.999999Z",
        meta={"n": 1.5, "": "", "nested": {"list": []}},
        state={"status": "promoted", "tier": "settled", "reason": "why", "superseded_by": "other"},
    )  # fmt: skip
    applied = apply(store, write)
    [found] = read(store).history("ид 1@2")
    assert (found.row, found.times.known_from, found.known_until) == (applied.rows[0], applied.change.at, None)
    assert (found.tags, found.body["facts"]) == (("Tag", "日本"), ["a", 1, None, {"deep": [True]}])
    assert (found.sequence, found.at.year, found.pinned, found.confidence) == (2**53, 1, True, 0.0)
    assert write.content is not None
    expected = write.content._asdict() | write.state._asdict() | {
        "row": applied.rows[0], "known_from": micros(applied.change.at), "known_until": FOREVER,
    }  # fmt: skip
    with store.reading() as reader:
        dumped = next(reader.dump("content")) | next(reader.dump("state"))
    assert {name: dumped[name] for name in expected} == expected


def test_each_version_and_state_has_a_time_of_its_own(store: Store) -> None:
    first = memory("first words", tags=["Blue", "green"])
    made = apply(store, first)
    archived = apply(store, standing(first, made.rows[0], status="archived"))
    changed = apply(store, next_version(first, "second words"))
    history = read(store).history("m")
    assert [(m.version, m.status, m.text) for m in history] == [
        (1, "active", "first words"), (1, "archived", "first words"), (2, "active", "second words"),
    ]  # fmt: skip
    assert [m.known_from for m in history] == [made.change.at, archived.change.at, changed.change.at]
    assert [m.known_until for m in history] == [archived.change.at, changed.change.at, None]
    assert [read(store).version("m", n) for n in (1, 2, 3)] == [history[:2], history[2:], []]
    assert open_state(store, "m").row == changed.rows[0]
    rows = [made.rows[0], changed.rows[0]]
    at_first = ALL.having(known_at=micros(made.change.at))
    assert {row: m.text for row, m in read(store).memories(rows, at_first).items()} == {rows[0]: "first words"}
    assert {row: m.text for row, m in read(store).memories(rows, ALL).items()} == {rows[1]: "second words"}
    assert read(store).states(["m"], at_first)["m"].known_until == micros(archived.change.at)
    written = read(store).written([*rows, 10**6])
    assert [(row, held.known_from, held.version) for row, held in written.items()] == [
        (made.rows[0], micros(made.change.at), 1), (changed.rows[0], micros(changed.change.at), 2),
    ]  # fmt: skip
    assert [sorted(held.tags) for held in written.values()] == [["blue", "green"], []]


def test_newest_version_is_the_highest_there_ever_was(store: Store) -> None:
    first = memory("heron", "m")
    second = next_version(first, "heron again")
    [row, _] = apply(store, first, memory("stork", "n")).rows
    apply(store, second)
    apply(store, next_version(second, "and again", ended="removed"))
    apply(store, standing(first, row))
    assert [read(store).newest_version(id) for id in ("m", "n", "nobody")] == [3, 1, 0]


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
    assert read(store).head().seq == 5


def test_writer_reads_its_own_writes_and_readers_do_not(store: Store) -> None:
    apply(store, memory("stork", "a"))
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.apply(Changeset("test", writes=[memory("two herons", "b")]))
        assert ids_of(writer.select(ALL, "oldest")) == ["a", "b"]
        row = writer.rows(ALL)[0]
        assert len(writer.text(["heron"], ALL, 10, 10).candidates) == 1
        assert writer.contents([row])[row].text == "two herons"
        assert writer.counts([row], ["heron"])[row].counts == {"heron": 1}
        assert ids_of(writer.outlines([row], ALL).values()) == ["b"]
        assert writer.holdings([row], ["heron"], []).counts.tolist() == [[1]]
        assert select(store) == ["a"]
        writer.apply(Changeset("test", writes=[memory("three", "c")]))
        assert [change.seq for change in writer.changes()] == [1, 2, 3]
        assert writer.head().seq == 3
        raise ZeroDivisionError
    apply(store, memory("stork", "d"))
    assert select(store) == ["a", "d"]
    held = read(store).holdings(read(store).rows(ALL), ["heron", "stork"], [])
    assert held.counts.tolist() == [[0, 0], [1, 1]]


def test_threads_see_whole_changes_and_write_in_turns(opens: Opens) -> None:
    """Every change adds a pair. A reader must see both or none, and counts that agree with the head."""
    store, writers, rounds, done = opens(), 3, 6, threading.Event()

    def count_pairs() -> set[tuple[int, ...]]:
        seen = set[tuple[int, ...]]()
        while not done.is_set():
            with store.reading() as reader:
                head, match = reader.head(), reader.text(["heron"], ALL, 1_000, 5)
                found = len(match.candidates), match.documents, reader.count(ALL)["total"]
                seen.add((head.seq * 2, head.documents, *found))
        return seen

    def add_pairs(name: str) -> None:
        for n in range(rounds):
            apply(store, memory("a heron", f"{name}{n}"), memory("another heron", f"{name}{n}b"))

    with ThreadPoolExecutor() as threads:
        readers = [threads.submit(count_pairs) for _ in range(3)]
        try:
            for writer in [threads.submit(add_pairs, f"{worker}-") for worker in range(writers)]:
                writer.result(60)
        finally:
            done.set()
        assert all(len(set(counts)) == 1 for reader in readers for counts in reader.result(30))
    changes = read(store).changes()
    assert [change.seq for change in changes] == list(range(1, writers * rounds + 1))
    assert len({change.at for change in changes}) == len(changes)
    well(store)


def said(session: str | None, day: int, **values: Any) -> Write:
    return memory("said", f"{session}{day}", session=session, at=NOW + day * DAY, **values)


def test_sessions_are_spans_of_visible_memories(store: Store) -> None:
    days = {"a": (0, 3), "b": (1,), "c": (1, 2), None: (2,)}
    apply(store, *(said(session, day) for session in days for day in days[session]))
    apply(store, said("a", -1, scope="session"))
    spans = read(store).sessions(ALL, 10)
    assert [(s.session, (s.first - NOW) // DAY, (s.last - NOW) // DAY, s.memories) for s in spans] == [
        (None, 2, 2, 1), ("c", 1, 2, 2), ("b", 1, 1, 1), ("a", 0, 3, 2),
    ]  # fmt: skip
    pages = [read(store).sessions(ALL, 1)]
    while pages[-1]:
        end = pages[-1][-1]
        pages.append(read(store).sessions(ALL, 1, (end.first, end.session or "")))
    assert [span for page in pages for span in page] == spans
    assert read(store).sessions(ALL.having(session="b"), 10) == [span for span in spans if span.session == "b"]


def test_ended_memories_extend_the_span_of_their_session(store: Store) -> None:
    ended = {"a0": "removed", "a1": "", "a2": "revised", "b0": "removed"}
    apply(store, *(said(id[0], int(id[1]), state={"ended": how}) for id, how in ended.items()))
    every = ALL.having(endings=("", "removed", "revised"))
    [span] = read(store).sessions(every, 10)
    assert read(store).sessions(every, 10, (span.first, "a")) == []
    assert span == ("a", NOW, NOW + 2 * DAY, 1)
    assert read(store).sessions(ALL, 10) == [("a", NOW + DAY, NOW + DAY, 1)]


def test_placed_memories_have_types_times_and_entities(store: Store) -> None:
    one = memory("One.", "one", place="a/b", entities=["Maya", "JWT"], body={"type": "decision"})
    two = memory("Two.", "two", place="a/c", valid_from=NOW, valid_until=NOW + DAY)
    rows = apply(store, one, two, memory("Three.", "three", place="a/c")).rows

    def placed(filter: Filter = ALL) -> dict[str, Placed]:
        return {one.id: one for one in read(store).placed(filter)}

    assert placed(ALL.having(ids=("one", "two", "none"))) == {
        "one": Placed("one", "a/b", "decision", NOW, None, None, ("Maya", "JWT")),
        "two": Placed("two", "a/c", "note", NOW, NOW, NOW + DAY, ()),
    }
    assert placed(ALL.having(place="a")).keys() == {"one", "two", "three"}
    assert placed(ALL.having(now=NOW + 2 * DAY)).keys() == {"one", "three"}
    apply(store, standing(two, rows[1], ended="removed"))
    assert placed().keys() == {"one", "three"}


def test_wear_in_columns_equals_wear_one_by_one(store: Store) -> None:
    first = memory("a note", "m01", tags=["Blue"], strength=1.5, importance=0.7)
    [row] = apply(store, first).rows
    apply(store, standing(first, row, status="promoted"))
    apply(store, next_version(first, "another note"), memory("used", "m02"), memory("unused", "m03"))
    apply(store, memory("gone", "m04", state={"ended": "removed"}))
    apply(store, usage=[Use("m01", 2, 70, 1, 80, 1, 0.5, 1, 0.25), Use("m02", 1, 90)])
    found, held = list[Aged](), list[State]()
    while part := read(store).aged(ALL, found[-1].row if found else 0, 2):
        found += part
    while states := read(store).standing(ALL, held[-1].row if held else 0, 2):
        held += [one.state for one in states]
    used, written = read(store).usage([one.id for one in held]), read(store).written([one.row for one in held])
    assert [one.id for one in held] == ["m01", "m02", "m03"]
    wears = [Wear(one.at, one.kind, one.strength, used.get(one.id, UNUSED), *written[one.row][:2]) for one in held]
    assert found == [Aged(one.row, one.id, one.importance, wear) for one, wear in zip(held, wears, strict=True)]
