"""Search: by the query, at any age; the fields of results; pages, previews, and the text."""

from pathlib import Path
from typing import Any

import pytest
from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, answered
from tests.toolsets.mnemex.conftest import Saved
from tests.toolsets.requirements import requirement

from pieria.record.draft import NewMemory
from pieria.toolsets import Host


@requirement("search.by_query")
def test_related_memories_are_found_once(saved: Saved, ask: Ask) -> None:
    id = saved("Kestrels nest on the tower.")
    other = saved("Maya prefers tea.")
    for _ in range(5):
        saved.ask("touch_memory", memory_id=other)
    assert saved.found("kestrels") == [id]
    assert saved.found("who nests on towers?") == [id]
    assert saved.found("quarterly figures") == []
    for text in ("Deploys run on Argo.", "deploys run on  Argo.", "Deploys run on Argo."):
        saved(text, strength=1.0)
    other = saved("Argo is a deploy tool.", strength=1.0)
    found = [one["id"] for one in ask("search_memory", query="argo deploys", top_k=2)["results"]]
    assert len(found) == 2 and other in found


@requirement("search.no_query")
def test_strongest_comes_first_without_a_query(saved: Saved, clock: HandClock) -> None:
    used = saved("Kestrels nest on the tower.", tags=["birds"], strength=1.0)
    clock.move(days=1)
    new = saved("Maya prefers tea.", strength=1.0)
    saved.ask("touch_memory", memory_id=used)
    for query in (None, "", "  "):
        assert saved.found(query) == [used, new]
        assert saved.found(query, tags=["birds"]) == [used]
        assert saved.found(query, min_score=0.9, top_k=1) == [used]
    clock.move(days=2)
    assert saved.found(window_days=1) == []


@requirement("search.status")
def test_archived_memories_are_found_by_their_status(saved: Saved, host: Host) -> None:
    active, promoted, archived = (saved(f"Kestrels nest on tower {n}.") for n in range(3))
    host.bank.update(promoted, status="promoted")
    saved.ask("forget_memory", memory_id=archived)
    assert set(saved.found("kestrels")) == {active, promoted}
    assert saved.found("kestrels", status="archived") == [archived]
    assert set(saved.found("kestrels", status=["active", "archived"])) == {active, archived}
    assert saved.found("kestrels", status=[]) == []


@requirement("search.meaning")
@pytest.mark.parametrize("settings", [{"embedder": "hashing"}])
def test_meaning_is_compared_where_asked_for(ask: Ask, saved: Saved, host: Host) -> None:
    saved("Kestrels nest on the tower.")
    host.bank.sync()
    [by_words] = ask("search_memory", query="kestrels nest")["results"]
    [by_meaning] = ask("search_memory", query="kestrels nest", use_embeddings=True)["results"]
    assert by_words["similarity"] is None
    assert 0 < by_meaning["similarity"] <= 1


@requirement("search.meaning")
def test_words_are_compared_without_a_model(ask: Ask, saved: Saved) -> None:
    saved("Kestrels nest on the tower.")
    told = ask("search_memory", query="kestrels", use_embeddings=True)
    assert told["count"] == 1
    assert "no embedder" in told["warnings"][0]
    assert "warnings" not in ask("search_memory", query="kestrels")


@requirement("search.no_use")
@pytest.mark.parametrize("settings", [{"count_uses": True}])
def test_being_found_is_no_use(ask: Ask, saved: Saved, host: Host) -> None:
    id = saved("Kestrels nest on the tower.")
    for _ in range(3):
        saved.found("kestrels")
        ask("search_unified", query="kestrels")
    host.bank.sync()
    assert ask("open_memories", memory_ids=id)["memories"][0]["use_count"] == 0


@requirement("search.review")
def test_fading_memory_comes_beside_the_results(ask: Ask, saved: Saved, clock: HandClock) -> None:
    due = saved("Kestrels nest on the old tower.", strength=1.0, tags=["birds"])
    clock.move(days=10)
    new = [saved(f"Kestrels nest on tower {number}.", strength=1.0, tags=["birds"]) for number in range(4)]
    told = ask("search_memory", query="kestrels nest tower", top_k=4)["results"]
    assert [one["id"] for one in told].index(due) == 2
    assert {one["id"] for one in told} == {due, *new}
    [review] = [one for one in told if one.get("review")]
    assert (review["id"], review["review_priority"] > 0.5) == (due, True)
    plain = saved.found("kestrels nest tower", top_k=4, include_review_candidates=False)
    assert set(plain) == set(new)
    assert due not in saved.found("kestrels nest tower", top_k=4, window_days=5)


