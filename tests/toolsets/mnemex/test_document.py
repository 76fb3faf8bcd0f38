"""Every example in the document: we make its calls, and compare the keys of the replies."""

from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, HandClock, Refused, requirement
from tests.toolsets.mnemex.conftest import Saved

JWT = "Use JWT tokens for authentication in all new APIs"
DEADLINE: dict[str, Any] = {
    "content": "The project deadline is December 15th",
    "tags": ["project", "deadline"],
    "entities": ["project", "december"],
    "source": "team meeting",
    "context": "Q4 planning discussion",
    "strength": 1.5,
}


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "vault").mkdir()
    return {"vault": str(tmp_path / "vault")}


@requirement("document.save")
def test_memory_is_saved_with_what_its_content_tells(ask: Ask) -> None:
    told = ask("save_memory", content=JWT)
    assert told["message"] == f"Memory saved with ID: {told['memory_id']}"
    assert (told["success"], told["has_embedding"], told["enrichment_applied"]) == (True, False, True)
    assert (told["entities"], told["auto_entities"]) == (["jwt", "authentication", "apis"], 3)
    assert told["calculated_strength"] == 1.0
    told = ask("save_memory", **DEADLINE)
    assert (told["enrichment_applied"], told["auto_entities"], told["calculated_strength"]) == (False, 0, 1.5)
    [held] = ask("open_memories", memory_ids=told["memory_id"])["memories"]
    assert {name: held[name] for name in DEADLINE} == DEADLINE


@requirement("document.search", "document.unified")
def test_documented_searches_find_their_memory(ask: Ask, clock: HandClock, saved: Saved) -> None:
    id = ask("save_memory", **DEADLINE)["memory_id"]
    ask("save_memory", content="Tea is in the kitchen.", tags=["project"])
    clock.move(days=2.3)
    asked: dict[str, Any] = {
        "query": "deadline", "tags": ["project"], "top_k": 5, "window_days": 7, "min_score": 0.1,
    }  # fmt: skip
    told = ask("search_memory", **asked)
    [one] = told["results"]
    assert (told["success"], told["count"]) == (True, 1)
    assert (one["id"], one["content"], one["tags"]) == (id, DEADLINE["content"], DEADLINE["tags"])
    assert (one["similarity"], one["use_count"], one["age_days"]) == (None, 0, 2.3)
    assert one["last_used"] == int(clock.now.timestamp() - 2.3 * 86_400)
    [more] = ask("search_memory", **asked, why=True)["results"]
    assert 0 < one["score"] <= more["decay_score"]
    assert more.keys() - one.keys() == {"decay_score", "why"}
    id = saved("We have typescript preferences for new projects", tags=["preferences"])
    asked = {"query": "typescript preferences", "tags": ["preferences"], "limit": 8, "stm_weight": 1.0,
             "ltm_weight": 0.7, "window_days": 14, "min_score": 0.1, "verbose": True}  # fmt: skip
    assert [one["memory_id"] for one in ask("search_unified", **asked)["results"]] == [id]


@requirement("document.touch", "document.observe")
def test_use_reinforces_here_and_elsewhere(ask: Ask, saved: Saved, clock: HandClock) -> None:
    id = saved(strength=1.0)
    clock.move(days=5)
    told = ask("touch_memory", memory_id=id, boost_strength=True)
    assert (told["memory_id"], told["use_count"], told["strength"]) == (id, 1, 1.1)
    assert told["old_score"] == pytest.approx((1 + 5 / 3.417) ** -1.1, abs=0.001)
    assert told["new_score"] == pytest.approx(2**0.6 * 1.1, abs=0.001)
    assert told["message"] == f"Memory reinforced. Score: {told['old_score']:.2f} -> {told['new_score']:.2f}"
    near = saved("Rotate API keys.", tags=["api", "authentication"])
    far = saved("Use JWT.", tags=["security", "jwt", "preferences"], strength=1.0)
    told = ask("observe_memory_usage", memory_ids=[near, far], context_tags=["api", "authentication", "backend"])
    assert (told["reinforced"], told["count"], told["cross_domain_count"]) == (True, 2, 1)
    keys = ("id", "status", "cross_domain", "new_use_count", "new_review_count", "strength")
    rows = [(near, "reinforced", False, 1, 1, 1.0), (far, "reinforced", True, 1, 1, 1.1)]
    assert [tuple(one[key] for key in keys) for one in told["results"]] == rows


@requirement("document.analyze_message", "document.analyze_for_recall", "document.workflow")
def test_messages_are_judged_saved_and_recalled(ask: Ask) -> None:
    told = ask("analyze_message", message="Remember: I prefer TypeScript over JavaScript for all new projects")
    assert (told["should_save"], told["confidence"], told["suggested_strength"]) == (True, 0.9, 1.5)
    assert told["suggested_entities"] == ["typescript", "javascript", "preferences"]
    assert told["suggested_tags"] == []
    assert told["reasoning"].startswith("Detected: ['remember'")
    assert told["reasoning"].endswith("importance_marker: True entities_found: 3")
    for message, query in (
        ("What did I say about TypeScript?", "TypeScript preferences"),
        ("What did I say about my API preferences?", "API preferences"),
        ("What did I say about authentication?", "authentication"),
    ):
        told = ask("analyze_for_recall", message=message)
        assert (told["should_search"], told["confidence"], told["suggested_tags"]) == (True, 0.9, [])
        assert told["suggested_query"] in (query, query.removesuffix(" preferences"))
        assert told["reasoning"].startswith("Detected: ['what did i say about']")
    message = "Remember: I prefer JWT for authentication"
    judged = ask("analyze_message", message=message)
    assert judged["suggested_entities"] == ["jwt", "authentication"]
    id = ask("save_memory", content=message, strength=judged["suggested_strength"])["memory_id"]
    assert [one["id"] for one in ask("search_memory", query=told["suggested_query"])["results"]] == [id]


