"""Databases of older versions open, keep their content, and give the same answers."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.frozen.make import HERE, dumped, load
from tests.frozen.story import open_bank, told

from pieria.language.analyser import ANALYSER_VERSION
from pieria.store.sqlite.migrate import migrations

SIFTED = 3
"""From this schema on, a window holds only turns that all readers of its own turn can see. Older ones held more."""
VERSIONS = sorted(int(path.stem.removeprefix("schema_")) for path in HERE.glob("schema_*.sql"))


BELIEVED = 9
"""From this schema on, trust follows the way in, not the author's label. Older banks get new trust values."""


def plain(answers: Any) -> Any:
    return json.loads(json.dumps(answers))


def unbelieved(answers: Any) -> Any:
    """Return the answers without `via` and `trust`."""
    if isinstance(answers, dict):
        return {name: unbelieved(value) for name, value in answers.items() if name not in ("via", "trust")}
    return [unbelieved(each) for each in answers] if isinstance(answers, list) else answers


@pytest.mark.parametrize("version", VERSIONS)
def test_frozen_bank_answers_as_it_did_and_can_be_written(tmp_path: Path, version: int) -> None:
    path = tmp_path / "frozen.db"
    load(version, path)
    # The freezer loses no data.
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert "\n".join(dumped(connection)) + "\n" == (HERE / f"schema_{version}.sql").read_text()
    with open_bank(tmp_path) as bank:
        answers = plain(told(bank))
        expected = json.loads((HERE / f"schema_{version}.json").read_text())
        if version < SIFTED and "near" in expected:
            expected["near"][1] = []
        answered = {question: answers[question] for question in expected}
        # Facts of older versions get statement memories in a change of their own.
        answered["changes"] = [change for change in answered["changes"] if change[1] != "facts state"]
        if version < BELIEVED:
            answered, expected = unbelieved(answered), unbelieved(expected)
        assert answered == expected
        assert bank.doctor().well
    assert len(list(tmp_path.glob("*.backup"))) == (version < max(VERSIONS))
    with open_bank(tmp_path) as bank:
        last = bank.changes()[-1]
        made = bank.remember("JWT again, by a later version.")
        assert bank.changes()[-1].seq == last.seq + 1
        assert made.known_from > last.at
        assert made.id in {hit.memory.id for hit in bank.recall("jwt")}
        bank.update("jwt", text="Changed by a later version.")
        bank.undo(bank.changes()[-1].seq)
        bank.purge("street")
        assert bank.doctor().well


def test_every_schema_is_frozen() -> None:
    """Run `python -m tests.frozen.make` before each release of a schema."""
    assert [step.number for step in migrations()] == VERSIONS
    for path in HERE.glob("schema_*.*"):
        assert not re.search(r"/(?:tmp|home|root|Users|work)/", path.read_text()), "it names the machine that made it"


def test_bank_of_an_older_analyser_is_indexed_anew(tmp_path: Path) -> None:
    path = tmp_path / "frozen.db"
    load(VERSIONS[-1], path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE counter SET value = 0 WHERE name = 'analyser'")
        connection.execute("UPDATE terms SET terms = replace(terms, 'jwt', 'jjwwtt')")
        connection.execute("INSERT INTO text_index (text_index) VALUES ('rebuild')")
    with open_bank(tmp_path) as bank:
        with bank.core.store.reading() as reader:
            assert reader.head().analyser == ANALYSER_VERSION
        assert bank.recall("jwt")[0].memory.id == "jwt"
        assert len(bank.recall("jjwwtt")) == 0
        assert bank.doctor().well


def test_trust_in_an_older_bank_follows_the_way_in(tmp_path: Path) -> None:
    load(8, tmp_path / "frozen.db")
    with open_bank(tmp_path) as bank:
        held = bank.get("jwt")
    assert held is not None
    assert (held.author_type, held.via, held.trust) == ("human", "agent", 0.6)
