"""Applying changesets: all or nothing, in one order of known time, in the journal, and erasable without a trace."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.contract.conftest import ENGINES, Opens
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


def test_a_change_is_told_by_the_journal(store: Store) -> None:
    applied = apply(store, memory("a", "a"), memory("b", "b"), what="remember")
    with store.reading() as reader:
        [change] = reader.changes()
        head = reader.head()
    assert change == applied.change == Change(1, START, "tests", "remember", ("a", "b"))
    assert (head.seq, head.known, head.documents, head.terms) == (1, NOW, 2, 2)


def test_the_journal_names_everything_written_once_unless_told_what_to_name(store: Store) -> None:
    apply(store, memory("a", "a"))
    whole = apply(
        store,
        memory("b", "b"),
        standing(memory("a", "a"), 1, pinned=1),
        links=[tie("l", "a", "b")],
        facts=[triple("f", "x", "is", "y")],
        usage=[Use("a", 1)],
        records=[Record("settings", "k", 1)],
        purged=["p"],
        erase=["e"],
    )
    told = apply(store, memory("c", "c"), ids=("told",))
    assert sorted(whole.change.ids) == sorted(["a", "b", "l", "f", "e", "p", "settings:k"])
    assert told.change.ids == ("told",)


def test_changes_are_read_from_a_number_on_and_by_numbers(store: Store) -> None:
    made = [apply(store, memory(str(n), str(n))).change for n in range(5)]
    with store.reading() as reader:
        assert reader.changes() == made
        assert reader.changes(since=3) == made[3:]
        assert reader.changes(since=1, limit=2) == made[1:3]
        assert reader.changes(since=99) == []
        assert reader.changes(seqs=[5, 2, 99]) == [made[1], made[4]]
        assert reader.changes(limit=0) == []


@pytest.mark.parametrize("step", [0, -1, -86_400_000_000, 1, 500])
def test_known_time_moves_on_whatever_the_clock_does(store: Store, clock: HandClock, step: int) -> None:
    for n in range(4):
        apply(store, memory(str(n), str(n)))
        clock.now = moment(micros(clock.now) + step)
    with store.reading() as reader:
        known = [micros(change.at) for change in reader.changes()]
        opened = [reader.history(str(n))[0].known_from for n in range(4)]
        head = reader.head()
    assert known == sorted(set(known))
    assert known[0] == NOW
    assert head.known == known[-1]
    assert [micros(at) for at in opened] == known
    if step > 0:
        assert known == [NOW + n * step for n in range(4)]


def test_two_openings_share_one_order_of_known_time(opens: Opens) -> None:
    early, late = opens(HandClock(datetime(2020, 1, 1, tzinfo=UTC))), opens(HandClock(datetime(2030, 1, 1, tzinfo=UTC)))
    at = [apply(store, memory(str(n), str(n))).change.at for n, store in enumerate([early, late, early, late])]
    assert at == sorted(set(at))
    assert [when.year for when in at] == [2020, 2030, 2030, 2030]


def test_nothing_is_written_when_the_block_breaks(store: Store) -> None:
    apply(store, memory("a", "a"))
    before = everything(store)
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.apply(
            Changeset(
                "test",
                writes=[memory("b", "b")],
                links=[tie("l", "a", "b")],
                facts=[triple("f", "x", "is", "y")],
                usage=[Use("a", 1)],
                records=[Record("settings", "k", 1)],
                erase=["a"],
            )
        )
        raise ZeroDivisionError
    assert everything(store) == before
    assert apply(store, memory("c", "c")).change.seq == 2
    assert select(store) == ["a", "c"]
    assert all(finding.well for finding in store.check())


def test_nothing_is_written_when_the_store_refuses_a_part_of_it(store: Store) -> None:
    apply(store, memory("a", "a"))
    before = everything(store)
    with pytest.raises(StorageError):
        apply(store, memory("b", "b"), memory("again", "a"))  # new row, but the id has an open state
    assert everything(store) == before
    with store.reading() as reader:
        assert (reader.head().seq, reader.head().documents) == (1, 1)
    assert apply(store, memory("b", "b")).change.seq == 2
    assert all(finding.well for finding in store.check())


def test_rows_of_a_broken_write_do_not_leak_into_the_next(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.writing() as writer:
        writer.apply(Changeset("test", writes=[memory("lost heron", "lost")]))
        raise ZeroDivisionError
    [row] = apply(store, memory("kept stork", "kept")).rows
    with store.reading() as reader:
        assert reader.text(["heron"], ALL, 10, 10).frequencies == {"heron": 0}
        assert [c.row for c in reader.text(["stork"], ALL, 10, 10).candidates] == [row]


def test_an_applied_changeset_tells_the_row_of_each_of_its_writes(store: Store) -> None:
    first = apply(store, memory("a", "a"), memory("b", "b"))
    changed = memory("a", "a")
    second = apply(store, standing(changed, first.rows[0], pinned=1), next_version(memory("b", "b"), "b again"))
    assert len(set(first.rows)) == 2
    assert second.rows[0] == first.rows[0]
    assert second.rows[1] not in first.rows


def test_links_and_facts_open_and_close_stretches_like_memories(store: Store) -> None:
    apply(store, memory("a", "a"), memory("b", "b"))
    made = apply(store, links=[tie("l", "a", "b", weight=0.5)], facts=[triple("f", "x", "is", "y")])
    ended = apply(
        store,
        links=[tie("l", "a", "b", weight=0.5, ended="removed")],
        facts=[triple("f", "x", "is", "y", ended="removed")],
    )
    with store.reading() as reader:
        assert reader.links() == []
        every = reader.links(every_version=True)
        then = reader.links(known_at=micros(made.change.at))
    assert [(link.known_from, link.known_until, link.ended) for link in every] == [
        (made.change.at, ended.change.at, ""),
        (ended.change.at, None, "removed"),
    ]
    assert then == every[:1]


def test_opened_tells_what_a_change_opened_and_nothing_else(store: Store) -> None:
    first = apply(store, memory("a", "a"), memory("b", "b"), links=[tie("l", "a", "b")])
    second = apply(
        store,
        standing(memory("a", "a"), first.rows[0], pinned=1),
        links=[tie("l", "a", "b", weight=0.2)],
        facts=[triple("f", "x", "is", "y")],
    )
    with store.reading() as reader:
        states, links, facts = reader.opened(first.change.seq)
        assert {held.state.id: held.state.pinned for held in states} == {"a": 0, "b": 0}
        assert {held.state.id: held.known_until for held in states} == {"a": micros(second.change.at), "b": FOREVER}
        assert [(link.id, link.weight) for link in links] == [("l", 1.0)]
        assert facts == []
        states, links, facts = reader.opened(second.change.seq)
        assert [(held.state.id, held.state.pinned) for held in states] == [("a", 1)]
        assert [(link.id, link.weight) for link in links] == [("l", 0.2)]
        assert [fact.id for fact in facts] == ["f"]


def test_usage_adds_up_and_keeps_the_latest_use(store: Store) -> None:
    apply(store, memory())
    apply(store, usage=[Use("m", 2, NOW, 1, NOW - 5, 1, 0.5, 1), Use("m", 1, NOW - 9)])
    apply(store, usage=[Use("m", 0, None, 1, NOW + 3, 0, -1.0, 1), Use("other", 1, NOW)])
    with store.reading() as reader:
        held = reader.usage(["m", "nobody", "other"])
    assert held == {
        "m": Usage(3, moment(NOW), 2, moment(NOW + 3), 1, -0.5, 2),
        "other": Usage(1, moment(NOW)),
    }
    assert held["m"].average_reward == -0.25
    assert UNUSED.average_reward is None


def test_usage_changes_no_state(store: Store) -> None:
    apply(store, memory())
    before = everything(store)
    apply(store, usage=[Use("m", 1, NOW)])
    after = everything(store)
    assert after["state"] == before["state"]
    assert after["content"] == before["content"]
    assert len(after["usage"]) == 1


@pytest.mark.parametrize("value", [1, 0, False, "", [], {}, {"a": [1, {"b": None}]}, "日本 😀", 1.5])
def test_records_hold_json_values(store: Store, value: Any) -> None:
    apply(store, records=[Record("settings", "k", value)])
    with store.reading() as reader:
        assert reader.records("settings") == {"k": value}


def test_records_are_kept_by_collection_and_found_by_prefix(store: Store) -> None:
    keys = ["a", "a:1", "a:2", "ab", "b", "a😀", "A:1", "a:\U0010fffd"]
    apply(store, records=[Record("one", key, key) for key in keys] + [Record("two", "a", "other")])
    with store.reading() as reader:
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


def test_what_is_noted_is_kept_and_no_change_tells_of_it(store: Store) -> None:
    before = apply(store, records=[Record("at work", "other", 1)]).change
    with store.writing() as writer:
        writer.note([Record("at work", "me", 2), Record("at work", "other", None)])
    with store.reading() as reader:
        assert reader.records("at work") == {"me": 2}
        assert reader.changes()[-1] == before


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


def test_an_erasure_leaves_nothing_but_the_id(store: Store) -> None:
    erased_bank(store)
    viewer = ALL.having(viewer=Viewer(everything=True)).anything()
    with store.reading() as reader:
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


def test_an_erasure_is_a_change_like_any_other(store: Store) -> None:
    applied = erased_bank(store)
    with store.reading() as reader:
        assert reader.changes()[-1] == applied.change
        assert applied.change.what == "purge"
        states, links, facts = reader.opened(applied.change.seq)
    assert (states, links, facts) == ([], [], [])


@pytest.mark.parametrize("engine", [*ENGINES, pytest.param("postgres", marks=pytest.mark.slow)], indirect=True)
def test_a_bank_outlives_thousands_of_erasures(store: Store) -> None:
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


def test_ids_can_be_remembered_as_purged_without_having_been_there(store: Store) -> None:
    apply(store, purged=["a"])
    apply(store, purged=["a", "b"])
    with store.reading() as reader:
        assert reader.purged(["a", "b", "c"]) == {"a", "b"}


def test_a_replayed_change_keeps_its_number_and_its_time(opens: Opens) -> None:
    store = opens()
    first = Change(7, moment(NOW - 1_000), "somebody", "remember", ("a",))
    applied = apply(store, memory("a", "a"), replay=first)
    assert applied.change == first
    with store.reading() as reader:
        assert reader.changes() == [first]
        assert reader.history("a")[0].known_from == first.at
        assert (reader.head().seq, reader.head().known) == (7, NOW - 1_000)
    following = apply(store, memory("b", "b")).change
    assert (following.seq, following.at) == (8, START)


@pytest.mark.parametrize(("seq", "at"), [(7, NOW + 5), (6, NOW + 5), (8, NOW), (8, NOW - 1)])
def test_a_replay_that_is_not_later_is_refused(store: Store, seq: int, at: int) -> None:
    apply(store, memory("a", "a"), replay=Change(7, moment(NOW), "x", "x", ("a",)))
    before = everything(store)
    with pytest.raises(ConflictError):
        apply(store, memory("b", "b"), replay=Change(seq, moment(at), "x", "x", ("b",)))
    assert everything(store) == before


def test_a_dump_replayed_into_another_bank_gives_the_same_dump(opens: Opens) -> None:
    """A lossless copy needs this: the rows of every table come in an order in which they can be written again."""
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


def test_a_closed_store_says_so(opens: Opens) -> None:
    store = opens()
    store.close()
    store.close()
    with pytest.raises(ClosedError), store.reading():
        pass
    with pytest.raises(ClosedError), store.writing():
        pass


def test_a_bank_is_as_it_was_when_it_is_opened_again(opens: Opens) -> None:
    store = opens()
    erased_bank(store)
    before = everything(store)
    store.close()
    again = opens()
    assert everything(again) == before
    assert apply(again, memory("next", "next")).change.seq == len(before["journal"]) + 1


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


def test_what_is_cut_out_of_a_body_is_in_no_version_and_no_index(store: Store) -> None:
    tree = memory("A tree.", "tree", body={"state": "After: shook the apricots"})
    rows = apply(store, tree, memory("Shook the apricots.", "gone")).rows
    apply(store, erase=["gone"], cuts=[Cut(rows[0], None, terms("A tree."))])
    with store.reading() as reader:
        assert [(held.text, dict(held.body)) for held in reader.history("tree")] == [("A tree.", {})]
        found = {word: reader.text(terms(word), ALL, 10, 100).candidates for word in ("apricots", "tree")}
    assert [candidate.row for candidate in found["tree"]] == [rows[0]]
    assert list(found["apricots"]) == []
    assert [finding.check for finding in store.check() if not finding.well] in ([], ["purge"])


def test_facts_are_erased_with_every_version_of_them(store: Store) -> None:
    apply(store, facts=[triple("f", "Maya", "works on", "billing"), triple("kept", "Ola", "knows", "Maya")])
    apply(store, facts=[triple("f", "Maya", "works on", "search")])
    apply(store, erase_facts=["f"])
    with store.reading() as reader:
        assert [line["id"] for line in reader.dump("fact")] == ["kept"]
        assert reader.changes()[-1].ids == ("f",)
