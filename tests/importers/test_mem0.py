"""mem0: what `get_all` returns, its history database as its own code makes it, and its servers."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.importers.api import Api, served

from pieria.bank import Bank
from pieria.errors import AdapterError, InputError, TransferError
from pieria.importers import found, import_from

CRICKET = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e", "memory": "Likes to play cricket on weekends", "hash": "285d",
    "metadata": {"category": "hobbies"}, "categories": ["sport"], "created_at": "2024-07-25T07:32:46-07:00",
    "updated_at": None, "user_id": "alice", "run_id": "talk-1", "actor_id": "alice", "role": "user",
}  # fmt: skip
NUTS = {"id": "5f1c77a0-06d9-49e5-8b3e-585ef9b85b8e", "memory": "Is allergic to nuts", "user_id": "bob",
        "created_at": "2024-08-01T10:00:00-07:00", "expiration_date": "2030-01-01"}  # fmt: skip
RELATION = {"source": "alice", "relationship": "plays", "target": "cricket"}


def test_result_of_get_all_arrives_with_times_and_relations(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps({"results": [CRICKET, NUTS, {"id": "x"}], "relations": [RELATION, {"source": "a"}]}))
    tried = import_from(bank, "mem0", path, dry_run=True)
    report = import_from(bank, "mem0", path)
    assert tried.memories == report.memories == {"new": 2} and report.facts == {"new": 1}
    assert [str(problem).partition(":")[0] for problem in report.problems] == [
        "mem0.json, results[2]", "mem0.json, relations[1]",
    ]  # fmt: skip
    cricket = bank.get(str(CRICKET["id"]))
    assert cricket is not None
    assert (cricket.at.date().isoformat(), cricket.tags, cricket.session) == ("2024-07-25", ("sport",), "talk-1")
    assert (cricket.author, cricket.origin.author_type, cricket.trust) == ("alice", "human", 0.5)
    assert (cricket.meta["category"], cricket.meta["user_id"]) == ("hobbies", "alice")
    assert bank.facts.query(subject="alice")[0].object == "cricket"
    nuts = bank.get(NUTS["id"])
    assert nuts is not None and nuts.times.valid_until is not None
    assert import_from(bank, "mem0", path).memories == {"unchanged": 2}


def test_one_user_of_many_is_taken(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    ill = {"source": "alice", "relationship": "has_illness", "target": "asthma", "user_id": "alice"}
    path.write_text(json.dumps({"results": [CRICKET, NUTS], "relations": [ill]}))
    report = import_from(bank, "mem0", path, user="bob")
    others = {"memories of other users": 1, "relations of other users, or of none": 1}
    assert report.memories == {"new": 1} and report.left == others


def history(path: Path, rows: list[tuple[str, str, str | None, str]]) -> Path:
    """Write a history as mem0's SQLiteManager does: an entry for each event of a memory."""
    base = sqlite3.connect(path)
    base.execute(
        "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, "
        "created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
    )
    for number, (memory, event, text, at) in enumerate(rows):
        values = (
            f"h{number}",
            memory,
            None,
            text,
            event,
            "2024-01-01T00:00:00",
            at,
            int(event == "DELETE"),
            None,
            None,
        )
        base.execute(f"INSERT INTO history VALUES ({','.join('?' * 10)})", values)
    base.commit()
    base.close()
    return path


def test_history_gives_the_last_text_of_each_memory(bank: Bank, tmp_path: Path) -> None:
    kept, gone = str(CRICKET["id"]), NUTS["id"]
    rows = [(kept, "ADD", "Plays cricket", "2024-01-01"), (gone, "ADD", "Nuts", "2024-01-02"),
            (kept, "UPDATE", "Plays chess", "2024-02-01"), (gone, "DELETE", None, "2024-03-01")]  # fmt: skip
    path = history(tmp_path / "history.db", rows)
    report = import_from(bank, "mem0", tmp_path)
    assert report.memories == {"new": 1} and report.left == {"memories deleted in mem0": 1}
    memory = bank.get(kept)
    assert memory is not None and (memory.text, memory.at.year) == ("Plays chess", 2024)
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith("history")) == [path.name]
    assert found({"MEM0_DIR": str(tmp_path)}, tmp_path / "home")["mem0"] == path
    assert "mem0" not in found({}, tmp_path / "home")


def test_database_of_another_kind_is_refused(bank: Bank, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (a)").connection.close()
    with pytest.raises(TransferError, match="no table history") as refused:
        import_from(bank, "mem0", tmp_path / "other.db")
    assert "get_all" in str(refused.value.hint)
    damaged = history(tmp_path / "damaged.db", [("a", "ADD", "b", "2024-01-01")])
    damaged.write_bytes(damaged.read_bytes()[:4096] + b"\1" * 4096)
    with pytest.raises(TransferError, match="cannot be read"):
        import_from(bank, "mem0", damaged)


@pytest.mark.slow
def test_platform_is_read_page_by_page(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its `get_all` posts filters to /v3/memories/ and gets count, next, previous and results."""
    rows = [{**NUTS, "id": f"{number:08d}-06d9-49e5-8b3e-585ef9b85b8e"} for number in range(250)]

    def memories(query: Mapping[str, str], body: object) -> object:
        assert body == {"filters": {"user_id": "bob"}}
        page, size = int(query["page"]), int(query["page_size"])
        more = "https://elsewhere.example/next" if page * size < len(rows) else None
        return {"count": len(rows), "next": more, "previous": None, "results": rows[(page - 1) * size : page * size]}

    monkeypatch.setattr("pieria.importers.mem0.PLATFORM", "127.0.0.1")
    monkeypatch.setenv("MEM0_API_KEY", "m0-key")
    with served({"POST /v3/memories/": memories}) as api:
        assert import_from(bank, "mem0", api.address, user="bob").memories == {"new": 250}
    assert [seen.headers["authorization"] for seen in api.seen] == ["Token m0-key"] * 3


@pytest.mark.slow
def test_server_of_ones_own_lists_a_user(bank: Bank) -> None:
    with served({"GET /memories": lambda query, _: {"results": [CRICKET], "relations": [RELATION]}}) as api:
        with pytest.raises(InputError, match="user: expected"):
            import_from(bank, "mem0", api.address)
        report = import_from(bank, "mem0", api.address, user="alice", token="k")
    assert report.memories == {"new": 1} and report.facts == {"new": 1}
    assert (api.seen[0].query, api.seen[0].headers["x-api-key"]) == ({"user_id": "alice"}, "k")


@pytest.mark.slow
def test_server_problems_are_told_without_the_token(bank: Bank) -> None:
    routes: dict[str, Api] = {"GET /memories": lambda query, _: {"detail": "nothing"}}
    with served(routes) as api, pytest.raises(AdapterError, match="no list of results or memories"):
        import_from(bank, "mem0", api.address, user="a")
    with served({}) as api, pytest.raises(AdapterError, match="answered 404") as refused:
        import_from(bank, "mem0", api.address, user="a", token="sesame")
    assert "sesame" not in str(refused.value)
    with pytest.raises(InputError, match="not sent in the clear"):
        import_from(bank, "mem0", "http://mem0.example", user="a", token="sesame")
    assert bank.count() == 0
