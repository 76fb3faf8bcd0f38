"""`pieria recall`: questions, filters, cursors, and the printed answer."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Answer, Ask

from pieria import Bank
from pieria.doors.cli.commands.read import POLICIES as completed
from pieria.recall.scores import POLICIES


def found(answer: Any) -> set[str]:
    return {hit["memory"]["id"] for hit in answer["hits"]}


def test_question_is_answered_under_every_policy(ask: Ask, bank: Bank) -> None:
    answer = ask("recall", "which", "APIs", "use", "JWT").json
    hit = answer["hits"][0]
    assert (hit["memory"]["id"], bool(hit["why"])) == ("jwt", True)
    assert 0 < hit["score"] <= 1 and 0 < answer["confidence"] <= 1
    assert found(ask("recall", stdin="JWT\n").json) == found(ask("recall", "-", stdin="JWT\n").json) == {"jwt"}
    assert set(completed) == set(POLICIES)
    for policy in POLICIES:
        answer = ask("recall", "JWT", "--policy", policy).json
        assert (found(answer), answer["plan"]["policy"]) == ({"jwt"}, policy)
        assert ask("recall", "JWT", "--policy", policy, "--no-json").out.startswith("1 ")


ROWS = Path(__file__).with_name("filters.tsv").read_text().splitlines()[1:]
FILTERS = {options: set(ids.split()) for options, _, ids in (row.partition("\t") for row in ROWS)}


def test_every_filter_has_an_option(ask: Ask, reopened: Any) -> None:
    with reopened() as bank:
        bank.remember(
            "lamp", id="one", tags=["red"], files=["a.md"], place="shop/till", meta={"owner": "Maya"}, at="2026-01-05"
        )
        bank.remember(
            "lamp", id="two", tags=["blue"], entities=["Maya"], author="Ben", author_type="agent",
            channel="c1", at="2026-02-05",
        )  # fmt: skip
        bank.remember(
            "lamp", id="three", kind="diary", body={"type": "decision"}, source="mail", session="s1",
            meta={"ticket": 4711}, at="2026-03-05", valid_from="2026-03-05",
        )  # fmt: skip
        bank.remember("lamp", id="old", valid_until="2021-01-01")
        bank.remember("lamp", id="gone", valid_from="2025-01-01")
        bank.update("gone", status="archived")
    told = {options: found(ask("recall", "lamp", *options.split()).json) for options in FILTERS}
    assert {options: ids - ({"old"} if "2020" not in options else set()) for options, ids in told.items()} == FILTERS


def test_past_and_relative_times_are_recalled(ask: Ask) -> None:
    memory = ask("remember", "The office is in Ghent.").json
    ask("update", memory["id"], "The office is in Leuven.")
    assert found(ask("recall", "Ghent").json) == set()
    assert found(ask("recall", "Ghent", "--known-at", memory["known_from"]).json) == {memory["id"]}
    ask("remember", "lamp", "--id", "now")
    ask("remember", "lamp", "--id", "then", "--at", "3d")
    assert found(ask("recall", "lamp", "--since", "2d").json) == {"now"}
    assert found(ask("recall", "lamp", "--until", "1d12h").json) == {"then"}
    assert found(ask("recall", "lamp", "--since", "1 week ago").json) == {"now", "then"}


def test_weights_deadline_and_lines_are_options(ask: Ask, bank: Bank) -> None:
    def first(*weights: str) -> Any:
        return ask("recall", "JWT", *weights).json["hits"][0]

    plain, as_json = first(), first("--weights", '{"lexical": 0, "importance": 0.5}')
    one_by_one = first("--weights", "lexical:=0", "--weights", "importance:=0.5")
    assert "lexical" in plain["why"] and "lexical" not in one_by_one["why"]
    # A score also depends on the time, by a tiny amount.
    assert as_json["score"] == pytest.approx(one_by_one["score"], abs=1e-5)
    assert as_json["score"] != pytest.approx(plain["score"], abs=1e-3)
    answer = ask("recall", "JWT", "--deadline-ms", "60000").json
    assert (found(answer), set(answer["plan"]["left_out"])) == ({"jwt"}, {"dense", "window"})
    answer = ask("recall", "the", "--jsonl", "-k", "1")
    assert [json.loads(line)["memory"]["id"] for line in answer.out.splitlines()]
    assert "--cursor" in answer.err
    assert "--cursor" not in ask("recall", "the", "--jsonl", "-k", "1", "--quiet").err


def test_budget_and_reasons_explain_an_answer(ask: Ask, bank: Bank) -> None:
    assert len(ask("recall", "the", "-k", "3").json["hits"]) == 2
    fitting = ask("recall", "the", "--budget-tokens", "12").json
    assert (len(fitting["hits"]), fitting["plan"]["truncated"]["tokens"]["left_out"]) == (1, 1)
    assert "1 hit beyond 12 tokens" in ask("recall", "the", "--budget-tokens", "12", "--no-json").out
    nothing = ask("recall", "the", "--budget-tokens", "1", "--no-json").out
    assert nothing.startswith("Nothing was found.")
    assert "2 hits beyond 1 token," in nothing and "--cursor" in nothing
    answer = ask("recall", "JWT").json
    [hit], weights = answer["hits"], answer["plan"]["weights"]
    found = re.findall(r"([a-z_]+)\s+([+-]\d\.\d\d)", ask("recall", "JWT", "--no-json").out)
    shown = {name: float(share) for name, share in found}
    assert next(iter(shown.items())) == ("lexical", 0.25)
    assert list(shown.values()) == sorted(shown.values(), reverse=True)
    assert shown == pytest.approx({name: weights[name] * hit["why"][name] for name in shown}, abs=0.005)
    assert set(hit["why"]) - set(shown) == {"recency", "entity"}
    why = ask("recall", "Maya", "--policy", "value").json["hits"][0]["why"]
    factors = re.findall(r"([a-z]+)\s+×\d\.\d\d", ask("recall", "Maya", "--policy", "value", "--no-json").out)
    assert factors == sorted((name for name in why if why[name] <= 0.95), key=why.__getitem__)


def test_people_see_scores_plan_marks_and_what_was_left_out(
    ask: Ask, bank: Bank, terminal: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(*line: str) -> str:
        return ask("recall", *line, "--no-json").words

    for part in (
        "We chose JWT for all new APIs.", "█", "jwt", "note", "default/note", "#auth", "just now", "confidence 1.00",
        "without dense, window: no embedder is set",
    ):  # fmt: skip
        assert part in shown("JWT")
    assert '"arms"' in shown("JWT", "--plan") and '"arms"' not in shown("JWT")
    assert "Nothing" in shown("xylophone")
    assert "empty" in shown(" ")
    marked = r"\x1b\[1;33m(\w+)"
    assert re.findall(marked, terminal("recall", "did we choose the JWT for all?").out) == ["chose", "JWT"]
    assert re.findall(marked, terminal("recall", "for all").out) == ["for", "all"]
    assert "without" not in shown("JWT", "--weights", '{"dense": 0, "window": 0}')
    for id in ("one", "two", "three"):
        ask("remember", "The lighthouse of Vega is painted anew every third summer, says the keeper.", "--id", id)
    assert "2 copies of these not shown" in shown("lighthouse")
    monkeypatch.setenv("PIERIA_EMBEDDER", "hashing")
    assert "pieria models install" in shown("JWT")


def test_cursor_can_be_copied_from_a_narrow_terminal(terminal: Callable[..., Answer], ask: Ask) -> None:
    for number in range(3):
        ask("remember", f"memory {number}")
    for command in (("recall", "memory", "-k", "1"), ("list", "-n", "1")):
        shown = re.sub(r"\x1b\[[\d;]*m", "", terminal(*command, width=30).out)
        cursor = shown.splitlines()[-1].removeprefix("there is more: --cursor ")
        going_on = ask(*command, "--cursor", cursor, "-q")
        assert going_on.code == 0
        assert going_on.ids != ask(*command, "-q").ids


def test_unnamed_bank_may_be_empty_or_answer_from_facts(ask: Ask) -> None:
    ask("remember", "x", "--bank", "notes")
    answer = ask("recall", "JWT")
    assert answer.json["hits"] == []
    assert "there was no bank default" in answer.err
    assert "notes" in answer.err
    assert ask("recall", "JWT").err == ""
    id = ask("facts", "add", "Caroline", "lives_in", "Madrid").json["id"]
    [hit] = ask("recall", "where", "does", "Caroline", "live").json["hits"]
    assert (hit["memory"]["id"], hit["memory"]["text"]) == (id, "Caroline lives in Madrid.")
    assert "Caroline lives in Madrid." in ask("context", "--query", "where does Caroline live").json["text"]
    assert ask("list").json["memories"] == []
    assert len(ask("list", "--kind", "fact").json["memories"]) == 1
