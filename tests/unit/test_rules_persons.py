"""A person's statement about themselves is a fact about them, with the speaker's name in it.

The statements are in `rules_persons.txt`, a stroke between their lines: each with the facts below it.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.grammar.persons import third
from pieria.language.grammar.pronouns import explained, points_out
from pieria.models.mind import StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.models.minds.rules.lasting_facts import spoken

MIND = RuleMind()


def read() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("rules_persons.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found


SAID = read()


def facts(observation: str, action: str = "") -> list[str]:
    return [found.text for found in MIND.propositions("", [StepSeen(observation, action)])]


@pytest.mark.parametrize("said", SAID)
def test_what_is_said_gives_these_facts_and_no_more(said: str) -> None:
    assert facts(said.replace(" | ", "\n")) == SAID[said]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I've lived in Oslo since 2019 and work at Acme.", "Ines has lived in Oslo since 2019 and works at Acme."),
        ("I don't eat meat and drink no milk.", "Ines doesn't eat meat and drink no milk."),
        ("A friend of mine told me to use Vim.", "A friend of Ines's told Ines to use Vim."),
        ("I’m a vegan and don’t drink.", "Ines is a vegan and doesn't drink."),
        ('I said "I hate tea" to Ben.', 'Ines said "I hate tea" to Ben.'),
        ("My sister and I have a bakery.", "Ines's sister and Ines have a bakery."),
        ("The hotels I prefer are small.", "The hotels Ines prefers are small."),
        ("When I ask for a date, use ISO.", "When Ines asks for a date, use ISO."),
        ("I taught myself Rust.", "Ines taught themselves Rust."),
        ("I must leave at noon.", "Ines must leave at noon."),
    ],
)
def test_the_first_person_becomes_the_third(said: str, told: str) -> None:
    assert third(said, "Ines") == told


@pytest.mark.parametrize(
    "said",
    [
        "I cook and clean.",
        "I put it down.",
        "So do I.",
        "World War I was long.",
        "We ship it.",
        "Oh my god, a gold mine.",
    ],
)
def test_what_cannot_be_turned_for_certain_is_led_by_who_says_it(said: str) -> None:
    assert third(said, "the user").lower() == f"the user says: {said}".lower()


def test_who_speaks_is_read_from_roles_names_and_chat_logs() -> None:
    text = "[10:32] ben: one\n<mia> two\nCustomer (Aylin): three\nUser: four. Assistant: five\nNote: six\nStatus: seven"
    assert [said.speaker for said in spoken(text)] == [
        *("ben", "mia", "Aylin", "the user", "the assistant", "the assistant"),
        None,
    ]


@pytest.mark.parametrize(
    ("before", "text", "told"),
    [
        ("The cache is slow.", "It takes 4 s.", "The cache takes 4 s."),
        ("My sister lives in Oslo.", "She's a nurse.", "My sister is a nurse."),
        ("Maya moved to Oslo.", "Her sister lives in Bern.", "Maya's sister lives in Bern."),
        ("The script uses rsync.", "It runs on Linux.", None),
        ("Maya met a violinist.", "She plays in Bern.", None),
        ("The API is small.", "It's built with Go.", None),
        ("The API is small.", "It is important to test.", None),
    ],
)
def test_a_pronoun_is_named_where_only_one_thing_can_be_meant(before: str, text: str, told: str | None) -> None:
    assert explained(text, before) == told


def test_a_pronoun_that_means_something_else_than_the_sentence_names_points_out() -> None:
    assert points_out("Maya bought it in May.")
    assert points_out("Ben saw him.")
    assert not points_out("We chose Redis because it is fast.")
    assert not points_out("Maya loves her sister.")


def test_what_an_agent_decided_is_told_of_the_agent() -> None:
    action = "I decided to use Redis because of its speed. Run pytest. Always run pytest."
    assert facts("ok", action) == ["The agent decided to use Redis because of its speed."]


def test_a_rule_binds_unless_one_tells_it_to_another() -> None:
    (one,) = MIND.propositions("", [StepSeen("Ines: You should never push to main.", "")])
    assert (one.text, one.confidence) == ("You should never push to main.", 1.0)
    steps = [StepSeen("Ines: Always answer in English.\nBen: I work at Acme.", "")]
    assert [(found.text, found.confidence) for found in MIND.propositions("", steps)] == [
        ("Ines says: always answer in English.", 0.7),
        ("Ben works at Acme.", 0.9),
    ]


def test_whoever_has_no_name_is_no_concept_beside_others() -> None:
    (found,) = MIND.propositions("", [StepSeen("User: Two weeks. I prefer small hotels.", "")])
    assert found.concepts == ("small hotels",)
    (found,) = MIND.propositions("", [StepSeen("Ines: The second reason is the build.", "")])
    assert found.concepts == ("reason", "build")


INSERTED = {"the", "user", "s", "says", "is", "has", "does", "doesn", "hasn", "t", "will", "would", "had", "themselves"}
SPELT = (
    "I|I'm|I've|I'd|me|my|mine|myself|we|our|prefer|have|do|don't|live in|work at|was|will|put|and|or|but|,|.|\"|'|"
    "hotels|Oslo|Ben|the cache|it|she|usually|never|carry|go to|study|because|when|to|of|tea|?|`|you|they"
)
PARTS = SPELT.split("|")
SENTENCES = st.lists(st.sampled_from(PARTS), min_size=1, max_size=14).map(" ".join)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _is_third_of(word: str, words: set[str]) -> bool:
    return any(word in (f"{one}s", f"{one}es", f"{one[:-1]}ies") for one in words)


@given(SENTENCES | st.text(max_size=120))
def test_a_turned_sentence_holds_its_own_words_and_few_others(text: str) -> None:
    told = third(text, "the user")
    assert told == third(text, "the user")
    assert bool(told) == bool(text)
    own = _words(text)
    assert all(word in own | INSERTED or _is_third_of(word, own) for word in _words(told))


@given(st.lists(SENTENCES, min_size=1, max_size=3))
def test_facts_of_a_speaker_hold_what_was_said_and_few_other_words(said: list[str]) -> None:
    text = "User: " + ". ".join(said)
    own = _words(text)
    for fact in facts(text):
        assert fact.strip()
        assert all(word in own | INSERTED or _is_third_of(word, own) for word in _words(fact))
