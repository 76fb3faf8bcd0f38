"""Exports of chats by `import --from`: the same turns as mining makes, from the same readers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.mining import written

from pieria import Bank
from pieria.errors import TransferError
from pieria.importers import import_from
from pieria.mining import mine

MADE: dict[str, Callable[[Path], Path]] = {
    "chatgpt": written.chatgpt, "claude": written.claude, "gemini": written.gemini,
}  # fmt: skip


@pytest.mark.parametrize("system", MADE)
def test_turns_arrive_once_imported_or_mined(bank: Bank, tmp_path: Path, system: str) -> None:
    path = MADE[system](tmp_path / "export")
    tried = import_from(bank, system, path, dry_run=True)
    assert bank.count() == 0
    report = import_from(bank, system, path)
    assert tried.memories == report.memories and set(report.memories) == {"new"} and report.well
    turns = bank.list(kinds="turn")
    assert {turn.place for turn in turns} == {f"{system}/{system}"}
    assert all(turn.session and turn.trust == 0.5 for turn in turns)
    assert set(import_from(bank, system, path.parent).memories) == {"unchanged"}
    mine(bank, path, conversations=True)
    assert bank.count(kinds="turn") == report.memories["new"]


@pytest.mark.parametrize("system", MADE)
def test_broken_and_foreign_files_are_refused(bank: Bank, tmp_path: Path, system: str) -> None:
    (tmp_path / "broken.json").write_text('[{"title": ')
    (tmp_path / "other.json").write_text('[{"a": 1}]')
    (tmp_path / "none").mkdir()
    for name in ("broken.json", "other.json", "none", "absent"):
        with pytest.raises(TransferError):
            import_from(bank, system, tmp_path / name)
    assert bank.count() == 0
