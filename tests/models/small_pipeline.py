"""A spaCy pipeline that finds a person and a place in lower-case words, which no rule takes for names."""

import importlib
from pathlib import Path
from typing import Any

KNOWN = {"PERSON": "maya okafor", "GPE": "umeå", "CARDINAL": "wrote"}


def small_pipeline(folder: Path) -> str:
    spacy: Any = importlib.import_module("spacy")
    made = spacy.blank("en")
    made.add_pipe("entity_ruler").add_patterns([{"label": label, "pattern": said} for label, said in KNOWN.items()])
    made.to_disk(folder)
    return str(folder)
