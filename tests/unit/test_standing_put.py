"""Prompts as people type them: which sentences the model takes for rules, and whose words it reads.

The prompts are by people who have not seen the training data.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.language.rule_model import LASTING, NOTE, PROMPT, features, lasting_kind, load_model
from pieria.language.standing_rules import standing

PROMPTS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("put_rules.json").read_text())
DOCS = (Path(__file__).parents[2] / "docs" / "trust.md").read_text()
RULES_OF_DOCS = (
    "Never rebase my branches",
    "In commit messages use the imperative",
    "We use pnpm here, not npm",
    "Call me Tess",
    "Nunca subas nada a producción sin mi permiso",
    "コメントは必ず日本語で書いてください",
)
JOBS_OF_DOCS = ("Use the second approach", "Don't change the header yet")


def found_in(text: str, said: str = PROMPT) -> list[str]:
    return [text[rule.start : rule.end] for rule in standing(text, said)]


def test_most_rules_within_prompts_are_found() -> None:
    wanted = [prompt for prompt in PROMPTS if "rule" in prompt]
    missed = [
        prompt["rule"]
        for prompt in wanted
        if not any(prompt["rule"].strip(" .!") in found for found in found_in(prompt["text"]))
    ]
    assert len(missed) <= 0.15 * len(wanted), missed


def test_few_prompts_without_a_rule_have_one() -> None:
    others = [prompt["text"] for prompt in PROMPTS if "rule" not in prompt]
    mistaken = [text for text in others if found_in(text)]
    assert len(mistaken) <= 0.15 * len(others), mistaken


@pytest.mark.parametrize("example", RULES_OF_DOCS + JOBS_OF_DOCS)
def test_examples_of_the_docs_are_what_they_say(example: str) -> None:
    assert example in " ".join(DOCS.split())
    assert bool(found_in(example)) == (example in RULES_OF_DOCS)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Please never turn on `x` in future.\n\nMaya: sure, never use tabs, only spaces.", 1),
        ("The mail says “ok, never use tabs, please”. Draft a reply.", 0),
        ("Maya: I prefer tea.", 0),
        ("> From now on, never use tabs.", 0),
        ("Translate this: please always answer in French from now on.", 0),
        ("is this true? Always turn the linter off in tests.", 0),
    ],
)
def test_words_of_somebody_else_are_no_rule(text: str, rules: int) -> None:
    assert len(found_in(text)) == rules


def test_the_model_reads_a_person_alone() -> None:
    text = "Schreib Commits bitte immer auf Englisch."
    assert standing(text) == []
    assert found_in(text) == [text]


def test_a_document_counts_by_plain_forms_alone() -> None:
    filler = "The report is long. " * 400
    text = f"{filler}We use pnpm here, not npm. Always answer in metric units."
    assert found_in(text, NOTE) == ["Always answer in metric units."]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Always run the linter before you commit.", "rule"),
        ("I prefer short answers.", "preference"),
        ("I am allergic to nuts.", "profile"),
        ("What does this function return?", None),
    ],
)
def test_the_model_tells_kinds_apart(sentence: str, kind: str | None) -> None:
    assert lasting_kind(sentence, PROMPT) == kind


@given(st.text(max_size=200), st.sampled_from([PROMPT, NOTE]))
def test_any_sentence_can_be_read(sentence: str, said: str) -> None:
    assert lasting_kind(sentence, said) in (None, *LASTING)
    found = features(sentence, said)
    assert len(found) == len(set(found))


def test_weights_are_of_features_that_sentences_have() -> None:
    model = load_model()
    assert {"", "note", "^ please", "head always"} <= model.lasting.keys()
    assert 0 < model.threshold < 1
