"""Search: by the query, at any age; the fields of results; pages, previews, and the text."""

from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, HandClock, Host, answered, requirement
from tests.toolsets.mnemex.conftest import Saved

from pieria.bank import Bank
from pieria.toolsets.mnemex import search


@requirement("search.by_query", "search.any_word", "search.ranking")
def test_related_memories_are_found_strongest_first(saved: Saved, host: Host, clock: HandClock) -> None:
    old = saved("Kestrels nest on the tower.", strength=1.0)
    other = saved("Maya prefers tea.")
    for _ in range(5):
        saved.ask("touch_memory", memory_id=other)
    clock.move(days=5)
    new = saved("Kestrels nest on the steeple.", strength=1.0)
    assert saved.found("where do kestrels nest?") == [new, old]
    assert saved.found("who sits on towers?") == [old]
    assert saved.found("quarterly figures") == []
    ids = {word: saved(f"Notes on {word}.") for word in ("AI", "C++", "deadlines", "Zoë", "日本語")}
    assert {word: saved.found(word.removesuffix("s")) for word in ids} == {word: [id] for word, id in ids.items()}
    host.bank.remember_many({"text": "Deploys run on Argo, and Argo runs all deploys."} for _ in range(400))
    other = saved("Argo is a deploy tool of which somebody said that it was seen by the house behind the fields.")
    found = saved.found("argo deploys", top_k=2)
    assert (len(found), other in found) == (2, True), "equal texts are one result"
    clock.move(days=2)
    saved.ask("observe_memory_usage", memory_ids=[old])
    assert saved.found("where do kestrels nest?") == [old, new]


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
@pytest.mark.parametrize(("settings", "is_set"), [({"embedder": "hashing"}, True), ({}, False)])
def test_meaning_is_compared_where_asked_for(ask: Ask, saved: Saved, host: Host, is_set: bool) -> None:
    saved("Kestrels nest on the tower.")
    host.bank.sync()
    plain = ask("search_memory", query="kestrels nest")
    assert (plain["results"][0]["similarity"], "warnings" in plain) == (None, False)
    told = ask("search_memory", query="kestrels nest", use_embeddings=True)
    assert (0 < (told["results"][0]["similarity"] or 0) <= 1) is is_set
    assert ("no embedder" in str(told.get("warnings"))) is not is_set


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
    assert set(saved.found("kestrels nest tower", top_k=4, include_review_candidates=False)) == set(new)


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
    content = "Herons wade in the river. " * 40
    saved(content)
    for more, shown in (({}, content[:300].rstrip() + "..."), ({"preview_length": 0}, content)):
        assert ask("search_memory", query="herons wade", **more)["results"][0]["content"] == shown


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


@requirement("unified.live")
@pytest.mark.parametrize("settings", [{"vault": "vault"}])
def test_unified_search_follows_the_vault(ask: Ask, host: Host, clock: HandClock) -> None:
    def found(**more: Any) -> list[tuple[str | None, str]]:
        clock.move(seconds=2)
        reply = ask("search_unified", query="who runs billing?", **more)
        warned.append(str(reply.get("warnings", "")))
        return [(one["path"], one["content"].partition("\n")[0]) for one in reply["results"]]

    warned: list[str] = []
    assert (found(), "does not exist" in warned[-1]) == ([], True)
    Path("vault/People").mkdir(parents=True)
    note = Path("vault/People/Ralph.md")
    note.write_text("Ralph runs billing.")
    assert (found(), "vault" in warned[-1].lower()) == ([("People/Ralph.md", "Ralph runs billing.")], False)
    note.write_text("Maya runs billing now.")
    assert found() == [("People/Ralph.md", "Maya runs billing now.")]
    assert found(ltm_weight=0) == []
    note.unlink()
    assert (found(), host.bank.vault.paths()) == ([], {})


