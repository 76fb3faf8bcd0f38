"""`pieria recall`: questions, filters, cursors, and the printed answer."""

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


def test_question_is_answered_under_every_policy_or_refused(ask: Ask, bank: Bank) -> None:
    answer = ask("recall", "which", "APIs", "use", "JWT").json
    hit = answer["hits"][0]
    assert hit["memory"]["id"] == "jwt"
    assert 0 < hit["score"] <= 1
    assert hit["why"]
    assert 0 < answer["confidence"] <= 1
    assert found(ask("recall", stdin="JWT\n").json) == {"jwt"}
    assert found(ask("recall", "-", stdin="JWT\n").json) == {"jwt"}
    assert set(completed) == set(POLICIES)
    for policy in POLICIES:
        answer = ask("recall", "JWT", "--policy", policy).json
        assert found(answer) == {"jwt"}
        assert answer["plan"]["policy"] == policy
        assert ask("recall", "JWT", "--policy", policy, "--no-json").out.startswith("1 ")
    for option, value, told in (
        ("--policy", "hybird", "Did you mean hybrid?"),
        ("--weights", "dense", "Write dense:=0.5."),
        ("--weights", "lexcial:=1", "Did you mean lexical?"),
        ("--weights", "dense:=1000", "--weights.dense"),
        ("--deadline-ms", "0", "--deadline-ms"),
        ("--budget-tokens", "many", "--budget-tokens"),
    ):
        refused = ask("recall", "JWT", option, value)
        assert (refused.code, told in refused.err) == (2, True), option


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
    then = memory["known_from"]
    ask("update", memory["id"], "The office is in Leuven.")
    assert found(ask("recall", "Ghent").json) == set()
    assert found(ask("recall", "Ghent", "--known-at", then).json) == {memory["id"]}
    ask("remember", "lamp", "--id", "now")
    ask("remember", "lamp", "--id", "then", "--at", "3d")
    assert found(ask("recall", "lamp", "--since", "2d").json) == {"now"}
    assert found(ask("recall", "lamp", "--until", "1d12h").json) == {"then"}
    assert found(ask("recall", "lamp", "--since", "1 week ago").json) == {"now", "then"}
    said = "The lighthouse of Vega is painted anew every third summer, says the keeper."
    for id in ("one", "two", "three"):
        ask("remember", said, "--id", id)
    assert "2 copies of these not shown" in ask("recall", "lighthouse", "--no-json").out


def test_weights_deadline_and_lines_are_options(ask: Ask, bank: Bank) -> None:
    plain = ask("recall", "JWT").json["hits"][0]
    one_by_one = ask("recall", "JWT", "--weights", "lexical:=0", "--weights", "importance:=0.5").json["hits"][0]
    assert "lexical" in plain["why"]
    assert "lexical" not in one_by_one["why"]
    as_json = ask("recall", "JWT", "--weights", '{"lexical": 0, "importance": 0.5}').json["hits"][0]
    # A score also depends on the time, by a tiny amount.
    assert as_json["score"] == pytest.approx(one_by_one["score"], abs=1e-5)
    assert as_json["score"] != pytest.approx(plain["score"], abs=1e-3)
    answer = ask("recall", "JWT", "--deadline-ms", "60000").json
    assert found(answer) == {"jwt"}
    assert set(answer["plan"]["left_out"]) == {"dense", "window"}
    import json

    answer = ask("recall", "the", "--jsonl", "-k", "1")
    assert [json.loads(line)["memory"]["id"] for line in answer.out.splitlines()]
    assert "--cursor" in answer.err
    assert "--cursor" not in ask("recall", "the", "--jsonl", "-k", "1", "--quiet").err


def test_budget_and_reasons_explain_an_answer(ask: Ask, bank: Bank) -> None:
    everything = ask("recall", "the", "-k", "3", "--json").json
    assert len(everything["hits"]) == 2
    fitting = ask("recall", "the", "--budget-tokens", "12").json
    assert len(fitting["hits"]) == 1
    assert fitting["plan"]["truncated"]["tokens"]["left_out"] == 1
    assert "1 hit beyond 12 tokens" in ask("recall", "the", "--budget-tokens", "12", "--no-json").out
    nothing = ask("recall", "the", "--budget-tokens", "1", "--no-json").out
    assert nothing.startswith("Nothing was found.")
    assert "2 hits beyond 1 token," in nothing
    assert "--cursor" in nothing
    answer = ask("recall", "JWT").json
    [hit], weights = answer["hits"], answer["plan"]["weights"]
    shown = re.findall(r"([a-z_]+)\s+([+-]\d\.\d\d)", ask("recall", "JWT", "--no-json").out)
    assert shown[0] == ("lexical", "+0.25")
    assert [float(share) for _, share in shown] == sorted((float(share) for _, share in shown), reverse=True)
    assert all(float(share) == pytest.approx(weights[name] * hit["why"][name], abs=0.005) for name, share in shown)
    assert set(hit["why"]) - {name for name, _ in shown} == {"recency", "entity"}
    answer = ask("recall", "Maya", "--policy", "value").json
    why = answer["hits"][0]["why"]
    shown = re.findall(r"([a-z]+)\s+×(\d\.\d\d)", ask("recall", "Maya", "--policy", "value", "--no-json").out)
    assert [name for name, _ in shown] == sorted((name for name in why if why[name] <= 0.95), key=why.__getitem__)


def test_people_see_scores_plan_marks_and_what_was_left_out(
    ask: Ask, bank: Bank, terminal: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = ask("recall", "JWT", "--no-json").out
    assert shown.startswith("1 ")
    assert "We chose JWT for all new APIs." in shown
    assert "█" in shown
    for part in ("jwt", "note", "default/note", "#auth", "just now", "confidence 1.00"):
        assert part in shown
    assert '"arms"' in ask("recall", "JWT", "--no-json", "--plan").out
    assert '"arms"' not in ask("recall", "JWT", "--no-json").out
    assert "Nothing" in ask("recall", "xylophone", "--no-json").out
    assert "empty" in ask("recall", " ", "--no-json").out
    marked = r"\x1b\[1;33m(\w+)"
    assert re.findall(marked, terminal("recall", "did we choose the JWT for all?").out) == ["chose", "JWT"]
    assert re.findall(marked, terminal("recall", "for all").out) == ["for", "all"]
    assert "without dense, window: no embedder is set" in ask("recall", "JWT", "--no-json").out
    assert "without" not in ask("recall", "JWT", "--no-json", "--weights", '{"dense": 0, "window": 0}').out
    monkeypatch.setenv("PIERIA_EMBEDDER", "hashing")
    assert "pieria models install" in " ".join(ask("recall", "JWT", "--no-json").out.split())


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