@requirement("search.review")
def test_review_takes_no_answers_place(saved: Saved, host: Host, clock: HandClock) -> None:
    due = saved("Kestrels nest by the old mill.", strength=1.0)
    clock.move(days=8)
    other = saved("Kestrels were seen, it was said by somebody who passed by the large house and the fields behind it.")
    said = "Kestrels nest on the tower by the mill, and rest at night on the roof of the old house."
    copies = [memory.id for memory in host.bank.remember_many([NewMemory(said)] * 400)]
    first, second, third = saved.found("kestrels nest on the tower", top_k=2)
    assert first in copies
    assert (second, third) == (due, other)


@requirement("search.pages", "search.previews")
def test_pages_and_previews_cut_the_results(ask: Ask, saved: Saved) -> None:
    for number in range(5):
        saved(f"Kestrels nest on tower {number}.")
    whole = ask("search_memory", query="kestrels")
    assert "pagination" not in whole
    pages = [ask("search_memory", query="kestrels", page=number, page_size=2) for number in (1, 2, 3)]
    assert [one for page in pages for one in page["results"]] == whole["results"]
    assert pages[2]["pagination"] == {
        "page": 3, "page_size": 2, "total_count": 5, "total_pages": 3, "has_more": False, "has_previous": True,
    }  # fmt: skip
    assert ask("search_memory", query="kestrels", page=9)["results"] == []
    content = "Herons wade in the river. " * 40
    id = saved(content)
    [one] = ask("search_memory", query="herons wade")["results"]
    assert one["content"] == content[:300].rstrip() + "..."
    assert ask("search_memory", query="herons wade", preview_length=0)["results"][0]["content"] == content
    assert ask("open_memories", memory_ids=[id])["memories"][0]["content"] == content


@requirement("unified.text")
def test_unified_search_gives_text_and_values(host: Host, saved: Saved) -> None:
    id = saved("Kestrels nest on the tower.\nThere are four.", tags=["birds"], strength=1.0)
    reply = answered(host, "search_unified", {"query": "kestrels"})
    [one] = reply.value["results"]
    assert reply.text == (
        f"Found 1 results:\n\n1. [STM] Kestrels nest on the tower. (score: {one['score']:.3f})\n"
        "   Kestrels nest on the tower. There are four."
    )
    assert (one["memory_id"], one["source"], one["path"]) == (id, "stm", None)
    verbose = answered(host, "search_unified", {"query": "kestrels", "verbose": True})
    assert verbose.text == f"{reply.text}\n   Tags: birds\n   ID: {id}"
    assert verbose.value == reply.value
    assert reply.value["warnings"][0] == "no embedder is set"
    nothing = answered(host, "search_unified", {"query": "figures"})
    assert (nothing.text, nothing.value["count"]) == ("No results found.", 0)


@pytest.mark.parametrize("settings", [{"vault": "vault"}])
def test_memory_and_its_note_are_one_result(ask: Ask, host: Host) -> None:
    note = Path("vault/STM/ralph.md")
    note.parent.mkdir(parents=True)
    note.write_text("---\nstm_id: mem-1\n---\n# ralph\n\n## Content\n\nRalph runs billing.\n")
    meta = {"imported_from": "mnemex", "promoted_to": "STM/ralph.md"}
    host.bank.remember("Ralph runs billing.", id="mem-1", meta=meta)
    host.bank.upkeep.promote("mem-1")
    host.bank.vault.sync()
    assert [one["memory_id"] for one in ask("search_unified", query="who is ralph?")["results"]] == ["mem-1"]


@pytest.mark.parametrize("settings", [{"vault": "vault"}])
def test_missing_or_unsynced_vault_is_reported(ask: Ask, host: Host) -> None:
    assert "does not exist" in ask("search_unified", query="kestrels")["warnings"][-1]
    Path("vault").mkdir()
    assert "pieria vault sync" in ask("search_unified", query="kestrels")["warnings"][-1]
    assert "vault" not in str(ask("search_unified", query="kestrels", ltm_weight=0).get("warnings"))
    host.bank.vault.sync()
    assert "vault" not in str(ask("search_unified", query="kestrels").get("warnings"))


