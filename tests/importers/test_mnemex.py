"""Mnemex: its store of JSON lines, there and back, with any content."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.bank.kept import held
from tests.contract.store_helpers import HandClock

from pieria.bank import Bank
from pieria.errors import TransferError
from pieria.exporters import export_to
from pieria.importers import found, import_from
from pieria.importers.mnemex import stats

DAY = 86_400
MADE = 1_767_225_600
"""2026-01-01, in seconds."""
FIRST, SECOND = "0b8c4f0e-6a53-4e47-8f3f-d0f1a3a9a001", "0b8c4f0e-6a53-4e47-8f3f-d0f1a3a9a002"
THIRD = "0b8c4f0e-6a53-4e47-8f3f-d0f1a3a9a003"
TIE = "0b8c4f0e-6a53-4e47-8f3f-d0f1a3a9b001"


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


def rows(path: Path) -> dict[str, Any]:
    return {one["id"]: one for one in map(json.loads, path.read_text("utf-8").splitlines())}


def without_vector(one: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name not in ("embed", "review_priority")}


def test_memories_come_in_with_all_their_values(bank: Bank, tmp_path: Path) -> None:
    relations = (relation(TIE, FIRST, SECOND),)
    store = stored(tmp_path / "jsonl", {**USED, "id": FIRST}, row(SECOND, "Lunch."), relations=relations)
    report = import_from(bank, "mnemex", store)
    assert (report.memories, report.links, report.problems) == ({"new": 2}, {"new": 1}, [])
    memory = held(bank, FIRST)
    said = (memory.text, memory.kind, memory.tags, memory.entities, memory.source, memory.context)
    assert said == (
        "I prefer TypeScript.", "note", ("typescript", "preferences"), ("typescript",), "chat", "standup",
    )  # fmt: skip
    assert (memory.at.timestamp(), memory.strength) == (MADE, 1.3)
    assert (memory.status, memory.tier, memory.trust, memory.via) == ("promoted", "settled", 0.5, "hearsay")
    assert {name: value for name, value in memory.meta.items() if name != "mined"} == {
        "k": [1], "imported_from": "mnemex", "promoted_to": "STM/typescript.md",
        "promoted_at": "2026-01-04T00:00:00Z",
    }  # fmt: skip
    used = bank.usage(FIRST)[FIRST]
    assert (used.accesses, used.reviews, used.crossings) == (4, 2, 1)
    times = [at and at.timestamp() for at in (used.last_access, used.last_review)]
    assert times == [MADE + 7 * DAY, MADE + 6 * DAY]
    [link] = bank.links(FIRST)
    assert (link.relation, link.target.name, link.weight, link.meta["by"]) == ("supports", SECOND, 0.8, "hand")
    assert [hit.memory.id for hit in bank.recall("typescript")][:1] == [FIRST]


def test_store_comes_in_once_and_changes_here_stay(bank: Bank, tmp_path: Path) -> None:
    rows = [{**USED, "id": FIRST}, row(SECOND), row(THIRD)]
    relations = (relation(TIE, FIRST, SECOND),)
    store = stored(tmp_path / "jsonl", *rows, relations=relations)
    assert import_from(bank, "mnemex", store, dry_run=True).memories == {"new": 3}
    assert bank.count() == 0
    import_from(bank, "mnemex", store)
    bank.update(SECOND, text="Said better here.")
    bank.purge(THIRD)
    stored(tmp_path / "jsonl", *rows, row("m4"), relations=relations)
    report = import_from(bank, "mnemex", store)
    assert report.memories == {"new": 1, "unchanged": 2, "purged": 1}
    assert held(bank, SECOND).text == "Said better here."
    assert len(bank.links()) == 1
    brought = import_from(bank, "mnemex", store, force=True)
    assert brought.memories["new"] + brought.memories["back"] == 1 and bank.count() == 4


def test_memory_that_faded_there_has_faded_here(bank: Bank, clock: HandClock, tmp_path: Path) -> None:
    clock.now = datetime.fromtimestamp(MADE + 330 * DAY, UTC)
    recent: dict[str, Any] = {"last_used": MADE + 300 * DAY, "use_count": 9}
    import_from(bank, "mnemex", stored(tmp_path / "jsonl", row(FIRST, **recent), row(SECOND)))
    assert [one.memory.id for one in bank.upkeep.gc(threshold=0.05).faded] == [SECOND]


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
    assert (report.memories, report.problem_count, report.left.total()) == ({"new": 1}, 2, 4)
    memory = bank.get(FIRST)
    assert memory is not None
    assert (memory.text, memory.strength, memory.status) == ("New.", 2.0, "active")


DEEP: Any = {}
for _ in range(60):
    DEEP = {"in": DEEP}
BROKEN: tuple[Mapping[str, Any] | str, ...] = (
    row("sound"), "{not json", "[]", "null", '{"content": "no id"}', json.dumps(row("blank", " ")), "[" * 5_000,
    row("odd", strength=9, status="asleep", use_count=-1, created_at="yesterday", entities="x", last_used=1e30),
    row("odder", meta={"tags": ["ok", 7, "a\nb"], "source": "\0", "extra": [1]}, cross_domain_count="many"),
    row("nul", "a\0b"), row("long", "x" * (1 << 20) + "x"), row("nothing", meta=None, strength=None),
    row("extra", meta={"extra": {"deep": DEEP}}),
)  # fmt: skip


def test_broken_lines_are_reported_and_the_rest_goes_in(bank: Bank, tmp_path: Path) -> None:
    wrong = relation("r1", "sound", "lost"), relation("r2", "odd", "odd"), relation("r3", "sound", "odd", strength=3)
    store = stored(tmp_path / "jsonl", *BROKEN, relations=wrong)
    report = import_from(bank, "mnemex", store)
    came = {memory.meta.get("origin", memory.id): memory for memory in bank.list()}
    assert came.keys() == {"sound", "odd", "odder", "nothing", "extra"}
    odd, odder = came["odd"], came["odder"]
    assert (odd.strength, odd.status, odder.tags, odder.source) == (2.0, "active", ("ok", "7", "a b"), "mnemex")
    told = [problem.where for problem in report.problems]
    assert told == [*(f"memories.jsonl, record {line}" for line in range(2, 8)), "memory nul", "memory long"]
    invalid = {name.removeprefix("invalid values of "): number for name, number in report.left.items()}
    assert invalid == {
        "meta": 1, "status": 1, "strength": 2, "created_at": 1, "last_used": 1, "use_count": 1,
        "cross_domain_count": 1, "relations of a memory to itself": 1, "relations whose memory is not in the store": 1,
    }  # fmt: skip
    assert [link.weight for link in bank.links()] == [1.0]


def test_broken_line_of_an_id_leaves_the_line_before_it(bank: Bank, tmp_path: Path) -> None:
    report = import_from(bank, "mnemex", stored(tmp_path / "jsonl", row(FIRST, "Good."), row(FIRST, " ")))
    assert (held(bank, FIRST).text, report.problem_count) == ("Good.", 1)


def test_store_is_counted_as_the_original_counts_it(tmp_path: Path) -> None:
    rows = [row("a", f"Version {number}.") for number in range(150)]
    store = stored(tmp_path / "jsonl", *rows, "broken", relations=(relation("r", "a", "a"),))
    counts = stats(store)
    assert counts is not None
    size = (store / "memories.jsonl").stat().st_size
    whole = {"active": 1, "total_lines": 151, "file_size_bytes": size, "compaction_savings": 150}
    assert (counts["memories"], counts["relations"]["active"]) == (whole, 1)
    assert (counts["should_compact"], counts["bad_lines"]) == (True, 1)
    (store / "relations.jsonl").unlink()
    assert stats(store / "memories.jsonl") == {
        **counts, "relations": {"active": 0, "total_lines": 0, "file_size_bytes": 0, "compaction_savings": 0},
    }  # fmt: skip
    assert stats(tmp_path) is None


def test_note_that_the_original_wrote_gets_no_second_one(opened: Callable[..., Bank], tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "STM").mkdir(parents=True)
    (vault / "STM" / "typescript.md").write_text("# I prefer TypeScript\n")
    store = stored(tmp_path / "jsonl", USED, row("m2", status="promoted", promoted_to="STM/lost.md"))
    bank = opened(vault=str(vault))
    import_from(bank, "mnemex", store)
    assert (bank.vault.status().without_note, bank.vault.sync().memories) == (1, {"written": 1})
    assert bank.vault.sync().events == []


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
