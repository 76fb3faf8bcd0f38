"""MemPalace: a palace that its own code made, as SQL, and what it writes back."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pieria.bank import Bank
from pieria.errors import TransferError
from pieria.exporters import export_to
from pieria.importers import found, import_from
from pieria.record.link import Place

FIXTURE = Path(__file__).with_name("fixtures") / "mempalace"
STORES = ("chroma", "knowledge_graph")
FIELDS = ("text", "kind", "place", "at", "author", "source", "entities", "body", "meta")


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as base, base:
        for statement in statements:
            base.executescript(statement)


@pytest.fixture
def palace(tmp_path: Path) -> Path:
    folder = tmp_path / "mine" / "palace"
    folder.mkdir(parents=True)
    for name in STORES:
        change(folder / f"{name}.sqlite3", (FIXTURE / f"{name}.sql").read_text("utf-8"))
    (folder.parent / "tunnels.json").write_text((FIXTURE / "tunnels.json").read_text("utf-8"), "utf-8")
    return folder


def rooms(bank: Bank) -> dict[str, int]:
    return bank.places.counts()


def test_palace_arrives_and_a_second_run_adds_nothing(bank: Bank, palace: Path) -> None:
    tried = import_from(bank, "mempalace", palace, dry_run=True)
    assert rooms(bank) == {}
    report = import_from(bank, "mempalace", palace.parent)
    assert (report.memories, report.facts, report.links) == ({"new": 27}, {"new": 20}, {"new": 4})
    assert (tried.memories, tried.facts, tried.links) == (report.memories, report.facts, report.links)
    assert report.well and not report.left
    assert rooms(bank)["api/decisions"] == 5 and rooms(bank)["wing_code_reviewer/diary"] == 2
    again = import_from(bank, "mempalace", palace)
    assert (again.memories, again.facts, again.links) == ({"unchanged": 27}, {"unchanged": 20}, {"unchanged": 4})


def test_drawers_are_whole_with_their_times_and_authors(bank: Bank, palace: Path) -> None:
    import_from(bank, "mempalace", palace)
    drawers = {memory.text.partition(":")[0]: memory for memory in bank.list(limit=100)}
    long, plain = drawers["Drawer 20"], drawers["Drawer 1"]
    assert len(long.text) > 2_500 and long.text.endswith("東京 ")
    assert (plain.kind, plain.place, plain.author, plain.trust) == ("drawer", "api/login", "maya", 0.5)
    assert plain.source == "/home/maya/api/notes-1.md"
    assert plain.id.startswith("drawer_api_login_") and f"{plain.at.astimezone():%F}" == "2026-01-15"
    entry = drawers["Entry 5"]
    assert (entry.kind, entry.place, entry.author) == ("diary", "api/diary", "ops")
    assert (entry.body["topic"], entry.origin.author_type) == ("topic-1", "agent")


def test_facts_keep_days_sources_and_drawers(bank: Bank, palace: Path) -> None:
    import_from(bank, "mempalace", palace)
    facts = {fact.object: fact.as_dict(bank.zone) for fact in bank.facts.query(history=True)}
    days = {name: (facts[name]["valid_from"], facts[name]["valid_until"]) for name in ("Thing 0", "Thing 1", "Thing 2")}
    assert days == {
        "Thing 0": ("2024-01-01", "2025-01-31"),
        "Thing 1": ("2024-02-02", "2024-02-02"),
        "Thing 2": ("2024-03-03", "2025-06-30"),
    }
    assert (facts["Thing 1"]["source"], facts["Thing 2"]["source"]) == ("closet 1", "f2.md#closet")
    assert str(facts["Thing 3"]["memory"]).startswith("drawer_web_decisions_")


def test_tunnels_keep_labels_and_drawers(bank: Bank, palace: Path) -> None:
    import_from(bank, "mempalace", palace)
    links = bank.links(relation="tunnel")
    assert {link.label for link in links} == {None, "label 1", "label 2"}
    [link] = [link for link in links if link.label == "label 1"]
    assert (link.source, link.target) == (Place("api/decisions"), Place("web/cookies"))
    assert bank.get(str(link.meta["source_drawer_id"])) is not None


def test_export_comes_back_as_it_was(bank: Bank, palace: Path, opened: Callable[..., Bank], tmp_path: Path) -> None:
    import_from(bank, "mempalace", palace)
    report = export_to(bank, "mempalace", tmp_path / "back")
    assert (report.counts["memories"], report.counts["facts"]) == (27, 20)
    other = opened("other")
    assert import_from(other, "mempalace", tmp_path / "back").well
    mine, theirs = ({memory.id: memory for memory in one.list(limit=100)} for one in (bank, other))
    assert mine.keys() == theirs.keys()
    for id, memory in mine.items():
        differ = [name for name in FIELDS[:-1] if getattr(memory, name) != getattr(theirs[id], name)]
        assert differ == [], id
    facts = [
        sorted((f.subject, f.predicate, f.object, str(f.valid_from), str(f.valid_until), f.source or "") for f in one)
        for one in (bank.facts.query(history=True), other.facts.query(history=True))
    ]
    assert facts[0] == facts[1]
    tunnels = [sorted((link.source.name, link.target.name, link.label or "") for link in one.links(relation="tunnel"))
               for one in (bank, other)]  # fmt: skip
    assert tunnels[0] == tunnels[1] and len(tunnels[0]) == 4


def test_memories_of_other_kinds_go_out_as_drawers(bank: Bank, tmp_path: Path) -> None:
    bank.remember("No place, but a secret <private>4711</private>.", title="T")
    id = bank.remember("x" * 1_700, kind="drawer", place="a/b", body={"type": "decision"}, tags=["t"]).id
    bank.link(Place("a/b"), Place(f"{bank.name}/note"), "tunnel")
    bank.link(bank.list()[0].id, bank.list()[1].id, "related")
    report = export_to(bank, "mempalace", tmp_path / "out")
    assert report.left == {"titles": 1, "links that are no tunnels": 1}
    with closing(sqlite3.connect(tmp_path / "out" / "palace" / "chroma.sqlite3")) as base:
        ids = [row[0] for row in base.execute("SELECT embedding_id FROM embeddings ORDER BY id")]
        halls = base.execute("SELECT DISTINCT string_value FROM embedding_metadata WHERE key = 'hall'").fetchall()
        texts = base.execute("SELECT string_value FROM embedding_metadata WHERE key = 'chroma:document'").fetchall()
    assert ids[1:] == [f"{id}_chunk_{number:06d}" for number in range(3)] and halls == [("hall_decisions",)]
    assert "4711" not in str(texts)
    [tunnel] = json.loads((tmp_path / "out" / "tunnels.json").read_text("utf-8"))
    assert (tunnel["target"], len(tunnel["id"])) == ({"wing": bank.name, "room": "note"}, 16)


def test_other_backend_is_read(bank: Bank, tmp_path: Path) -> None:
    meta = {"wing": "api", "room": "decisions", "added_by": "mcp", "filed_at": "2026-01-10T09:00:00"}
    parts = [(f"drawer_x_chunk_{number:06d}", text) for number, text in enumerate(("One ", "two."))]
    change(
        tmp_path / "sqlite_exact.sqlite3",
        "CREATE TABLE collections (id INTEGER PRIMARY KEY, name TEXT)",
        "CREATE TABLE documents (collection_id INTEGER, id TEXT, document TEXT, metadata_json TEXT, embedding BLOB)",
        "INSERT INTO collections VALUES (1, 'mempalace_drawers')",
    )
    with closing(sqlite3.connect(tmp_path / "sqlite_exact.sqlite3")) as base, base:
        for number, (id, text) in reversed(list(enumerate(parts))):
            told = json.dumps({**meta, "parent_drawer_id": "drawer_x", "chunk_index": number})
            base.execute("INSERT INTO documents VALUES (1, ?, ?, ?, '')", (id, text, told))
    assert import_from(bank, "mempalace", tmp_path).memories == {"new": 1}
    [memory] = bank.list()
    assert (memory.text, memory.meta["origin"]) == ("One two.", "drawer_x")


def test_broken_parts_are_listed_and_the_rest_arrives(bank: Bank, palace: Path, tmp_path: Path) -> None:
    (palace.parent / "tunnels.json").write_text('[{"id": "1"}, {"id": "2", "kind": "topic", "source": {"wing": "a", '
        '"room": "topic:x"}, "target": {"wing": "b", "room": "topic:x"}}]')  # fmt: skip
    (palace.parent / "hallways.json").write_text('[{"id": "h"}]')
    change(
        palace / "chroma.sqlite3",
        "UPDATE embedding_metadata SET string_value = ' ' WHERE id = 6 AND key = 'chroma:document'",
        "UPDATE embedding_metadata SET string_value = '_registry' WHERE id = 7 AND key = 'room'",
        "CREATE TABLE embeddings_queue (seq_id INTEGER, topic TEXT)",
        "INSERT INTO embeddings_queue SELECT 999, 'persistent://default/default/' || id FROM collections LIMIT 1",
    )
    change(palace / "knowledge_graph.sqlite3", "UPDATE triples SET predicate = ' ' WHERE object = 'thing_1'",
           "UPDATE triples SET source_drawer_id = 'gone' WHERE object = 'thing_3'",
           "UPDATE entities SET type = 'person' WHERE id = 'person_0'")  # fmt: skip
    report = import_from(bank, "mempalace", palace)
    assert (report.memories["new"], report.facts["new"], report.links["new"]) == (25, 19, 0)
    assert [str(problem).partition(":")[0].split()[0] for problem in report.problems] == [
        "drawer", "chroma.sqlite3", "fact", "tunnels.json",
    ]  # fmt: skip
    assert report.left == {
        "marks of files without a drawer": 1, "drawers of facts that are not in the palace": 1,
        "types and properties of entities": 1, "tunnels that mining made, which the names in drawers replace": 1,
        "hallways, which the names in drawers replace": 1,
    }  # fmt: skip
    for wrong in (tmp_path / "nowhere", FIXTURE):
        with pytest.raises(TransferError):
            import_from(bank, "mempalace", wrong)
    (tmp_path / "chroma.sqlite3").write_bytes(b"SQLite format 3\0 and nothing")
    with pytest.raises(TransferError, match="cannot be read"):
        import_from(bank, "mempalace", tmp_path)


def test_palace_is_found_where_it_usually_is(palace: Path, tmp_path: Path) -> None:
    assert found({"MEMPALACE_PALACE_PATH": str(palace)}, tmp_path) == {"mempalace": palace}
    assert found({"MEMPALACE_CONFIG_DIR": str(palace.parent)}, tmp_path) == {"mempalace": palace}
    assert found({}, tmp_path) == {}
    (tmp_path / ".mempalace").symlink_to(palace.parent)
    assert found({}, tmp_path) == {"mempalace": tmp_path / ".mempalace" / "palace"}
