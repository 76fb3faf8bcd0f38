"""Collecting, promoting, clustering and consolidating: nothing is lost, and reports are true."""

from pathlib import Path
from typing import Any

import pytest
from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.mnemex.conftest import Saved
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host

DEPLOYS = ("The deploy runs every Friday at noon.", "The deploy runs every Friday at noon!")


@requirement("gc.active")
def test_protected_memories_are_not_collected(ask: Ask, saved: Saved, host: Host, clock: HandClock) -> None:
    bank = host.bank
    faded, archived, promoted, pinned = (saved(f"Passing {n}", strength=1.0) for n in range(4))
    bank.update(archived, status="archived")
    bank.update(promoted, status="promoted", tier="settled")
    bank.pin(pinned)
    for kind in ("drawer", "observation", "turn", "diary"):
        bank.remember("Evidence.", kind=kind)
    bank.remember("Important.", importance=0.9)
    clock.move(days=60)
    assert ask("gc", dry_run=False)["memory_ids"] == [faded]
    assert ask("gc")["total_affected"] == 0
    told = ask("recover_memory", memory_id=faded)
    assert (told["status"], "touch_memory keeps it" in told["warnings"][0]) == ("active", True)
    ask("touch_memory", memory_id=faded)
    assert ask("gc", dry_run=False)["memory_ids"] == []


@requirement("gc.limit")
def test_most_faded_are_collected_first(ask: Ask, saved: Saved, clock: HandClock) -> None:
    ids = []
    for number in range(3):
        ids.append(saved(f"Passing {number}", strength=1.0))
        clock.move(days=1)
    clock.move(days=60)
    told = ask("gc", dry_run=False, limit=2)
    assert (told["memory_ids"], told["left"], told["removed_count"]) == (ids[:2], 1, 2)


@requirement("promote.refused")
def test_refused_promotion_says_why(ask: Ask, refused: Refused, saved: Saved) -> None:
    id = saved(strength=1.0)
    told = refused("promote_memory", memory_id=id)
    assert (told["success"], told["score"], told["use_count"]) == (False, 1.0, 0)
    assert "does not meet the criteria" in told["message"]
    assert refused("promote_memory")["hint"] == "Must specify memory_id or set auto_detect=true."
    shown = ask("promote_memory", memory_id=id, force=True, dry_run=True)
    assert (shown["candidates"][0]["reason"], shown["promoted_count"]) == ("Forced", 0)
    assert "No vault is set" in shown["warnings"][0]
    told = refused("promote_memory", memory_id=id, force=True)
    assert "vault" in told["message"]
    assert ask("open_memories", memory_ids=id)["memories"][0]["status"] == "active"


@requirement("promote.noted", "vault.found")
@pytest.mark.parametrize("settings", [{"vault": "vault"}])
def test_promoted_memory_has_a_note(ask: Ask, refused: Refused, host: Host, saved: Saved) -> None:
    root = Path("vault")
    root.mkdir()
    id = saved("We chose JWT.", tags=["auth"])
    ask("forget_memory", memory_id=id)
    path = ask("promote_memory", memory_id=id, force=True)["promoted_to"]
    assert "We chose JWT." in (root / path).read_text()
    assert refused("promote_memory", memory_id=id, force=True)["promoted_to"] == path
    ask("forget_memory", memory_id=id)
    assert ask("search_unified", query="JWT")["count"] == 0
    assert ask("recover_memory", memory_id=id)["status"] == "promoted"
    for query in ("JWT", None):
        [one] = ask("search_unified", query=query)["results"]
        assert (one["source"], one["path"], one["memory_id"]) == ("ltm", path, id)
    host.bank.update(id, status="active")
    assert [one["source"] for one in ask("search_unified", query="JWT")["results"]] == ["stm"]
    other = saved("Ralph runs billing.")
    host.bank.upkeep.promote(other)
    assert ask("promote_memory", memory_id=other)["promoted_to"] == "Pieria/Ralph runs billing.md"


