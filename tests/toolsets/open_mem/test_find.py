"""Finding: any text, every filter, flags that alone decide what a hit carries, and pages without gaps."""

import pytest
from tests.toolsets.conftest import Ask, Host, Refused, requirement
from tests.toolsets.mnemosyne.test_recall import by_subject
from tests.toolsets.open_mem.conftest import Made

from pieria.record.link import Place
from pieria.toolsets.open_mem.find import marked

TEXTS = {
    "src/db/store.ts": "The connection lives in src/db/store.ts and nowhere else.",
    "local-first": "The app is local-first: nothing needs a server.",
    "what's cached?": "What's cached can't be stale, since the cache's key has the version.",
    "what is our retry policy?": "The retry policy is three tries with a growing pause.",
    "C++": "The parser was rewritten in C++ for speed.",
    "用户数据": "用户数据保存在本地数据库中。",
    "ops@example.com": "Reports go to ops@example.com every Monday.",
    "obs-123": "Ticket obs-123 asked for the export.",
}


@requirement("find.any_text")
def test_any_text_finds_what_holds_it(ask: Ask, made: Made) -> None:
    ids = {query: made(text, title=f"Number {number}") for number, (query, text) in enumerate(TEXTS.items())}
    assert {query: made.found(query)[0] for query in TEXTS} == ids
    for query in ("AND", "sqlite.", "NEAR(", '"', "*", "a:b", "(", "-", "🙂", " "):
        ask("mem-find", query=query)


@requirement("find.own_text_first", "find.confidence", "find.scores")
def test_own_text_is_first_and_confidence_falls(made: Made, ask: Ask) -> None:
    ids = [made(f"The heron of mill {n} nests by the water.", title=f"Heron {n}") for n in range(50)]
    assert made.found("The heron of mill 7 nests by the water.")[0] == ids[7]
    near = ask("mem-find", query="where does the heron of mill 7 nest?", include={"scores": True})
    hits = near["data"]["results"]
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert "lexical" in hits[0]["explain"]["matchedBy"]
    far = ask("mem-find", query="what does Ingrid think of the quarterly budget?")
    assert near["meta"]["confidence"] > far["meta"]["confidence"]


@requirement("find.scores", "find.cursor")
def test_scores_fall_over_all_pages(made: Made, ask: Ask) -> None:
    for n in range(40):
        made(f"The cache number {n} holds {'cats ' * (n % 5)}and dogs for {n} minutes.", title=f"Note {n}")
    scores: list[float] = []
    cursor: dict[str, str] = {}
    for _ in range(6):
        told = ask("mem-find", query="cats in cache 7", limit=7, include={"scores": True}, **cursor)["data"]
        scores += [hit["score"] for hit in told["results"]]
        cursor = {"cursor": told["nextCursor"]}
    assert (scores, len(scores)) == (sorted(scores, reverse=True), 40)


@requirement("find.types")
def test_turns_are_found_and_are_no_discoveries(ask: Ask, made: Made, host: Host) -> None:
    noted = made(type="discovery")
    turn = host.bank.remember("Does SQLite keep the cache?", kind="turn").id
    hits = ask("mem-find", query="sqlite cache")["data"]["results"]
    assert {hit["id"]: hit.get("kind") for hit in hits} == {noted: None, turn: "turn"}
    assert made.found("sqlite cache", types=["discovery"]) == [noted]


@requirement("find.types")
def test_types_are_combined(ask: Ask, made: Made, host: Host) -> None:
    ids = {type: made(type=type) for type in ("decision", "bugfix", "feature", "refactor", "discovery", "change")}
    plain = host.bank.remember("SQLite keeps the cache, says a note.").id
    assert set(made.found("sqlite cache", types=["bugfix", "feature"])) == {ids["bugfix"], ids["feature"]}
    assert set(made.found("sqlite cache", types=["discovery", "change"])) == {ids["discovery"], plain, ids["change"]}
    assert set(made.found("sqlite cache", types=[])) == {*ids.values(), plain} == set(made.found("sqlite cache"))
    shown = {hit["id"]: hit["type"] for hit in ask("mem-find", query="sqlite cache")["data"]["results"]}
    assert shown == {**{id: type for type, id in ids.items()}, plain: "discovery"}


@requirement("find.types")
def test_other_types_are_shown_and_found_as_the_nearest(ask: Ask, made: Made, host: Host) -> None:
    def remember(type: str) -> str:
        return host.bank.remember(f"SQLite keeps the {type}.", kind="observation", body={"type": type}).id

    plan, debt = remember("plan"), remember("debt")
    hits = {hit["id"]: hit["type"] for hit in ask("mem-find", query="sqlite keeps")["data"]["results"]}
    assert hits == {plan: "decision", debt: "discovery"}
    found = {type: set(made.found("sqlite keeps", types=[type])) for type in ("decision", "discovery", "change")}
    assert found == {"decision": {plan}, "discovery": {debt}, "change": set()}


