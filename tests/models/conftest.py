import sys
from pathlib import Path

import pytest

from pieria.models import DEFAULT, Embedder, embedder, verified

INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
"""Where the set-up of the tests puts the model."""


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of installed models. Nothing may be written there."""
    standing = verified(DEFAULT, INSTALLED)
    assert standing.state == "installed", f"the set-up has to install {DEFAULT.name} into {INSTALLED}"
    return INSTALLED


@pytest.fixture(scope="session")
def local(models: Path) -> Embedder:
    return embedder("local", models=models)
