"""`pieria seal`, `unseal` and `rekey`, as a pipe sees them."""

from pathlib import Path

import pytest
from tests.cli.conftest import Ask


def test_bank_is_sealed_rekeyed_and_unsealed(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = f"file:{tmp_path / 'one'}", f"file:{tmp_path / 'other'}"
    ask("remember", "The zephyrquokka hid.", "--bank", "mine")
    monkeypatch.setenv("PIERIA_SEAL_KEY", one)
    assert ask("seal", "--bank", "mine").json["key_made"] is True
    assert ask("where", "--bank", "mine").json["sealed"] is True
    assert ask("rekey", "--bank", "mine", "--to", other).json["key"] == other
    closed = ask("stats", "--bank", "mine")
    assert closed.code == 3
    monkeypatch.setenv("PIERIA_SEAL_KEY", other)
    assert ask("count", "--bank", "mine").code == 0
    assert ask("unseal", "--bank", "mine").json["sealed"] is False
    assert ask("where", "--bank", "mine").json["sealed"] is False