@requirement("vault.found")
@pytest.mark.parametrize("settings", [{"vault": "vault"}])
def test_notes_of_the_vault_stand_beside_memories(ask: Ask, host: Host, saved: Saved, clock: HandClock) -> None:
    root = Path("vault")
    root.mkdir()
    (root / "Deploys.md").write_text("---\ncreated: 2024-01-01\ntags: [ops]\n---\nKestrels nest on the gateway.\n")
    assert host.bank.vault.sync().well
    id = saved("Kestrels nest on the tower.", strength=1.0)
    clock.move(days=400)
    found = ask("search_unified", query="kestrels nest")["results"]
    assert [(one["source"], one["path"]) for one in found] == [("ltm", "Deploys.md"), ("stm", None)]
    assert (found[0]["title"], found[0]["tags"], found[1]["memory_id"]) == ("Deploys", ["ops"], id)
    assert [one["path"] for one in ask("search_unified", query="kestrels", tags=["ops"])["results"]] == ["Deploys.md"]
    assert {one["source"] for one in ask("search_unified", query="kestrels", stm_weight=0)["results"]} == {"ltm"}
    assert {one["source"] for one in ask("search_unified", query="kestrels", ltm_weight=0)["results"]} == {"stm"}
    assert {one["path"] for one in ask("search_unified")["results"]} == {"Deploys.md", None}


@requirement("promote.apart")
def test_memory_of_another_session_is_not_promoted(ask: Ask, host: Host, clock: HandClock) -> None:
    other = host.having(session="tuesday")
    id = other.bank.remember("Between us: kestrels.", scope="session", session="tuesday").id
    other.bank.touch(id, accesses=9)
    clock.move(days=2)
    assert ask("promote_memory", auto_detect=True, dry_run=True)["candidates"] == []
    shown = ask("promote_memory", auto_detect=True, dry_run=True, at=other)["candidates"]
    assert [one["id"] for one in shown] == [id]


@requirement("clusters.whole")
def test_clusters_lose_no_member_and_are_counted(ask: Ask, saved: Saved) -> None:
    ids = [saved("Deploys run on Fridays.") for _ in range(7)]
    told = ask("cluster_memories", max_cluster_size=4)
    assert [one["size"] for one in told["clusters"]] == [4, 3]
    assert {id for one in told["clusters"] for id in one["memory_ids"]} == set(ids)
    for id in ids:
        ask("forget_memory", memory_id=id)
    for number in range(22):
        for _ in range(2):
            saved(f"Word{number} thing{number}")
    told = ask("cluster_memories")
    assert (told["clusters_found"], len(told["clusters"]), told["clusters_not_shown"]) == (22, 20, 2)
    pairs = ask("cluster_memories", find_duplicates=True)
    assert (pairs["duplicates_found"], len(pairs["duplicates"]), pairs["pairs_not_shown"]) == (22, 20, 2)


@requirement("settings.effect")
@pytest.mark.parametrize(
    ("settings", "clusters", "pairs"),
    [
        ({}, 1, 1),
        ({"cluster_threshold": 1, "duplicate_threshold": 1}, 0, 0),
        ({"duplicate_threshold": 0.5, "cluster_most": 2}, 1, 3),
    ],
)
def test_settings_say_how_alike_is_alike(
    ask: Ask, saved: Saved, settings: dict[str, Any], clusters: int, pairs: int
) -> None:
    for text in ("We deploy the billing gateway every Friday at noon", "We deploy the ledger gateway every Friday noon",
                 "The gateway team drinks tea every Friday"):  # fmt: skip
        saved(text)
    assert ask("cluster_memories")["clusters_found"] == clusters
    assert ask("cluster_memories", find_duplicates=True)["duplicates_found"] == pairs
    [one] = ask("cluster_memories", threshold=0.5)["clusters"]
    assert one["size"] == settings.get("cluster_most", 3)