@pytest.mark.parametrize("settings", [{"vault": "vault"}])
def test_many_matching_notes_are_not_all_paged_through(
    ask: Ask, host: Host, saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("vault").mkdir()
    for number in range(250):
        Path(f"vault/n{number}.md").write_text(f"Heron number {number} nests above the mill.")
    host.bank.vault.sync()
    saved("A heron nests in the reeds.", tags=[])
    pages = list[float]()
    recalled = search._recalled

    def counted(bank: Bank, asked: search.Asked, k: int, cursor: str | None) -> Any:
        pages.append(asked.enough)
        return recalled(bank, asked, k, cursor)

    def found() -> list[str]:
        pages.clear()
        return [one["content"] for one in ask("search_unified", query="heron nests", limit=5, **equal)["results"]]

    equal = {"stm_weight": 1, "ltm_weight": 1}
    monkeypatch.setattr(search, "_recalled", counted)
    told = found()
    assert len(pages) == 3 and pages[-1] > 0
    monkeypatch.setattr(search, "_last_score", lambda found, limit: 0.0)
    assert (found(), len(pages) > 3) == (told, True)


@pytest.mark.parametrize("settings", [{"vault": "vault"}])
def test_note_of_the_original_is_found_once_with_its_path(ask: Ask, host: Host, clock: HandClock) -> None:
    meta = {"imported_from": "mnemex", "promoted_to": "STM/ralph.md"}
    host.bank.remember("Ralph runs billing.", id="mem-1", meta=meta)
    note = Path("vault/STM/ralph.md")
    note.parent.mkdir(parents=True)
    note.write_text("---\nstm_id: mem-1\n---\n# ralph\n\n## Content\n\nRalph runs billing.\n")
    host.bank.update("mem-1", status="promoted")
    [one] = ask("search_unified", query="who is ralph?")["results"]
    assert (one["memory_id"], one["path"], one["content"]) == ("mem-1", "STM/ralph.md", "Ralph runs billing.")
    assert sorted(Path("vault").rglob("*.md")) == [note]
    assert host.bank.vault.sync().events == []
    note.write_text(note.read_text().replace("billing", "sales"))
    clock.move(seconds=2)
    [one] = ask("search_unified", query="who runs sales?")["results"]
    assert (one["memory_id"], one["path"]) == ("mem-1", "STM/ralph.md")


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
    for query in ("kestrels", None):
        assert [one["source"] for one in ask("search_unified", query=query)["results"]] == ["ltm"]
    assert ask("search_unified", query="kestrels", ltm_weight=0, window_days=3)["results"] == []


SET = {
    "embedder": "hashing", "preview_chars": 9, "search_by_meaning": True, "short_term_weight": 0, "long_term_weight": 0,
}  # fmt: skip


@requirement("settings.effect")
@pytest.mark.parametrize("settings", [SET])
def test_settings_say_what_holds_where_a_search_does_not(ask: Ask, saved: Saved, host: Host) -> None:
    saved("Kestrels nest on the tower.")
    host.bank.sync()
    [one] = ask("search_memory", query="kestrels nest")["results"]
    assert (one["content"], one["similarity"] is None) == ("Kestrels...", False)
    [one] = ask("search_memory", query="kestrels nest", preview_length=0, use_embeddings=False)["results"]
    assert (one["content"], one["similarity"]) == ("Kestrels nest on the tower.", None)
    host.bank.update(saved("Kestrels hunt by the mill."), status="promoted")
    for weights, layers in (({}, []), ({"stm_weight": 1}, ["stm"]), ({"ltm_weight": 1}, ["ltm"])):
        assert [one["source"] for one in ask("search_unified", query="kestrels", **weights)["results"]] == layers


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


@requirement("graph.read")
def test_graph_has_memories_with_relations_between_them(ask: Ask, saved: Saved, host: Host) -> None:
    first, second = saved("Kestrels nest on the tower."), saved("Kestrels hunt by the mill.")
    host.bank.update(saved("Kestrels were counted."), status="archived")
    ask("create_relation", from_memory_id=first, to_memory_id=second, relation_type="causes", strength=0.25)
    told = ask("read_graph")
    [relation] = told["relations"]
    assert {one["id"] for one in told["memories"]} == {first, second}
    assert (relation["from"], relation["to"], relation["type"], relation["strength"]) == (first, second, "causes", 0.25)
    assert (told["stats"]["total_memories"], told["stats"]["total_relations"]) == (2, 1)
    every = ask("read_graph", status="all", page=2, page_size=2, include_scores=False)
    assert (len(every["memories"]), every["pagination"]["total_count"]) == (1, 3)
    assert "score" not in every["memories"][0]
    assert len(ask("read_graph", limit=1)["memories"]) == 1
