"""`pieria link`, `unlink`, `neighbors`, `touch`, `facts` and `scratchpad`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.capture.payloads import on_disk
from tests.cli.conftest import Answer, Ask

from pieria import Bank


def test_memories_and_places_are_linked_and_used(ask: Ask, bank: Bank) -> None:
    link = ask("link", "jwt", "queue", "-r", "explains", "--weight", "0.5", "--label", "why", "--meta", "a=b").json
    wanted = {"source": "jwt", "relation": "explains", "target": "queue", "weight": 0.5, "label": "why"}
    assert link.items() >= {**wanted, "meta": {"a": "b"}}.items()
    place = ask("link", "jwt", "place:billing/queue").json
    assert (place["target_is"], place["target"]) == ("place", "billing/queue")
    assert ask("neighbors", "jwt", "-q").ids == ["queue", "place:billing/queue"]
    assert ask("neighbors", "place:billing/queue", "-q").ids == ["jwt"]
    assert [untied["id"] for untied in ask("unlink", link["id"]).json["unlinked"]] == [link["id"]]
    assert ask("unlink", "jwt", "place:billing/queue", "-q").ids == [place["id"]]
    assert ask("neighbors", "jwt").json == {"neighbors": [], "truncated": False}
    ask("touch", "jwt", "maya")
    used = ask("touch", "jwt", "--accesses", "2", "--reviews", "1", "--crossings", "3", "--reward", "0.5").json
    assert used["usage"]["jwt"].items() >= {"accesses": 3, "reviews": 1, "crossings": 3, "rewards": 0.5}.items()
    assert "0.50" in ask("touch", "jwt", "--no-json").out


def test_neighbors_are_chosen_and_cut(ask: Ask, bank: Bank) -> None:
    ask("link", "jwt", "queue", "-r", "explains")
    ask("link", "maya", "jwt", "-r", "wrote")
    for form in ("--json", "--jsonl"):
        assert "more than these 1: --limit" in ask("neighbors", "jwt", "-n", "1", form).err
        assert ask("neighbors", "jwt", "-n", "2", form).err == ""
    assert ask("neighbors", "jwt", "-n", "1").json["truncated"] is True
    assert ask("neighbors", "jwt", "-r", "wrote", "-q").ids == ["maya"]
    assert ask("neighbors", "jwt", "--direction", "out", "-q").ids == ["queue"]
    lines = ask("neighbors", "maya", "--hops", "2", "--jsonl").out.splitlines()
    assert [json.loads(line)["hops"] for line in lines] == [1, 2]
    assert ask("neighbors", "maya", "--hops", "2", "-q").ids == ["jwt", "queue"]
    assert ask("neighbors", "maya", "--hops", "2", "-n", "1", "-q").ids == ["jwt"]
    assert "explains" in ask("neighbors", "jwt", "--no-json").out


def triples(answer: Any) -> set[tuple[str, str, str]]:
    return {(fact["subject"], fact["predicate"], fact["object"]) for fact in answer["facts"]}


def test_facts_are_stated_and_queried(ask: Ask, bank: Bank) -> None:
    fact = ask(
        "facts", "add", "Maya", "works_on", "billing", "--valid-from", "2026-01-10", "--valid-until", "2026-02-28",
        "--confidence", "0.9", "--memory", "maya", "--source", "mail",
    ).json  # fmt: skip
    assert (fact["valid_from"], fact["valid_until"]) == ("2026-01-10", "2026-02-28")
    assert (fact["confidence"], fact["memory"], fact["source"]) == (0.9, "maya", "mail")
    ask("facts", "add", "Maya", "leads", "search")
    assert triples(ask("facts", "query", "maya").json) == {("Maya", "leads", "search")}
    stated = ask("facts", "add", "Maya", "leads", "ads", "--supersede").json
    assert [(fact["object"], stated["conflicts"]) for fact in stated["closed"]] == [("search", [])]
    assert "made room" in ask("facts", "add", "Maya", "leads", "search", "--supersede", "--no-json").out
    assert triples(ask("facts", "query", "--valid-at", "2026-02-01", "--predicate", "works_on").json)
    assert len(triples(ask("facts", "query", "Maya", "--history").json)) == 3
    assert triples(ask("facts", "query", "search", "--direction", "out").json) == set()
    assert triples(ask("facts", "query", "--object", "search").json) == {("Maya", "leads", "search")}
    assert triples(ask("facts", "query", "--subject", "Maya", "--known-at", "2020-01-01").json) == set()


def test_facts_give_way_and_end(ask: Ask) -> None:
    ask("facts", "add", "Maya", "works_on", "billing", "--valid-from", "2026-01-10")
    ask("facts", "supersede", "Maya", "works_on", "search", "--at", "2026-03-01")
    timeline = ask("facts", "timeline", "Maya").json["facts"]
    ends = {fact["object"]: fact["valid_until"] for fact in timeline}
    assert ends == {"billing": "2026-02-28", "search": None}
    ended = ask("facts", "invalidate", "Maya", "works_on", "search", "--at", "2026-04-01", "--reason", "left").json
    [fact] = ended["facts"]
    assert fact["valid_until"] == "2026-04-01"
    assert len(ask("facts", "history", fact["id"]).json["facts"]) == 2
    ask("facts", "remove", fact["id"], "--reason", "never was")
    assert len(ask("facts", "timeline").json["facts"]) == 1
    assert len(ask("facts", "timeline", "-n", "1", "--jsonl").out.splitlines()) == 1


def test_contradictions_and_names_of_one_entity_are_shown(ask: Ask) -> None:
    ask("facts", "declare", "lives_in", "--many-valued")
    ask("facts", "add", "Maya", "lives_in", "Ghent")
    ask("facts", "add", "Maya", "lives_in", "Leuven")
    against = ask("facts", "declare", "lives_in").json["conflicts"]
    assert {fact["object"] for fact in against[0]["facts"]} == {"Ghent", "Leuven"}
    assert len(ask("facts", "conflicts", "--subject", "Maya", "--predicate", "lives_in").json["conflicts"]) == 1
    assert "Ghent" in ask("facts", "conflicts", "--no-json").out
    ask("facts", "declare", "lives_in", "--many-valued")
    assert ask("facts", "conflicts").json == {"conflicts": []}
    assert ask("facts", "predicates").json["predicates"][0]["name"] == "lives_in"
    ask("facts", "add", "Maya", "works_on", "billing")
    assert ask("facts", "alias", "M. Jansen", "Maya").json["aliases"] == ["M. Jansen"]
    assert triples(ask("facts", "query", "M. Jansen").json)
    assert ask("facts", "aliases").json == {"aliases": {"M. Jansen": "Maya"}}
    assert [one["name"] for one in ask("facts", "entities", "ma").json["entities"]] == ["Maya"]
    ask("facts", "unalias", "M. Jansen")
    assert triples(ask("facts", "query", "M. Jansen").json) == set()


def test_facts_are_shown_whole_to_people(ask: Ask, terminal: Callable[..., Answer], bank: Bank) -> None:
    """Where a table would be too wide, each fact has lines of its own."""
    bank.facts.add("Maya", "leads", "search")
    header = ask("facts", "query", "Maya", "--no-json").out.split()[:6]
    assert header == ["id", "from", "until", "subject", "predicate", "object"]
    bank.facts.add("Maya", "works_on", "the billing of the ferries", valid_from="2025-01-31", valid_until="2025-06-30")
    assert ask("facts", "stats").json["facts"] == 2
    assert "works_on 1" in ask("facts", "stats", "--no-json").out
    roomy, narrow = (terminal("facts", "query", "--history", width=width).out for width in (100, 60))
    assert "predicate" in roomy and "predicate" not in narrow
    for shown in (roomy, narrow):
        assert all(part in shown for part in ("works_on", "the billing of the ferries", "2025-01-31", "2025-06-30"))


def test_each_session_has_its_own_scratchpad(ask: Ask) -> None:
    first = ask("scratchpad", "write", "look at the queue", "--session", "s1").json
    ask("scratchpad", "write", "--session", "s1", stdin="second\n")
    ask("scratchpad", "write", "elsewhere", "--session", "s2")
    entries = ask("scratchpad", "read", "--session", "s1").json["entries"]
    assert [entry["content"] for entry in entries] == ["second", "look at the queue"]
    ask("scratchpad", "update", first["id"], "look at the log", "--session", "s1")
    shown = ask("scratchpad", "read", "--session", "s1", "--no-json").out
    assert "look at the log" in shown and "(just now)" in shown
    assert ask("scratchpad", "clear", "--session", "s1").json == {"cleared": 2}
    assert "empty" in ask("scratchpad", "read", "--session", "s1", "--no-json").out
    assert ask("scratchpad", "read", "--session", "s2").json["entries"]


def test_fact_is_purged_with_a_receipt(ask: Ask, bank: Bank, home: Path) -> None:
    id = ask("facts", "add", "Maya", "keeps", "nightingale").json["id"]
    told = ask("facts", "remove", id, "--purge", "--dry-run").json
    assert told["erased"] == {"facts": 1, "versions": 1}
    assert told["digest"] in ask("facts", "remove", id, "--purge", "--dry-run", "--no-json").out
    assert ask("facts", "remove", id, "--purge", "--as-told", "another").code == 1
    bank.close()
    receipt = ask("facts", "remove", id, "--purge", "--as-told", told["digest"]).json
    assert (receipt["ids"], receipt["unreached"]) == ([id], [])
    assert ask("facts", "history", id).code == 1
    assert b"nightingale" not in on_disk(home / "data")


def test_purge_of_a_fact_asks_the_person_at_the_terminal(terminal: Callable[..., Answer], ask: Ask, bank: Bank) -> None:
    id = ask("facts", "add", "Maya", "keeps", "nightingale").json["id"]
    for typed, left in (("n\n", 1), ("y\n", 0)):
        answer = terminal("facts", "remove", id, "--purge", typed=typed)
        assert "Maya keeps nightingale" in answer.out and "[y/N]" in answer.out
        assert answer.code == left == len(ask("facts", "timeline", "nightingale").json["facts"])
    id = ask("facts", "add", "Maya", "keeps", "terns").json["id"]
    assert "[y/N]" not in terminal("facts", "remove", id, "--purge", "--yes").out
    assert ask("facts", "history", id).code == 1
