"""A statement that one store has, every store has, under the same name."""

from importlib.resources import files
from itertools import pairwise

import pytest

from pieria.store.postgres.statements import statements as on_postgres
from pieria.store.sqlite.statements import statements as on_sqlite


def sql_files(store: str) -> set[str]:
    return {entry.name for entry in files(f"pieria.store.{store}").iterdir() if entry.name.endswith(".sql")}


SHARED = sorted(sql_files("sqlite") & sql_files("postgres"))


def test_what_all_stores_have_is_there() -> None:
    assert {"filter.sql", "lookups.sql", "queries.sql", "queue.sql", "vectors.sql"} <= set(SHARED)


@pytest.mark.parametrize("file", SHARED)
def test_a_file_has_the_same_statements_in_every_store(file: str) -> None:
    assert on_sqlite(file).keys() == on_postgres(file).keys()
    assert all(on_sqlite(file).values())
    assert all(on_postgres(file).values())


@pytest.mark.parametrize("file", sorted(sql_files("postgres") - {"bank.sql"}))
def test_every_statement_about_rows_names_the_bank(file: str) -> None:
    """Once for each table that it reads or writes, or not at all where it is a part of a statement that does."""
    tables = (
        "content", "counter", "embedded", "fact", "job", "journal", "label", "ledger", "link", "member", "pending",
        "posting", "purged", "quarantine", "record", "space", "state", "terms", "told", "usage",
    )  # fmt: skip
    for name, sql in on_postgres(file).items():
        words = sql.replace("(", " ").replace(")", " ").split()
        named = [
            word for before, word in pairwise(words) if before in ("FROM", "JOIN", "UPDATE", "INTO") and word in tables
        ]
        # In near.sql one part says whose vectors are meant.
        assert sql.count("bank") + sql.count("{vectors}") >= len(named), name