@requirement("unified.layers")
def test_layers_are_weighed_and_a_text_comes_once(ask: Ask, saved: Saved, host: Host, clock: HandClock) -> None:
    kept = saved("Kestrels nest on the tower.", strength=1.0)
    twin = saved("Kestrels nest on the tower.", strength=1.0)
    host.bank.update(kept, status="promoted")
    [one] = ask("search_unified", query="kestrels")["results"]
    assert (one["memory_id"], one["source"]) == (twin, "stm")
    [one] = ask("search_unified", query="kestrels", stm_weight=0)["results"]
    assert (one["memory_id"], one["source"]) == (kept, "ltm")
    relevance = ask("search_unified", query="kestrels", stm_weight=0, ltm_weight=1)["results"][0]["score"]
    assert one["score"] == pytest.approx(0.7 * relevance, abs=0.001)
    clock.move(days=120)
    assert [one["source"] for one in ask("search_unified", query="kestrels")["results"]] == ["ltm"]
    assert ask("search_unified", query="kestrels", ltm_weight=0, window_days=3)["results"] == []
    assert ask("search_unified", query="kestrels", stm_weight=0, ltm_weight=0)["results"] == []
    assert {one["source"] for one in ask("search_unified")["results"]} == {"ltm"}


@requirement("settings.effect")
@pytest.mark.parametrize(
    "settings",
    [{"embedder": "hashing"}, {"embedder": "hashing", "preview_chars": 9, "search_by_meaning": True}],
)
def test_settings_say_what_holds_where_a_search_does_not(
    ask: Ask, saved: Saved, host: Host, settings: dict[str, Any]
) -> None:
    saved("Kestrels nest on the tower.")
    host.bank.sync()
    [one] = ask("search_memory", query="kestrels nest")["results"]
    is_set = "preview_chars" in settings
    assert one["content"] == ("Kestrels..." if is_set else "Kestrels nest on the tower.")
    assert (one["similarity"] is not None) is is_set
    plain = ask("search_memory", query="kestrels nest", preview_length=0, use_embeddings=False)["results"][0]
    assert (plain["content"], plain["similarity"]) == ("Kestrels nest on the tower.", None)


@requirement("settings.effect")
@pytest.mark.parametrize(
    ("settings", "layers"),
    [({}, {"stm", "ltm"}), ({"short_term_weight": 0}, {"ltm"}), ({"long_term_weight": 0}, {"stm"})],
)
def test_settings_weigh_the_layers(ask: Ask, saved: Saved, host: Host, layers: set[str]) -> None:
    saved("Kestrels nest on the tower.")
    host.bank.update(saved("Kestrels hunt by the mill."), status="promoted")
    assert {one["source"] for one in ask("search_unified", query="kestrels")["results"]} == layers
    assert len(ask("search_unified", query="kestrels", stm_weight=1, ltm_weight=1)["results"]) == 2


@requirement("search.ranking")
def test_stronger_of_two_relevant_memories_comes_first(saved: Saved, clock: HandClock) -> None:
    old = saved("Kestrels nest on the tower.", strength=1.0)
    clock.move(days=5)
    new = saved("Kestrels nest on the steeple.", strength=1.0)
    assert saved.found("where do kestrels nest?") == [new, old]
    clock.move(days=2)
    saved.ask("observe_memory_usage", memory_ids=[old])
    assert saved.found("where do kestrels nest?") == [old, new]


@requirement("search.any_word")
def test_short_words_and_any_script_are_found(saved: Saved) -> None:
    saved("Maya prefers tea.")
    ids = {word: saved(f"Notes on {word}.") for word in ("AI", "Go", "C++", "UI", "deadlines", "Zoë", "日本語")}
    assert {word: saved.found(word.removesuffix("s")) for word in ids} == {word: [id] for word, id in ids.items()}


@requirement("search.filters", "search.exact_match")
def test_filters_hold_before_results_are_cut(saved: Saved, clock: HandClock) -> None:
    old = saved("Kestrels nest on the old tower.", tags=["Machine Learning!"], strength=1.0)
    clock.move(days=20)
    for number in range(40):
        saved(f"Kestrels nest on tower {number}.", tags=["birds"], strength=1.0)
    assert saved.found("kestrels tower", tags=["machine_learning"], top_k=3) == [old]
    assert old not in saved.found("kestrels tower", window_days=10, top_k=100)
    assert len(saved.found("kestrels tower", min_score=0.5, top_k=100)) == 40
    assert saved.found("kestrels tower", tags=["nobody"]) == []
    assert saved.found("Kestrels nest on the old tower.", top_k=1) == [old]
