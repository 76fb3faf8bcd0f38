"""Sentences that set a standing rule, and sentences that only sound like one. Prompts in `put_rules.json`."""

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.samples import HERE, samples

from pieria.language.rule_model import LASTING, MODEL, NOTE, PROMPT, features_of, lasting_kind
from pieria.language.sentence_model import load_model
from pieria.language.standing_forms import HEADS, LEAD, forms
from pieria.language.standing_rules import KINDS, standing

TABLES = samples("standing_tables")
SAMPLES: dict[str, list[str]] = {name: text.splitlines() for name, text in samples("standing").items()}
POSITIVE = {
    line: [kind]
    for kind, name in (("rule", "rules"), ("preference", "preferences"), ("profile", "profiles"))
    for line in SAMPLES[name]
}
PROMPTS: list[dict[str, Any]] = json.loads((HERE / "put_rules.json").read_text())
"""Prompts as people type them, by people who have not seen the training data: some with a rule."""


def kinds(text: str) -> list[str]:
    return [found.kind for found in standing(text)]


def found_in(text: str, said: str | None = None) -> list[str]:
    rules = standing(text) if said is None else standing(text, said)
    return [text[rule.start : rule.end] for rule in rules]


def test_nearly_all_standing_sentences_are_recognised() -> None:
    missed = [line for line, wanted in POSITIVE.items() if kinds(line) != wanted]
    wrong = [line for line in SAMPLES["nothing"] if kinds(line)]
    recognised = len(POSITIVE) - len(missed)
    assert (len(POSITIVE), len(SAMPLES["nothing"])) == (154, 192)
    assert recognised / len(POSITIVE) >= 0.98, missed
    assert recognised / (recognised + len(wrong)) >= 0.99, wrong
    missed = [line for line in SAMPLES["unseen"] if not kinds(line)]
    wrong = [line for line in SAMPLES["unseen_nothing"] if kinds(line)]
    recognised = len(SAMPLES["unseen"]) - len(missed)
    assert recognised / len(SAMPLES["unseen"]) >= 0.9, missed
    assert recognised / (recognised + len(wrong)) >= 0.9, wrong
    rules = {prompt["text"]: prompt["rule"].strip(" .!") for prompt in PROMPTS if "rule" in prompt}
    missed = [rule for text, rule in rules.items() if not any(rule in found for found in found_in(text, PROMPT))]
    assert len(missed) <= 0.15 * len(rules), missed
    others = [prompt["text"] for prompt in PROMPTS if "rule" not in prompt]
    mistaken = [text for text in others if found_in(text, PROMPT)]
    assert len(mistaken) <= 0.15 * len(others), mistaken


def test_a_plain_statement_of_a_person_is_no_rule() -> None:
    wrong = [(line, said) for line in SAMPLES["plain"] for said in (NOTE, PROMPT) if found_in(line, said)]
    assert len(wrong) <= 0.03 * 2 * len(SAMPLES["plain"]), wrong


def test_a_standing_sentence_has_its_place_and_its_topic() -> None:
    for text, kind, said, terms in TABLES["topics"]:
        [found] = standing(text)
        assert (found.kind, text[found.start : found.end]) == (kind, said)
        assert set(terms) <= set(found.terms)
        assert not {"always", "prefer", "rememb", "remember"} & set(found.terms)
    assert kinds("Note: always use tabs.\nHouse rule: no spoilers.") == ["rule", "rule"]
    for gap in ("\u00a0", "\u2009", "  ", "\t"):
        assert kinds(f"Don’t use{gap}emojis anymore.") == ["rule"]


def test_code_and_words_of_others_set_no_rule() -> None:
    no_rules = TABLES["no_rules"]
    for text in no_rules:
        assert standing(text) == [], text
    text = "Assistant: Always rest well.\nUser: Thanks. Always use tabs.\nAssistant: I prefer spaces."
    assert found_in(text) == ["Always use tabs."]
    in_prompts = TABLES["in_prompts"]
    assert {text: len(found_in(text, PROMPT)) for text in in_prompts} == in_prompts
    page = (Path(__file__).parents[2] / "docs" / "trust.md").read_text()
    examples = TABLES["docs"]
    assert {example: bool(found_in(example, PROMPT)) for example in examples} == examples
    assert [example for example in examples if example not in " ".join(page.split())] == []


LINES = st.lists(st.sampled_from([*POSITIVE, *SAMPLES["nothing"]]))


@given(st.text() | LINES.map("\n\n".join))
def test_a_standing_sentence_is_a_part_of_the_text(text: str) -> None:
    behind = 0
    for found in standing(text):
        assert found.kind in KINDS
        assert behind <= found.start < found.end <= len(text)
        assert text[found.start : found.end].strip() == text[found.start : found.end]
        behind = found.end


@settings(suppress_health_check=list(HealthCheck), max_examples=150)
@given(st.from_regex(forms()), st.from_regex(LEAD, fullmatch=True))
def test_each_form_and_lead_begins_with_a_known_head(text: str, lead: str) -> None:
    found, word = forms().search(text), re.compile(r"[^\W\d_]+")
    assert found
    head = word.match(found[0])
    assert head and head[0] in HEADS, found[0]
    head = word.match(lead)
    assert not lead or lead[0] in "-*•+" or lead[0].isdigit() or (head and head[0] in HEADS), lead


def test_the_model_distinguishes_kinds_in_what_was_typed() -> None:
    for sentence, kind in TABLES["kinds"].items():
        assert lasting_kind(sentence, PROMPT) == (kind or None), sentence
    model = load_model(MODEL)
    assert {"", "note", "^ please", "head always"} <= model.wanted.keys()
    text = "Schreib Commits bitte immer auf Englisch."
    assert found_in(text) == []
    assert found_in(text, PROMPT) == [text]
    document = f"{'The report is long. ' * 400}We use pnpm here, not npm. Always answer in metric units."
    assert found_in(document, NOTE) == ["Always answer in metric units."]


@given(st.text(max_size=200), st.sampled_from([PROMPT, NOTE]))
def test_the_model_reads_any_sentence(sentence: str, said: str) -> None:
    assert lasting_kind(sentence, said) in (None, *LASTING)
    found = features_of(sentence, said)
    assert len(found) == len(set(found))
