"""Triples of plain sentences, and facts about the speaker of a statement, with the speaker's name in them.

The sentences are in `rules_triples.txt` and the statements in `rules_persons.txt`, a stroke between their lines: each
with what is read from it below. Denied, asked, supposed, reported and foreign sentences state nothing.
"""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import blocks, samples

from pieria.language.grammar import Triple
from pieria.language.grammar.persons import third
from pieria.language.grammar.pronouns import explained, points_out
from pieria.models.mind import StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.models.minds.rules.lasting_facts import spoken

MIND = RuleMind()
SAMPLES = samples("grammar")


def stated(text: str) -> list[str]:
    return [f"{triple.subject} | {triple.predicate} | {triple.object}" for triple in MIND.triples(text)]


def facts(observation: str, action: str = "") -> list[str]:
    return [found.text for found in MIND.propositions("", [StepSeen(observation, action)])]


def test_a_sentence_states_these_triples_and_no_more() -> None:
    expected = blocks("rules_triples")
    assert {sentence: stated(sentence) for sentence in expected} == expected


def test_times_of_triples_are_as_the_text_words_them() -> None:
    text = "Ines has lived in Porto since 2022. Lena worked at Globex from 2015 to 2020. In June, Pavel joined Acme."
    assert MIND.triples(text) == [
        Triple("Ines", "lives_in", "Porto", 0.9, since="2022"),
        Triple("Lena", "worked_at", "Globex", 0.9, since="2015", until="2020"),
        Triple("Pavel", "joined", "Acme", 0.9, since="June"),
    ]


def test_a_guessed_subject_is_less_sure() -> None:
    said, guessed = MIND.triples("Maya works at Acme. She lives in Bern.")
    assert (said.confidence, guessed.confidence) == (0.9, 0.7)


def test_intentions_unclear_pronouns_and_repeats_state_nothing() -> None:
    assert stated("Maya plans to visit Kyoto.") == []
    assert stated("She lives in Bern.") == []
    assert stated("The build is green. She lives in Bern.") == []
    assert stated("Maya works at Acme. Does Tom? She lives in Bern.") == ["Maya | works_at | Acme"]
    assert stated("Maya works at Acme. Yes, Maya works at Acme.") == ["Maya | works_at | Acme"]


def test_a_statement_gives_these_facts_and_no_more() -> None:
    expected = blocks("rules_persons")
    assert {said: facts(said.replace(" | ", "\n")) for said in expected} == expected


THIRD = SAMPLES["third_person"]
UNTURNED = SAMPLES["unturned"]


def test_the_first_person_becomes_the_third_or_is_quoted() -> None:
    assert {said: third(said, "Ines") for said in THIRD} == THIRD
    for said in UNTURNED:
        assert third(said, "the user").lower() == f"the user says: {said}".lower()


def test_speakers_are_read_from_roles_names_and_chat_logs() -> None:
    text = "[10:32] ben: one\n<mia> two\nCustomer (Aylin): three\nUser: four. Assistant: five\nNote: six\nStatus: seven"
    assert [said.speaker for said in spoken(text)] == [
        *("ben", "mia", "Aylin", "the user", "the assistant", "the assistant"),
        None,
    ]


def test_a_pronoun_is_named_where_only_one_thing_is_possible() -> None:
    named = {
        ("The cache is slow.", "It takes 4 s."): "The cache takes 4 s.",
        ("My sister lives in Oslo.", "She's a nurse."): "My sister is a nurse.",
        ("Maya moved to Oslo.", "Her sister lives in Bern."): "Maya's sister lives in Bern.",
        ("The script uses rsync.", "It runs on Linux."): None,
        ("Maya met a violinist.", "She plays in Bern."): None,
        ("The API is small.", "It's built with Go."): None,
        ("The API is small.", "It is important to test."): None,
    }
    assert {(before, text): explained(text, before) for before, text in named} == named


def test_a_pronoun_points_out_of_a_sentence_or_not() -> None:
    pointing = SAMPLES["points_out"]
    assert {text: points_out(text) for text in pointing} == pointing


def test_decisions_and_rules_are_attributed() -> None:
    action = "I decided to use Redis because of its speed. Run pytest. Always run pytest."
    assert facts("ok", action) == ["The agent decided to use Redis because of its speed."]
    (one,) = MIND.propositions("", [StepSeen("Ines: You should never push to main.", "")])
    assert (one.text, one.confidence) == ("You should never push to main.", 1.0)
    steps = [StepSeen("Ines: Always answer in English.\nBen: I work at Acme.", "")]
    assert [(found.text, found.confidence) for found in MIND.propositions("", steps)] == [
        ("Ines says: always answer in English.", 0.7),
        ("Ben works at Acme.", 0.9),
    ]


def test_concepts_are_named_things_without_times() -> None:
    def concepts(said: str) -> tuple[str, ...]:
        (found,) = MIND.propositions("", [StepSeen(said, "")])
        return found.concepts

    assert concepts("User: Two weeks. I prefer small hotels.") == ("small hotels",)
    assert concepts("Ines: The second reason is the build.") == ("reason", "build")
    assert concepts("The standup is scheduled for Friday.") == ("standup",)


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


@given(SENTENCES | st.text(max_size=120))
def test_a_turned_sentence_holds_few_new_words(text: str) -> None:
    found = third(text, "the user")
    assert found == third(text, "the user")
    assert bool(found) == bool(text)
    assert all(is_from(word, words_of(text)) for word in words_of(found))


@given(st.lists(SENTENCES, min_size=1, max_size=3))
def test_facts_of_a_speaker_hold_few_new_words(said: list[str]) -> None:
    text = "User: " + ". ".join(said)
    for fact in facts(text):
        assert fact.strip()
        assert all(is_from(word, words_of(text)) for word in words_of(fact))
