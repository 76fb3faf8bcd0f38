"""All stores have the same SQL statements under the same names."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

import pieria
from pieria.store.postgres.statements import statements as on_postgres
from pieria.store.sqlite.statements import statements as on_sqlite


def sql_files(store: str) -> set[str]:
    return {entry.name for entry in files(f"pieria.store.{store}").iterdir() if entry.name.endswith(".sql")}


def test_stores_share_files_of_the_same_statements() -> None:
    shared = sql_files("sqlite") & sql_files("postgres")
    assert {"filter.sql", "lookups.sql", "queries.sql", "queue.sql", "vectors.sql"} <= shared
    for file in shared:
        assert on_sqlite(file).keys() == on_postgres(file).keys(), file
        assert all(on_sqlite(file).values()), file
        assert all(on_postgres(file).values()), file


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_every_statement_is_there_and_used(store: str) -> None:
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


def test_every_statement_about_rows_names_the_bank() -> None:
    """Each table in a statement needs its bank. A fragment without tables needs none."""
    tables = (
        "content", "counter", "embedded", "fact", "job", "journal", "label", "ledger", "link", "member", "pending",
        "posting", "purged", "quarantine", "record", "space", "state", "terms", "told", "usage",
    )  # fmt: skip
    named = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO)\s+(?:{'|'.join(tables)})(?!\S)")
    for file in sql_files("postgres") - {"bank.sql"}:
        for name, sql in on_postgres(file).items():
            # In near.sql, one fragment names the bank.
            mentions = named.findall(sql.replace("(", " ").replace(")", " "))
            assert sql.count("bank") + sql.count("{vectors}") >= len(mentions), name
