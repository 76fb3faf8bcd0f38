"""The rows of several tags, entities, files or places, read at once with the same result as one by one."""

import itertools

import pytest
from tests.contract.making import ALL, DAY, NOW, HandClock, apply, memory, standing

from pieria.record.filter import ANY_TIME, Filter, Shared, Viewer
from pieria.record.time import iso, moment
from pieria.store.protocol import ORDERS, Store
from pieria.store.sql import reader as sql_reader

COMMON: dict[Shared, tuple[str, ...]] = {
    "tags": ("zoo", "ant", "nobody's", 'quote"d, and\\cut'),
    "entities": ("maya", "ada"),
    "files": ("src/a.py", "src/A.py"),
    "place": ("den/wolf", "den/fox", "no/where"),
}
FILTERS: list[Filter] = [
    ALL,
    ALL.having(viewer=Viewer(session="s1")),
    ALL.having(kinds=("diary",), since=NOW - 5 * DAY, until=NOW - DAY),
    ALL.having(tags=("zoo",), place="den"),
    ALL.having(valid_at=ANY_TIME, status=None, endings=("", "removed", "revised")),
]


def filled(store: Store, count: int = 36) -> None:
    """Write memories: some at the same time, some private to a session, some expired or removed."""
    tags, places = COMMON["tags"], COMMON["place"]
    writes = [
        memory(
            f"text {n}", f"m{n}",
            kind=("note", "diary")[n % 2],
            tags=[tags[each] for each in (0, 1, 3) if n % (each + 2)],
            entities=["Maya", "Ada"][: n % 3],
            files=list(COMMON["files"][: n % 3]),
            place=places[n % 2],
            scope="session" if n % 5 == 1 else "bank",
            session="s1",
            importance=(n % 4) / 4,
            at=iso(moment(NOW - n // 4 * DAY)),
            valid_until=iso(moment(NOW - DAY)) if n % 7 == 2 else None,
        )
        for n in range(count)
    ]  # fmt: skip
    rows = apply(store, *writes).rows
    apply(store, *(standing(writes[n], rows[n], ended="removed") for n in range(0, count, 9)))


def test_each_of_several_has_the_rows_that_it_has_alone(
    store: Store, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store)
    with store.reading() as reader:
        known = reader.head().known
    clock.move(hours=1)
    apply(store, memory("later", "later", tags=["zoo"], entities=["Ada"], place="den/fox"), erase=["m5"])
    pages = itertools.cycle(zip(ORDERS, (3, 100, 7, 1), strict=True))
    for few in (sql_reader.FEW, 9):
        monkeypatch.setattr(sql_reader, "FEW", few)
        found = 0
        with store.reading() as reader:
            for by, at, asked in itertools.product(COMMON, (None, known), FILTERS):
                (order, limit), values, filter = next(pages), COMMON[by], asked.having(known_at=at)
                each = reader.rows_each(filter, by, values, order, limit)
                alone = {v: reader.rows(filter.having_shared(by, v), order, limit) for v in values}
                assert list(each.items()) == list(alone.items()), (by, filter, order)
                found += sum(map(len, each.values()))
        assert found > 125


def test_several_take_one_statement_unless_very_frequent(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(store)
    monkeypatch.setattr(sql_reader, "FEW", 20)

    def taken(by: Shared, *values: str) -> int:
        asked: list[str] = []
        with store.reading() as reader:
            # A transaction checks the quarantine once.
            reader.hides()
            session = reader._session  # type: ignore[attr-defined]
            execute = session.execute

            def noting(sql: str, values: object) -> object:
                asked.append(sql)
                return execute(sql, values)

            session.execute = noting
            reader.rows_each(ALL, by, values)
        return len(asked)

    assert taken("place", *COMMON["place"]) == 1
    assert taken("tags", "nobody's", "zoo") == taken("tags", "zoo") == 1
    assert taken("tags", "nobody's", "ant") == 2
