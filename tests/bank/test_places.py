"""The counts of memories by place follow every change of every writer."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.making import START, HandClock

import pieria
from pieria.errors import InputError

SPEED = {"durability": "off"}


def opened(folder: Path, clock: HandClock | None = None, **more: object) -> pieria.Bank:
    return pieria.open("notes", data=folder, settings=SPEED, clock=clock or HandClock(), **more)  # type: ignore[arg-type]


def test_places_are_counted_with_their_types_and_their_newest(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember("One.", place="billing/decisions", body={"type": "decision"}, at="2026-01-01")
        bank.remember("Two.", place="billing/decisions", at="2026-02-01")
        bank.remember("Three.")
        assert bank.places.counts() == {"billing/decisions": 2, "notes/note": 1}
        kept = bank.places.all()["billing/decisions"]
        assert (kept.memories, dict(kept.types), kept.newest.month) == (2, {"decision": 1, "note": 1}, 2)


def test_what_another_process_changes_is_counted(tmp_path: Path) -> None:
    with opened(tmp_path) as bank, opened(tmp_path) as other:
        memory = bank.remember("One.", place="a/b", entities=["Maya"])
        assert other.places.counts() == {"a/b": 1}
        bank.update(memory.id, place="a/c", entities=["Omar"])
        assert other.places.counts() == {"a/c": 1}
        assert (other.places.naming("maya"), other.places.naming("OMAR")) == ({}, {"a/c": 1})
        bank.purge(memory.id)
        assert other.places.counts() == other.places.naming("Omar") == {}


def test_what_no_longer_holds_or_does_not_yet_is_not_counted(tmp_path: Path) -> None:
    clock = HandClock()
    with opened(tmp_path, clock) as bank:
        bank.remember("Until Monday.", place="a/b", valid_until="2026-03-02")
        bank.remember("From Monday.", place="a/c", valid_from="2026-03-02")
        assert START.isoformat() < "2026-03-02"
        assert bank.places.counts() == {"a/b": 1}
        clock.move(days=2)
        assert bank.places.counts() == {"a/c": 1}


def test_a_session_s_own_is_counted_for_it_alone(tmp_path: Path) -> None:
    with opened(tmp_path, session="one") as bank, opened(tmp_path, session="two") as other:
        bank.remember("Mine.", place="a/b", scope="session")
        assert (bank.places.counts(), other.places.counts()) == ({"a/b": 1}, {})


def test_the_newest_is_another_when_it_goes(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember("Old.", place="a/b", at="2026-01-01")
        new = bank.remember("New.", place="a/b", at="2026-02-01")
        assert bank.places.all()["a/b"].newest.month == 2
        bank.remove(new.id)
        assert bank.places.all()["a/b"].newest.month == 1
        bank.restore(new.id)
        assert bank.places.all()["a/b"].newest.month == 2


def test_entities_lead_from_place_to_place(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember("One.", place="a/b", entities=["Maya", "maya", "JWT"])
        bank.remember("Two.", place="a/c", entities=["MAYA"])
        bank.remember("Three.", place="a/b", entities=["Maya"])
        assert bank.places.entities("a/b") == {"maya": 2, "JWT": 1}
        assert bank.places.entities(["a/b", "a/c", "no/where"]) == {"maya": 3, "JWT": 1}
        assert bank.places.naming("Maya") == {"a/b": 2, "a/c": 1}
        assert bank.places.shared("a/c") == bank.places.shared() == {"maya": {"a/b": 2, "a/c": 1}}
        bank.remember("Four.", place="a/d", entities=["JWT", "Maya"])
        assert set(bank.places.shared("a/d")) == {"maya", "JWT"}
        assert set(bank.places.shared("a/d", most=2)) == {"JWT"}
        assert bank.places.shared("no/where") == {}


def test_a_renamed_place_keeps_its_memories_and_its_links(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        kept = bank.remember("One.", place="a/b")
        gone = bank.remember("Two.", place="a/b")
        bank.remove(gone.id)
        bank.remember("Three.", place="a/c")
        bank.link(pieria.Place("a/b"), pieria.Place("x/y"), "tunnel")
        bank.link(pieria.Place("a/c"), pieria.Place("a/b"), "tunnel")
        assert bank.places.rename("a/b", "a/c") == 2
        assert bank.places.counts() == {"a/c": 2}
        assert bank.restore(gone.id).place == "a/c"
        assert [(link.source.name, link.target.name) for link in bank.links()] == [("a/c", "x/y")]
        bank.remove(gone.id)
        bank.places.rename("a/c", "d/e")
        bank.undo(bank.changes(last=1)[0].seq)
        assert [bank.get(id, include_removed=True).place for id in (kept.id, gone.id)] == ["a/c"] * 2  # type: ignore[union-attr]
        with pytest.raises(InputError):
            bank.places.rename("a/b", "a/b")


def test_two_places_that_become_one_are_tied_to_a_third_once(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember("One.", place="a/b")
        bank.remember("Two.", place="a/c")
        kept = bank.link(pieria.Place("x/y"), pieria.Place("a/c"), "tunnel")
        bank.link(pieria.Place("a/b"), pieria.Place("x/y"), "tunnel", label="keys")
        bank.link(pieria.Place("a/b"), pieria.Place("x/y"), "follows")
        bank.places.rename("a/b", "a/c")
        assert {(link.relation, link.label) for link in bank.links()} == {("tunnel", "keys"), ("follows", None)}
        assert [link.id for link in bank.links(relation="tunnel")] == [kept.id]
        bank.undo(bank.changes(last=1)[0].seq)
        assert len(bank.links(relation="tunnel")) == 2


def test_a_place_that_is_left_empty_for_good_is_untied_from_other_places(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        one, two = bank.remember("One.", place="a/b"), bank.remember("Two.", place="a/b")
        bank.remember("Three.", place="x/y")
        bank.link(pieria.Place("a/b"), pieria.Place("x/y"), "tunnel")
        bank.link(one.id, pieria.Place("x/y"), "about")
        bank.remove(two.id)
        bank.purge(one.id)
        assert [link.relation for link in bank.links()] == ["tunnel"], "what was removed can come back"
        bank.purge(two.id)
        assert bank.links() == []


def test_links_can_be_led_elsewhere_without_what_is_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as bank:
        bank.remember("One.", place="a/b")
        tied = bank.link(pieria.Place("a/b"), pieria.Place("x/y"), "tunnel", label="keys")
        bank.link(pieria.Place("a/c"), pieria.Place("a/b"), "tunnel")
        assert bank.places.relink("a/b", "a/c") == 2
        [link] = bank.links()
        assert (link.id, link.source.name, link.target.name, link.label) == (tied.id, "a/c", "x/y", "keys")
        assert bank.places.counts() == {"a/b": 1}
        assert bank.places.relink("a/b", "a/c") == 0
        with pytest.raises(InputError):
            bank.places.relink("a/b", "a/b")


def test_links_are_listed_by_end_and_relation(tmp_path: Path) -> None:
    with opened(tmp_path, session="one") as bank, opened(tmp_path, session="two") as other:
        one, two = bank.remember("One."), bank.remember("Two.", scope="session")
        bank.link(one.id, two.id, "follows")
        bank.link(one.id, pieria.Place("a/b"), "about")
        assert [link.relation for link in bank.links()] == ["follows", "about"]
        assert [link.relation for link in bank.links(pieria.Place("a/b"))] == ["about"]
        assert [link.relation for link in bank.links(one.id, relation="follows")] == ["follows"]
        # The other end is private to a session.
        assert [link.relation for link in other.links()] == ["about"]


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "move", "remove", "purge", "end", "rest"]), st.integers(0, 5), st.integers(0, 2)),
    max_size=25,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHANGES)
def test_after_any_changes_it_is_what_counting_gives(changes: list[tuple[str, int, int]]) -> None:
    with pieria.Workspace(settings=SPEED, clock=(clock := HandClock())) as workspace:
        bank = workspace.open(f"b{clock.now.microsecond}-{abs(hash(tuple(changes)))}")
        ids: list[str] = []
        for what, which, where in changes:
            id = ids[which % len(ids)] if ids else None
            place = f"wing/{where}"
            if what == "add":
                ids.append(bank.remember("Text.", place=place, entities=[str(where)]).id)
            elif what == "rest":
                clock.move(days=1)
                for named in "012":
                    assert bank.places.naming(named) == dict(sorted(bank.count(by="place", entities=named).items()))
            elif id is not None and bank.get(id) is not None:
                if what == "move":
                    bank.update(id, place=place)
                elif what == "remove":
                    bank.remove(id)
                elif what == "purge":
                    bank.purge(id)
                    ids.remove(id)
                elif bank.count(place=place) < 2:
                    bank.update(id, valid_until=clock.now.isoformat() if where else "2026-03-04")
            assert bank.places.counts() == dict(sorted(bank.count(by="place").items()))