@requirement("document.gc", "gc.limit")
def test_documented_collection_archives_the_most_faded(ask: Ask, saved: Saved, clock: HandClock) -> None:
    ids = []
    for number in range(15):
        ids.append(saved(f"Passing thought {number}", strength=1.0))
        clock.move(minutes=1)
    clock.move(days=60)
    shown = ask("gc")
    assert (shown["dry_run"], shown["total_affected"], shown["removed_count"]) == (True, 15, 15)
    assert shown["message"] == "Would remove 15 low-scoring memories (threshold: 0.05)"
    few = ask("gc", dry_run=False, limit=2)
    assert (few["memory_ids"], few["left"], few["removed_count"]) == (ids[:2], 13, 2)
    done = ask("gc", dry_run=False, archive_instead=True, limit=50)
    assert (done["dry_run"], done["archived_count"], done["removed_count"]) == (False, 13, 0)
    assert done["message"] == "Archived 13 low-scoring memories (threshold: 0.05)"
    assert done["freed_score_sum"] == pytest.approx(13 * (1 + 60 / 3.417) ** -1.1, abs=0.01)
    assert (done["memory_ids"], done["ids_not_shown"]) == (ids[2:12], 3)


@requirement("document.promote")
def test_documented_promotions_write_notes(ask: Ask, saved: Saved, clock: HandClock, tmp_path: Path) -> None:
    ids = [saved(f"Important project information {number}") for number in range(3)]
    for id in ids:
        for _ in range(7):
            ask("touch_memory", memory_id=id)
    clock.move(days=5.2)
    shown = ask("promote_memory", auto_detect=True, dry_run=True)
    assert (shown["candidates_found"], shown["promoted_count"], shown["dry_run"]) == (3, 0, True)
    one = shown["candidates"][0]
    assert (one["use_count"], one["age_days"]) == (7, 5.2)
    assert one["reason"] == f"High score ({one['score']:.2f} >= 0.65)"
    first = ask("promote_memory", memory_id=ids[0], dry_run=False)
    assert (first["promoted_ids"], first["message"]) == ([ids[0]], "Promoted 1 memories to obsidian")
    assert (tmp_path / "vault" / first["promoted_to"]).is_file()
    rest = ask("promote_memory", auto_detect=True)
    assert set(rest["promoted_ids"]) == set(ids[1:])


@requirement("document.cluster", "document.consolidate")
def test_documented_clusters_are_found_and_consolidated(ask: Ask, saved: Saved) -> None:
    ids = [saved(f"Meeting scheduled for Tuesday{end}") for end in (".", "!", "")]
    told = ask("cluster_memories", strategy="similarity", threshold=0.85, max_cluster_size=10)
    [one] = told["clusters"]
    assert (told["mode"], told["clusters_found"], told["strategy"]) == ("clustering", 1, "similarity")
    assert told["message"] == "Found 1 clusters using similarity strategy"
    assert (one["size"], one["memory_ids"], one["cohesion"]) == (3, ids, 1.0)
    assert (one["suggested_action"], len(one["content_previews"])) == ("auto-merge", 3)
    pairs = ask("cluster_memories", find_duplicates=True, duplicate_threshold=0.90)
    assert (pairs["mode"], pairs["duplicates_found"]) == ("duplicate_detection", 3)
    assert pairs["message"] == "Found 3 potential duplicate pairs"
    shown = ask("consolidate_memories", cluster_id=one["id"])
    assert (shown["success"], shown["mode"], shown["cluster_id"]) == (True, "dry_run", one["id"])
    done = ask("consolidate_memories", cluster_id=one["id"], mode="apply")
    assert (done["success"], done["status"], done["num_memories"]) == (True, "applied", 3)


@requirement("document.errors")
def test_failures_have_one_shape(refused: Refused) -> None:
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("not_found", "touch_memory", {"memory_id": "abc-123"}),
        ("invalid_input", "save_memory", {"content": "x", "strength": 3.0}),
        ("invalid_input", "save_memory", {"content": "x", "tagz": []}),
        ("invalid_input", "promote_memory", {}),
        ("not_found", "consolidate_memories", {"cluster_id": "cluster-abc"}),
    ]
    for code, tool, arguments in calls:
        told = refused(tool, **arguments)
        assert (told["success"], told["code"], type(told["message"])) == (False, code, str)
    assert refused("touch_memory", memory_id="abc-123")["message"] == "Memory not found: abc-123"
