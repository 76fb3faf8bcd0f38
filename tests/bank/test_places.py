"""The counts of memories by place follow every change of every writer."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.store_helpers import HandClock

import pieria
from pieria import Bank, Place
from pieria.errors import InputError


def test_places_are_counted_with_their_types_and_their_newest(bank: Bank, clock: HandClock) -> None:
    bank.remember("One.", place="billing/decisions", body={"type": "decision"}, at="2026-01-01")
    new = bank.remember("Two.", place="billing/decisions", at="2026-02-01")
    bank.remember("Three.")
    assert bank.places.counts() == {"billing/decisions": 2, "notes/note": 1}
    kept = bank.places.all()["billing/decisions"]
    assert (kept.memories, dict(kept.types), kept.newest.month) == (2, {"decision": 1, "note": 1}, 2)
    for verb, month in ((bank.remove, 1), (bank.restore, 2)):
        verb(new.id)
        assert bank.places.all()["billing/decisions"].newest.month == month
    # Only memories that hold now are counted.
    bank.remember("Until Monday.", place="a/b", valid_until="2026-03-02")
    bank.remember("From Monday.", place="a/c", valid_from="2026-03-02")
    for place in ("a/b", "a/c"):
        assert [name for name in bank.places.counts() if name.startswith("a/")] == [place]
        clock.move(days=2)


def test_changes_of_another_process_are_counted(bank: Bank, opened: Callable[..., Bank]) -> None:
    other = opened(session="two")
    memory = bank.remember("One.", place="a/b", entities=["Maya"])
    assert other.places.counts() == {"a/b": 1}
    bank.update(memory.id, place="a/c", entities=["Omar"])
    assert other.places.counts() == {"a/c": 1}
    assert (other.places.naming("maya"), other.places.naming("OMAR")) == ({}, {"a/c": 1})
    bank.purge(memory.id)
    assert other.places.counts() == other.places.naming("Omar") == {}
    own = opened(session="one")
    own.remember("Mine.", place="a/b", scope="session")
    assert (own.places.counts(), other.places.counts()) == ({"a/b": 1}, {})


def test_entities_lead_from_place_to_place(bank: Bank) -> None:
    bank.remember("One.", place="a/b", entities=["Maya", "maya", "JWT"])
    bank.remember("Two.", place="a/c", entities=["MAYA"])
    bank.remember("Three.", place="a/b", entities=["Maya"])
    assert bank.places.entities("a/b") == {"maya": 2, "JWT": 1}
    assert bank.places.entities(["a/b", "a/c", "no/where"]) == {"maya": 3, "JWT": 1}
    assert bank.places.naming("Maya") == {"a/b": 2, "a/c": 1}
    assert bank.places.shared("a/c") == bank.places.shared() == {"maya": {"a/b": 2, "a/c": 1}}
    bank.remember("Four.", place="a/d", entities=["JWT", "Maya"])
    assert set(bank.places.shared("a/d")) == {"maya", "JWT"}
    assert (set(bank.places.shared("a/d", most=2)), bank.places.shared("no/where")) == ({"JWT"}, {})


def test_renamed_place_keeps_its_memories_and_links(bank: Bank) -> None:
    kept, gone = (bank.remember(text, place="a/b").id for text in ("One.", "Two."))
    bank.remove(gone)
    bank.remember("Three.", place="a/c")
    bank.link(Place("a/b"), Place("x/y"), "tunnel")
    bank.link(Place("a/c"), Place("a/b"), "tunnel")
    assert (bank.places.rename("a/b", "a/c"), bank.places.counts()) == (2, {"a/c": 2})
    assert bank.restore(gone).place == "a/c"
    assert [(link.source.name, link.target.name) for link in bank.links()] == [("a/c", "x/y")]
    bank.remove(gone)
    bank.places.rename("a/c", "d/e")
    bank.undo(bank.changes(last=1)[0].seq)
    assert {memory.place for memory in bank.list(include="removed") if memory.id in (kept, gone)} == {"a/c"}
    for verb in (bank.places.rename, bank.places.relink):
        with pytest.raises(InputError):
            verb("a/b", "a/b")


def test_places_that_become_one_are_tied_to_a_third_once(bank: Bank) -> None:
    bank.remember("One.", place="a/b")
    bank.remember("Two.", place="a/c")
    kept = bank.link(Place("x/y"), Place("a/c"), "tunnel")
    bank.link(Place("a/b"), Place("x/y"), "tunnel", label="keys")
    bank.link(Place("a/b"), Place("x/y"), "follows")
    bank.places.rename("a/b", "a/c")
    assert {(link.relation, link.label) for link in bank.links()} == {("tunnel", "keys"), ("follows", None)}
    assert [link.id for link in bank.links(relation="tunnel")] == [kept.id]
    bank.undo(bank.changes(last=1)[0].seq)
    assert len(bank.links(relation="tunnel")) == 2


def test_place_left_empty_for_good_is_untied_from_places(bank: Bank) -> None:
    one, two = bank.remember("One.", place="a/b"), bank.remember("Two.", place="a/b")
    bank.remember("Three.", place="x/y")
    bank.link(Place("a/b"), Place("x/y"), "tunnel")
    bank.link(one.id, Place("x/y"), "about")
    bank.remove(two.id)
    bank.purge(one.id)
    assert [link.relation for link in bank.links()] == ["tunnel"], "a removed memory can come back"
    bank.purge(two.id)
    assert bank.links() == []


def test_links_can_be_led_elsewhere_without_memories(bank: Bank) -> None:
    bank.remember("One.", place="a/b")
    tied = bank.link(Place("a/b"), Place("x/y"), "tunnel", label="keys")
    bank.link(Place("a/c"), Place("a/b"), "tunnel")
    assert bank.places.relink("a/b", "a/c") == 2
    [link] = bank.links()
    assert (link.id, link.source.name, link.target.name, link.label) == (tied.id, "a/c", "x/y", "keys")
    assert (bank.places.counts(), bank.places.relink("a/b", "a/c")) == ({"a/b": 1}, 0)


def test_links_are_listed_by_end_and_relation(opened: Callable[..., Bank]) -> None:
    bank, other = opened(session="one"), opened(session="two")
    one, two = bank.remember("One.").id, bank.remember("Two.", scope="session").id
    bank.link(one, two, "follows")
    bank.link(one, Place("a/b"), "about")
    # For the other session, the end of one link is private.
    found = [bank.links(), bank.links(Place("a/b")), bank.links(one, relation="follows"), other.links()]
    relations = [[link.relation for link in links] for links in found]
    assert relations == [["follows", "about"], ["about"], ["follows"], ["about"]]


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "move", "remove", "purge", "end", "rest"]), st.integers(0, 5), st.integers(0, 2)),
    max_size=25,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHANGES)
def test_counts_after_any_changes_are_what_counting_gives(changes: list[tuple[str, int, int]]) -> None:
    with pieria.Workspace(clock=(clock := HandClock())) as workspace:
        bank = workspace.open(f"b{abs(hash(tuple(changes)))}")
        ids: list[str] = []
        for what, which, where in changes:
            id = ids[which % len(ids)] if ids else None
            if what == "add":
                ids.append(bank.remember("Text.", place=f"wing/{where}", entities=[str(where)]).id)
            elif what == "rest":
                clock.move(days=1)
                for named in "012":
                    assert bank.places.naming(named) == dict(sorted(bank.count(by="place", entities=named).items()))
            elif id is not None and bank.get(id) is not None:
                if what == "move":
                    bank.update(id, place=f"wing/{where}")
                elif what == "remove":
                    bank.remove(id)
                elif what == "purge":
                    bank.purge(id)
                    ids.remove(id)
                elif bank.count(place=f"wing/{where}") < 2:
                    bank.update(id, valid_until=clock.now.isoformat() if where else "2026-03-04")
            assert bank.places.counts() == dict(sorted(bank.count(by="place").items()))
