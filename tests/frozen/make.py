"""Freeze a database of the current schema: `python -m tests.frozen.make`, from the root of the project.

The script writes `schema_N.sql`, which recreates all tables with the text index's own, and `schema_N.json`, the
answers of that bank. Run it once before a schema is released, and never again for that schema. Later versions must
read what this version wrote. Tests call `load` to recreate the bank.
"""

import json
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.frozen.story import BEGAN, open_bank, tell, told

HERE = Path(__file__).parent


def written(value: Any) -> str:
    """Return a value as an SQL literal on one line."""
    if isinstance(value, str):
        plain = not any(ord(char) < 32 for char in value)
        return "'" + value.replace("'", "''") + "'" if plain else f"CAST(X'{value.encode().hex()}' AS TEXT)"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return "NULL" if value is None else repr(value)


def dumped(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the statements that recreate the database: tables, virtual tables with their content, and indexes."""
    for pragma in ("application_id", "user_version"):
        yield f"PRAGMA {pragma} = {connection.execute(f'PRAGMA {pragma}').fetchone()[0]};"
    found = connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    ).fetchall()
    virtual = [name for _, name, sql in found if sql.startswith("CREATE VIRTUAL")]
    inner = [name for _, name, _ in found if name not in virtual and name.startswith(tuple(f"{v}_" for v in virtual))]
    for _, name, sql in found:
        if name not in virtual and name not in inner and sql.startswith("CREATE TABLE"):
            yield sql + ";"
            yield from rows(connection, name)
    yield from (sql + ";" for _, name, sql in found if name in virtual)
    for name in sorted(inner):
        yield f"DELETE FROM {name};"
        yield from rows(connection, name)
    yield from (sql + ";" for kind, _, sql in found if kind != "table")


def rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    for row in connection.execute(f"SELECT * FROM {table}"):
        yield f"INSERT INTO {table} VALUES ({', '.join(map(written, row))});"


def load(version: int, path: Path) -> None:
    """Recreate the frozen database of this schema at the path."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript(f"BEGIN;\n{(HERE / f'schema_{version}.sql').read_text()}\nCOMMIT;")
    finally:
        connection.close()
    path.chmod(0o600)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_bank(folder, BEGAN) as bank:
            tell(bank)
        connection = sqlite3.connect(folder / "frozen.db")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        (HERE / f"schema_{version}.sql").write_text("\n".join(dumped(connection)) + "\n")
        connection.close()
        # Ask only after the dump, because hits count as used.
        with open_bank(folder) as bank:
            answers = told(bank)
    pretty = json.dumps(answers, indent=1, ensure_ascii=False, sort_keys=True)
    (HERE / f"schema_{version}.json").write_text(pretty + "\n")
    sys.stdout.write(f"froze schema {version}\n")


if __name__ == "__main__":
    main()
