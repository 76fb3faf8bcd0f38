"""`pieria maintenance` and `pieria import --from`: commands for users of Mnemex, and their migration."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "jsonl"
    folder.mkdir()
    row = {"id": "abc-123", "content": "I prefer TypeScript.", "created_at": 1_767_225_600, "use_count": 1}
    (folder / "memories.jsonl").write_text(f"{json.dumps(row)}\nbroken\n")
    return folder


def test_store_is_imported_and_broken_lines_named(ask: Ask, store: Path) -> None:
    shown = ask("import", str(store), "--from", "mnemex", "--dry-run", "--no-json").out
    assert "a store of mnemex, into an empty bank" in " ".join(shown.split())
    answer = ask("import", str(store), "--from", "mnemex")
    assert answer.json["added"]["memories"] == 1
    assert "line 2: memories.jsonl" in answer.err
    assert ask("get", "abc-123").json["text"] == "I prefer TypeScript."
    assert ask("import", str(store), "--from", "mnemex").json["left"]["memories"] == {"here already": 1}
    assert ask("import", str(store), "--from", "nobody").code == 2


def test_stats_are_of_the_named_folder(ask: Ask, store: Path, tmp_path: Path) -> None:
    found = ask("maintenance", "--storage-path", str(store), "stats").json
    assert (found["memories"]["total_lines"], found["bad_lines"], found["system"]) == (2, 1, "mnemex")
    assert found["hint"] == f"Import it: pieria import {store} --from mnemex"
    assert [path.name for path in store.iterdir()] == ["memories.jsonl"]
    ask("remember", "x", "--data", str(tmp_path / "ours"))
    ours = ask("maintenance", "--storage-path", str(tmp_path / "ours"), "stats").json
    assert (ours["memories"]["active"], ours["should_compact"], "store" in ours) == (1, False, False)


def test_stats_show_the_originals_store_beside_ours(ask: Ask, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIERIA_DATA")
    monkeypatch.setenv("MNEMEX_STORAGE_PATH", str(store))
    assert ask("maintenance", "stats").json["system"] == "mnemex"
    ask("remember", "x")
    found = ask("maintenance", "stats").json
    assert (found["memories"]["active"], found["store"]["memories"]["active"]) == (1, 1)


def test_compacting_removes_nothing_else(ask: Ask, store: Path) -> None:
    for text in ("x" * 500_000, "kept"):
        ask("remember", "-", stdin=text)
    done = ask("maintenance", "compact").json
    assert done["before"]["memories"] == done["after"]["memories"] == 2
    assert done["after"]["bytes"] <= done["before"]["bytes"]
    assert done["unreached"] == []
    refused = ask("maintenance", "--storage-path", str(store), "compact")
    assert refused.code == 2
    assert "pieria import" in refused.err


def test_people_see_it_in_words(store: Path, terminal: Callable[..., Answer]) -> None:
    said = terminal("maintenance", "--storage-path", str(store), "stats").out
    assert "a store of mnemex" in said
    assert "damaged lines" in said
    assert "compacted" in terminal("maintenance", "compact").out
