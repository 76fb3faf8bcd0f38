"""Export and import: ours whole, the original's as far as possible, and a report on the rest."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.outcome import Run
from tests.toolsets.requirements import requirement

from pieria import Memory
from pieria.toolsets import Host


def row(id: str, content: str = "Cats sleep.", **more: Any) -> dict[str, Any]:
    return {"id": id, "content": content, "timestamp": "2026-01-01T10:00:00", "scope": "global", **more}


def original(folder: Path, version: str = "1.3", **sections: Any) -> str:
    document = {"mnemosyne_export": {"version": version, "source_db": "x.db"}, **sections}
    (folder / "theirs.json").write_text(json.dumps(document))
    return "theirs.json"


def found(ask: Ask, query: str, **more: Any) -> list[str]:
    return [hit["content"] for hit in ask("mnemosyne_recall", query=query, **more)["results"]]


# --- ours


def plain(memory: Memory) -> dict[str, object]:
    """Return the memory without trust: imported memories are hearsay."""
    return {name: value for name, value in memory.as_dict().items() if name not in ("via", "trust")}


@requirement("export.whole", "import.ours")
def test_a_bank_that_was_taken_out_is_the_same_where_it_is_brought_in(ask: Ask, host: Host) -> None:
    told = ask("mnemosyne_remember", content="Maya works on billing.", extract=True, importance=0.8)
    ask("mnemosyne_update", memory_id=told["memory_id"], content="Maya works on search.")
    ask("mnemosyne_remember", content="Mine.", scope="session")
    ask("mnemosyne_scratchpad_write", content="One.")
    exported = ask("mnemosyne_export", output_path="folder/out.jsonl")
    assert (exported["working_memory_count"], exported["triples_count"], exported["scratchpad_count"]) == (2, 1, 1)
    fresh = host.having(bank_name="fresh")
    imported = ask("mnemosyne_import", at=fresh, input_path="folder/out.jsonl")
    assert (imported["status"], imported["complete"], imported["from"]) == ("imported", True, "pieria")
    assert imported["stats"]["beam"]["memories"]["inserted"] == 2
    here, there = (each.bank.history(told["memory_id"]) for each in (host, fresh))
    assert [plain(memory) for memory in there] == [plain(memory) for memory in here]
    assert {memory.via for memory in there} == {"hearsay"}
    assert fresh.bank.facts.timeline() == host.bank.facts.timeline()
    assert [entry.content for entry in fresh.bank.scratchpad.read()] == ["One."]
    assert found(ask, "mine", at=fresh) == ["Mine."]


@requirement("export.whole")
def test_the_counts_of_an_export_are_those_of_the_file(ask: Ask, tmp_path: Path) -> None:
    ask("mnemosyne_remember", content="Maya works on billing.", extract_entities=True)
    reply = ask("mnemosyne_export", output_path="out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert reply["annotations_count"] == sum(line.get("predicate") == "mentions" for line in lines)
    assert reply["sync_events_count"] == sum(line.get("line") == "change" for line in lines)
    assert reply["path"] == str(tmp_path / "out.jsonl")


def test_an_export_takes_the_place_of_an_older_one_and_of_nothing_else(
    ask: Ask, refused: Refused, tmp_path: Path
) -> None:
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'")
    error = refused("mnemosyne_export", output_path=".bashrc")["error"]
    assert (error["parameter"], (tmp_path / ".bashrc").read_text()) == ("output_path", "alias ll='ls -l'")
    for _ in range(2):
        assert ask("mnemosyne_export", output_path="out.jsonl")["status"] == "exported"


@requirement("import.idempotent")
def test_ours_twice_adds_nothing(ask: Ask, host: Host) -> None:
    ask("mnemosyne_remember", content="Maya works on billing.", extract=True)
    ask("mnemosyne_export", output_path="out.jsonl")
    before = host.bank.changes()
    reply = ask("mnemosyne_import", input_path="out.jsonl")
    assert reply["stats"]["beam"]["memories"] == {"inserted": 0, "skipped": 1, "overwritten": 0}
    assert host.bank.changes() == before


@requirement("import.forgotten")
def test_what_was_forgotten_is_not_brought_back(ask: Ask) -> None:
    id = ask("mnemosyne_remember", content="Maya works on billing.")["memory_id"]
    ask("mnemosyne_export", output_path="out.jsonl")
    ask("mnemosyne_forget", memory_id=id)
    reply = ask("mnemosyne_import", input_path="out.jsonl")
    assert reply["left"]["memories"] == {"purged here": 1}
    assert found(ask, "billing") == []


# --- theirs


@requirement("import.original")
@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3"])
def test_what_the_original_kept_is_recalled(ask: Ask, tmp_path: Path, version: str) -> None:
    theirs = row(
        "a1", source="conversation", importance=0.9, veracity="stated", metadata_json='{"topic": "cats"}',
        author_id="maya", author_type="human", channel_id="pets",
    )  # fmt: skip
    ask("mnemosyne_import", input_path=original(tmp_path, version, working_memory=[theirs]))
    [hit] = ask("mnemosyne_recall", query="cats")["results"]
    wanted = {
        "id": "a1", "content": "Cats sleep.", "source": "conversation", "importance": 0.9, "veracity": "stated",
        "timestamp": "2026-01-01T10:00:00Z", "scope": "global", "tier": "working", "author_id": "maya",
        "author_type": "human", "channel_id": "pets",
    }  # fmt: skip
    assert {name: hit[name] for name in wanted} == wanted


@requirement("import.original")
def test_without_a_word_on_it_what_was_imported_is_believed_as_imported(ask: Ask, tmp_path: Path) -> None:
    ask("mnemosyne_import", input_path=original(tmp_path, working_memory=[row("a1", veracity="unknown")]))
    assert ask("mnemosyne_recall", query="cats")["results"][0]["veracity"] == "imported"


@requirement("import.original")
def test_every_section_comes_in(ask: Ask, host: Host, tmp_path: Path) -> None:
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
    assert {(row["subject"], row["predicate"], row["object"], row["memory_id"]) for row in rows} == {
        ("Maya", "owns", "cat", None), ("w1", "mentions", "Cats", "w1"), ("user", "profile_timezone", "UTC", None),
    }  # fmt: skip


@requirement("import.idempotent")
def test_theirs_twice_adds_nothing(ask: Ask, host: Host, tmp_path: Path) -> None:
    theirs = original(
        tmp_path,
        working_memory=[row("w1", scope="session", session_id="s9")],
        triples=[{"subject": "Maya", "predicate": "owns", "object": "cat"}],
        scratchpad=[{"id": "p1", "content": "Pad.", "session_id": "s9", "created_at": "2026-01-01"}],
    )
    ask("mnemosyne_import", input_path=theirs)
    before = host.bank.changes()
    stats = ask("mnemosyne_import", input_path=theirs)["stats"]
    assert stats["beam"]["working_memory"] == {"inserted": 0, "skipped": 1, "overwritten": 0}
    assert (stats["triples"], stats["beam"]["scratchpad"]) == ({"inserted": 0, "skipped": 1},) * 2
    assert host.bank.changes() == before


@requirement("import.sessions")
def test_what_all_clients_of_a_server_shared_is_everybody_s(ask: Ask, host: Host, tmp_path: Path) -> None:
    theirs = [
        row("a1", scope="session", session_id="mcp_default"),
        row("a2", "Cats purr.", scope="session", session_id="hermes-7"),
    ]
    reply = ask("mnemosyne_import", input_path=original(tmp_path, working_memory=theirs))
    assert found(ask, "cats") == ["Cats sleep."]
    assert sorted(found(ask, "cats", at=host.having(session="hermes-7"))) == ["Cats purr.", "Cats sleep."]
    assert ["1 memory is of the session hermes-7" in warning for warning in reply["warnings"]] == [True]


@requirement("import.sessions")
def test_what_was_kept_without_a_session_is_everybody_s(ask: Ask, tmp_path: Path) -> None:
    kept = [row("a1", scope="session", session_id="default")]
    older = [{"id": "a2", "content": "Cats purr.", "session_id": "default"}]
    reply = ask("mnemosyne_import", input_path=original(tmp_path, working_memory=kept, legacy_memories=older))
    assert sorted(found(ask, "cats")) == ["Cats purr.", "Cats sleep."]
    assert reply["warnings"] == []


@requirement("import.sessions")
def test_a_summary_is_seen_by_no_more_than_what_it_sums_up(ask: Ask, host: Host, tmp_path: Path) -> None:
    own = [row(f"w{n}", f"Cat {n}.", scope="session", session_id=f"s{n}") for n in (1, 2)]
    summaries = [row("e1", "One cat.", summary_of="w1"), row("e2", "Two cats.", summary_of="w1,w2")]
    reply = ask("mnemosyne_import", input_path=original(tmp_path, working_memory=own, episodic_memory=summaries))
    assert found(ask, "cat") == []
    assert sorted(found(ask, "cat", at=host.having(session="s1"))) == ["Cat 1.", "One cat."]
    assert {(told["record"], told["taken"]) for told in reply["problems"]} == {("e1", True), ("e2", False)}


@requirement("import.problems")
def test_what_cannot_be_is_told_record_by_record(ask: Ask, tmp_path: Path) -> None:
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


@requirement("import.problems")
def test_what_was_invalidated_stays_so(ask: Ask, host: Host, tmp_path: Path) -> None:
    theirs = [row("a1", "Old.", superseded_by="a2"), row("a2", "New.")]
    ask("mnemosyne_import", input_path=original(tmp_path, working_memory=theirs))
    assert found(ask, "old") == []
    assert host.bank.get("a1").superseded_by == "a2"  # type: ignore[union-attr]


@requirement("import.triples")
def test_triples_that_the_original_closed_on_their_first_day_held_on_it(ask: Ask, tmp_path: Path) -> None:
    theirs = [
        {"id": 1, "subject": "A", "predicate": "p", "object": "one", "valid_from": "2026-01-01",
         "valid_until": "2026-01-01"},
        {"id": 2, "subject": "A", "predicate": "p", "object": "two", "valid_from": "2026-01-01"},
        {"id": 3, "subject": "A", "predicate": "p", "object": "bad", "valid_from": "2026-02-01",
         "valid_until": "2020-01-01"},
    ]  # fmt: skip
    reply = ask("mnemosyne_import", input_path=original(tmp_path, triples=theirs))
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
_ROWS = st.lists(
    st.dictionaries(st.sampled_from(_NAMES), _ANYTHING | st.sampled_from(["a", "b", "2026-01-01", "session"])),
    max_size=4,
)


@requirement("import.problems")
@profile(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    sections=st.dictionaries(
        st.sampled_from(
            ["working_memory", "episodic_memory", "legacy_memories", "scratchpad", "triples", "annotations"]
        ),
        _ROWS,
    )
)
def test_whatever_stands_in_a_file_is_taken_in_or_told_of(tmp_path: Path, sections: dict[str, Any]) -> None:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    folder.mkdir()
    with Run(folder) as run:
        reply = run.call("mnemosyne_import", {"input_path": original(folder, **sections)})
        assert reply.error is None, reply.text
        json.loads(reply.text)
        assert run.host.bank.doctor().well
        again = run.call("mnemosyne_import", {"input_path": "theirs.json"}).value
        assert again["changes"] is None


# --- files


@requirement("import.refused")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"mnemosyne_export": {"version": "2.0"}}', "version 2.0"),
        ('{"mnemosyne_export": {"version": "1.3"}, "work', "damaged"),
        ('{"something": "else"}', "another kind"),
        ("", "empty"),
        ("plain text", "text of another kind"),
    ],
)
def test_what_is_no_export_is_refused(refused: Refused, tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "file.json").write_text(content)
    error = refused("mnemosyne_import", input_path="file.json")["error"]
    assert error["code"] == "transfer"
    assert words in error["message"]


@requirement("import.refused")
def test_a_file_that_is_not_there_is_told_as_such(refused: Refused) -> None:
    assert "no such file" in refused("mnemosyne_import", input_path="nowhere.json")["error"]["message"]


@requirement("import.refused")
def test_a_pipe_is_refused_without_waiting_for_its_writer(refused: Refused, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "only once" in refused("mnemosyne_import", input_path="pipe")["error"]["message"]


@requirement("paths.confined")
def test_no_path_leads_out_of_the_roots(ask: Ask, refused: Refused, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    os.symlink(outside, tmp_path / "link")
    for path in ("../out.json", "/etc/out.json", "link/out.json", "", "a\0b"):
        assert refused("mnemosyne_export", output_path=path)["error"]["parameter"] == "output_path"
        assert refused("mnemosyne_import", input_path=path)["error"]["parameter"] == "input_path"
    assert list(outside.iterdir()) == []


@requirement("export.whole")
def test_an_export_never_replaces_a_bank(ask: Ask, refused: Refused) -> None:
    ask("mnemosyne_remember", content="x")
    assert refused("mnemosyne_export", output_path="data/notes.db")["error"]["parameter"] == "output_path"
