"""Export and import: ours whole, the original's as far as possible, and a report on the rest."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from tests.toolsets.conftest import Ask, Refused, requirement
from tests.toolsets.outcome import Run

from pieria.toolsets import Access, Host


def row(id: str, content: str = "Cats sleep.", **more: Any) -> dict[str, Any]:
    return {"id": id, "content": content, "timestamp": "2026-01-01T10:00:00", "scope": "global", **more}


def original(folder: Path, version: str = "1.3", **sections: Any) -> str:
    document = {"mnemosyne_export": {"version": version, "source_db": "x.db"}, **sections}
    (folder / "theirs.json").write_text(json.dumps(document))
    return "theirs.json"


def found(ask: Ask, query: str, **more: Any) -> list[str]:
    return [hit["content"] for hit in ask("mnemosyne_recall", query=query, **more)["results"]]


@requirement("export.whole", "import.ours", "import.idempotent", "import.forgotten")
def test_exported_bank_is_the_same_after_import(ask: Ask, host: Host, tmp_path: Path) -> None:
    told = ask("mnemosyne_remember", content="Maya works on billing.", extract=True, importance=0.8)
    id = told["memory_id"]
    ask("mnemosyne_update", memory_id=id, content="Maya works on search.")
    ask("mnemosyne_remember", content="Mine is Orion.", scope="session", extract_entities=True)
    ask("mnemosyne_scratchpad_write", content="One.")
    exported = ask("mnemosyne_export", output_path="folder/out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "folder" / "out.jsonl").read_text().splitlines()]
    assert exported["path"] == str(tmp_path / "folder" / "out.jsonl")
    assert (exported["working_memory_count"], exported["scratchpad_count"]) == (2, 1)
    assert exported["annotations_count"] == sum(line.get("predicate") == "mentions" for line in lines) > 0
    assert exported["sync_events_count"] == sum(line.get("line") == "change" for line in lines)
    fresh = host.having(bank_name="fresh")
    imported = ask("mnemosyne_import", at=fresh, input_path="folder/out.jsonl")
    assert (imported["status"], imported["complete"], imported["from"]) == ("imported", True, "pieria")
    assert imported["stats"]["beam"]["memories"]["inserted"] == 2
    assert [one.text for one in fresh.bank.history(id)] == [one.text for one in host.bank.history(id)]
    assert fresh.bank.facts.timeline() == host.bank.facts.timeline()
    assert [entry.content for entry in fresh.bank.scratchpad.read()] == ["One."]
    assert found(ask, "mine", at=fresh) == ["Mine is Orion."]
    before = host.bank.changes()
    again = ask("mnemosyne_import", input_path="folder/out.jsonl")
    assert again["stats"]["beam"]["memories"] == {"inserted": 0, "skipped": 2, "overwritten": 0}
    assert host.bank.changes() == before
    ask("mnemosyne_forget", memory_id=id)
    assert ask("mnemosyne_import", input_path="folder/out.jsonl")["left"]["memories"]["purged here"] == 1
    assert found(ask, "search") == []


def test_import_into_no_bank_is_cancelled_before_it_makes_one(ask: Ask, host: Host) -> None:
    ask("mnemosyne_remember", content="Maya works on billing.")
    ask("mnemosyne_export", output_path="out.jsonl")

    def cancelled(done: int, whole: int) -> None:
        raise KeyboardInterrupt

    fresh = host.having(bank_name="fresh", progress=cancelled)
    with pytest.raises(KeyboardInterrupt):
        ask("mnemosyne_import", at=fresh, input_path="out.jsonl")
    assert not host.banks.has("fresh")


@requirement("export.original", "import.original")
def test_json_export_has_the_form_of_the_original(ask: Ask, refused: Refused, host: Host, tmp_path: Path) -> None:
    ask("mnemosyne_remember", content="Maya works on billing.", importance=0.8)
    ask("mnemosyne_triple_add", subject="Maya", predicate="leads", object="search")
    ask("mnemosyne_scratchpad_write", content="One.")
    for _ in range(2):
        told = ask("mnemosyne_export", output_path="out.json")
    assert (told["format"], told["working_memory_count"], told["triples_count"], told["scratchpad_count"]) == (
        "mnemosyne", 1, 1, 1,
    )  # fmt: skip
    assert json.loads((tmp_path / "out.json").read_text())["working_memory"][0]["content"] == "Maya works on billing."
    fresh = host.having(bank_name="fresh")
    stats = ask("mnemosyne_import", at=fresh, input_path="out.json")["stats"]
    assert stats["beam"]["working_memory"]["inserted"] == stats["triples"]["inserted"] == 1
    (tmp_path / "mine.json").write_text("{}")
    assert refused("mnemosyne_export", output_path="mine.json")["error"]["code"] == "invalid_input"


@requirement("export.whole", "paths.confined")
def test_export_replaces_only_an_export(ask: Ask, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'")
    for _ in range(2):
        assert ask("mnemosyne_export", output_path="out.jsonl")["status"] == "exported"
    for path in (".bashrc", "data/notes.db", "../out.json", ""):
        assert refused("mnemosyne_export", output_path=path)["error"]["parameter"] == "output_path"
    for path in ("../out.json", ""):
        assert refused("mnemosyne_import", input_path=path)["error"]["parameter"] == "input_path"
    assert (tmp_path / ".bashrc").read_text() == "alias ll='ls -l'"


@requirement("import.original")
def test_memories_of_the_original_are_recalled(ask: Ask, host: Host, tmp_path: Path) -> None:
    theirs = row(
        "a1", source="conversation", importance=0.9, veracity="stated", metadata_json='{"topic": "cats"}',
        author_id="maya", author_type="human", channel_id="pets",
    )  # fmt: skip
    wanted = {**theirs, "timestamp": "2026-01-01T10:00:00Z", "tier": "working"}
    del wanted["metadata_json"]
    for version in ("1.0", "1.3"):
        at = host.having(bank_name=f"v{version}")
        ask("mnemosyne_import", at=at, input_path=original(tmp_path, version, working_memory=[theirs]))
        [hit] = ask("mnemosyne_recall", at=at, query="cats")["results"]
        assert {name: hit[name] for name in wanted} == wanted
    ask("mnemosyne_import", input_path=original(tmp_path, working_memory=[row("a1", veracity="unknown")]))
    assert ask("mnemosyne_recall", query="cats")["results"][0]["veracity"] == "imported"


@requirement("import.original")
def test_every_section_of_the_original_is_imported(ask: Ask, host: Host, tmp_path: Path) -> None:
    theirs = original(
        tmp_path,
        working_memory=[row("w1"), row("w2", "Dogs bark.", consolidated_at="2026-01-02")],
        episodic_memory=[row("e1", "Animals do things.", summary_of="w1,w2,gone", tier=2)],
        legacy_memories=[row("w1"), row("l1", "Old thing.")],
        scratchpad=[{"id": "p1", "content": "Pad.", "session_id": "mcp_default", "created_at": "2026-01-01"}],
        triples=[{"id": 1, "subject": "Maya", "predicate": "owns", "object": "cat", "valid_from": "2026-01-01"}],
        annotations=[{"id": 1, "memory_id": "w1", "kind": "mentions", "value": "Cats", "confidence": 0.8}],
        canonical_facts=[{"owner": "user", "category": "profile", "name": "timezone", "value": "UTC"}],
        consolidation_log=[{}], sync_events=[{}, {}], episodic_embeddings=[{"rowid": 1, "embedding": [1, 2]}],
    )  # fmt: skip
    stats = ask("mnemosyne_import", input_path=theirs)["stats"]
    assert stats["beam"]["working_memory"] == {"inserted": 2, "skipped": 0, "overwritten": 0}
    assert stats["beam"]["episodic_memory"]["inserted"] == 1
    assert stats["beam"]["scratchpad"] == {"inserted": 1, "skipped": 0}
    assert stats["beam"]["consolidation_log"] == {"inserted": 0, "skipped": 1}
    assert stats["legacy"] == {"inserted": 1, "skipped": 1}
    assert stats["triples"] == stats["annotations"] == stats["canonical"] == {"inserted": 1, "skipped": 0}
    assert stats["sync_events"] == {"inserted": 0, "skipped": 2}
    tiers = {memory.id: memory.tier for memory in host.bank.list()}
    assert tiers == {"w1": "working", "w2": "kept", "e1": "kept", "l1": "working"}
    sources = host.bank.neighbors("e1", relation="provenance", direction="out")
    assert {each.memory.id for each in sources if each.memory} == {"w1", "w2"}
    assert [entry.content for entry in host.bank.scratchpad.read()] == ["Pad."]
    rows = ask("mnemosyne_triple_query")["results"]
    assert {(row["subject"], row["predicate"], row["object"], row.get("memory_id")) for row in rows} == {
        ("Maya", "owns", "cat", None), ("w1", "mentions", "Cats", "w1"), ("user", "profile_timezone", "UTC", None),
    }  # fmt: skip


@requirement("import.sessions")
def test_memories_and_summaries_are_seen_in_their_sessions(ask: Ask, host: Host, tmp_path: Path) -> None:
    theirs = [
        row("a1", scope="session", session_id="mcp_default"),
        row("a3", "Cats eat.", scope="session", session_id="default"),
        *(row(f"w{n}", f"Cat {n}.", scope="session", session_id=f"s{n}") for n in (1, 2)),
    ]  # fmt: skip
    sections: dict[str, Any] = {
        "working_memory": theirs,
        "legacy_memories": [{"id": "a4", "content": "Cats play.", "session_id": "default"}],
        "episodic_memory": [row("e1", "One cat.", summary_of="w1"), row("e2", "Two cats.", summary_of="w1,w2")],
    }
    reply = ask("mnemosyne_import", input_path=original(tmp_path, **sections))
    shared = ["Cats eat.", "Cats play.", "Cats sleep."]
    assert sorted(found(ask, "cats")) == shared
    assert sorted(found(ask, "cats", at=host.having(session="s1"))) == sorted([*shared, "Cat 1.", "One cat."])
    assert ["1 memory is of the session s1" in warning for warning in reply["warnings"]] == [True, False]
    assert {(told["record"], told["taken"]) for told in reply["problems"]} == {("e1", True), ("e2", False)}


@requirement("import.problems")
def test_problems_are_reported_record_by_record(ask: Ask, tmp_path: Path) -> None:
    theirs = original(
        tmp_path,
        working_memory=[
            row("a1", importance=5, valid_until="soon", author_type="robot", metadata_json='{"a":' * 1_000),
            row("a2", ""), 7,
            row("a3", "Superseded.", superseded_by="gone"), row("a4", "x" * (1 << 21)),
        ],
        triples=[{"id": 3, "subject": "Maya", "predicate": "owns", "object": " "}],
        scratchpad=[{"id": "p1", "content": " "}], annotations={"not": "a list"},
    )  # fmt: skip
    reply = ask("mnemosyne_import", input_path=theirs)
    told = {(one["section"], one["record"], one["taken"]) for one in reply["problems"]}
    assert told == {
        ("working_memory", "a1", True), ("working_memory", "a2", False), ("working_memory", "[2]", False),
        ("working_memory", "a3", True), ("working_memory", "a4", False), ("triples", "3", False),
        ("scratchpad", "p1", False), ("annotations", "-", False),
    }  # fmt: skip
    assert sum(one["record"] == "a1" for one in reply["problems"]) == 4
    assert (reply["complete"], reply["stats"]["beam"]["working_memory"]["inserted"]) == (False, 2)
    assert found(ask, "cats") == ["Cats sleep."]


@requirement("import.problems", "import.triples")
def test_ended_memories_and_triples_stay_ended(ask: Ask, host: Host, tmp_path: Path) -> None:
    memories = [row("a1", "Old.", superseded_by="a2"), row("a2", "New.")]
    triple = {"subject": "A", "predicate": "p", "valid_from": "2026-01-01"}
    triples = [
        {"id": 1, **triple, "object": "one", "valid_until": "2026-01-01"}, {"id": 2, **triple, "object": "two"},
        {"id": 3, **triple, "object": "bad", "valid_until": "2020-01-01"},
    ]  # fmt: skip
    reply = ask("mnemosyne_import", input_path=original(tmp_path, working_memory=memories, triples=triples))
    assert found(ask, "old") == []
    assert host.bank.get("a1").superseded_by == "a2"  # type: ignore[union-attr]
    assert [one["record"] for one in reply["problems"]] == ["3"]
    rows = ask("mnemosyne_triple_query", as_of="2026-01-01")["results"]
    assert {row["object"] for row in rows} == {"one", "two"}
    assert [row["object"] for row in ask("mnemosyne_triple_query")["results"]] == ["two"]


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
_NAMES = (
    "id", "content", "timestamp", "scope", "session_id", "importance", "valid_until", "superseded_by", "summary_of",
    "metadata_json", "veracity", "tier", "subject", "predicate", "object", "valid_from", "memory_id", "kind", "value",
    "created_at", "owner", "category", "name", "confidence", "author_type", "pinned",
)  # fmt: skip
_SECTIONS = ["working_memory", "episodic_memory", "legacy_memories", "scratchpad", "triples", "annotations"]
_ROWS = st.lists(
    st.dictionaries(st.sampled_from(_NAMES), _ANYTHING | st.sampled_from(["a", "b", "2026-01-01", "session"])),
    max_size=4,
)


@requirement("import.problems")
@profile(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(sections=st.dictionaries(st.sampled_from(_SECTIONS), _ROWS))
def test_any_content_of_a_file_is_imported_or_reported(tmp_path: Path, sections: dict[str, Any]) -> None:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    folder.mkdir()
    with Run(folder) as run:
        reply = run.call("mnemosyne_import", {"input_path": original(folder, **sections)})
        assert reply.error is None, reply.text
        json.loads(reply.text)
        assert run.host.bank.doctor().well
        again = run.call("mnemosyne_import", {"input_path": "theirs.json"}).value
        assert "changes" not in again


@requirement("import.refused")
def test_invalid_export_is_refused_and_makes_no_bank(ask: Ask, refused: Refused, host: Host, tmp_path: Path) -> None:
    ask("mnemosyne_remember", content="One.")
    ask("mnemosyne_export", output_path="out.jsonl")
    cut = (tmp_path / "out.jsonl").read_bytes()[:-100].decode()
    mistyped = host.having(bank_name="noets", is_named=True)
    for content, words in (
        ('{"mnemosyne_export": {"version": "2.0"}}', "version 2.0"),
        ('{"mnemosyne_export": {"version": "1.3"}, "work', "damaged"),
        ("plain text", "text of another kind"),
        ('{"something": "else"}', "another kind"),
        (cut, ""),
    ):
        (tmp_path / "file.json").write_text(content)
        error = refused("mnemosyne_import", at=mistyped, input_path="file.json")["error"]
        assert (error["code"], words in error["message"]) == ("transfer", True), content[:50]
    os.mkfifo(tmp_path / "pipe")
    for path, words in (("nowhere.json", "no such file"), ("pipe", "only once")):
        assert words in refused("mnemosyne_import", at=mistyped, input_path=path)["error"]["message"]
    assert mistyped.banks.names() == ["notes"]
    assert ask("mnemosyne_recall", at=host.having(bank_name="other"), query="tea")["results"] == []
    reader = host.having(bank_name="third", access=Access.read)
    assert refused("mnemosyne_recall", at=reader, query="tea")["error"]["code"] == "not_found"
    assert "third" not in host.banks.names()
