"""Applying changesets: all or nothing, in one order of known time, in the journal, and erasable without a trace."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.contract.conftest import Opens, on_one_of_each
from tests.contract.making import (
    ALL,
    NOW,
    START,
    TABLES,
    HandClock,
    apply,
    everything,
    ids_of,
    memory,
    next_version,
    select,
    standing,
    tie,
    triple,
)

from pieria.errors import ClosedError, ConflictError, StorageError
from pieria.language.analyser import terms
from pieria.record.changeset import FOREVER, Applied, Change, Changeset, Cut, Record
from pieria.record.filter import Viewer
from pieria.record.link import End
from pieria.record.time import micros, moment
from pieria.record.usage import UNUSED, Usage, Use
from pieria.store.protocol import Store

# --- the journal


def test_journal_names_what_a_change_wrote(store: Store) -> None:
    applied = apply(store, memory("a", "a"), memory("b", "b"), what="remember")
    with store.reading() as reader:
        [change] = reader.changes()
        head = reader.head()
    assert change == applied.change == Change(1, START, "tests", "remember", ("a", "b"))
    assert (head.seq, head.known, head.documents, head.terms) == (1, NOW, 2, 2)
    whole = apply(
        store,
        next_version(memory("b", "b"), "b again"),
        standing(memory("a", "a"), 1, pinned=1),
        links=[tie("l", "a", "b")],
        facts=[triple("f", "x", "is", "y")],
        usage=[Use("a", 1)],
        records=[Record("settings", "k", 1)],
        purged=["p"],
        erase=["e"],
    )
    assert sorted(whole.change.ids) == sorted(["a", "b", "l", "f", "e", "p", "settings:k"])
    # It returns the row of each write: a new version has a new one.
    assert whole.rows[1] == applied.rows[0]
    assert whole.rows[0] not in applied.rows
    assert apply(store, memory("c", "c"), ids=("named",)).change.ids == ("named",)


def test_changes_are_read_from_a_number_on_and_by_numbers(store: Store) -> None:
    made = [apply(store, memory(str(n), str(n))).change for n in range(5)]
    with store.reading() as reader:
        assert reader.changes() == made
        assert reader.changes(since=3) == made[3:]
        assert reader.changes(since=1, limit=2) == made[1:3]
        assert reader.changes(since=99) == []
        assert reader.changes(seqs=[5, 2, 99]) == [made[1], made[4]]
        assert reader.changes(limit=0) == []


def test_known_time_moves_on_with_any_clock(opens: Opens, clock: HandClock) -> None:
    for step in (0, -1, -86_400_000_000, 1, 500):
        clock.now = START
        store = opens(name=f"step {step}")
        for n in range(4):
            apply(store, memory(str(n), str(n)))
            clock.now = moment(micros(clock.now) + step)
        with store.reading() as reader:
            known = [micros(change.at) for change in reader.changes()]
            opened = [micros(reader.history(str(n))[0].known_from) for n in range(4)]
            assert reader.head().known == known[-1]
        assert known == opened == [NOW + n * max(step, 1) for n in range(4)]


def test_two_openings_share_one_order_of_known_time(opens: Opens) -> None:
    early, late = opens(HandClock(datetime(2020, 1, 1, tzinfo=UTC))), opens(HandClock(datetime(2030, 1, 1, tzinfo=UTC)))
    at = [apply(store, memory(str(n), str(n))).change.at for n, store in enumerate([early, late, early, late])]
    assert at == sorted(set(at))
    assert [when.year for when in at] == [2020, 2030, 2030, 2030]


def test_change_opens_stretches_and_closes_those_before(store: Store) -> None:
    first = apply(
        store, memory("a", "a"), memory("b", "b"), links=[tie("l", "a", "b")], facts=[triple("g", "x", "is", "z")]
    )
    second = apply(
        store,
        standing(memory("a", "a"), first.rows[0], pinned=1),
        links=[tie("l", "a", "b", weight=0.2, ended="removed")],
        facts=[triple("f", "x", "is", "y")],
    )
    with store.reading() as reader:
        states, links, facts = reader.opened(first.change.seq)
        assert {held.state.id: held.state.pinned for held in states} == {"a": 0, "b": 0}
        assert {held.state.id: held.known_until for held in states} == {"a": micros(second.change.at), "b": FOREVER}
        assert [(link.id, link.weight) for link in links] == [("l", 1.0)]
        assert [fact.id for fact in facts] == ["g"]
        states, links, facts = reader.opened(second.change.seq)
        assert [(held.state.id, held.state.pinned) for held in states] == [("a", 1)]
        assert [(link.id, link.weight) for link in links] == [("l", 0.2)]
        assert [fact.id for fact in facts] == ["f"]
        every = reader.links(every_version=True)
        assert [(link.known_from, link.known_until, link.ended) for link in every] == [
            (first.change.at, second.change.at, ""), (second.change.at, None, "removed"),
        ]  # fmt: skip
        assert reader.links() == []
        assert reader.links(known_at=micros(first.change.at)) == every[:1]


# --- all or nothing


def test_broken_write_leaves_nothing(store: Store) -> None:
    apply(store, memory("a", "a"))
    before = everything(store)
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.apply(
            Changeset(
                "test",
                writes=[memory("lost heron", "b")],
                links=[tie("l", "a", "b")],
                facts=[triple("f", "x", "is", "y")],
                usage=[Use("a", 1)],
                records=[Record("settings", "k", 1)],
                erase=["a"],
            )
        )
        raise ZeroDivisionError
    with pytest.raises(StorageError):
        apply(store, memory("b", "b"), memory("again", "a"))  # new row, but the id has an open state
    assert everything(store) == before
    with store.reading() as reader:
        assert (reader.head().seq, reader.head().documents) == (1, 1)
    kept = apply(store, memory("kept stork", "c"))
    assert kept.change.seq == 2
    assert select(store) == ["a", "c"]
    with store.reading() as reader:
        assert reader.text(["heron"], ALL, 10, 10).frequencies == {"heron": 0}
        assert [c.row for c in reader.text(["stork"], ALL, 10, 10).candidates] == kept.rows
    assert all(finding.well for finding in store.check())


def test_closed_store_says_so_and_opens_as_it_was(opens: Opens) -> None:
    store = opens()
    erased_bank(store)
    before = everything(store)
    store.close()
    store.close()
    with pytest.raises(ClosedError), store.reading():
        pass
    with pytest.raises(ClosedError), store.writing():
        pass
    again = opens()
    assert everything(again) == before
    assert apply(again, memory("next", "next")).change.seq == len(before["journal"]) + 1


# --- beside memories


def test_usage_adds_up_and_changes_no_state(store: Store) -> None:
    apply(store, memory())
    before = everything(store)
    apply(store, usage=[Use("m", 2, NOW, 1, NOW - 5, 1, 0.5, 1), Use("m", 1, NOW - 9)])
    apply(store, usage=[Use("m", 0, None, 1, NOW + 3, 0, -1.0, 1), Use("other", 1, NOW)])
    with store.reading() as reader:
        held = reader.usage(["m", "nobody", "other"])
    assert held == {"m": Usage(3, moment(NOW), 2, moment(NOW + 3), 1, -0.5, 2), "other": Usage(1, moment(NOW))}
    assert held["m"].average_reward == -0.25
    assert UNUSED.average_reward is None
    after = everything(store)
    assert (after["state"], after["content"]) == (before["state"], before["content"])


def test_records_hold_json_by_collection_and_key(store: Store) -> None:
    values = {str(n): value for n, value in enumerate([1, 0, False, "", [], {}, {"a": [1, {"b": None}]}, "日 😀", 1.5])}
    keys = ["a", "a:1", "a:2", "ab", "b", "a😀", "A:1", "a:\U0010fffd"]
    apply(store, records=[Record("values", key, value) for key, value in values.items()])
    apply(store, records=[Record("one", key, key) for key in keys] + [Record("two", "a", "other")])
    with store.reading() as reader:
        read = reader.records("values")
        assert read == values
        assert read["2"] is False
        assert reader.records("one") == {key: key for key in keys}
        assert set(reader.records("one", "a:")) == {"a:1", "a:2", "a:\U0010fffd"}
        assert set(reader.records("one", "a")) == set(keys) - {"b", "A:1"}
        assert reader.records("one", keys=["b", "a:1", "nothing"]) == {"b": "b", "a:1": "a:1"}
        assert reader.records("one", keys=[]) == {}
        assert reader.records("two") == {"a": "other"}
        assert reader.records("three") == {}
    apply(store, records=[Record("one", "a", "changed"), Record("one", "b", None), Record("one", "nobody", None)])
    with store.reading() as reader:
        assert reader.records("one")["a"] == "changed"
        assert "b" not in reader.records("one")


def test_notes_are_kept_without_a_change(store: Store) -> None:
    before = apply(store, records=[Record("at work", "other", 1)]).change
    with store.writing() as writer:
        writer.note([Record("at work", "me", 2), Record("at work", "other", None)])
    with store.reading() as reader:
        assert reader.records("at work") == {"me": 2}
        assert reader.changes()[-1] == before


def test_links_are_found_by_end_relation_and_id(store: Store) -> None:
    apply(store, memory("a", "a"), memory("b", "b"), memory("c", "c"))
    apply(
        store,
        links=[
            tie("ab", "a", "b"),
            tie("bc", "b", "c", "tunnel"),
            tie("ca", "c", "a"),
            tie("aw", "a", "a/b", label="shelf", meta='{"n":1}'),
            tie("ww", "a/b", "b/a", "tunnel"),
        ],
    )

    def found(**asked: Any) -> set[str]:
        with store.reading() as reader:
            return {link.id for link in reader.links(**asked)}

    memory_a, place = End("memory", "a"), End("place", "a/b")
    assert found() == {"ab", "bc", "ca", "aw", "ww"}
    assert found(ends=[memory_a]) == {"ab", "ca", "aw"}
    assert found(ends=[place]) == {"aw", "ww"}
    assert found(ends=[End("memory", "a/b"), End("place", "a")]) == set()
    assert found(ends=[End("memory", "b"), place]) == {"ab", "bc", "aw", "ww"}
    assert found(ends=[]) == set()
    assert found(relation="tunnel") == {"bc", "ww"}
    assert found(ends=[place], relation="tunnel") == {"ww"}
    assert found(ids=["ab", "nobody"]) == {"ab"}
    assert found(ids=[]) == set()
    with store.reading() as reader:
        [shelf] = reader.links(ids=["aw"])
    assert (shelf.label, dict(shelf.meta), shelf.source, shelf.target) == ("shelf", {"n": 1}, memory_a, place)


# --- erasing


def erased_bank(store: Store) -> Applied:
    first = memory("the heron stood still", "gone", tags=["bird"], entities=["Heron"])
    apply(store, first, memory("a stork", "kept", tags=["bird"]))
    apply(store, next_version(first, "the heron flew"))
    apply(store, standing(memory("a stork", "kept"), 2, pinned=1))
    apply(
        store,
        links=[tie("l1", "gone", "kept"), tie("l2", "kept", "gone"), tie("l3", "kept", "wing/room")],
        facts=[triple("f1", "x", "is", "y", memory="gone"), triple("f2", "x", "is", "z", memory="kept")],
        usage=[Use("gone", 1, NOW), Use("kept", 1, NOW)],
    )
    return apply(store, what="purge", erase=["gone", "unheard of"])


def test_erasure_leaves_nothing_but_the_id(store: Store) -> None:
    applied = erased_bank(store)
    viewer = ALL.having(viewer=Viewer(everything=True)).anything()
    with store.reading() as reader:
        assert reader.changes()[-1] == applied.change
        assert applied.change.what == "purge"
        assert reader.opened(applied.change.seq) == ([], [], [])
        assert reader.history("gone") == []
        assert reader.states(["gone", "kept"]).keys() == {"kept"}
        assert ids_of(reader.select(viewer)) == ["kept"]
        assert reader.text(["heron"], viewer, 10, 10).frequencies == {"heron": 0}
        assert reader.count(viewer, "tags") == {"bird": 1}
        assert reader.count(viewer, "entities") == {}
        assert [link.id for link in reader.links(every_version=True)] == ["l3"]
        assert reader.usage(["gone", "kept"]).keys() == {"kept"}
        assert reader.purged(["gone", "kept", "unheard of"]) == {"gone", "unheard of"}
        assert (reader.head().documents, reader.head().terms) == (1, 3)
    dumped = everything(store)
    assert "heron" not in repr(dumped).casefold()
    assert [row["id"] for row in dumped["fact"]] == ["f2"]
    assert store.scrub() == []
    assert all(finding.well for finding in store.check())
    # Rows are never given twice, and ids may be purged without having been there.
    assert apply(store, memory("new", "new"), purged=["gone", "p"]).rows[0] > 3
    with store.reading() as reader:
        assert reader.purged(["gone", "p", "q"]) == {"gone", "p"}


def test_erasure_takes_bodies_and_facts_in_every_version(store: Store) -> None:
    tree = memory("A tree.", "tree", body={"state": "After: shook the apricots"})
    rows = apply(store, tree, memory("Shook the apricots.", "gone")).rows
    apply(store, facts=[triple("f", "Maya", "works on", "billing"), triple("kept", "Ola", "knows", "Maya")])
    apply(store, facts=[triple("f", "Maya", "works on", "search")])
    apply(store, erase=["gone"], cuts=[Cut(rows[0], None, terms("A tree."))])
    apply(store, erase_facts=["f"])
    with store.reading() as reader:
        assert [(held.text, dict(held.body)) for held in reader.history("tree")] == [("A tree.", {})]
        found = {word: reader.text(terms(word), ALL, 10, 100).candidates for word in ("apricots", "tree")}
        assert [line["id"] for line in reader.dump("fact")] == ["kept"]
        assert reader.changes()[-1].ids == ("f",)
    assert [candidate.row for candidate in found["tree"]] == [rows[0]]
    assert list(found["apricots"]) == []
    assert [finding.check for finding in store.check() if not finding.well] in ([], ["purge"])


@pytest.mark.slow
@on_one_of_each
def test_bank_survives_thousands_of_erasures(store: Store) -> None:
    """Each erasure makes the text index of a file merge. The leftovers of merges must not pile up."""
    size = 2_500
    apply(store, memory("heron", "kept"), *(memory(f"heron {n}", f"m{n}") for n in range(size)))
    with store.writing() as writer:
        for n in range(size):
            writer.apply(Changeset("purge", "tests", erase=[f"m{n}"]))
    apply(store, memory("heron", "new"))
    with store.reading() as reader:
        assert len(reader.text(["heron"], ALL, 10, 10).candidates) == 2
        assert reader.head().seq == size + 2
    assert all(finding.well for finding in store.check())


# --- replaying


def test_replayed_change_keeps_its_number_and_time(store: Store) -> None:
    first = Change(7, moment(NOW - 1_000), "somebody", "remember", ("a",))
    assert apply(store, memory("a", "a"), replay=first).change == first
    with store.reading() as reader:
        assert reader.changes() == [first]
        assert reader.history("a")[0].known_from == first.at
        assert (reader.head().seq, reader.head().known) == (7, NOW - 1_000)
    before = everything(store)
    for seq, at in [(7, NOW + 5), (6, NOW + 5), (8, NOW - 1_000), (8, NOW - 1_001)]:
        with pytest.raises(ConflictError):
            apply(store, memory("b", "b"), replay=Change(seq, moment(at), "x", "x", ("b",)))
    assert everything(store) == before
    following = apply(store, memory("b", "b")).change
    assert (following.seq, following.at) == (8, START)


def test_dump_comes_in_an_order_to_write_it_again(opens: Opens) -> None:
    store, copy = opens(), opens(name="copy")
    erased_bank(store)
    with store.reading() as reader:
        changes = {change.seq: change for change in reader.changes()}
        dumped = {table: list(reader.dump(table)) for table in TABLES}
    assert [row["seq"] for row in dumped["journal"]] == sorted(changes)
    assert [row["row"] for row in dumped["content"]] == sorted(row["row"] for row in dumped["content"])
    assert [row["known_from"] for row in dumped["state"]] == sorted(row["known_from"] for row in dumped["state"])
    assert all(row["terms"] for row in dumped["content"])
    with copy.writing() as writer:
        for change in changes.values():
            writer.apply(Changeset(change.what, replay=change, purged=["gone"]))
    with copy.reading() as reader:
        assert reader.changes() == list(changes.values())
