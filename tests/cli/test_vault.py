"""`pieria vault`, as a person and a pipe see it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Maya.md").write_text("Maya leads billing.")
    monkeypatch.setenv("PIERIA_VAULT", str(folder))
    return folder


def test_notes_go_both_ways(ask: Ask, vault: Path) -> None:
    [id] = ask("remember", "We chose JWT.", "--title", "JWT", "-q").ids
    assert ask("vault", "promote", id, "--dry-run", "-q").out == "Pieria/JWT.md\n"
    assert ask("vault", "promote", id).json["promoted"][0]["what"] == "written"
    assert ask("vault", "sync").json["notes"] == {"new": 1}
    note = vault / "Pieria" / "JWT.md"
    note.write_text(note.read_text().replace("JWT.", "tokens."))
    assert ask("vault", "status").json["waiting"] == {"new": 0, "changed": 1, "vanished": 0}
    assert ask("vault", "sync", "-q").out == "edited Pieria/JWT.md\n"
    assert ask("get", id).json["text"] == "We chose tokens."


def test_person_sees_counts_and_problems_of_notes(vault: Path, terminal: Callable[..., Answer]) -> None:
    (vault / "bad.md").write_text("---\ntags: [\n---\nStill a text.\n")
    said = terminal("vault", "sync", "--dry-run")
    assert said.code == 1
    for part in ("would sync", "2 new", "bad.md", "is not YAML", "its text is imported"):
        assert part in said.out
    assert "2 new" in terminal("vault", "status").out
    assert "synced" in terminal("vault", "sync").out
    assert "nothing" in terminal("vault", "status").out


def test_unreadable_note_fails_and_the_rest_is_in(ask: Ask, vault: Path) -> None:
    (vault / "image.md").write_bytes(b"\x89PNG\0\0")
    assert ask("vault", "sync").code == 1
    assert ask("vault", "sync").code == 1
    assert ask("count").json == {"count": 1}
    (vault / "image.md").unlink()
    assert ask("vault", "sync").code == 0


def test_missing_vault_says_what_to_set(ask: Ask) -> None:
    answer = ask("vault", "sync")
    assert answer.code == 2
    assert "PIERIA_VAULT" in answer.err
