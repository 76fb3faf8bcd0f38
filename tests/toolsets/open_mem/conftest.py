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

    def states(self, id: str, **more: Any) -> list[tuple[str, str]]:
        """Return the ids and states of the observation's history."""
        nodes = self.ask("mem-get", ids=[id], includeHistory=True, **more)["data"]["history"][id]
        return [(node["id"], node["state"]) for node in nodes]

    def found(self, query: str, **more: Any) -> list[str]:
        return [hit["id"] for hit in self.ask("mem-find", query=query, **more)["data"]["results"]]


@pytest.fixture
def made(ask: Ask) -> Made:
    return Made(ask)
