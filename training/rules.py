"""The examples of the model that finds lasting rules in what a person says: `training/rules/*.jsonl`.

Each line is a prompt, with its sentences and their labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pieria.language.rule_model import LASTING, features_of
from pieria.language.sentences import sentences
from training.fit import Example, Task

DATA = Path(__file__).parent / "rules"
TASK = Task(LASTING, 0.35)
LABELS = (*LASTING, "job", "other")
OVERLAP = 8
"""Characters of a labelled part that a sentence has to hold to take its label."""


def read_examples() -> list[Example]:
    """Return the sentences of all prompts, cut as the product cuts them."""
    lines = [line for path in sorted(DATA.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    return [example for number, line in enumerate(lines) for example in _examples(json.loads(line), number)]


def _examples(prompt: dict[str, Any], number: int) -> Iterator[Example]:
    text, spans = "", []
    for part, label in prompt["parts"]:
        text += "" if not text or part.startswith("\n") else " "
        spans.append((len(text), len(text) + len(part), label))
        text += part
    for sentence in sentences(text):
        labels = [
            label
            for start, end, label in spans
            if min(end, sentence.end) - max(start, sentence.start) >= min(OVERLAP, (end - start) // 2)
        ]
        if labels:
            label = min(labels, key=LABELS.index)
            found = features_of(text[sentence.start : sentence.end], prompt["where"])
            yield Example(found, label, prompt["lang"], number)
