"""Neighbours of memories and places: their order, the limits, and the number of statements."""

from typing import Any

import pytest
from tests.bank.kept import Kept

import pieria
from pieria.bank import Bank
from pieria.bank.read.links import Way, walked
from pieria.bank.results.general import Neighborhood
from pieria.errors import ConflictError, NotFoundError
from pieria.record.link import End

ROOM = pieria.Place("attic/birds")
LINKS = (
    ("hub", "c", "related"), ("b", "hub", "related"), ("a", "hub", "sibling"), ("hub", "c", "answers"),
    ("hub", ROOM, "kept_in"), ("hub", "d", "related"), ("c", "d", "related"), ("e", "c", "related"),
    (ROOM, "f", "holds"), ("d", "f", "related"),
)  # fmt: skip


@pytest.fixture
def bank(bank: Bank) -> Bank:
    return linked(bank)


def linked(bank: Bank) -> Bank:
    """Fill a bank with a hub whose first links lead to hidden memories, and a few others further."""
    bank.remember_many([{"id": id, "text": id} for id in ("hub", *"abcdef", *(f"old{n}" for n in range(9)))])
    for n in range(9):
        bank.link("hub", f"old{n}")
        bank.invalidate(f"old{n}")
    for source, target, relation in LINKS:
        bank.link(source, target, relation)
    return bank


def told(found: Neighborhood) -> list[tuple[str, str, int]]:
    return [(each.memory.id if each.memory else str(each.place), each.link.relation, each.hops) for each in found]


def test_neighbours_come_nearest_first_by_the_oldest_link(kept: Kept) -> None:
    near = [
        ("c", "related", 1), ("b", "related", 1), ("a", "sibling", 1), (ROOM.name, "kept_in", 1), ("d", "related", 1),
    ]  # fmt: skip
    further = [("e", "related", 2), ("f", "holds", 2)]
    with kept.opened("notes") as bank:
        linked(bank)
        assert (told(bank.neighbors("hub")), told(bank.neighbors("hub", hops=3))) == (near, near + further)
        assert told(bank.neighbors("hub", direction="out")) == [one for one in near if one[0] != "b"]
        assert told(bank.neighbors("hub", direction="in")) == near[1:3]
        assert told(bank.neighbors("hub", relation="answers", hops=2)) == [("c", "answers", 1)]
        for limit in range(1, 8):
            cut = bank.neighbors("hub", hops=2, limit=limit)
            assert (told(cut), cut.truncated) == ((near + further)[:limit], limit < 7)


def test_each_of_several_has_the_neighbours_that_it_has_alone(bank: Bank) -> None:
    ends = [*"fedcba", "hub", ROOM, pieria.Place("no/where")]
    ways: list[dict[str, Any]] = [{}, {"limit": 2}, {"direction": "in"}, {"relation": "related", "direction": "out"}]
    for way in (way | {"hops": hops} for way in ways for hops in (1, 2, 3)):
        around = bank.neighbors_each(ends, **way)
        alone = {end: bank.neighbors(end, **way) for end in ends}
        assert list(around.items()) == list(alone.items()), way
        assert [each.truncated for each in around.values()] == [each.truncated for each in alone.values()], way
    mine = [bank.remember(text, scope="user").id for text in ("I like tea.", "I like jazz.")]
    tie = bank.link(*mine)
    around = bank.neighbors_each([mine[0], "b", mine[1]])
    assert {id: told(found) for id, found in around.items()} == {
        mine[0]: [(mine[1], "related", 1)], "b": [("hub", "related", 1)], mine[1]: [(mine[0], "related", 1)],
    }  # fmt: skip
    assert ([link.id for link in bank.unlink(tie.id)], told(bank.neighbors(mine[0]))) == ([tie.id], [])
    bank.remove("b")
    with pytest.raises(ConflictError, match="removed") as removed:
        bank.neighbors_each(["a", "b", "nobody"])
    assert removed.value.ids == ("b",)
    with pytest.raises(NotFoundError, match="nobody"):
        bank.neighbors_each([ROOM, "a", "nobody"])


def test_many_take_no_more_statements_than_one(bank: Bank) -> None:
    def taken(ids: str, hops: int, most: int) -> list[int | None]:
        """Return the row limit of each statement, or None for statements that look for links."""
        limits: list[int | None] = []
        with bank.core.store.reading() as reader:
            # A transaction checks once for quarantine and for links.
            reader.hides()
            reader.links([])
            session = reader._session  # type: ignore[attr-defined]
            execute = session.execute

            def noting(sql: str, values: dict[str, Any]) -> Any:
                limits.append(values.get("limit"))
                return execute(sql, values)

            session.execute = noting
            walked(reader, bank.core.filter(), [End("memory", id) for id in ids], Way(None, "both", hops), most)
        return limits

    assert taken("b", 1, 50) == [None, 1] and taken("bdef", 1, 50) == [None, 4]
    assert len(taken("b", 2, 50)) == len(taken("bdef", 2, 50)) == 4
    bank.remember_many([{"id": f"new{n}", "text": "New."} for n in range(40)])
    for n in range(40):
        bank.link("a", f"new{n}")
    assert taken("a", 1, 5) == [None, 5]
