"""Prompts as people type them, in many languages: which sentence of them is a rule, and which hold none."""

import json
from pathlib import Path
from typing import Any

import pytest

from pieria.record.standing import standing

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


def found_in(text: str) -> list[str]:
    return [text[rule.start : rule.end] for rule in standing(text, in_passing=True)]


@pytest.mark.parametrize("prompt", [one for one in PROMPTS if "rule" in one], ids=lambda one: str(one["id"]))
def test_a_rule_within_a_prompt_is_found(prompt: dict[str, Any]) -> None:
    assert any(prompt["rule"].strip(" .!") in found for found in found_in(prompt["text"]))


@pytest.mark.parametrize("prompt", [one for one in PROMPTS if "rule" not in one], ids=lambda one: str(one["id"]))
def test_a_prompt_without_a_rule_has_none(prompt: dict[str, Any]) -> None:
    assert found_in(prompt["text"]) == []


@pytest.mark.parametrize("example", RULES_OF_DOCS + JOBS_OF_DOCS)
def test_the_examples_of_the_docs_are_what_they_say(example: str) -> None:
    assert example in " ".join(DOCS.split())
    assert bool(found_in(example)) == (example in RULES_OF_DOCS)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Thanks, and never turn on `x`.\n\nMaya: sure, never use tabs, only spaces.", 1),
        ("The mail says “ok, never use tabs, please”. Draft a reply.", 0),
        ("She wrote: `from now on, never use tabs`.", 0),
        ("Maya: I prefer tea.", 0),
    ],
)
def test_a_clause_of_somebody_else_is_no_rule(text: str, rules: int) -> None:
    assert len(found_in(text)) == rules


def test_what_is_put_in_passing_is_found_only_where_it_is_asked_for() -> None:
    assert standing("Schreib Commits bitte immer auf Englisch.") == []
    assert found_in("Schreib Commits bitte immer auf Englisch.") == ["Schreib Commits bitte immer auf Englisch."]
