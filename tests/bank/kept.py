"""Where a test's banks are kept: once in a folder, once on a server."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pieria
from pieria import Bank

SOURCE = Path(pieria.__file__).parents[1]


@dataclass(frozen=True)
class Kept:
    """`data` is what `pieria.open` takes. On a server tests share a database, and banks have names of their own."""

    data: str
    settings: dict[str, Any] = field(default_factory=dict)

    def opened(self, name: str, **more: Any) -> Bank:
        return pieria.open(name, data=self.data, settings={**self.settings, **more.pop("settings", {})}, **more)

    @property
    def environment(self) -> dict[str, str]:
        """Of a process of ours."""
        said = {f"PIERIA_{name.upper()}": str(value) for name, value in self.settings.items()}
        return {**os.environ, **said, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}
