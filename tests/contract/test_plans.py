"""Query plans of a store: with many equal values, an index finds the rows next to a position, without a full scan.

No answer may depend on the plan that a server chooses.
"""

import re
from collections.abc import Callable

from tests.contract.single_calls import noted, read
from tests.contract.store_helpers import ALL, apply, memory, tie, triple

from pieria.record.fact import FactQuery
from pieria.record.filter import ANY_TIME
from pieria.store.protocol import Reader, Store
from pieria.store.sqlite.session import SQLiteSession

MANY = 1_000
WAYS: tuple[tuple[str, ...], ...] = (
    (),
    ("seqscan", "hashagg", "hashjoin"),
    ("indexscan", "bitmapscan", "indexonlyscan", "nestloop", "sort"),
)
"""Plan methods that a server must not use."""
FILTER = ALL.having(session="talk")


def plan(store: Store, ask: Callable[[Reader], object]) -> str:
    """Return the plans of all statements that `ask` runs."""
    with store.reading() as reader:
        asked = noted(reader)
        ask(reader)
        session = reader._session  # type: ignore[attr-defined]
        explain = "EXPLAIN QUERY PLAN " if isinstance(session, SQLiteSession) else "EXPLAIN "
        plans = [session.execute(explain + sql, values) for sql, values in tuple(asked)]
        return "\n".join(str(line[-1]) for plan in plans for line in plan.fetchall())


def know(store: Store, table: str) -> None:
    """Update the server's table statistics, which it otherwise refreshes only now and then."""
    with store.writing() as writer:
        session = writer._session  # type: ignore[attr-defined]
        if not isinstance(session, SQLiteSession):
            session.execute(f"ANALYZE {table}")


def test_turns_of_one_moment_are_read_from_a_position_on(store: Store) -> None:
    rows = apply(store, *(memory(f"turn {n}", f"t{n}", kind="turn", session="talk") for n in range(MANY))).rows
    know(store, "state")
    at = read(store).select(ALL, "oldest", 1)[0].at
    place = (int(at.timestamp() * 1_000_000), rows[MANY // 2])
    asks: dict[str, Callable[[Reader], object]] = {
        "around": lambda reader: reader.around(rows[500:502], ALL, 2),
        "the session's before": lambda reader: reader.select(FILTER, "newest", 5, place),
        "the bank's after": lambda reader: reader.select(ALL, "oldest", 5, place),
    }
    for name, ask in asks.items():
        said = plan(store, ask)
        assert re.search(r"\(at,row\)[<>]|Index Cond: .*ROW\(at, .?row.?\) [<>] ROW\(", said), (name, said)
        assert "TEMP B-TREE" not in said, (name, said)


def test_facts_of_a_source_are_found_by_an_index(store: Store) -> None:
    apply(store, facts=[triple(f"f{n}", f"Subject {n}", "is", "there", source=f"{n}.md") for n in range(MANY)])
    know(store, "fact")
    query, written = FactQuery(source="7.md"), ALL.having(valid_at=ANY_TIME)
    assert [fact.id for fact in read(store).facts(query, written)] == ["f7"]
    assert "fact_by_source" in plan(store, lambda reader: reader.facts(query, written))


def test_tally_is_read_from_an_index_of_its_own(store: Store) -> None:
    apply(store, *(memory(f"note {n}", f"m{n}") for n in range(MANY)))
    tallied = plan(store, lambda reader: reader.tally())
    others = plan(store, lambda reader: (reader.select(ALL), reader.count(ALL, "kind"), reader.aged(ALL, 0, 10)))
    is_a_file = "state_by_at" in others
    assert ("COVERING INDEX state_tally" in tallied) == is_a_file
    assert "state_tally" not in others


def keep_from(reader: Reader, ways: tuple[str, ...]) -> None:
    session = reader._session  # type: ignore[attr-defined]
    if not isinstance(session, SQLiteSession):
        for way in ways:
            session.execute(f"SET LOCAL enable_{way} = off")


def test_no_order_depends_on_the_plan_of_a_server(store: Store) -> None:
    kinds, tags, names = ("turn", "note", "diary"), ("zoo", "ant", "mole"), [f"m{n}" for n in range(60)]
    writes = [memory(f"note {n}", id, kind=kinds[n % 3], tags=tags[: n % 4]) for n, id in enumerate(names)]
    ties = [tie(f"l{n}", names[n], names[(7 * n + 1) % 60]) for n in reversed(range(60))]
    rows = apply(store, *writes, links=ties).rows
    tagged = [(tag, [row for n, row in enumerate(rows) if tag in tags[: n % 4]][:50]) for tag in tags[::-1]]
    for ways in WAYS:
        with store.reading() as reader:
            keep_from(reader, ways)
            tally = reader.tally()
            assert tally == sorted(tally)
            assert [line.kind for line in tally] == sorted(kinds)
            assert [spot.row for spot in reader.spots(rows[::-1], ALL)] == rows[::-1]
            assert [placed.id for placed in reader.placed(ALL)] == names
            every = {written.tags for written in reader.written(rows).values()}
            assert every == {(), ("zoo",), ("ant", "zoo"), ("ant", "mole", "zoo")}
            assert list(reader.rows_each(ALL, "tags", tags[::-1], "oldest").items()) == tagged
            found = [(tied.entry, tied.id) for tied in reader.ties_of(names[::-1], ALL)]
            assert found == sorted(found)
            assert len(found) == 2 * len(ties)
