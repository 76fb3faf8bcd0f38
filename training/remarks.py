"""The examples of the model that finds what is worth keeping in a day's work: `training/remarks/*.jsonl`.

Each line is an excerpt, with its turns, their sentences and their labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pieria.language.remarks import AGENT, KINDS, PERSON, READ, judged_sentences
from training import rules
from training.fit import Example, Task
from training.labelled import Labelled

DATA = Path(__file__).parent / "remarks"
TASK = Task(KINDS, 0.5)
LABELS = (*KINDS, "none")
RULE_LABELS = {"rule": "rule", "preference": "preference", "profile": "fact"}
"""The labels of `training/rules`, in these words."""
SPEAKERS = {"person": PERSON, "agent": AGENT, "tool": READ}


def read_examples() -> list[Example]:
    """Return the sentences of the excerpts, and those of the prompts that teach what a rule is."""
    lines = [line for path in sorted(DATA.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    examples = [example for number, line in enumerate(lines) for example in _examples(json.loads(line), number)]
    return [*examples, *(each for number, prompt in enumerate(rules.read()) for each in _said(prompt, number))]


def _said(prompt: dict[str, Any], number: int) -> Iterator[Example]:
    """Yield the lasting sentences alone: some of the others are decisions or debts, which a rule is not."""
    turns = [{"who": "person", "parts": [[text, RULE_LABELS.get(label, "none")] for text, label in prompt["parts"]]}]
    found = _examples({"lang": prompt["lang"], "turns": turns}, number)
    yield from (example for example in found if example.label in KINDS)


def _examples(excerpt: dict[str, Any], number: int) -> Iterator[Example]:
    before = ""
    for turn in excerpt["turns"]:
        labelled = Labelled(turn["parts"])
        for sentence, features in judged_sentences(labelled.text, SPEAKERS[turn["who"]], before):
            label = labelled.label(*sentence, LABELS)
            if label is not None:
                yield Example(features, label, excerpt["lang"], number)
        before = labelled.text
