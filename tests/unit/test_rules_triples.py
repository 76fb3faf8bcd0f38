"""Triples from plain sentences; none from denied, asked, supposed, reported or foreign ones.

The sentences are in `rules_triples.txt`: each with its triples below it, a stroke between their parts.
"""

from pathlib import Path

import pytest

from pieria.language.grammar import Triple
from pieria.models.minds.rules import RuleMind

MIND = RuleMind()


def sentences() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("rules_triples.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found


SENTENCES = sentences()


def stated(text: str) -> list[str]:
    return [f"{triple.subject} | {triple.predicate} | {triple.object}" for triple in MIND.triples(text)]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_states_this_and_no_more(sentence: str) -> None:
    assert stated(sentence) == SENTENCES[sentence]


def test_times_are_as_the_text_words_them() -> None:
    assert MIND.triples("Ines has lived in Porto since May 2022.") == [
        Triple("Ines", "lives_in", "Porto", 0.9, since="May 2022")
    ]
    assert MIND.triples("Lena worked at Globex from 2015 to 2020.") == [
        Triple("Lena", "worked_at", "Globex", 0.9, since="2015", until="2020")
    ]
    assert MIND.triples("In June, Pavel joined Acme.") == [Triple("Pavel", "joined", "Acme", 0.9, since="June")]


def test_what_is_guessed_is_less_sure_and_what_is_meant_is_not_stated() -> None:
    said, guessed = MIND.triples("Maya works at Acme. She lives in Bern.")
    assert (said.confidence, guessed.confidence) == (0.9, 0.7)
    assert MIND.triples("Maya plans to visit Kyoto.") == []


def test_a_pronoun_nobody_can_tell_states_nothing() -> None:
    assert stated("She lives in Bern.") == []
    assert stated("The build is green. She lives in Bern.") == []
    assert stated("Maya works at Acme. Does Tom? She lives in Bern.") == ["Maya | works_at | Acme"]


def test_a_statement_made_twice_is_one() -> None:
    assert stated("Maya works at Acme. Yes, Maya works at Acme.") == ["Maya | works_at | Acme"]
