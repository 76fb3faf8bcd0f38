"""Rows of the table of effects: the settings that change how a text or a question is read."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.models.small_pipeline import small_pipeline

import pieria


def seen_of_nlp(folder: Path, value: str) -> list[str]:
    named = value if value == "none" else small_pipeline(folder / value)
    with pieria.open("b", data=folder, settings={"nlp": named}) as bank:
        return [found.name for found in bank.text.names("so maya okafor moved")]


def seen_of_enrich(folder: Path, value: bool) -> tuple[str, ...]:
    with pieria.open("b", data=folder, settings={"enrich": value}) as bank:
        return bank.text.enrich("Use JWT tokens for authentication").entities


def seen_of_time_zone(folder: Path, value: Any) -> object:
    noon = datetime(2026, 3, 8, 12, tzinfo=UTC)
    with pieria.open("b", data=folder, settings={"time_zone": value}, clock=lambda: noon) as bank:
        for day, hour in ((7, 3), (7, 21)):
            bank.remember(f"watered the gardens, {hour}", at=datetime(2026, 3, day, hour, tzinfo=UTC))
        return bank.recall("what of the gardens yesterday?")[0].memory.at.hour


READING: dict[str, tuple[Callable[[Path, Any], object], dict[Any, object]]] = {
    "time_zone": (seen_of_time_zone, {"Asia/Kathmandu": 3, "America/Los_Angeles": 21}),
    "nlp": (seen_of_nlp, {"none": [], "small": ["maya okafor"]}),
    "enrich": (seen_of_enrich, {True: ("jwt", "authentication"), False: ()}),
}
