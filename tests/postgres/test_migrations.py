"""Schema changes under a running Pieria: it continues after additions and is shut out by other changes.

No step runs twice or in part.
"""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.contract.store_helpers import ALL, apply, memory, next_version, tie, triple
from tests.postgres.ahead import OF_TOMORROW, further, take
from tests.postgres.conftest import Admin, Opened
from tests.waiting import soon

from pieria.errors import CorruptError, NewerVersionError, StorageError
from pieria.store.postgres import migrate
from pieria.store.postgres.migrate import migrations
from pieria.store.sql.tables import TABLES

WAITING = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%%INDEX CONCURRENTLY%%'"


def test_older_pieria_goes_on_after_additions(opened: Opened, bare_database: str) -> None:
    """A slow test runs the whole contract on such a schema."""
    before = opened()
    first = memory("heron by the lake", "m", tags=["bird"])
    apply(before, first, memory("stork", "n"))
    take(bare_database, further(OF_TOMORROW))
    apply(before, next_version(first, "heron again"), links=[tie("l", "m", "n")])
    apply(before, memory("goes soon", "x"), facts=[triple("f", "Heron", "lives in", "Lakes")])
    apply(before, erase=["x"])
    for store in (before, opened()):
        with store.reading() as reader:
            assert {each.text for each in reader.select(ALL)} == {"heron again", "stork"}
            assert [candidate.row for candidate in reader.text(["heron"], ALL, 10, 100).candidates] == [3]
            assert [each.version for each in reader.history("m")] == [1, 2]
            assert reader.links(ids=["l"])
            assert {tuple(line) for line in reader.dump("state")} == {TABLES["state"].columns}
            assert [change.seq for change in reader.changes()] == [1, 2, 3, 4]
        assert [finding.check for finding in store.check() if not finding.well] == []
    made_afterwards = opened("made afterwards")
    apply(made_afterwards, first)
    with made_afterwards.reading() as reader:
        assert reader.count(ALL) == {"total": 1}


def test_newer_pieria_shuts_out_the_older_one(opened: Opened, bare_database: str, admin: Admin) -> None:
    """By a change of the schema, or by a step with a far number."""
    apply(opened(), memory("heron", "m"))
    take(bare_database, further("ALTER TABLE state RENAME TO states", "post"))
    with pytest.raises(NewerVersionError) as refused:
        opened()
    assert "Upgrade" in str(refused.value.hint)
    admin.execute("DELETE FROM pieria.migration WHERE number > %s", (len(migrations()),))
    admin.execute("INSERT INTO pieria.migration VALUES (9000, 'post', 'of_tomorrow', 'x')")
    with pytest.raises(NewerVersionError, match="9000"):
        opened()


def test_failed_step_leaves_nothing_behind(opened: Opened, bare_database: str, admin: Admin) -> None:
    store = opened()
    apply(store, memory("heron", "m"))
    broken = further("CREATE TABLE pieria.half (bank integer); SELECT 1 / 0")
    with pytest.raises(psycopg.errors.DivisionByZero):
        take(bare_database, broken)
    assert admin.execute("SELECT to_regclass('pieria.half')").fetchone() == (None,)
    apply(store, memory("stork", "n"))
    with opened().reading() as reader:
        assert reader.totals()["versions"] == 2
    # A failed step blocks no later one.
    take(bare_database, further("CREATE TABLE half (bank integer)"))


def test_each_step_is_reported_and_taken_once(opened: Opened, monkeypatch: pytest.MonkeyPatch, admin: Admin) -> None:
    told: list[str] = []
    apply(opened(on_migration=told.append), memory("heron", "m"))
    assert told == []
    steps = (*migrations(), further(OF_TOMORROW))
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert {step.phase for step in steps} <= {"pre", "post"}
    monkeypatch.setattr(migrate, "migrations", lambda: steps)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda _: opened(on_migration=told.append), range(6)))
    assert told == [f"pre/{len(steps):04}_of_tomorrow"]
    assert admin.execute("SELECT count(*) FROM pieria.migration").fetchone() == (len(steps),)


def test_indexes_are_built_while_others_write(opened: Opened, bare_database: str, admin: Admin) -> None:
    """Two callers come at once to a bank of an older Pieria. Only one of them builds."""
    store = opened()
    apply(store, memory("heron", "m"))
    built = [step for step in migrations() if step.beside_others]
    admin.execute("DELETE FROM pieria.migration WHERE number = ANY(%s)", ([step.number for step in built],))
    admin.execute("CREATE INDEX state_by_session ON pieria.state (bank, session, at) WHERE session IS NOT NULL")
    admin.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pieria.state_by_turn'::regclass")
    with psycopg.connect(bare_database) as writing, ThreadPoolExecutor(2) as threads:
        writing.execute("LOCK TABLE pieria.state IN ROW EXCLUSIVE MODE")
        taking = [threads.submit(take, bare_database) for _ in range(2)]
        # The build waits for that transaction, and no writer waits for the build.
        soon(lambda: admin.execute(WAITING).fetchone())
        apply(store, memory("stork", "n"))
        writing.commit()
        for each in taking:
            each.result(30)
    assert admin.execute("SELECT count(*) FROM pieria.migration").fetchone() == (len(migrations()),)
    made = admin.execute(
        "SELECT indexrelid::regclass::text, indisvalid FROM pg_index "
        "WHERE indrelid IN ('pieria.state'::regclass, 'pieria.fact'::regclass)"
    ).fetchall()
    assert {"pieria.state_by_turn", "pieria.state_by_moment", "pieria.fact_by_source"} <= {name for name, _ in made}
    assert {"pieria.state_by_session", "pieria.state_by_at"}.isdisjoint(name for name, _ in made)
    assert all(valid for _, valid in made)


def test_lost_table_or_changed_step_is_damage(opened: Opened, admin: Admin) -> None:
    store = opened()
    admin.execute("DROP TABLE pieria.content")
    with pytest.raises(StorageError, match="damaged"):
        apply(store, memory("heron", "m"))
    admin.execute("UPDATE pieria.migration SET checksum = 'another' WHERE number = 1")
    with pytest.raises(CorruptError, match="step 1"):
        opened()
