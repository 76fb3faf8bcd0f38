"""The settings of what is read from a text before it is kept, and what each does: a part of the table of effects."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.models.small_pipeline import small_pipeline

import pieria


def seen_of_nlp(folder: Path, value: str) -> list[str]:
    named = value if value == "none" else small_pipeline(folder / value)
    with pieria.open("b", data=folder, settings={"nlp": named}) as bank:
        return [found.name for found in bank.named("so maya okafor moved")]


def seen_of_enrich(folder: Path, value: bool) -> tuple[str, ...]:
    with pieria.open("b", data=folder, settings={"enrich": value}) as bank:
        return bank.enriched("Use JWT tokens for authentication").entities


READING: dict[str, tuple[Callable[[Path, Any], object], dict[Any, object]]] = {
    "nlp": (seen_of_nlp, {"none": [], "small": ["maya okafor"]}),
    "enrich": (seen_of_enrich, {True: ("jwt", "authentication"), False: ()}),
}