@requirement("clusters.known")
def test_id_of_a_cluster_outlives_new_memories(ask: Ask, refused: Refused, saved: Saved) -> None:
    ids = [saved(text) for text in DEPLOYS]
    [one] = ask("cluster_memories")["clusters"]
    assert ask("cluster_memories")["clusters"][0]["id"] == one["id"]
    saved(DEPLOYS[0])
    told = ask("consolidate_memories", cluster_id=one["id"], mode="apply")
    assert told["archived_ids"] == ids
    unknown = refused("consolidate_memories", cluster_id="cluster-abc")
    assert (unknown["message"], unknown["hint"]) == (
        "Cluster not found: cluster-abc", "cluster_memories returns the ids.",
    )  # fmt: skip


@requirement("consolidate.applied")
def test_merge_keeps_what_all_say_and_is_undone(ask: Ask, refused: Refused, saved: Saved, host: Host) -> None:
    one = saved("The deploy runs on Friday.", tags=["Ops"], entities=["Alice"], source="Maya", strength=1.0)
    other = saved("The deploy runs on Friday at noon.", tags=["ops"], entities=["alice"], source="Omar", strength=1.0)
    ask("touch_memory", memory_id=one)
    [cluster] = ask("cluster_memories", threshold=0.5)["clusters"]
    shown = ask("consolidate_memories", cluster_id=cluster["id"], mode="preview")
    told = ask("consolidate_memories", cluster_id=cluster["id"], mode="apply")
    assert shown["merged_memory"] == told["merged_memory"]
    [made] = ask("open_memories", memory_ids=told["new_memory_id"])["memories"]
    assert (made["content"], made["tags"], made["entities"]) == (
        "The deploy runs on Friday at noon.", ["ops"], ["Alice"],
    )  # fmt: skip
    assert (made["source"], made["use_count"], 1.0 < made["strength"] <= 2.0) == ("Maya; Omar", 1, True)
    assert saved.found("deploy") == [made["id"]]
    again = refused("consolidate_memories", cluster_id=cluster["id"], mode="apply")
    assert (again["message"].startswith("It was merged already"), again["new_memory_id"]) == (True, made["id"])
    host.bank.undo(told["change"])
    assert set(saved.found("deploy")) == {one, other}


@requirement("consolidate.applied")
def test_cluster_is_linked_or_worded_by_the_agent(ask: Ask, saved: Saved) -> None:
    ids = [saved(text) for text in DEPLOYS]
    [cluster] = ask("cluster_memories")["clusters"]
    linked = ask("consolidate_memories", cluster_id=cluster["id"], mode="link")
    assert (linked["status"], linked["relations_created"]) == ("linked", 1)
    assert ask("consolidate_memories", cluster_id=cluster["id"], mode="link")["relations_created"] == 0
    told = ask("consolidate_memories", cluster_id=cluster["id"], mode="apply", content="Deploys: Friday, noon.")
    assert told["merged_memory"]["content"] == "Deploys: Friday, noon."
    assert told["archived_ids"] == ids


@requirement("consolidate.refused")
def test_changed_cluster_is_refused(ask: Ask, refused: Refused, saved: Saved, host: Host) -> None:
    unknown = refused("consolidate_memories", cluster_id="cluster-abc")
    assert ("cluster-abc" in unknown["message"], "cluster_memories" in unknown["hint"]) == (True, True)
    ids = [saved(text) for text in DEPLOYS]
    [cluster] = ask("cluster_memories")["clusters"]
    host.bank.pin(ids[0])
    assert "pinned" in refused("consolidate_memories", cluster_id=cluster["id"], mode="apply")["message"]
    ask("forget_memory", memory_id=ids[1], erase=True)
    assert refused("consolidate_memories", cluster_id=cluster["id"])["code"] == "not_found"


@requirement("promote.fresh")
def test_new_memories_are_not_promoted(ask: Ask, saved: Saved, clock: HandClock) -> None:
    for number in range(5):
        saved(f"Trivia {number}", strength=2.0)
    assert ask("promote_memory", auto_detect=True, dry_run=True)["candidates_found"] == 0
    clock.move(hours=23)
    assert ask("promote_memory", auto_detect=True, dry_run=True)["candidates_found"] == 0
