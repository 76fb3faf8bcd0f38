"""Classify by rules if a message asks to save or to search; the examples are from Mnemex's document."""

import json
from collections.abc import Hashable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.grammar.names import named
from pieria.language.intent import Saving, judge_recalling, judge_saving, judge_strength, keyterms

MESSAGES = Path(__file__).parents[1] / "data" / "messages"


def kinds(message: str) -> dict[str, str]:
    return {found.name: found.kind for found in named(message) if found.kind != "date"}


def saving(message: str) -> Saving:
    return judge_saving(message, kinds(message))


# --- the document's examples


@pytest.mark.parametrize(
    ("message", "entities"),
    [
        (
            "Remember: I prefer TypeScript over JavaScript for all new projects",
            ("typescript", "javascript", "preferences"),
        ),
        ("Remember: I prefer JWT for authentication", ("jwt", "authentication")),
        ("Remember: I prefer dark mode in all my apps", ()),
    ],
)
def test_what_is_asked_to_be_remembered_is_kept(message: str, entities: tuple[str, ...]) -> None:
    found = saving(message)
    assert (found.band, found.confidence, found.strength) == ("save", 0.9, 1.5)
    assert found.entities == entities
    assert (found.phrases, found.tags) == (("remember",), ())
    assert found.reasoning == f"Detected: ['remember'] importance_marker: True entities_found: {len(entities)}"


@pytest.mark.parametrize(
    ("message", "query", "entities"),
    [
        ("What did I say about TypeScript?", "TypeScript preferences", ("typescript",)),
        ("What did I say about my API preferences?", "API preferences", ()),
        ("What did I say about authentication?", "authentication", ("authentication",)),
    ],
)
def test_what_is_asked_for_again_is_looked_up(message: str, query: str, entities: tuple[str, ...]) -> None:
    found = judge_recalling(message, kinds(message))
    assert (found.band, found.confidence, found.query) == ("search", 0.9, query)
    assert (found.entities, found.tags) == (entities, ())
    assert found.reasoning == f"Detected: ['what did i say about'] entities_found: {len(entities)}"


def test_a_plain_text_has_its_terms_and_plain_strength() -> None:
    text = "Use JWT tokens for authentication in all new APIs"
    terms = keyterms(text, kinds(text))
    assert terms == ("jwt", "authentication", "apis")
    assert judge_strength(text, terms) == 1.0


# --- signs for and against


@pytest.mark.parametrize(
    "message",
    [
        "there is mustard on the monkey's keyboard",
        "the essentially unforgettable notebook",
        "look:\nSELECT remember_token FROM users;",
        'The page says "remember to save your work" and nothing else',
        "```\nremember(that)\nnote: never call this\n```",
        "> remember that I prefer tabs",
    ],
)
def test_no_part_of_a_word_and_nothing_quoted_speaks(message: str) -> None:
    found = saving(message)
    assert (found.band, found.phrases) == ("skip", ())


def test_a_phrase_counts_once_however_often_it_is_said() -> None:
    once = saving("Remember that I prefer tabs")
    assert saving("Remember that I prefer tabs, and remember that I always prefer tabs").confidence == once.confidence


@pytest.mark.parametrize(
    ("plain", "tentative"),
    [
        ("we go with Stripe for payments from 1 May", "maybe we go with Stripe for payments from 1 May"),
        ("I moved to Leeds in May", "I might have moved to Leeds by May"),
        ("The board approved the second office", "Apparently the board approved the second office"),
    ],
)
def test_what_is_tentative_is_asked_about(plain: str, tentative: str) -> None:
    assert saving(plain).band == "save"
    found = saving(tentative)
    assert (found.band, found.confidence) == ("ask", 0.5)
    assert found.against


@pytest.mark.parametrize(
    "message",
    [
        "don't save this: my birthday is 4 May",
        "Off the record, I am allergic to the new boss",
        "Translate: remember that I prefer tea",
        "Do people who prefer tea live longer?",
        "I'm so tired right now",
        "",
        "\n\n",
        "?",
    ],
)
def test_what_is_nobodys_to_keep_is_let_be(message: str) -> None:
    assert saving(message).band == "skip"


