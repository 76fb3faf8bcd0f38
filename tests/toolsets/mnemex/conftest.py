"""Fixtures for this toolset: save a memory, and find its id."""

from typing import Any

import pytest
from tests.toolsets.conftest import Ask


class Saved:
    """Saves memories through the tools, and finds them."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def __call__(self, content: str = "The project deadline is December 15th", **more: Any) -> str:
        id: str = self.ask("save_memory", content=content, **more)["memory_id"]
        return id

    def found(self, query: str | None = None, **more: Any) -> list[str]:
        return [one["id"] for one in self.ask("search_memory", query=query, **more)["results"]]


@pytest.fixture
def saved(ask: Ask) -> Saved:
    return Saved(ask)
