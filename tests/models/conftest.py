import sys
from pathlib import Path

import pytest

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
