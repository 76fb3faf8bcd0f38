"""Mnemosyne: its store as its own code made it, and its export, there and back."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.contract.store_helpers import HandClock

from pieria.bank import Bank
from pieria.errors import TransferError
from pieria.exporters import export_to
from pieria.importers import found, import_from

DUMP = Path(__file__).with_name("mnemosyne.sql")
FIRST, ENDED, SUCCESSOR, PRIVATE = "35a1864b15a2c4d7", "2e26c623639708f2", "b4d64ce7df075009", "11749b58b606fc19"


@pytest.fixture
def store(tmp_path: Path, clock: HandClock) -> Path:
    clock.move(days=365)
    path = tmp_path / "theirs" / "mnemosyne.db"
    path.parent.mkdir()
    base = sqlite3.connect(path)
    base.executescript(DUMP.read_text("utf-8"))
    base.close()
    return path


def exported(folder: Path, **sections: Any) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps({"mnemosyne_export": {"version": "1.3"}, **sections}))
    return path


def row(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "content": f"Text of {id}.", "timestamp": "2026-01-01T10:00:00", "scope": "global", **more}


def test_store_arrives_with_times_authors_and_tiers(bank: Bank, store: Path) -> None:
    tried = import_from(bank, "mnemosyne", store.parent, dry_run=True)
    report = import_from(bank, "mnemosyne", store)
    assert tried.memories == report.memories == {"new": 13} and report.problems == []
    assert (report.links, report.entries) == ({"new": 4}, {"new": 3})
    assert bank.get(PRIVATE) is None, "another session keeps it to itself"
    note = bank.get(SUCCESSOR)
    assert note is not None
    assert (note.scope, note.session, note.tier, note.trust, note.importance) == (
        "bank",
        "planning",
        "working",
        0.5,
        0.3,
    )
    assert (note.author, note.author_type, note.channel) == ("author-0", "human", "planning")
    assert note.at.isoformat() == "2026-11-29T00:22:37.493074+00:00"
    assert {name: note.meta[name] for name in ("number", "tags", "veracity")} == {
        "number": 3, "tags": ["plan"], "veracity": "imported",
    }  # fmt: skip
    shared = bank.get("2e806f9534c3dee6")
    assert shared is not None and (shared.scope, shared.session) == ("bank", None), "all clients shared the session"
    assert [fact.object for fact in bank.facts.query("Maya", "lives_in")] == ["Lisbon"]
    assert [fact.object for fact in bank.facts.query("Maya", "lives_in", valid_at="2023-06-01")] == ["Oslo"]
    assert bank.facts.query("maya", "identity_name")[0].object == "Maya Ling"
    assert import_from(bank, "mnemosyne", store).memories == {"unchanged": 13}
    assert [file.name for file in store.parent.iterdir()] == [store.name]


def test_ended_memories_stay_over(bank: Bank, store: Path, tmp_path: Path) -> None:
    import_from(bank, "mnemosyne", store)
    ended = bank.get(ENDED)
    assert ended is not None and ended.times.valid_until is not None
    assert all(hit.memory.id != ENDED for hit in bank.recall("airport plan revision 1"))
    export_to(bank, "mnemosyne", tmp_path / "back.json")
    rows = {one["id"]: one for one in json.loads((tmp_path / "back.json").read_text())["working_memory"]}
    assert (rows[FIRST]["superseded_by"], rows[ENDED]["superseded_by"]) == (SUCCESSOR, None)


def test_changes_of_another_session_follow_the_source(bank: Bank, store: Path) -> None:
    import_from(bank, "mnemosyne", store)
    base = sqlite3.connect(store)
    base.execute("UPDATE working_memory SET content = 'Note 4, revised.' WHERE id = ?", (PRIVATE,))
    base.commit()
    base.close()
    assert import_from(bank, "mnemosyne", store).memories == {"changed": 1, "unchanged": 12}


def test_export_comes_back_as_it_was(bank: Bank, store: Path, tmp_path: Path) -> None:
    import_from(bank, "mnemosyne", store)
    report = export_to(bank, "mnemosyne", tmp_path / "back.json")
    assert report.counts == {
        "working_memory": 12, "episodic_memory": 1, "scratchpad": 3, "triples": 44, "annotations": 20,
    }  # fmt: skip
    back = json.loads((tmp_path / "back.json").read_text())
    base = sqlite3.connect(store)
    base.row_factory = sqlite3.Row
    rows = {one["id"]: dict(one) for one in base.execute("SELECT * FROM working_memory")}
    base.close()
    for one in back["working_memory"]:
        before = rows[one["id"]]
        changed = {name for name, value in before.items() if value not in (None, one.get(name)) and name != "pinned"}
        assert changed == set(), one
    assert back["episodic_memory"][0]["summary_of"].count(",") == 3
    ends = [(one["object"], one["valid_from"], one["valid_until"]) for one in back["triples"]]
    assert ("Oslo", "2023-01-01", "2024-05-06") in ends and ("Lisbon", "2025-07-08", None) in ends
    assert {one["session_id"] for one in back["scratchpad"]} == {"planning", "operations", "default"}
    assert back["annotations"][0]["kind"] and back["annotations"][0]["memory_id"] in rows


def test_own_memories_become_rows(bank: Bank, tmp_path: Path) -> None:
    id = bank.remember("Maya likes <private>dark</private> tea.", tags=["tea"], title="Tea", kind="observation").id
    other = bank.remember("Mine.", session="monday", author_type="human").id
    bank.link(id, other, "related")
    report = export_to(bank, "mnemosyne", tmp_path / "out.json")
    assert report.left == {"links other than those from a summary to its sources": 1}
    [tea, mine] = json.loads((tmp_path / "out.json").read_text())["working_memory"]
    assert (tea["id"], "dark" in tea["content"], tea["scope"], tea["session_id"]) == (id, False, "global", "default")
    assert json.loads(tea["metadata_json"]) == {"title": "Tea", "tags": ["tea"], "kind": "observation"}
    assert (mine["veracity"], mine["scope"], mine["session_id"]) == ("stated", "global", "monday")


def test_export_of_theirs_is_read_and_problems_listed(bank: Bank, tmp_path: Path) -> None:
    met = {"subject": "Maya", "predicate": "met"}
    summary = row("s1", session_id="monday", summary_of="a1,a2,gone", tier=2)
    path = exported(
        tmp_path,
        working_memory=[row("a1", scope="session", session_id="monday"), row("a2"), {"id": "a3"}, "text"],
        episodic_memory=[summary, row("s2", summary_of="a1", scope="session", session_id="tuesday")],
        legacy_memories=[row("a1"), row("old")],
        scratchpad=[{"id": "p1", "content": "Milk.", "session_id": "monday"}, {"id": "p2"}],
        triples=[
            {**met, "object": "Omar", "valid_from": "2026-01-01", "valid_until": "2026-01-01"},
            {**met, "object": "Bob", "valid_from": "2026-01-02", "valid_until": "2026-01-01"},
            met,
        ],
        annotations=[{"memory_id": id, "kind": "fact", "value": "Tea"} for id in ("a2", "elsewhere")],
        episodic_embeddings=[{"rowid": 1}],
    )  # fmt: skip
    report = import_from(bank, "mnemosyne", path)
    assert (report.memories, report.facts, report.links, report.entries) == (
        {"new": 4}, {"new": 3}, {"new": 2}, {"new": 1},
    )  # fmt: skip
    assert report.problem_count == 5
    assert report.left == {
        "summaries of what several sessions said, each to itself; the memories themselves are here": 1,
        "vectors, which the bank makes again": 1,
    }
    assert [fact.object for fact in bank.facts.query("Maya", "met", valid_at="2026-01-01")] == ["Omar"]
    again = import_from(bank, "mnemosyne", path)
    assert (again.memories, again.entries) == ({"unchanged": 4}, {"unchanged": 1})


def test_other_files_are_refused(bank: Bank, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (a)").connection.close()
    with pytest.raises(TransferError, match="no table working_memory"):
        import_from(bank, "mnemosyne", tmp_path / "other.db")
    with pytest.raises(TransferError, match="no such file"):
        import_from(bank, "mnemosyne", tmp_path)
    with pytest.raises(TransferError, match="nothing to import"):
        import_from(bank, "mnemosyne", exported(tmp_path))


def test_store_is_found_where_it_usually_lies(store: Path, tmp_path: Path) -> None:
    assert found({"MNEMOSYNE_DATA_DIR": str(store.parent)}, tmp_path)["mnemosyne"] == store
    for variable, home in (({}, tmp_path), ({"HERMES_HOME": str(tmp_path / ".hermes")}, tmp_path / "nowhere")):
        path = tmp_path / ".hermes" / "mnemosyne" / "data" / "mnemosyne.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(store.read_bytes())
        assert found(variable, home)["mnemosyne"] == path
    assert "mnemosyne" not in found({}, tmp_path / "nowhere")
