import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.models.llm_server import LLMServer, llm_server

from pieria import telemetry
from pieria.models import DEFAULT, Embedder, embedder, verified

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
"""The folder into which the test set-up installs the model."""


@pytest.fixture(scope="session")
def models() -> Path:
    """Return the folder of installed models. Never write to it."""
    standing = verified(DEFAULT, INSTALLED)
    assert standing.state == "installed", f"the set-up has to install {DEFAULT.name} into {INSTALLED}"
    return INSTALLED


@pytest.fixture(scope="session")
def local(models: Path) -> Embedder:
    return embedder("local", models=models)


@pytest.fixture
def server() -> Iterator[LLMServer]:
    with llm_server() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    """Return the list that takes the pauses between retries, instead of waiting."""
    return []


@pytest.fixture
def heard() -> Iterator[list[tuple[str, dict[str, Any], dict[str, Any]]]]:
    """Yield the list of events that takes the name, measures and description of each event."""
    events: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    detach = telemetry.attach(
        lambda event, measured, about: events.append((".".join(event), dict(measured), dict(about)))
    )
    yield events
    detach()
