"""Fixtures for this toolset: make an observation, and find its id."""

from typing import Any

import pytest
from tests.toolsets.conftest import Ask

NARRATIVE = "SQLite keeps the cache in one file."


class Made:
    """Makes observations through the tools."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def __call__(self, narrative: str = NARRATIVE, **more: Any) -> str:
        values = {"title": "The cache", "type": "decision", "narrative": narrative, **more}
        id: str = self.ask("mem-create", **values)["data"]["observation"]["id"]
        return id

    def found(self, query: str, **more: Any) -> list[str]:
        return [hit["id"] for hit in self.ask("mem-find", query=query, **more)["data"]["results"]]


@pytest.fixture
def made(ask: Ask) -> Made:
    return Made(ask)
