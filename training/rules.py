"""The examples of the model that finds lasting rules in what a person says: `training/rules/*.jsonl`.

Each line is a prompt, with its sentences and their labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pieria.language.rule_model import LASTING, LEAST, features_of
from pieria.language.sentences import sentences
from training.fit import Example, Task
from training.labelled import Labelled

DATA = Path(__file__).parent / "rules"
TASK = Task(LASTING, LEAST)
LABELS = (*LASTING, "job", "other")


def read() -> list[dict[str, Any]]:
    """Return the labelled prompts."""
    lines = [line for path in sorted(DATA.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def read_examples() -> list[Example]:
    return [example for number, prompt in enumerate(read()) for example in _examples(prompt, number)]


def _examples(prompt: dict[str, Any], number: int) -> Iterator[Example]:
    labelled = Labelled(prompt["parts"])
    for start, end in sentences(labelled.text):
        label = labelled.label(start, end, LABELS)
        if label is not None:
            yield Example(features_of(labelled.text[start:end], prompt["where"]), label, prompt["lang"], number)
