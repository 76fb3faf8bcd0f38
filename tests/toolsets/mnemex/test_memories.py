"""Saving, using, correcting, removing and restoring memories."""

from typing import Any

import pytest
from tests.toolsets.conftest import Ask, HandClock, Host, Refused, requirement
from tests.toolsets.mnemex.conftest import Saved


def opened(ask: Ask, id: str) -> dict[str, Any]:
    [memory] = ask("open_memories", memory_ids=id)["memories"]
    return dict(memory)


@requirement("save.labels", "save.warnings")
def test_tags_are_cleaned_and_secrets_noted(ask: Ask, saved: Saved) -> None:
    given = ["Machine Learning!", "v3.0", "Ops/On Call", "café", "日本語", "a__b", "machine learning", "!?"]
    told = ask("save_memory", content="x", tags=given, entities=["Zoë", "node.js"])
    assert told["tags"] == ["machine_learning", "v3-0", "ops/on_call", "café", "日本語", "a_b"]
    assert told["entities"] == ["Zoë", "node.js"]
    assert told["warnings"] == ["A tag was left out, for it holds no letter or digit: !?"]
    first = saved("We chose JWT.")
    assert ask("save_memory", content="We chose JWT.")["warnings"] == [f"The same content is in {first} already."]
    told = ask("save_memory", content="The key is AKIAIOSFODNN7EXAMPLE. <private>Mine.</private>")
    assert told["warnings"][0].startswith("It seems to contain a secret: ")
    assert told["warnings"][1] == "Parts marked <private> were left out."


@requirement("save.enriched")
def test_strength_follows_importance_and_questions(ask: Ask) -> None:
    def strength(content: str) -> float:
        return float(ask("save_memory", content=content)["calculated_strength"])

    plain = strength("We chose JWT for the gateway.")
    assert strength("This is critical: we chose JWT for the gateway.") > plain
    assert strength("Did we choose JWT for the gateway?") <= plain
    assert ask("save_memory", content="We chose JWT.", entities=[])["auto_entities"] == 0
    assert ask("save_memory", content="We chose JWT.", entities=None)["entities"] == ["jwt"]


@requirement("save.enriched", "save.embedding", "document.observe")
@pytest.mark.parametrize("settings", [{"enrich": False, "reinforce": False, "embedder": "hashing"}])
def test_enrichment_and_reinforcement_are_switched_off(ask: Ask, host: Host) -> None:
    told = ask("save_memory", content="This is critical: we chose JWT.")
    id = told["memory_id"]
    assert (told["enrichment_applied"], "entities" in told, told["calculated_strength"]) == (False, False, 1.0)
    assert told["has_embedding"] == (id in host.bank.embedded(id))
    told = ask("observe_memory_usage", memory_ids=[id])
    assert (told["reinforced"], told["count"]) == (False, 0)
    assert told["reason"] == "auto_reinforce is disabled in config"
    assert opened(ask, id)["use_count"] == 0


@requirement("use.touch", "use.review")
def test_touched_memory_keeps_its_status_and_needs_no_review(ask: Ask, saved: Saved, clock: HandClock) -> None:
    id = saved(strength=1.95)
    ask("forget_memory", memory_id=id)
    told = ask("touch_memory", memory_id=id, boost_strength=True)
    assert (told["use_count"], told["strength"], opened(ask, id)["status"]) == (1, 2.0, "archived")
    id = saved(strength=1.0)
    clock.move(days=9)
    assert opened(ask, id)["review_priority"] > 0.5
    ask("observe_memory_usage", memory_ids=[id])
    assert "review_priority" not in opened(ask, id)


@requirement("use.observe")
def test_unknown_ids_are_named_and_tags_compared(ask: Ask, saved: Saved, host: Host) -> None:
    id = saved(tags=["Project"])
    told = ask("observe_memory_usage", memory_ids=[id, "nobody", id], context_tags=["project"])
    assert (told["count"], told["cross_domain_count"]) == (1, 0)
    assert [(one["id"], one["status"]) for one in told["results"]] == [(id, "reinforced"), ("nobody", "not_found")]
    empty = ask("observe_memory_usage", memory_ids=[])
    assert (empty["reinforced"], empty["reason"], empty["count"]) == (False, "no memory_ids provided", 0)
    id = host.bank.remember("Kestrels nest.", tags=["Machine Learning"]).id
    for context, crossed in ((["Machine Learning"], 0), (["machine_learning"], 0), (["birds"], 1)):
        assert ask("observe_memory_usage", memory_ids=[id], context_tags=context)["cross_domain_count"] == crossed


@requirement("corrected.forgotten")
def test_memory_is_corrected_archived_and_erased(ask: Ask, refused: Refused, saved: Saved, host: Host) -> None:
    id = saved("We chose cookies.", tags=["auth"])
    told = ask("edit_memory", memory_id=id, content="We chose JWT.", tags=["Auth Tokens"], reason="mistaken")
    assert (told["version"], told["content"], told["tags"]) == (2, "We chose JWT.", ["auth_tokens"])
    assert refused("edit_memory", memory_id=id)["violations"][0]["parameter"] == "content"
    assert [ask("forget_memory", memory_id=id)["changed"] for _ in range(2)] == [True, False]
    assert saved.found("JWT") == []
    told = [ask("recover_memory", memory_id=id) for _ in range(2)]
    assert [(one["status"], one["changed"]) for one in told] == [("active", True), ("active", False)]
    host.bank.remove(id)
    assert "recover_memory" in refused("forget_memory", memory_id=id)["hint"]
    assert ask("forget_memory", memory_id=id, erase=True)["status"] == "erased"
    assert refused("recover_memory", memory_id=id)["message"] == f"Memory not found: {id}"


@requirement("relations.made", "open.several")
def test_relations_are_made_once_and_opened_with_memories(ask: Ask, refused: Refused, saved: Saved) -> None:
    cause, effect = saved("The disk is full."), saved("The build fails.")
    made = {"from_memory_id": cause, "to_memory_id": effect, "relation_type": "causes"}
    told = ask("create_relation", **made, strength=0.8, metadata={"by": "Maya"})
    assert (told["created"], told["strength"], told["metadata"]) == (True, 0.8, {"by": "Maya"})
    again = ask("create_relation", **made, strength=0.5)
    assert (again["created"], again["relation_id"]) == (False, told["relation_id"])
    [out] = opened(ask, cause)["relations"]["outgoing"]
    [back] = opened(ask, effect)["relations"]["incoming"]
    assert (out["to"], out["type"], out["strength"]) == (effect, "causes", 0.5)
    assert (back["from"], back["relation_id"]) == (cause, told["relation_id"])
    assert refused("create_relation", **{**made, "to_memory_id": cause})["success"] is False
    assert refused("create_relation", **{**made, "to_memory_id": "x"})["message"] == "Memory not found: x"
    ask("create_relation", from_memory_id=effect, to_memory_id=cause, relation_type="consolidated_from")
    assert opened(ask, cause)["relations"]["incoming"][0]["type"] == "consolidated_from"
    ids = [saved("One."), saved("Two.")]
    told = ask("open_memories", memory_ids=[ids[1], "nobody", *ids])
    assert ([one["id"] for one in told["memories"]], told["not_found"]) == ([ids[1], ids[0]], ["nobody"])
    assert (told["count"], told["memories"][0]["retention"]) == (2, 1.0)
    bare = ask("open_memories", memory_ids=ids[0], include_relations=False, include_scores=False)["memories"][0]
    assert not {"relations", "score", "retention", "review_priority"} & bare.keys()
