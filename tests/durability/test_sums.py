"""One value changed behind the bank's back: `doctor` tells, whatever table it is in."""

import sqlite3
from pathlib import Path

import pytest

import pieria
from pieria.store.sqlite.migrate import migrations

HIDDEN = ("text_", "sqlite_", "sums", "codes")


def every_table() -> list[str]:
    connection = sqlite3.connect(":memory:")
    for step in migrations():
        connection.executescript(step.sql)
    found = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    connection.close()
    return [*(name for name in found if not name.startswith(HIDDEN)), "migration", "sums"]


def a_bank(folder: Path) -> Path:
    with pieria.open("notes", data=folder) as bank:
        made = bank.remember_many({"text": f"heron number {n}", "tags": [f"t{n}"]} for n in range(5))
        bank.link(made[0].id, made[1].id, "follows")
        bank.facts.add("heron", "stands_in", "water", memory=made[2].id)
        bank.update(made[0].id, text="heron again")
        bank.purge(made[4].id)
        bank.update(made[1].id, text="heron after a purge")
        assert bank.doctor().well
    return folder / "notes.db"


@pytest.mark.parametrize("table", every_table())
def test_doctor_tells_of_a_row_put_there_by_another(tmp_path: Path, table: str) -> None:
    path = a_bank(tmp_path)
    connection = sqlite3.connect(path)
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    held = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    if held:
        one = "WHERE name = 'known'" if table == "counter" else ""
        try:
            connection.execute(f"UPDATE {table} SET {columns[-1][1]} = coalesce({columns[-1][1]}, '') || '1' {one}")
        except sqlite3.IntegrityError:
            connection.execute(f"DELETE FROM {table}")
    else:
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join(str(9 + n) for n in range(len(columns)))})")
    connection.commit()
    connection.close()
    with pieria.open("notes", data=tmp_path) as bank:
        assert [each for each in bank.doctor().findings if each.check == "checksums" and not each.well]
