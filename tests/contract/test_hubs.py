"""Hubs in a store: the last written links come first, no more than requested, and none that is hidden."""

from tests.contract.making import ALL, DAY, NOW, apply, memory, standing, tie, triple

from pieria.record.filter import ANY_TIME, Filter
from pieria.store.protocol import Store


def test_newest_links_from_a_hub_come_first_then_those_to_it(store: Store) -> None:
    writes = [memory(id, id) for id in "abcde"]
    rows = dict(zip("abcde", apply(store, *writes).rows, strict=True))
    apply(
        store,
        links=[
            tie("1", "a", "b"), tie("2", "a", "c"), tie("3", "a", "d"), tie("4", "e", "a"), tie("5", "b", "a"),
            tie("6", "a", "attic/birds"), tie("7", "a", "nobody"), tie("8", "b", "c"),
        ],
    )  # fmt: skip
    with store.reading() as reader:
        assert reader.tied(["a"], ALL, 9) == {"a": [rows[id] for id in "dcbbe"]}
        assert reader.tied(["a", "b", "nobody"], ALL, 1) == {
            "a": [rows["d"], rows["b"]], "b": [rows["c"], rows["a"]], "nobody": [rows["a"]],
        }  # fmt: skip
        assert reader.tied([], ALL, 1) == {}
        before = reader.head().known
    apply(store, standing(writes[3], rows["d"], status="archived"), links=[tie("5", "b", "a", ended="removed")])
    with store.reading() as reader:
        assert reader.tied(["a"], ALL, 2) == {"a": [rows["c"], rows["b"], rows["e"]]}
        then = ALL.having(known_at=before)
        assert reader.tied(["a"], then, 2) == {"a": [rows[id] for id in "dcbe"]}


def test_ties_are_current_links_to_visible_memories(store: Store) -> None:
    writes = [memory(id, id) for id in "abcd"]
    rows = dict(zip("abcd", apply(store, *writes).rows, strict=True))
    ties = [tie("1", "a", "b"), tie("2", "c", "a"), tie("3", "a", "d"), tie("4", "b", "c"), tie("5", "a", "nobody")]
    apply(store, links=[*ties, tie("6", "a", "attic/birds")])
    with store.reading() as reader:
        found = sorted(reader.ties_of("ab", ALL), key=lambda tie: (tie.id, tie.entry))
        assert [(tie.id, tie.other, tie.relation) for tie in found] == [
            ("a", "b", ties[0].relation), ("a", "c", ties[1].relation), ("a", "d", ties[2].relation),
            ("b", "a", ties[0].relation), ("b", "c", ties[3].relation),
        ]  # fmt: skip
        there = sorted({(tie.row, tie.other, tie.kind, tie.at, tie.known_from) for tie in found})
        assert there == sorted(reader.spots(list(rows.values()), ALL))
        assert {tie.other for tie in reader.ties_of("ab", ALL.having(ids=("d",)))} == {"d"}
        assert reader.ties_of([], ALL) == []
    apply(store, standing(writes[3], rows["d"], ended="removed"), links=[tie("1", "a", "b", ended="removed")])
    with store.reading() as reader:
        assert {tie.other for tie in reader.ties_of(["a"], ALL)} == {"c"}
        assert [tie[:2] for tie in reader.ties_of(["nobody"], ALL)] == [("nobody", ties[4].relation)]


def test_labelled_memories_come_newest_first(store: Store) -> None:
    writes = [memory(f"m{n}", f"m{n}", entities=["Vienna"] if n % 2 else ["Graz", "Vienna"]) for n in range(6)]
    rows = apply(store, *writes, memory("none", "none")).rows
    apply(store, standing(writes[5], rows[5], ended="removed"))
    with store.reading() as reader:
        assert reader.labelled("entities", ["vienna"], ALL, 3) == [rows[4], rows[3], rows[2]]
        assert reader.labelled("entities", ["vienna", "graz"], ALL, 9) == rows[4::-1]
        assert reader.labelled("entities", ["vienna"], ALL.having(entities=("graz",)), 9) == [rows[4], rows[2], rows[0]]
        assert reader.labelled("entities", ["linz"], ALL, 9) == []
        assert reader.labelled("standing", ["vienna"], ALL, 9) == []


def test_newest_facts_are_those_visible_and_valid(store: Store) -> None:
    writes = [memory("a", "a"), memory("b", "b"), memory("c", "c", valid_until="2026-02-01"), memory("d", "d")]
    rows = apply(store, *writes).rows
    facts = [triple(str(n), "Vienna", "holds", f"t{n}", memory=id) for n, id in enumerate("abcd")]
    facts += [
        triple("without", "Vienna", "holds", "x"),
        triple("past", "Vienna", "holds", "y", memory="a", valid_until=NOW - DAY),
    ]
    apply(store, facts=facts)
    apply(store, standing(writes[3], rows[3], status="archived"))
    with store.reading() as reader:

        def drawn(filter: Filter, *keys: str, newest: int = 1) -> list[str]:
            return [span.id for span in reader.drawn(keys or ("vienna",), filter, newest)]

        assert drawn(ALL) == ["1"]
        assert drawn(ALL, newest=9) == ["0", "1"]
        assert drawn(ALL.having(status=None)) == ["3"]
        assert drawn(ALL.having(ids=("a",))) == ["0"]
        assert drawn(ALL.having(valid_at=NOW - 40 * DAY)) == ["past"]
        assert drawn(ALL, "t0", "t1", "vienna", newest=9) == drawn(ALL, "t1", "t0", newest=9) == ["0", "1"]
        assert drawn(ALL, "linz") == []
        written = ALL.having(valid_at=ANY_TIME)
        assert drawn(written, newest=2) == ["2", "past"]
        before = reader.head().known
    apply(store, facts=[triple("1", "Vienna", "holds", "t1", memory="b", ended="ended")])
    with store.reading() as reader:
        assert drawn(ALL) == ["0"]
        assert drawn(ALL.having(known_at=before)) == ["1"]
