"""Collecting, promoting, clustering and consolidating: nothing is lost, and reports are true."""

from pathlib import Path

import pytest
from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement
from tests.toolsets.mnemex.conftest import Saved

DEPLOYS = ("The deploy runs every Friday at noon.", "The deploy runs every Friday at noon!")


@requirement("gc.active")
def test_protected_memories_are_not_collected(ask: Ask, saved: Saved, host: Host, clock: HandClock) -> None:
    bank = host.bank
    faded, archived, promoted, pinned = (saved(f"Passing {n}", strength=1.0) for n in range(4))
    bank.update(archived, status="archived")
    bank.update(promoted, status="promoted", tier="settled")
    bank.pin(pinned)
    bank.remember("Evidence.", kind="drawer")
    clock.move(days=60)
    assert ask("gc", dry_run=False)["memory_ids"] == [faded]
    told = ask("recover_memory", memory_id=faded)
    assert (told["status"], "touch_memory keeps it" in told["warnings"][0]) == ("active", True)
    ask("touch_memory", memory_id=faded)
    assert ask("gc", dry_run=False)["memory_ids"] == []


@requirement("decay.models")
@pytest.mark.parametrize(
    ("settings", "days"),
    [({}, 49), ({"decay_model": "exponential"}, 13), ({"decay_model": "two_component"}, 19)],
)
def test_each_decay_model_collects_in_its_own_time(ask: Ask, saved: Saved, clock: HandClock, days: int) -> None:
    saved("Passing.", strength=1.0)
    clock.move(days=days - 1)
    assert ask("gc")["total_affected"] == 0
    clock.move(days=1)
    assert ask("gc")["total_affected"] == 1


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


@requirement("promote.apart", "promote.fresh")
def test_new_memory_or_another_sessions_is_not_promoted(ask: Ask, host: Host, clock: HandClock) -> None:
    def candidates(at: Host) -> list[str]:
        return [one["id"] for one in ask("promote_memory", at=at, auto_detect=True, dry_run=True)["candidates"]]

    other = host.having(session="tuesday")
    id = other.bank.remember("Between us: kestrels.", scope="session", session="tuesday").id
    other.bank.touch(id, accesses=9)
    clock.move(days=2)
    other.bank.remember("Trivia.", strength=2.0)
    clock.move(hours=23)
    assert (candidates(other), candidates(host)) == ([id], [])


@requirement("clusters.whole")
def test_clusters_and_pairs_are_shown_in_part_and_counted(ask: Ask, saved: Saved) -> None:
    for number in range(22):
        for _ in range(2):
            saved(f"Word{number} thing{number}")
    told = ask("cluster_memories")
    assert (told["clusters_found"], len(told["clusters"]), told["clusters_not_shown"]) == (22, 20, 2)
    pairs = ask("cluster_memories", find_duplicates=True)
    assert (pairs["duplicates_found"], len(pairs["duplicates"]), pairs["pairs_not_shown"]) == (22, 20, 2)


@requirement("settings.effect")
@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, (1, 1, 3)),
        ({"cluster_threshold": 1, "duplicate_threshold": 1}, (0, 0, 3)),
        ({"duplicate_threshold": 0.5, "cluster_most": 2}, (1, 3, 2)),
    ],
)
def test_settings_say_how_alike_is_alike(ask: Ask, saved: Saved, found: tuple[int, int, int]) -> None:
    saved("We deploy the billing gateway every Friday at noon")
    saved("We deploy the ledger gateway every Friday noon")
    saved("The gateway team drinks tea every Friday")
    pairs = ask("cluster_memories", find_duplicates=True)["duplicates_found"]
    [one] = ask("cluster_memories", threshold=0.5)["clusters"]
    assert (ask("cluster_memories")["clusters_found"], pairs, one["size"]) == found


@requirement("consolidate.applied")
def test_merge_keeps_what_all_say_and_is_undone(ask: Ask, refused: Refused, saved: Saved, host: Host) -> None:
    one = saved("The deploy runs on Friday.", tags=["Ops"], source="Maya")
    other = saved("The deploy runs on Friday at noon.", tags=["ops"], source="Omar")
    [cluster] = ask("cluster_memories", threshold=0.5)["clusters"]
    shown = ask("consolidate_memories", cluster_id=cluster["id"], mode="preview")
    told = ask("consolidate_memories", cluster_id=cluster["id"], mode="apply")
    assert shown["merged_memory"] == told["merged_memory"]
    [made] = ask("open_memories", memory_ids=told["new_memory_id"])["memories"]
    wanted = ("The deploy runs on Friday at noon.", ["ops"], "Maya; Omar")
    assert (made["content"], made["tags"], made["source"]) == wanted
    assert saved.found("deploy") == [made["id"]]
    again = refused("consolidate_memories", cluster_id=cluster["id"], mode="apply")
    assert (again["message"].startswith("It was merged already"), again["new_memory_id"]) == (True, made["id"])
    host.bank.undo(told["change"])
    assert set(saved.found("deploy")) == {one, other}


@requirement("consolidate.applied", "clusters.known", "consolidate.refused")
def test_cluster_outlives_new_memories_and_is_linked(ask: Ask, refused: Refused, saved: Saved, host: Host) -> None:
    unknown = refused("consolidate_memories", cluster_id="cluster-abc")
    assert unknown["message"] == "Cluster not found: cluster-abc"
    assert unknown["hint"] == "cluster_memories returns the ids."
    ids = [saved(text) for text in DEPLOYS]
    [cluster] = ask("cluster_memories")["clusters"]
    assert ask("cluster_memories")["clusters"][0]["id"] == cluster["id"]
    saved(DEPLOYS[0])
    linked = ask("consolidate_memories", cluster_id=cluster["id"], mode="link")
    assert (linked["status"], linked["relations_created"]) == ("linked", 1)
    assert ask("consolidate_memories", cluster_id=cluster["id"], mode="link")["relations_created"] == 0
    host.bank.pin(ids[0])
    assert "pinned" in refused("consolidate_memories", cluster_id=cluster["id"], mode="apply")["message"]
    host.bank.pin(ids[0], pinned=False)
    told = ask("consolidate_memories", cluster_id=cluster["id"], mode="apply", content="Deploys: Friday, noon.")
    assert (told["merged_memory"]["content"], told["archived_ids"]) == ("Deploys: Friday, noon.", ids)
    ask("forget_memory", memory_id=ids[1], erase=True)
    assert refused("consolidate_memories", cluster_id=cluster["id"])["code"] == "not_found"


@requirement("consolidate.every")
def test_every_similar_cluster_is_shown_linked_and_merged(ask: Ask, saved: Saved, refused: Refused) -> None:
    texts = ("The deploy runs every Friday at noon.", "The deploy runs every Friday at noon!", "Tea is in the kitchen.")
    ids = [saved(text) for text in texts]
    shown = ask("consolidate_memories", auto_detect=True)
    assert (shown["mode"], shown["candidates_found"], shown["showing"]) == ("auto_detect_preview", 1, 1)
    assert {one["id"] for one in shown["previews"][0]["original_memories"]} == set(ids[:2])
    linked = ask("consolidate_memories", auto_detect=True, mode="link")
    assert (linked["linked_clusters"], linked["total_relations_created"]) == (
        1,
        linked["results"][0]["relations_created"],
    )
    merged = ask("consolidate_memories", auto_detect=True, mode="apply")
    assert (merged["consolidated_clusters"], merged["total_memories_saved"]) == (1, 1)
    assert ask("consolidate_memories", auto_detect=True)["candidates_found"] == 0
    assert refused("consolidate_memories")["code"] == "invalid_input"
