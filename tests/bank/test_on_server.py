"""Banks on a server as a user opens them: names, the user's own bank, settings, and what stays on this machine."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.bank.kept import Kept

import pieria
from pieria import Workspace
from pieria.doors.cli.call import Call
from pieria.errors import ConflictError, NotFoundError, StorageError, UnavailableError
from pieria.toolsets.host import over_the_network

SECRET = "hunter2"
ORDINARY = f"pieria_ordinary_{os.getpid()}"
"""A server role that is subject to row security."""


@pytest.fixture(scope="module")
def ordinary(server: str) -> Iterator[None]:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ORDINARY} LOGIN")
        yield
        connection.execute(f"DROP ROLE {ORDINARY}")


def seen_of_data(served: Kept, value: Any) -> object:
    with pieria.open("b", data=served.data if value == "server" else value) as bank:
        return bank.core.store.describe()["engine"]


def seen_of_user(served: Kept, value: Any) -> object:
    with pieria.open("b", data=served.data, settings={"user": "maya"}) as bank:
        bank.remember("I like tea", scope="user", unless_exists="text")
    with pieria.open("b", data=served.data, settings={"user": value}) as bank:
        try:
            return [memory.text for memory in bank.list(scope="user")]
        except UnavailableError as problem:
            return problem.parameter


def seen_of_durability(served: Kept, value: Any) -> object:
    with served.opened("b", settings={"durability": value}) as bank:
        return bank.core.store.describe()["synchronous"]


def seen_of_busy_seconds(served: Kept, value: Any) -> object:
    """Return the lock timeout of a writer as the server reports it."""
    with served.opened("b", settings={"busy_seconds": value}) as bank, bank.core.store.writing() as writer:
        return writer._session.execute("SHOW lock_timeout").fetchone()[0]  # type: ignore[attr-defined]


def seen_of_connections(served: Kept, value: Any) -> object:
    with served.opened("b", settings={"connections": value}) as bank:
        return bank.core.store.describe()["connections"]["most"]


def seen_of_local(served: Kept, value: Any) -> object:
    with Workspace(served.data, {"local": Path.cwd() / value}) as workspace:
        return over_the_network(workspace.data, []).base.relative_to(Path.cwd()).as_posix()


ON_SERVER: dict[str, tuple[Callable[[Kept, Any], object], dict[Any, object]]] = {
    "data": (seen_of_data, {"server": "postgresql", "folder": "sqlite"}),
    "user": (seen_of_user, {"maya": ["I like tea"], "jun": [], None: "scope"}),
    "durability": (seen_of_durability, {"full": "full", "relaxed": "relaxed", "off": "off"}),
    "busy_seconds": (seen_of_busy_seconds, {5.0: "5s", 60: "1min"}),
    "connections": (seen_of_connections, {2: 2, 3: 3}),
    "local": (seen_of_local, {"one": "one/exports", "two": "two/exports"}),
}


def test_each_setting_has_its_effect_on_a_server(served: Kept) -> None:
    for setting, (seen, outcomes) in ON_SERVER.items():
        assert {value: seen(served, value) for value in outcomes} == outcomes, setting
        assert len({*map(repr, outcomes.values())}) > 1


@pytest.mark.parametrize("hides", [True, False])
def test_row_security_hides_the_rows_of_other_banks(bare_database: str, ordinary: None, hides: bool) -> None:
    with psycopg.connect(bare_database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {ORDINARY}")
    place = Kept(bare_database.replace("postgres@", f"{ORDINARY}@"), {"row_security": hides})
    with place.opened("other") as other:
        other.remember("not for others")
    with place.opened("b") as bank, bank.core.store.reading() as reader:
        found = reader._session.execute("SELECT count(*) FROM content")  # type: ignore[attr-defined]
        assert found.fetchone()[0] == (0 if hides else 1)


def test_banks_are_listed_by_name_without_any_users_own(served: Kept) -> None:
    with Workspace(served.data, served.settings) as workspace:
        assert workspace.banks() == []
        for name in ("B", "a", "@me"):
            workspace.open(name).remember("a word")
        assert (workspace.banks(), workspace.place.everything()) == (["B", "a"], ["B", "a", "@me"])
    with Workspace(served.data, {"user": "jun"}) as workspace:
        assert workspace.place.everything() == ["B", "a"]
    with served.opened("b") as first, served.opened("B") as second, served.opened("a") as other:
        assert first.name == "B" and first.core.store is second.core.store is not other.core.store
    with served.opened("b") as again:
        assert again.remember("goes on").text == "goes on"
    with pytest.raises(NotFoundError), Call(bank="nowhere", data=served.data).opened(reading=True):
        pass
    assert Workspace(served.data).banks() == ["B", "a"], "a reader makes no bank"


def found(bank: pieria.Bank) -> set[str]:
    return {hit.memory.id for hit in bank.recall("who likes tea or coffee?")}


def test_every_user_has_a_bank_of_their_own(served: Kept) -> None:
    def opened(user: str) -> pieria.Bank:
        return pieria.open("team", data=served.data, settings={"user": user})

    with opened("maya") as maya, opened("jun") as jun, opened("maya") as also_maya:
        maya.remember("I like tea", id="tea", scope="user")
        jun.remember("I like coffee", id="coffee", scope="user")
        maya.remember("The team meets on Mondays for tea and coffee.", id="team")
        assert found(maya) == found(also_maya) == {"tea", "team"}
        assert found(jun) == {"coffee", "team"}
        assert (maya.get("coffee") is None, jun.get("coffee") is None) == (True, False)
    with psycopg.connect(served.data) as connection:
        names = connection.execute("SELECT name FROM pieria.bank ORDER BY name").fetchall()
    assert {name for (name,) in names} == {"@jun", "@maya", "team"}
    ids = ["aB1x", "Ab1X", "ab1x", "straße", "strasse", "maya@example.org", "maya-example.org", "auth0|17", "~41", "A"]
    for id in ids:
        with opened(id) as bank:
            bank.remember(f"The pin of {id}", scope="user")
    for id in ids:
        with opened(id) as bank:
            assert [memory.text for memory in bank.list(scope="user")] == [f"The pin of {id}"]


def test_scope_user_is_refused_without_a_user(served: Kept) -> None:
    with pieria.open("team", data=served.data, settings={"user": "maya"}) as maya:
        maya.remember("I like tea", id="tea", scope="user")
    with pieria.open("team", data=served.data) as bank:
        asked: list[Callable[[], object]] = [
            lambda: bank.remember("I like tea", scope="user"),
            lambda: bank.remember_many([{"text": "we"}, {"text": "I", "scope": "user"}]),
            lambda: bank.recall("tea", scope="user"),
            lambda: bank.recall("tea", scope=["bank", "user"]),
            lambda: bank.list(scope="user"),
            lambda: bank.count(scope="user"),
            lambda: pieria.open("@me", data=served.data),
        ]
        for ask in asked:
            with pytest.raises(UnavailableError) as caught:
                ask()
            assert "PIERIA_USER" in str(caught.value.hint)
        assert bank.count() == 0
        bank.remember("The team has tea.", id="team")
        assert (found(bank), bank.get("tea"), bank.sync()) == ({"team"}, None, True)


def test_no_report_or_error_shows_a_password(served: Kept, home: Path) -> None:
    before = sorted(home.rglob("*"))
    address = served.data.replace("postgres@", f"postgres:{SECRET}@")  # Test servers do not ask for a password.
    with Workspace(address, served.settings) as workspace, workspace.open("b") as bank:
        bank.remember("a word", scope="user")
        told = [
            str(workspace.place), str(workspace.place.at("b")), str(workspace.data), repr(bank), repr(workspace.place),
            json.dumps(bank.doctor().as_dict()), json.dumps(bank.stats().as_dict()), repr(workspace.resolved),
        ]  # fmt: skip
    assert SECRET in address
    assert workspace.data.parent == home / ".pieria" / "servers"
    assert sorted(home.rglob("*")) == before, "nothing is made on this machine"
    for wrong in (
        f"maya:{SECRET}@127.0.0.1:1/memory",
        f"127.0.0.1:1/memory?password={SECRET}",
        f"127.0.0.1:{SECRET}/memory",
        f"maya:{SECRET}/x@127.0.0.1:1/memory",
        f"127.0.0.1:1/memory?sauce={SECRET}",
    ):
        with pytest.raises((StorageError, UnavailableError)) as caught:
            pieria.open("b", data=f"postgresql://{wrong}")
        told.append(json.dumps(caught.value.as_dict()))
    assert not any(SECRET in each for each in told)


def test_backup_goes_into_a_folder_and_back(served: Kept, folder: Kept, tmp_path: Path) -> None:
    with served.opened("b") as bank:
        bank.remember("a word", id="one")
        backup = bank.backup(tmp_path)
    for place in (folder, served):
        report = pieria.restore(backup, place.data, name="again")
        assert (report.bank, report.seq, report.replaced) == ("again", 1, None)
        with place.opened("again") as again:
            assert again.get("one") is not None
        with pytest.raises(ConflictError):
            pieria.restore(backup, place.data, name="again")
    with pytest.raises(UnavailableError, match="replace"):
        pieria.restore(backup, served.data, name="again", replace=True)
