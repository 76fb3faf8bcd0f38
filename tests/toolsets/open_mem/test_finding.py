"""Finding: any text, every filter, flags that alone decide what a hit carries, and pages without gaps."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.mnemosyne.test_recall import by_subject
from tests.toolsets.open_mem.conftest import Made
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host
from pieria.toolsets.open_mem.find import marked

TEXTS = {
    "path": "The connection lives in src/db/store.ts and nowhere else.",
    "hyphen": "The app is local-first: nothing needs a server.",
    "apostrophe": "What's cached can't be stale, since the cache's key has the version.",
    "question": "The retry policy is three tries with a growing pause.",
    "cpp": "The parser was rewritten in C++ for speed.",
    "cjk": "用户数据保存在本地数据库中。",
    "mail": "Reports go to ops@example.com every Monday.",
    "id": "Ticket obs-123 asked for the export.",
}
QUERIES = {
    "path": "src/db/store.ts",
    "hyphen": "local-first",
    "apostrophe": "what's cached?",
    "question": "what is our retry policy?",
    "cpp": "C++",
    "cjk": "用户数据",
    "mail": "ops@example.com",
    "id": "obs-123",
}


@requirement("find.any_text")
def test_any_text_finds_what_holds_it(ask: Ask, made: Made) -> None:
    ids = {name: made(text, title=f"Number {number}") for number, (name, text) in enumerate(TEXTS.items())}
    assert {name: made.found(QUERIES[name])[0] for name in TEXTS} == ids
    for query in ("AND", "sqlite.", "NEAR(", '"', "*", "a:b", "(", "-", "🙂", " "):
        ask("mem-find", query=query)


@requirement("find.own_text_first", "find.confidence", "find.scores")
def test_own_text_is_first_and_confidence_falls(made: Made, ask: Ask) -> None:
    ids = [made(f"The heron of mill {n} nests by the water.", title=f"Heron {n}") for n in range(20)]
    assert made.found("The heron of mill 7 nests by the water.")[0] == ids[7]
    hits = ask("mem-find", query="heron of mill 7", include={"scores": True})["data"]["results"]
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert "lexical" in hits[0]["explain"]["matchedBy"]
    for n in range(30):
        made(f"The heron of mill {n} nests by the water.", title=f"Heron {n}")
    near = ask("mem-find", query="where does the heron of mill 7 nest?")["meta"]
    far = ask("mem-find", query="what does Ingrid think of the quarterly budget?")["meta"]
    assert near["confidence"] > far["confidence"]


@requirement("find.types")
def test_types_are_combined(ask: Ask, made: Made, host: Host) -> None:
    ids = {type: made(type=type) for type in ("decision", "bugfix", "feature", "refactor", "discovery", "change")}
    plain = host.bank.remember("SQLite keeps the cache, says a note.").id
    assert set(made.found("sqlite cache", types=["bugfix", "feature"])) == {ids["bugfix"], ids["feature"]}
    assert set(made.found("sqlite cache", types=["discovery"])) == {ids["discovery"], plain}
    assert set(made.found("sqlite cache", types=["discovery", "change"])) == {ids["discovery"], plain, ids["change"]}
    assert set(made.found("sqlite cache", types=[])) == {*ids.values(), plain} == set(made.found("sqlite cache"))
    shown = {hit["id"]: hit["type"] for hit in ask("mem-find", query="sqlite cache")["data"]["results"]}
    assert shown == {**{id: type for type, id in ids.items()}, plain: "discovery"}


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
def test_flags_add_their_own_keys_only(ask: Ask, made: Made) -> None:
    made()
    [plain] = ask("mem-find", query="cache")["data"]["results"]
    for flag, keys in (
        ("snippets", {"snippet"}),
        ("scores", {"score", "rankingSource", "explain"}),
        ("relations", {"relations"}),
    ):
        [more] = ask("mem-find", query="cache", include={flag: True})["data"]["results"]
        assert more.keys() - plain.keys() == keys
        assert not {"observation", "rawToolOutput", "narrative"} & more.keys()
        for off in ({}, {flag: False}):
            assert ask("mem-find", query="cache", include=off)["data"]["results"] == [plain]


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
    assert hit["relations"] == [
        {"relation": "explains", "outward": True, "id": other, "title": "Dropping", "type": "decision"}
    ]


@requirement("find.short")
def test_hits_and_titles_are_short(ask: Ask, made: Made, refused: Refused, host: Host) -> None:
    made("A cache. " * 500)
    [hit] = ask("mem-find", query="cache")["data"]["results"]
    assert len(hit["summary"]) < 260
    assert hit["summary"].endswith("…")
    assert hit["tokenCount"] > 1000
    host.bank.remember("A heron.", id="x", title="The\ncache " * 100)
    [hit] = [hit for hit in ask("mem-find", query="heron")["data"]["results"] if hit["id"] == "x"]
    assert "\n" not in hit["title"]
    assert len(hit["title"]) < 210
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


# --- pages


WRITER = """
import json, sys
from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace
from pathlib import Path
data, ids = Path(sys.argv[1]), json.load(sys.stdin)
host = Host(Banks(Workspace(data, {"durability": "off"}), "other"), "notes", "other", Paths(data, (data,)))
print("begun", flush=True)
for n, id in enumerate(ids):
    made = {"title": f"New {n}", "type": "change", "narrative": f"A heron of the cache, written meanwhile {n}."}
    for tool, arguments in (("mem-create", made), ("mem-remove", {"id": id, "reason": "meanwhile"})):
        assert not called(registry(), tool, arguments, host).is_error
host.banks.close()
"""


@requirement("find.cursor")
@pytest.mark.slow
def test_walk_sees_each_hit_once_beside_another_writer(ask: Ask, host: Host, tmp_path: Path) -> None:
    items: list[dict[str, Any]] = [
        {"text": f"The heron number {n} sits on the cache.", "id": f"h{n}", "kind": "observation", "title": f"H {n}"}
        for n in range(2_000)
    ]
    host.bank.remember_many(items)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "data")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    first = ask("mem-find", query="heron cache", limit=50)["data"]
    writer.stdin.write(json.dumps([f"h{n}" for n in range(0, 2_000, 20)]))
    writer.stdin.close()
    assert writer.stdout.readline() == "begun\n"
    seen = [hit["id"] for hit in first["results"]]
    cursor = first["nextCursor"]
    while cursor:
        page = ask("mem-find", query="heron cache", limit=50, cursor=cursor)["data"]
        seen += [hit["id"] for hit in page["results"]]
        cursor = page["nextCursor"]
    writer.stdout.close()
    assert writer.wait(60) == 0
    assert len(seen) == len(set(seen))
    assert set(seen) == {item["id"] for item in items}


@requirement("find.cursor")
def test_cursor_is_of_its_own_query(ask: Ask, refused: Refused, made: Made) -> None:
    for n in range(3):
        made(title=f"Cache {n}")
    cursor = ask("mem-find", query="cache", limit=1)["data"]["nextCursor"]
    for wrong in ({"query": "file"}, {"query": "cache", "scope": "all"}, {"query": "cache", "types": ["change"]}):
        error = refused("mem-find", cursor=cursor, **wrong)["error"]
        assert error["code"] == "VALIDATION_ERROR"
        assert error["details"]["parameter"] == "cursor"
    assert len(ask("mem-find", query="cache", limit=2, cursor=cursor)["data"]["results"]) == 2
