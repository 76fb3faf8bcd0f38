"""All stores have the same SQL statements under the same names."""

import re
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

import pieria
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


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_every_statement_asked_for_is_there_and_no_other(store: str) -> None:
    """Find missing statements before a rarely run line asks for them in production."""
    source = Path(str(files(pieria))) / "store"
    code = "\n".join(path.read_text() for room in ("sql", store) for path in (source / room).glob("*.py"))
    told = on_sqlite if store == "sqlite" else on_postgres
    there = {name for file in sql_files(store) for name in told(file)}
    asked = set(re.findall(r"""\b_?sql\["([\w.]+)"\]""", code))
    assert asked
    assert asked - there == set()
    patterns = set(re.findall(r'f"(\w+\.\{\w+\}\w*|\w+_\{\w+\})"', code))
    patterns |= {"{what}.vectors", "{name}.probe", "{name}_is"}
    made = "|".join(re.escape(re.sub(r"\{\w+\}", "*", pattern)).replace(r"\*", r"[\w.]+") for pattern in patterns)
    named = set(re.findall(r"""["']([\w.]+)["']""", code))
    assert {name for name in there - named if not re.fullmatch(made, name)} == set()


@pytest.mark.parametrize("file", sorted(sql_files("postgres") - {"bank.sql"}))
def test_every_statement_about_rows_names_the_bank(file: str) -> None:
    """Each table in a statement needs its bank. A fragment without tables needs none."""
    tables = (
        "content", "counter", "embedded", "fact", "job", "journal", "label", "ledger", "link", "member", "pending",
        "posting", "purged", "quarantine", "record", "space", "state", "terms", "told", "usage",
    )  # fmt: skip
    for name, sql in on_postgres(file).items():
        words = sql.replace("(", " ").replace(")", " ").split()
        named = [
            word for before, word in pairwise(words) if before in ("FROM", "JOIN", "UPDATE", "INTO") and word in tables
        ]
        # In near.sql, one fragment names the bank.
        assert sql.count("bank") + sql.count("{vectors}") >= len(named), name