def test_a_question_does_not_hide_what_is_stated_beside_it() -> None:
    assert saving("I'm allergic to nuts, what could I bake?").band == "save"
    assert saving("What could I bake? I'm allergic to nuts.").band == "save"


def test_what_is_vital_is_the_strongest() -> None:
    assert saving("Remember, this is critical: the vault opens with key seven").strength == 2.0
    assert saving("Our house number is 12").strength == 1.3
    assert saving("how are you?").strength == 1.0


def test_tags_are_those_that_stand_in_the_message() -> None:
    assert saving("Remember that the demo is on Friday #work #Acme/demo, see page#4 and #fff&#x").tags == (
        "work",
        "acme/demo",
        "fff",
    )


def test_to_be_told_something_is_not_to_be_asked_for_it() -> None:
    assert judge_recalling("Remind me to call Ines at noon").band == "skip"
    assert judge_recalling("Remember that I told you about the garage").band == "skip"
    assert judge_recalling("do you remember how to write a loop?").band == "skip"


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("do you remember which tyres my bike needs?", "tyres bike needs"),
        ("which database did we decide on for billing", "database billing"),
        ("Remind me.", "Remind me."),
        ("Hello. What did I say about it?", "Hello. What did I say about it?"),
    ],
)
def test_a_query_is_what_is_asked_for(message: str, query: str) -> None:
    assert judge_recalling(message).query == query


# --- strength and terms


def test_strength_grows_with_length_terms_and_what_is_marked() -> None:
    plain = judge_strength("The rent is due on the 3rd", ())
    assert plain == 1.0
    assert judge_strength("Is the rent due on the 3rd?", ()) < plain
    assert judge_strength("The rent is due. " * 40, ()) > plain
    assert judge_strength("The rent is due on the 3rd", tuple("abcdefgh")) > plain
    important = judge_strength("Important: the rent is due on the 3rd", ())
    assert plain < important < judge_strength("Critical: the rent is due on the 3rd", ())
    assert judge_strength("This is vital, and important. " * 100, tuple("abcdefgh")) == 2.0


def test_terms_are_ten_at_most_in_the_order_of_the_text_and_each_once() -> None:
    assert keyterms("Zoë met Amélie in Tokyo; Amélie likes 日本 and Zoë") == ("zoë", "amélie", "tokyo")
    assert len(keyterms(" ".join(f"Then we saw Name{at}x." for at in range(30)))) == 10
    assert keyterms("The deployment failed after two deployments") == ("deployment",)


# --- any text at all, and a hundred messages as people write them


@given(st.text())
def test_any_text_can_be_judged(text: str) -> None:
    found = judge_saving(text)
    assert found == judge_saving(text)
    assert 0 <= found.confidence <= 1
    assert 0 <= judge_recalling(text).confidence <= 1
    assert 0.9 <= judge_strength(text, found.entities) <= 2


@pytest.mark.parametrize("text", ["\n", "word ", "a  ", "i'm ", "my a b c d, ", '"', "x (\n", "is it my? "])
def test_a_long_text_takes_no_longer_than_its_length(text: str) -> None:
    """A quadratic time would exceed the suite's limit."""
    whole = text * (30_000 // len(text))
    assert judge_saving(whole).band in ("save", "ask", "skip")
    assert judge_recalling(whole).band in ("search", "ask", "skip")


def labelled(half: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (MESSAGES / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def f1(pairs: Sequence[tuple[Hashable, Hashable]], of: Hashable) -> float:
    hits = sum(meant == got == of for meant, got in pairs)
    misses = sum((meant == of) != (got == of) for meant, got in pairs)
    return 2 * hits / (2 * hits + misses)


FLOORS = {"tuning": 0.9, "heldout": 0.85}
"""The second half was first read when the rules were finished, and changed nothing in them."""


@pytest.mark.parametrize("half", FLOORS)
def test_a_hundred_messages_are_judged_as_their_reader_did(half: str) -> None:
    rows = [(row, str(row["message"])) for row in labelled(half)]
    saved = [(row["save"], saving(message).band) for row, message in rows]
    recalled = [(row["recall"], judge_recalling(message, kinds(message)).band == "search") for row, message in rows]
    assert len(rows) == 100
    assert f1(saved, "save") >= FLOORS[half]
    assert f1(recalled, True) >= FLOORS[half]
