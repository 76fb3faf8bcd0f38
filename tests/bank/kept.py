"""The location of a test's banks, a folder or a server, and the memory of an id."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pieria
from pieria import Bank, Memory

SOURCE = Path(pieria.__file__).parents[1]


@dataclass(frozen=True)
class Kept:
    """The data and settings for `pieria.open`. Tests share a server's database, with bank names of their own."""

    data: str
    settings: dict[str, Any] = field(default_factory=dict)

    def opened(self, name: str, **more: Any) -> Bank:
        return pieria.open(name, data=self.data, settings={**self.settings, **more.pop("settings", {})}, **more)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment for a process with these settings."""
        said = {f"PIERIA_{name.upper()}": str(value) for name, value in self.settings.items()}
        return {**os.environ, **said, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}


def held(bank: Bank, id: str) -> Memory:
    memory = bank.get(id)
    assert memory is not None
    return memory
