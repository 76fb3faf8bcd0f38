"""Mnemex: its store of JSON lines, there and back."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.bank.test_transfer_mnemex import DAY, MADE, USED, relation, row, stored

from pieria.bank import Bank
from pieria.errors import TransferError
from pieria.exporters import export_to
from pieria.importers import found, import_from

FIRST, SECOND = "0b8c4f0e-6a53-4e47-8f3f-d0f1a3a9a001", "0b8c4f0e-6a53-4e47-8f3f-d0f1a3a9a002"
TIE = "0b8c4f0e-6a53-4e47-8f3f-d0f1a3a9b001"


def rows(path: Path) -> dict[str, Any]:
    return {one["id"]: one for one in map(json.loads, path.read_text("utf-8").splitlines())}


def without_vector(one: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name not in ("embed", "review_priority")}


def test_store_goes_there_and_back(bank: Bank, tmp_path: Path) -> None:
    first, second, tie = {**USED, "id": FIRST}, row(SECOND, "Lunch."), relation(TIE, FIRST, SECOND)
    store = stored(tmp_path / "jsonl", first, second, relations=(tie,))
    tried = import_from(bank, "mnemex", store, dry_run=True)
    report = import_from(bank, "mnemex", store)
    assert tried.memories == report.memories == {"new": 2} and report.links == {"new": 1} and report.well
    memory = bank.get(FIRST)
    assert memory is not None
    assert (memory.status, memory.tier, memory.trust, memory.meta["promoted_to"]) == (
        "promoted", "settled", 0.5, "STM/typescript.md",
    )  # fmt: skip
    used = bank.usage(FIRST)[FIRST]
    assert (used.accesses, used.reviews, used.crossings) == (4, 2, 1)
    assert import_from(bank, "mnemex", store).memories == {"unchanged": 2}
    folder = export_to(bank, "mnemex", tmp_path / "back").path
    back = rows(folder / "memories.jsonl")
    assert {id: without_vector(one) for id, one in back.items()} == {
        FIRST: without_vector(first), SECOND: without_vector(second),
    }  # fmt: skip
    assert rows(folder / "relations.jsonl") == {TIE: tie}


def test_last_line_of_an_id_counts_and_bad_ones_are_listed(bank: Bank, tmp_path: Path) -> None:
    store = stored(
        tmp_path / "jsonl", row(FIRST, "Old."), row(SECOND, "Gone."), "broken", {"content": "no id"},
        row(FIRST, "New.", strength=9.0, status="odd"), {"id": SECOND, "_deleted": True},
        relations=(relation(TIE, FIRST, SECOND),),
    )  # fmt: skip
    report = import_from(bank, "mnemex", store / "memories.jsonl")
    assert (report.memories, report.problem_count, report.left.total()) == ({"new": 1}, 2, 2)
    memory = bank.get(FIRST)
    assert memory is not None
    assert (memory.text, memory.strength, memory.status) == ("New.", 2.0, "active")


def test_folder_without_a_store_is_refused(bank: Bank, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match=r"there is no memories\.jsonl in it"):
        import_from(bank, "mnemex", tmp_path)


def test_store_is_found_where_the_original_keeps_it(tmp_path: Path) -> None:
    usual = tmp_path / ".config" / "cortexgraph" / "jsonl"
    usual.parent.mkdir(parents=True)
    assert "mnemex" not in found({}, tmp_path)
    stored(usual, row(FIRST))
    named = stored(tmp_path / "else", row(FIRST))
    assert found({}, tmp_path)["mnemex"] == usual
    assert found({"MNEMEX_STORAGE_PATH": str(named)}, tmp_path)["mnemex"] == named


def test_ids_that_are_no_uuid_become_one(bank: Bank, tmp_path: Path) -> None:
    memory = bank.remember("We chose JWT.", title="JWT", at=MADE + DAY, tags=["auth"])
    other = bank.remember("Lunch.")
    bank.link(memory.id, other.id, "supports")
    report = export_to(bank, "mnemex", tmp_path / "out")
    back = rows(report.path / "memories.jsonl")
    [tie] = rows(report.path / "relations.jsonl").values()
    assert {len(id) for id in back} == {36} and {tie["from_memory_id"], tie["to_memory_id"]} == back.keys()
    assert [one["meta"]["extra"] for one in back.values() if one["content"] == "We chose JWT."] == [{"title": "JWT"}]
