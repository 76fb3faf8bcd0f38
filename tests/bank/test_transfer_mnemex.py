"""Importing a Mnemex store into a folder or onto a server: repeatable, and with any content."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import Kept, held
from tests.contract.making import HandClock

from pieria import Bank
from pieria.bank.transfer.files import stats_of_store
from pieria.errors import InputError, TransferError

DAY = 86_400
MADE = 1_767_225_600
"""2026-01-01, in seconds."""


def row(id: str, content: str = "I prefer TypeScript.", **more: Any) -> dict[str, Any]:
    return {
        "id": id, "content": content, "meta": {"tags": [], "source": None, "context": None, "extra": {}},
        "created_at": MADE, "last_used": MADE, "use_count": 0, "strength": 1.0, "status": "active", "promoted_at": None,
        "promoted_to": None, "embed": [0.5] * 384, "entities": [], "review_priority": 0.2, "last_review_at": None,
        "review_count": 0, "cross_domain_count": 0, **more,
    }  # fmt: skip


def relation(id: str, source: str, target: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id, "from_memory_id": source, "to_memory_id": target, "relation_type": "supports", "strength": 0.8,
        "created_at": MADE, "metadata": {"by": "hand"}, **more,
    }  # fmt: skip


def stored(folder: Path, *rows: Mapping[str, Any] | str, relations: tuple[Mapping[str, Any], ...] = ()) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [each if isinstance(each, str) else json.dumps(each) for each in rows]
    (folder / "memories.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "relations.jsonl").write_text("".join(json.dumps(each) + "\n" for each in relations))
    return folder


USED = row(
    "abc-123",
    meta={"tags": ["typescript", "preferences"], "source": "chat", "context": "standup", "extra": {"k": [1]}},
    last_used=MADE + 7 * DAY, use_count=4, strength=1.3, entities=["typescript"], review_count=2,
    last_review_at=MADE + 6 * DAY, cross_domain_count=1, status="promoted", promoted_at=MADE + 3 * DAY,
    promoted_to="STM/typescript.md",
)  # fmt: skip


def test_memories_come_in_with_all_their_values(kept: Kept, tmp_path: Path) -> None:
    store = stored(tmp_path / "jsonl", USED, row("m2", "Lunch."), relations=(relation("r1", "abc-123", "m2"),))
    with kept.opened("moved") as bank:
        report = bank.import_(store, system="mnemex")
        assert (report.added["memories"], report.added["links"], report.problems) == (2, 1, ())
        memory = held(bank, "abc-123")
        said = (memory.text, memory.kind, memory.tags, memory.entities, memory.source, memory.context)
        assert said == (
            "I prefer TypeScript.", "note", ("typescript", "preferences"), ("typescript",), "chat", "standup",
        )  # fmt: skip
        assert (memory.at.timestamp(), memory.strength) == (MADE, 1.3)
        assert (memory.status, memory.tier) == ("promoted", "settled")
        assert memory.meta == {
            "k": [1], "imported_from": "mnemex", "promoted_to": "STM/typescript.md",
            "promoted_at": "2026-01-04T00:00:00Z",
        }  # fmt: skip
        used = bank.usage("abc-123")["abc-123"]
        assert (used.accesses, used.reviews, used.crossings) == (4, 2, 1)
        times = [at and at.timestamp() for at in (used.last_access, used.last_review)]
        assert times == [MADE + 7 * DAY, MADE + 6 * DAY]
        [link] = bank.links("abc-123")
        assert (link.relation, link.target.name, link.weight, link.meta) == ("supports", "m2", 0.8, {"by": "hand"})
        assert [hit.memory.id for hit in bank.recall("typescript")][:1] == ["abc-123"]


def test_store_comes_in_once_and_changes_here_stay(bank: Bank, tmp_path: Path) -> None:
    relations = (relation("r1", "abc-123", "m2"),)
    store = stored(tmp_path / "jsonl", USED, row("m2"), row("m3"), relations=relations)
    assert bank.import_(store, system="mnemex", dry_run=True).added["memories"] == 3
    assert bank.count() == 0
    bank.import_(store, system="mnemex")
    bank.update("m2", text="Said better here.")
    bank.purge("m3")
    stored(tmp_path / "jsonl", USED, row("m2"), row("m3"), row("m4"), relations=relations)
    report = bank.import_(store, system="mnemex")
    assert (report.added["memories"], report.left["memories"]) == (1, {"here already": 2, "purged here": 1})
    assert {memory.id for memory in bank.list()} == {"abc-123", "m2", "m4"}
    assert [memory.text for memory in bank.list() if memory.id == "m2"] == ["Said better here."]
    assert len(bank.links()) == 1


def test_last_line_of_an_id_counts_and_deleted_ones_do_not(bank: Bank, clock: HandClock, tmp_path: Path) -> None:
    clock.now = datetime.fromtimestamp(MADE + 330 * DAY, UTC)
    recent = {"last_used": MADE + 300 * DAY, "use_count": 9}
    rows = row("a", "Old."), row("gone"), row("a", "New.", **recent), {"id": "gone", "_deleted": True}, row("b"), ""
    store = stored(tmp_path / "jsonl", *rows)
    assert bank.import_(store / "memories.jsonl", system="mnemex").problem_count == 0
    assert sorted(memory.text for memory in bank.list()) == ["I prefer TypeScript.", "New."]
    # What has faded there has faded here.
    assert [one.memory.id for one in bank.upkeep.gc(threshold=0.05).faded] == ["b"]


BROKEN: tuple[Mapping[str, Any] | str, ...] = (
    row("sound"), "{not json", "[]", "null", '{"content": "no id"}', json.dumps(row("blank", " ")), "[" * 5_000,
    row("odd", strength=9, status="asleep", use_count=-1, created_at="yesterday", entities="x", last_used=1e30),
    row("odder", meta={"tags": ["ok", 7, "a\nb"], "source": "\0", "extra": [1]}, cross_domain_count="many"),
    row("nul", "a\0b"), row("long", "x" * (1 << 20) + "x"), row("nothing", meta=None, strength=None),
)  # fmt: skip


def test_broken_lines_are_reported_and_the_rest_goes_in(bank: Bank, tmp_path: Path) -> None:
    wrong = relation("r1", "sound", "lost"), relation("r2", "odd", "odd"), relation("r3", "sound", "odd", strength=3)
    store = stored(tmp_path / "jsonl", *BROKEN, relations=wrong)
    with pytest.raises(TransferError, match="nothing was imported"):
        bank.import_(store, system="mnemex")
    assert bank.count() == 0
    report = bank.import_(store, system="mnemex", on_error="skip")
    assert {memory.id for memory in bank.list()} == {"sound", "odd", "odder", "nothing"}
    odd, odder = held(bank, "odd"), held(bank, "odder")
    assert (odd.strength, odd.status, odder.tags) == (2.0, "active", ("ok",))
    told = {(problem.line, problem.parameter.partition(" ")[0]) for problem in report.problems}
    lines = {"memories.jsonl": range(2, 13), "relations.jsonl": range(1, 4)}
    assert told == {(line, file) for file, numbers in lines.items() for line in numbers}
    assert [link.weight for link in bank.links()] == [1.0]
    with pytest.raises(TransferError, match=r"no memories\.jsonl"):
        bank.import_(tmp_path, system="mnemex")
    with pytest.raises(InputError, match="system"):
        bank.import_(tmp_path, system="mnemox")


def test_store_is_counted_as_the_original_counts_it(tmp_path: Path) -> None:
    rows = [row("a", f"Version {number}.") for number in range(150)]
    store = stored(tmp_path / "jsonl", *rows, "broken", relations=(relation("r", "a", "a"),))
    found = stats_of_store(store)
    assert found is not None
    size = (store / "memories.jsonl").stat().st_size
    whole = {"active": 1, "total_lines": 151, "file_size_bytes": size, "compaction_savings": 150}
    assert (found["memories"], found["relations"]["active"]) == (whole, 1)
    assert (found["should_compact"], found["bad_lines"]) == (True, 1)
    assert stats_of_store(tmp_path) is None


def test_note_that_the_original_wrote_gets_no_second_one(opened: Callable[..., Bank], tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "STM").mkdir(parents=True)
    (vault / "STM" / "typescript.md").write_text("# I prefer TypeScript\n")
    store = stored(tmp_path / "jsonl", USED, row("m2", status="promoted", promoted_to="STM/lost.md"))
    bank = opened(vault=str(vault))
    bank.import_(store, system="mnemex")
    assert (bank.vault.status().without_note, bank.vault.sync().memories) == (1, {"written": 1})
    assert bank.vault.sync().events == []
