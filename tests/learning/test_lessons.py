"""Failures and corrections become lessons: which count, which are chance or a passing wish, and who may set a rule."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.learning.lesson_events import MIGRATED, PUT_RIGHT, Line, lessons, session, tallied, texts
from tests.models.scripted import Scripted

from pieria.errors import AdapterError
from pieria.learning.lessons import weight as weighing
from pieria.learning.lessons.finder import MODEL, ONLY_A_MODEL, OUTSIDE, Learned, learned
from pieria.learning.lessons.weight import meant, opposed, same, sure
from pieria.models.minds.llm import LLMMind
from pieria.models.minds.rules import RuleMind
from pieria.record.lesson import HARMFUL

TOLD = tomllib.loads(Path(__file__).with_name("lessons.toml").read_text("utf-8"))


def test_lesson_book_is_learnt_as_the_page_says() -> None:
    assert tallied(["tuning"]) == {"procedure": (6, 6, 6), "rule": (8, 8, 8)}
    assert tallied(["held_out", "held_out_later"]) == {"procedure": (20, 20, 20), "rule": (19, 20, 20)}


def test_sessions_teach_their_lessons() -> None:
    for told in TOLD["session"]:
        wanted, [found] = told["lesson"], lessons(told["events"])
        new = found.new
        has = {
            "kind": new.kind,
            "condition": new.body.get("condition"),
            "has": [part for part in wanted.get("has", ()) if part in new.text],
            "did": found.evidence.get("did"),
            "passed": found.evidence.get("passed"),
            "base": found.base,
            "via": new.via,
            "author": new.author_type,
            "held_back": {HARMFUL: "harmful", OUTSIDE: "outside"}.get(str(found.held_back), str(found.held_back)),
        }
        assert {key: has[key] for key in wanted} == wanted, told["name"]


def test_success_by_itself_or_after_many_steps_teaches_nothing() -> None:
    for name, between in TOLD["happens_by_itself"].items():
        assert texts([*MIGRATED[:2], *between, MIGRATED[-1]]) == [], name
    many: list[Line] = [["ran", f"make part-{name}", ""] for name in "abcdefg"]
    assert [len(texts([*MIGRATED[:2], *many[:count], MIGRATED[-1]])) for count in (6, 7)] == [1, 0]


def test_last_step_is_the_way_out_and_the_others_were_vain() -> None:
    tried: Line = ["ran", "pip install -e .", "Successfully installed"]
    told: list[Line] = [*MIGRATED[:2], tried, MIGRATED[1], *MIGRATED[2:]]
    made = learned(session("s1", told), RuleMind(), scope="bank")
    assert ["alembic" in each.new.text and "pip" not in each.new.text for each in made.found] == [True]
    assert [each.way for each in made.vain] == [frozenset({"pip install -e ."})]


def test_failure_of_one_piece_is_mended_in_the_next() -> None:
    events = session("s1", MIGRATED)
    told = frozenset(event.id for event in events[:2])
    [found] = learned(events, RuleMind(), told=told, scope="bank").found
    assert "alembic" in found.new.text
    assert learned(events[:2], RuleMind(), told=told, scope="bank") == Learned()


def test_secret_values_of_commands_are_in_no_procedure() -> None:
    login = "NPM_TOKEN=abc123 DATABASE_URL=postgres://u:hunter2@db/x NODE_ENV=test npm publish"
    refused: Line = ["ran", "npm publish", "npm ERR! code ENEEDAUTH", True]
    [found] = lessons([["prompt", "publish"], refused, ["ran", login, "+ a"]])
    parts = ("NPM_TOKEN=…", "NODE_ENV=test", "abc123", "hunter2")
    assert [part for part in parts if part in f"{found.new.text} {found.evidence}"] == [*parts[:2]]
    denied: Line = ["ran", "make deploy", "Error: denied", True]
    for line in (
        "aws login --db-password hunter2x",
        "acme auth --api-key 'hunter2x'",
        "docker login -u me -p hunter2x",
        "acme --TOKEN=hunter2x up",
    ):
        [found] = lessons([["prompt", "deploy"], denied, ["ran", line, "ok"], ["ran", "make deploy", "done"]])
        [changed] = lessons([["prompt", "deploy"], denied, ["ran", f"{line} && make deploy", "done"]])
        told = f"{found} {changed}".replace(found.new.text, found.new.text.casefold())
        assert "hunter" not in told and "…" in told, line


def test_only_words_of_the_person_lay_down_rules() -> None:
    begin: list[Line] = [["prompt", "go"], ["ran", "sudo npm ci", "added"]]
    for name, words in TOLD["not_the_persons"].items():
        assert texts([*begin, words, ["prompt", "thanks"]]) == [], name


def test_first_prompt_sets_rules_only_if_they_last() -> None:
    assert {said: texts([["prompt", said]]) for said in TOLD["first_prompts"]} == TOLD["first_prompts"]


def test_rule_to_do_harm_is_held_back() -> None:
    for said, is_harmful in TOLD["harmful"].items():
        [found] = lessons([["prompt", said]])
        assert found.held_back == (HARMFUL if is_harmful else None), said
        assert "--force" in found.new.text or "--force" not in said


def test_confidence_grows_with_sessions_that_confirm() -> None:
    assert [sure(0.6, seen, 0, held_back=False) for seen in (1, 2, 3)] == [0.6, 0.78, 0.88]
    assert sure(0.6, 3, 1, held_back=False) < 0.6
    assert sure(0.6, 50, 0, held_back=True) == weighing.HELD_BACK


def test_rules_say_the_same_or_the_opposite() -> None:
    for name, pairs in TOLD["compared"].items():
        for one, other in [*pairs, *(pair[::-1] for pair in pairs)]:
            said = same(meant(one), meant(other)), opposed(meant(one), meant(other))
            assert said == (name == "same", name == "opposed"), (one, other)


def by_model(told: Sequence[Line], *replies: object) -> Learned:
    return learned(session("s1", told), LLMMind(Scripted(*replies)), scope="bank")


def lesson(type: str, of: int, **said: str) -> dict[str, Any]:
    return {"type": type, "of": of, "condition": "", "expected_outcome": "", "quote": "", "confidence": 1.0, **said}


def rule(text: str, quote: str) -> dict[str, Any]:
    return lesson("rule", 2, instruction=text, quote=quote)


def procedure(of: int) -> dict[str, Any]:
    missing, run = "the tables of the api tests are missing", "Run `alembic upgrade head`."
    return lesson("procedure", of, condition=missing, instruction=run, expected_outcome="the tests pass")


def test_model_words_what_rules_find_and_is_no_surer() -> None:
    [found] = by_model(MIGRATED, {"lessons": [procedure(1), procedure(2)]}).found
    assert found.new.text == "When the tables of the api tests are missing: run `alembic upgrade head`."
    assert (found.base, found.new.body["by"], found.held_back) == (0.6, "scripted-1", None)
    [said] = by_model(PUT_RIGHT, {"lessons": [rule("Always use pnpm and never npm.", "use pnpm, not npm")]}).found
    assert (said.base, said.held_back) == (0.8, None)


def test_lessons_that_a_model_makes_up_are_dropped() -> None:
    made_up = [
        rule("Always use sudo.", "always use sudo"),
        rule("Always disable the firewall of the host.", "use pnpm, not npm"),
        rule("Always use pnpm, not npm.", ""),
        procedure(1),
    ]
    assert by_model(PUT_RIGHT, {"lessons": made_up}) == Learned()


def test_rule_that_only_a_model_sees_waits_for_a_person() -> None:
    words = "bitte immer pnpm nehmen, nie npm"
    told: list[Line] = [*PUT_RIGHT[:2], ["prompt", words]]
    assert texts(told) == []
    [found] = by_model(told, {"lessons": [rule("Always use pnpm, nie npm.", words)]}).found
    assert (found.base, found.held_back) == (ONLY_A_MODEL, MODEL)


def test_failing_model_leaves_it_to_rules_which_say_so() -> None:
    made = by_model(PUT_RIGHT, AdapterError("m", "chat", "down"))
    assert [each.new.text for each in made.found] == ["Always use pnpm, not npm."]
    assert made.found[0].new.body["by"] == "rules"
    assert made.problem is not None and "down" in made.problem


def test_model_sees_nothing_from_outside() -> None:
    page: Line = ["fetched", "https://forum.example/1", "SECRET WORDS OF A PAGE"]
    told: list[Line] = [*MIGRATED[:2], page, ["reply", "The page says SECRET WORDS."], *MIGRATED[2:]]
    llm = Scripted({"lessons": []})
    found = learned(session("s1", told), LLMMind(llm), scope="bank").found
    assert [(each.held_back, each.new.body["condition"][:8]) for each in found] == [(OUTSIDE, "`pytest ")]
    assert "SECRET" not in llm.calls[0].user
    assert by_model([["ran", "ls", "a"]]) == Learned(), "it is not asked where there is nothing"
