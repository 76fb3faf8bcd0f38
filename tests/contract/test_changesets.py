"""Applying changesets: all or nothing, in one order of known time, in the journal, and erasable without a trace."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.contract.conftest import Opens, on_one_of_each
from tests.contract.single_calls import ids_of, read, select, write
from tests.contract.store_helpers import (
    ALL,
    NOW,
    HandClock,
    apply,
    everything,
    memory,
    next_version,
    standing,
    tie,
    triple,
)
from tests.contract.test_vectors import well

from pieria.errors import ClosedError, ConflictError, StorageError
from pieria.language.analyser import terms
from pieria.record.changeset import FOREVER, Applied, Change, Changeset, Cut, Record
from pieria.record.filter import Viewer
from pieria.record.link import End
from pieria.record.time import micros, moment
from pieria.record.usage import UNUSED, Usage, Use
from pieria.store.protocol import Store

BESIDE: dict[str, Any] = {
    "links": [tie("l", "a", "b")], "facts": [triple("f", "x", "is", "y")], "usage": [Use("a", 1)],
    "records": [Record("settings", "k", 1)],
}  # fmt: skip
"""A change of everything but memories."""


def test_journal_names_what_a_change_wrote(store: Store) -> None:
    applied = apply(store, memory("a", "a"), memory("b", "b"), what="remember")
    assert read(store).changes() == [applied.change] == [Change(1, moment(NOW), "tests", "remember", ("a", "b"))]
    head = read(store).head()
    assert (head.seq, head.known, head.documents, head.terms) == (1, NOW, 2, 2)
    writes = [next_version(memory("b", "b"), "b again"), standing(memory("a", "a"), 1, pinned=1)]
    whole = apply(store, *writes, **BESIDE, purged=["p"], erase=["e"])
    assert sorted(whole.change.ids) == ["a", "b", "e", "f", "l", "p", "settings:k"]
    # It returns the row of each write: a new version has a new one.
    assert whole.rows[1] == applied.rows[0]
    assert whole.rows[0] not in applied.rows
    assert apply(store, memory("c", "c"), ids=("named",)).change.ids == ("named",)


def test_changes_are_read_from_a_number_on_and_by_numbers(store: Store) -> None:
    made = [apply(store, memory(str(n), str(n))).change for n in range(5)]
    changes = read(store).changes
    assert changes() == made
    assert changes(since=3) == made[3:]
    assert changes(since=1, limit=2) == made[1:3]
    assert changes(seqs=[5, 2, 99]) == [made[1], made[4]]
    assert changes(since=99) == changes(limit=0) == []


def test_known_time_moves_on_with_any_clock(opens: Opens, clock: HandClock) -> None:
    for step in (0, -1, -86_400_000_000, 1, 500):
        clock.now = moment(NOW)
        store = opens(name=f"step {step}")
        for n in range(4):
            apply(store, memory(str(n), str(n)))
            clock.now = moment(micros(clock.now) + step)
        known = [micros(change.at) for change in read(store).changes()]
        opened = [micros(read(store).history(str(n))[0].known_from) for n in range(4)]
        assert read(store).head().known == known[-1]
        assert known == opened == [NOW + n * max(step, 1) for n in range(4)]


def test_two_openings_share_one_order_of_known_time(opens: Opens) -> None:
    early, late = opens(HandClock(datetime(2020, 1, 1, tzinfo=UTC))), opens(HandClock(datetime(2030, 1, 1, tzinfo=UTC)))
    at = [apply(store, memory(str(n), str(n))).change.at for n, store in enumerate([early, late, early, late])]
    assert at == sorted(set(at))
    assert [when.year for when in at] == [2020, 2030, 2030, 2030]


def test_change_opens_stretches_and_closes_those_before(store: Store) -> None:
    a, link, made = memory("a", "a"), tie("l", "a", "b"), triple("g", "x", "is", "z")
    first = apply(store, a, memory("b", "b"), links=[link], facts=[made])
    ended = tie("l", "a", "b", weight=0.2, ended="removed")
    second = apply(store, standing(a, first.rows[0], pinned=1), links=[ended], facts=[triple("f", "x", "is", "y")])
    begun, changed = micros(first.change.at), micros(second.change.at)
    for seq, held_then, weight, fact in (
        (first.change.seq, {("a", 0, changed), ("b", 0, FOREVER)}, 1.0, "g"),
        (second.change.seq, {("a", 1, FOREVER)}, 0.2, "f"),
    ):
        states, links, facts = read(store).opened(seq)
        assert {(held.state.id, held.state.pinned, held.known_until) for held in states} == held_then
        assert [(link.id, link.weight) for link in links] == [("l", weight)]
        assert [fact.id for fact in facts] == [fact]
    every = read(store).links(every_version=True)
    assert [(link.known_from, link.known_until, link.ended) for link in every] == [
        (first.change.at, second.change.at, ""), (second.change.at, None, "removed"),
    ]  # fmt: skip
    assert read(store).links() == []
    assert read(store).links(known_at=begun) == every[:1]


def test_broken_write_leaves_nothing(store: Store) -> None:
    apply(store, memory("a", "a"))
    before = everything(store)
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.apply(Changeset("test", writes=[memory("lost heron", "b")], **BESIDE, erase=["a"]))
        raise ZeroDivisionError
    with pytest.raises(StorageError):
        apply(store, memory("b", "b"), memory("again", "a"))  # new row, but the id has an open state
    assert everything(store) == before
    assert (read(store).head().seq, read(store).head().documents) == (1, 1)
    kept = apply(store, memory("kept stork", "c"))
    assert kept.change.seq == 2
    assert select(store) == ["a", "c"]
    assert read(store).text(["heron"], ALL, 10, 10).frequencies == {"heron": 0}
    assert [c.row for c in read(store).text(["stork"], ALL, 10, 10).candidates] == kept.rows
    well(store)


def test_closed_store_says_so_and_opens_as_it_was(opens: Opens) -> None:
    store = opens()
    erased_bank(store)
    before = everything(store)
    store.close()
    store.close()
    for begin in (store.reading, store.writing):
        with pytest.raises(ClosedError), begin():
            pass
    again = opens()
    assert everything(again) == before
    assert apply(again, memory("next", "next")).change.seq == len(before["journal"]) + 1


def test_usage_adds_up_and_changes_no_state(store: Store) -> None:
    apply(store, memory())
    before = everything(store)
    apply(store, usage=[Use("m", 2, NOW, 1, NOW - 5, 1, 0.5, 1), Use("m", 1, NOW - 9)])
    apply(store, usage=[Use("m", 0, None, 1, NOW + 3, 0, -1.0, 1), Use("other", 1, NOW)])
    held = read(store).usage(["m", "nobody", "other"])
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
    records = read(store).records
    assert records("values") == values
    assert records("values")["2"] is False
    assert records("one") == {key: key for key in keys}
    assert set(records("one", "a:")) == {"a:1", "a:2", "a:\U0010fffd"}
    assert set(records("one", "a")) == set(keys) - {"b", "A:1"}
    assert records("one", keys=["b", "a:1", "nothing"]) == {"b": "b", "a:1": "a:1"}
    assert records("one", keys=[]) == records("three") == {}
    assert records("two") == {"a": "other"}
    apply(store, records=[Record("one", "a", "changed"), Record("one", "b", None), Record("one", "nobody", None)])
    assert records("one") == {key: key for key in keys if key != "b"} | {"a": "changed"}
    before = read(store).changes()
    write(store).note([Record("two", "b", 2), Record("two", "a", None)])
    assert records("two") == {"b": 2}
    assert read(store).changes() == before, "a note is no change"


def test_links_are_found_by_end_relation_and_id(store: Store) -> None:
    apply(store, memory("a", "a"), memory("b", "b"), memory("c", "c"))
    links = [tie("ab", "a", "b"), tie("bc", "b", "c", "tunnel"), tie("ca", "c", "a"), tie("ww", "a/b", "b/a", "tunnel")]
    apply(store, links=[*links, tie("aw", "a", "a/b", label="shelf", meta='{"n":1}')])

    def found(**asked: Any) -> set[str]:
        return {link.id for link in read(store).links(**asked)}

    memory_a, place = End("memory", "a"), End("place", "a/b")
    assert found() == {"ab", "bc", "ca", "aw", "ww"}
    assert found(ends=[memory_a]) == {"ab", "ca", "aw"}
    assert found(ends=[place]) == {"aw", "ww"}
    assert found(ends=[End("memory", "b"), place]) == {"ab", "bc", "aw", "ww"}
    assert found(relation="tunnel") == {"bc", "ww"}
    assert found(ends=[place], relation="tunnel") == {"ww"}
    assert found(ids=["ab", "nobody"]) == {"ab"}
    assert found(ends=[End("memory", "a/b"), End("place", "a")]) == found(ends=[]) == found(ids=[]) == set()
    [shelf] = read(store).links(ids=["aw"])
    assert (shelf.label, dict(shelf.meta), shelf.source, shelf.target) == ("shelf", {"n": 1}, memory_a, place)


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
    well(store)
    # Rows are never given twice, and ids may be purged without having been there.
    assert apply(store, memory("new", "new"), purged=["gone", "p"]).rows[0] > 3
    assert read(store).purged(["gone", "p", "q"]) == {"gone", "p"}


def test_erasure_takes_bodies_and_facts_in_every_version(store: Store) -> None:
    tree = memory("A tree.", "tree", body={"state": "After: shook the apricots"})
    rows = apply(store, tree, memory("Shook the apricots.", "gone")).rows
    apply(store, facts=[triple("f", "Maya", "works on", "billing"), triple("kept", "Ola", "knows", "Maya")])
    apply(store, facts=[triple("f", "Maya", "works on", "search")])
    apply(store, erase=["gone"], cuts=[Cut(rows[0], None, terms("A tree."))])
    assert apply(store, erase_facts=["f"]).change.ids == ("f",)
    assert [(held.text, dict(held.body)) for held in read(store).history("tree")] == [("A tree.", {})]
    assert [line["id"] for line in read(store).dump("fact")] == ["kept"]
    assert [candidate.row for candidate in read(store).text(terms("tree"), ALL, 10, 100).candidates] == [rows[0]]
    assert not read(store).text(terms("apricots"), ALL, 10, 100).candidates
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
    assert len(read(store).text(["heron"], ALL, 10, 10).candidates) == 2
    assert read(store).head().seq == size + 2
    well(store)


def test_replayed_change_keeps_its_number_and_time(store: Store) -> None:
    first = Change(7, moment(NOW - 1_000), "somebody", "remember", ("a",))
    assert apply(store, memory("a", "a"), replay=first).change == first
    assert read(store).changes() == [first]
    assert read(store).history("a")[0].known_from == first.at
    assert (read(store).head().seq, read(store).head().known) == (7, NOW - 1_000)
    before = everything(store)
    for seq, at in [(7, NOW + 5), (6, NOW + 5), (8, NOW - 1_000), (8, NOW - 1_001)]:
        with pytest.raises(ConflictError):
            apply(store, memory("b", "b"), replay=Change(seq, moment(at), "x", "x", ("b",)))
    assert everything(store) == before
    following = apply(store, memory("b", "b")).change
    assert (following.seq, following.at) == (8, moment(NOW))


def test_dump_comes_in_an_order_to_write_it_again(opens: Opens) -> None:
    store, copy = opens(), opens(name="copy")
    erased_bank(store)
    changes = read(store).changes()
    for table, column in (("journal", "seq"), ("content", "row"), ("state", "known_from")):
        values = [row[column] for row in read(store).dump(table)]
        assert values == sorted(values)
        assert values
    assert all(row["terms"] for row in read(store).dump("content"))
    with copy.writing() as writer:
        for change in changes:
            writer.apply(Changeset(change.what, replay=change, purged=["gone"]))
    assert read(copy).changes() == changes
