"""Offers: an empty bank says which stores of other systems it could take in, and how."""

import json
from functools import partial
from pathlib import Path

import pytest
from tests.importers.test_claude_mem import store

from pieria.importers.offers import FILE, Once, offers, settle
from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def test_store_in_the_home_is_offered_until_it_is_imported(data: Path, tmp_path: Path) -> None:
    assert offers(data, {}, tmp_path) == []
    folder = store(tmp_path / ".claude-mem")
    [offer] = offers(data, {}, tmp_path)
    assert offer.told("my bank").endswith(
        f"pieria import --from claude-mem {folder / 'claude-mem.db'} --bank 'my bank'"
    )
    settle(data, "claude-mem")
    assert offers(data, {}, tmp_path) == []
    assert json.loads((data / FILE).read_text()) == ["claude-mem"]
    (data / FILE).write_text("broken")
    assert len(offers(data, {}, tmp_path)) == 1


def test_offers_are_made_once_and_for_empty_banks_only(data: Path, home: Path) -> None:
    store(home / ".claude-mem")
    for offered, is_empty, first in ((True, True, 1), (True, False, 0), (False, True, 0)):
        once = Once(data, offered=offered)
        assert len(once("notes", partial(bool, is_empty))) == first
        assert once("notes", partial(bool, True)) == []


@pytest.mark.parametrize("tool", ["mem-find", "recall", "mnemosyne_recall"])
def test_first_reply_of_an_empty_bank_has_the_offer(data: Path, home: Path, tool: str) -> None:
    store(home / ".claude-mem")
    workspace = Workspace(data)
    banks = Banks(workspace, "test")
    try:
        told = []
        for name in ("empty", "empty", "used"):
            host = Host(banks, name, "s", Paths(data, (data,)), offers=Once(data, offered=True))
            if name == "used":
                host.bank.remember("Something.")
            value = called(registry(), tool, {"query": "heron"}, host).structured
            warnings = value.get("meta", value).get("warnings", [])
            told.append([warning for warning in warnings if "claude-mem" in warning])
        assert [len(each) for each in told] == [1, 1, 0]
    finally:
        banks.close()
