"""Sentences that people say at work, and the notes that rules make of them, in seven languages."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.learning.session_events import Session, noticed

from pieria.learning.distilling.observations import Observation

SAID = {
    kind: texts.split("\n")
    for kind, texts in tomllib.loads(Path(__file__).with_suffix(".toml").with_stem("said").read_text("utf-8")).items()
}
ANSWERS = {
    (
        "Which queue: arq or Celery? Retries need a limit.",
        "yes, arq. But at most 5 retries, otherwise Postmark bans our IP",
    ): "Yes, arq. But at most 5 retries",
    ("Redis or SQLite for the sessions?", "SQLite. no new server please"): "SQLite",
    ("1. Redis\n2. SQLite\nWhich one?", "2, because we don't want another server"): "SQLite, because",
    ("Arq oder Celery?", "ja, arq. aber höchstens 5 Versuche, sonst sperrt uns Postmark"): "Ja, arq",
    ("Caddy ou nginx ?", "Caddy. il renouvelle ses certificats tout seul"): "Caddy",
}


def notes(said: str, before: str = "What next?") -> list[Observation]:
    s = Session()
    return noticed(s.prompt("hi there"), s.reply(before), s.prompt(said), s.reply("Ok."), s.end())


def types(said: str) -> set[str]:
    return {str(one.new.body["type"]) for one in notes(said)}


def lines(kind: str) -> list[str]:
    return [line for line in SAID[kind] if line]


def test_words_of_something_owed_make_a_debt() -> None:
    assert [said for said in lines("debt") if "debt" not in types(said)] == []


def test_words_of_a_choice_make_a_decision_of_the_user() -> None:
    assert [said for said in lines("decision") if "decision" not in types(said)] == []
    assert [said for said in lines("decision") if notes(said)[0].new.body.get("said_by") != "user"] == []


def test_words_that_bind_from_now_on_make_a_rule() -> None:
    assert [said for said in lines("rule") if not any("rule" in one.new.tags for one in notes(said))] == []


def test_numbers_and_things_to_remember_are_kept() -> None:
    assert [said for said in lines("kept") if not notes(said)] == []


def test_requests_of_the_moment_and_thanks_make_no_note() -> None:
    assert {said: types(said) for said in lines("nothing") if types(said)} == {}


def test_answer_that_names_an_option_is_a_choice_with_its_limit() -> None:
    for (before, said), begins in ANSWERS.items():
        [made] = notes(said, before)
        assert (made.new.body["type"], made.new.text.startswith(begins)) == ("decision", True), made.new.text


def test_note_of_a_failure_names_its_cure_first() -> None:
    s, asked = Session(), f"the parcels of zone 3 are billed twice, mend it please {'and look around ' * 30}"
    failing, fix = (
        s.ran("pytest -q", "E   KeyError: 'zone'\n1 failed in 3 seconds"),
        s.edited("src/rates.py", "a * 9", "a"),
    )
    [note] = noticed(s.prompt(asked), failing, fix, s.ran("pytest -q", "4 passed in 3 seconds"), s.end())
    assert "src/rates.py (`a * 9` became `a`)" in note.new.text[:240]
    assert not any("second" in tag or tag.isdigit() for tag in note.new.tags), note.new.tags


def test_small_talk_after_the_work_makes_no_note() -> None:
    s = Session()
    talk = [s.prompt("add a page"), s.reply("Added."), s.prompt("ok thanks"), s.reply("You're welcome."), s.end()]
    assert noticed(*talk) == []
