"""What rules read from the sentences of `rules_triples.txt` and the statements of `rules_persons.txt`."""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import blocks, samples

from pieria.language.grammar import Triple
from pieria.language.grammar.persons import third
from pieria.language.grammar.pronouns import explained, points_out
from pieria.models.mind import StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.models.minds.rules.speech import spoken

MIND = RuleMind()
SAMPLES = samples("grammar")


def stated(text: str) -> list[str]:
    return [f"{triple.subject} | {triple.predicate} | {triple.object}" for triple in MIND.triples(text)]


def facts(observation: str, action: str = "") -> list[str]:
    return [found.text for found in MIND.propositions("", [StepSeen(observation, action)])]


def test_a_sentence_states_these_triples_and_no_more() -> None:
    expected = blocks("rules_triples")
    assert {sentence: stated(sentence) for sentence in expected} == expected
    text = "Ines has lived in Porto since 2022. Lena worked at Globex from 2015 to 2020. In June, Pavel joined Acme."
    assert MIND.triples(text) == [
        Triple("Ines", "lives_in", "Porto", 0.9, since="2022"),
        Triple("Lena", "worked_at", "Globex", 0.9, since="2015", until="2020"),
        Triple("Pavel", "joined", "Acme", 0.9, since="June"),
    ]
    said, guessed = MIND.triples("Maya works at Acme. She lives in Bern.")
    assert (said.confidence, guessed.confidence) == (0.9, 0.7)


def test_a_statement_gives_these_facts_and_no_more() -> None:
    expected = blocks("rules_persons")
    assert {said: facts(said.replace(" | ", "\n")) for said in expected} == expected
    action = "I decided to use Redis because of its speed. Run pytest. Always run pytest."
    assert facts("ok", action) == ["The agent decided to use Redis because of its speed."]
    (one,) = MIND.propositions("", [StepSeen("Ines: You should never push to main.", "")])
    assert (one.text, one.confidence) == ("You should never push to main.", 1.0)
    steps = [StepSeen("Ines: Always answer in English.\nBen: I work at Acme.", "")]
    between, fact = MIND.propositions("", steps)
    assert (between.text, fact.text) == ("Ines says: always answer in English.", "Ben works at Acme.")
    assert between.confidence < 1

    def concepts(said: str) -> tuple[str, ...]:
        (found,) = MIND.propositions("", [StepSeen(said, "")])
        return found.concepts

    assert concepts("User: Two weeks. I prefer small hotels.") == ("small hotels",)
    assert concepts("Ines: The second reason is the build.") == ("reason", "build")
    assert concepts("The standup is scheduled for Friday.") == ("standup",)


def test_the_words_of_a_speaker_become_the_third_person() -> None:
    turned = SAMPLES["third_person"]
    assert {said: third(said, "Ines") for said in turned} == turned
    for said in SAMPLES["unturned"]:
        assert third(said, "the user").lower() == f"the user says: {said}".lower()
    text = "[10:32] ben: one\n<mia> two\nCustomer (Aylin): three\nUser: four. Assistant: five\nNote: six\nStatus: seven"
    speakers = ["ben", "mia", "Aylin", "the user", "the assistant", "the assistant", None]
    assert [part.speaker for part in spoken(text)] == speakers


def test_a_pronoun_is_named_where_only_one_thing_is_possible() -> None:
    named = SAMPLES["pronouns"]
    assert [[before, text, explained(text, before) or ""] for before, text, _ in named] == named
    pointing = SAMPLES["points_out"]
    assert {text: points_out(text) for text in pointing} == pointing


INSERTED = {"the", "user", "s", "says", "is", "has", "does", "doesn", "hasn", "t", "will", "would", "had", "themselves"}
PARTS = (
    "I|I'm|I've|I'd|me|my|mine|myself|we|our|prefer|have|do|don't|live in|work at|was|will|put|and|or|but|,|.|\"|'|"
    "hotels|Oslo|Ben|the cache|it|she|usually|never|carry|go to|study|because|when|to|of|tea|?|`|you|they"
)
SENTENCES = st.lists(st.sampled_from(PARTS.split("|")), min_size=1, max_size=14).map(" ".join)


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def is_from(word: str, words: set[str]) -> bool:
    return word in words | INSERTED or any(word in (f"{one}s", f"{one}es", f"{one[:-1]}ies") for one in words)


@given(SENTENCES | st.text(max_size=120), st.lists(SENTENCES, min_size=1, max_size=3))
def test_turned_sentences_and_facts_hold_few_new_words(text: str, said: list[str]) -> None:
    turned, whole = third(text, "the user"), "User: " + ". ".join(said)
    assert turned == third(text, "the user")
    assert bool(turned) == bool(text)
    assert all(is_from(word, words_of(text)) for word in words_of(turned))
    for fact in facts(whole):
        assert fact.strip()
        assert all(is_from(word, words_of(whole)) for word in words_of(fact))