@requirement("find.scope")
def test_scope_is_applied_before_hits_are_cut(ask: Ask, made: Made) -> None:
    ours = [made(title=f"Ours {n}") for n in range(12)]
    mine = made(scope="user")
    assert made.found("sqlite cache", scope="user") == [mine]
    assert set(made.found("sqlite cache", limit=50)) == set(ours)
    assert set(made.found("sqlite cache", scope="all", limit=50)) == {*ours, mine}
    [hit] = ask("mem-find", query="sqlite cache", scope="user")["data"]["results"]
    assert hit["source"] == "user"


@requirement("find.flags")
def test_flags_add_their_own_keys_only(ask: Ask, made: Made, host: Host) -> None:
    host.bank.link(made(), Place("notes/reports"), "concerns")
    [plain] = ask("mem-find", query="cache")["data"]["results"]
    assert not {"observation", "rawToolOutput", "narrative"} & plain.keys()
    scores = {"score", "rankingSource", "explain"}
    for flag, keys in (("snippets", {"snippet"}), ("scores", scores), ("relations", {"relations"})):
        [more] = ask("mem-find", query="cache", include={flag: True})["data"]["results"]
        assert more.keys() - plain.keys() == keys
        assert ask("mem-find", query="cache", include={flag: False})["data"]["results"] == [plain]


@requirement("find.snippets")
def test_snippet_is_the_passage_with_its_words_marked(ask: Ask, made: Made) -> None:
    made(f"{'Nothing of note here. ' * 40}The retries of the cache are three. {'And so on. ' * 40}")
    [hit] = ask("mem-find", query="how many retries?", include={"snippets": True})["data"]["results"]
    assert "**retries**" in hit["snippet"]
    assert len(hit["snippet"]) < 300
    assert marked("数据库", "用户数据") == "**数据**库"
    assert marked("Nothing shared.", "retries") == "Nothing shared."
    assert marked("user_name and userName", "user name") == "**user**_**name** and **userName**"


@requirement("find.relations")
def test_relations_are_the_links_of_a_hit(ask: Ask, made: Made, host: Host) -> None:
    one, other = made(), made("It is dropped at start.", title="Dropping")
    host.bank.link(one, other, "explains")
    host.bank.link(one, host.bank.neighbors(one)[0].link.target.name, "explains")
    [hit] = ask("mem-find", query="sqlite file", include={"relations": True}, limit=1)["data"]["results"]
    [told] = hit["relations"]
    assert told == {"relation": "explains", "outward": True, "id": other, "title": "Dropping", "type": "decision"}


@requirement("find.short")
def test_hits_and_titles_are_short(ask: Ask, made: Made, refused: Refused, host: Host) -> None:
    made("A cache. " * 500)
    [hit] = ask("mem-find", query="cache")["data"]["results"]
    assert (len(hit["summary"]) < 260, hit["summary"][-1], hit["tokenCount"] > 1000) == (True, "…", True)
    host.bank.remember("A heron.", id="x", title="The\ncache " * 100)
    hit = ask("mem-find", query="heron")["data"]["results"][0]
    assert ("\n" in hit["title"], len(hit["title"]) < 210) == (False, True)
    assert len(ask("mem-get", ids=["x"])["data"]["observations"][0]["title"]) == 1000
    error = refused("mem-create", title="t" * 301, type="change", narrative="N.")["error"]
    assert error["details"]["violations"][0]["parameter"] == "title"


@requirement("find.semantic")
@pytest.mark.parametrize("models", [{"embedder": by_subject}])
def test_created_and_revised_texts_are_found_by_meaning(ask: Ask, made: Made, host: Host) -> None:
    cat, other = made("The cat sleeps on the radiator.", title="Noon"), made("Nothing of the kind.", title="Other")
    host.bank.sync(20)
    assert made.found("feline resting")[0] == cat
    ask("mem-remove", id=cat)
    head = ask("mem-revise", id=other, narrative="A kitten plays.", title="Evening")["data"]
    made("Invoices are paid on Fridays.", title="Pay")
    host.bank.sync(20)
    assert made.found("feline resting")[0] == head["newId"]


@requirement("find.cursor")
def test_walk_sees_each_hit_once_beside_another_writer(ask: Ask, made: Made, refused: Refused, host: Host) -> None:
    ids = [f"h{n}" for n in range(120)]
    host.bank.remember_many({"text": f"The heron {id} sits on the cache.", "id": id, "title": id} for id in ids)
    page = ask("mem-find", query="heron cache", limit=50)["data"]
    for wrong in ({"query": "heron"}, {"query": "heron cache", "types": ["change"]}):
        error = refused("mem-find", cursor=page["nextCursor"], **wrong)["error"]
        assert (error["code"], error["details"]["parameter"]) == ("VALIDATION_ERROR", "cursor")
    seen, writer = [hit["id"] for hit in page["results"]], host.having(session="tuesday")
    while cursor := page["nextCursor"]:
        made("A heron of the cache, written meanwhile.", at=writer)
        ask("mem-remove", at=writer, id=seen[-1])
        page = ask("mem-find", query="heron cache", limit=50, cursor=cursor)["data"]
        seen += [hit["id"] for hit in page["results"]]
    assert sorted(seen) == sorted(ids)
