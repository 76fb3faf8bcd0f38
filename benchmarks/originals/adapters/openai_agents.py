"""A pytest plugin for the tests of the OpenAI Agents SDK: each `SQLiteSession` is one of ours.

Sessions of one database path share a bank; each session without a path has a bank of its own.
"""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import agents
import agents.memory
import pytest

from benchmarks.originals import recorder
from pieria.bank import Bank
from pieria.integrations.openai_agents import PieriaSession
from pieria.workspace import Workspace

_FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: Any) -> None:
    made = config.stash[_FOLDER] = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    numbers = count()
    banks: dict[str, Bank] = {}

    def bank_of(path: Path | str) -> Bank:
        key = str(next(numbers)) if str(path) == ":memory:" else str(path)
        if key not in banks:
            folder = Path(made.name) / str(next(numbers))
            banks[key] = Workspace(folder, {"embedder": "none"}).open("agents")
        return banks[key]

    class SQLiteSession(PieriaSession):
        """A session with the SDK's arguments, which counts its calls of the bank."""

        def __init__(self, session_id: str, db_path: Path | str = ":memory:", *, session_settings: Any = None) -> None:
            super().__init__(session_id, bank_of(db_path), session_settings=session_settings)

        async def get_items(self, limit: int | None = None) -> Any:
            recorder.count_call()
            return await super().get_items(limit)

        async def add_items(self, items: Any) -> None:
            recorder.count_call()
            await super().add_items(items)

        async def pop_item(self) -> Any:
            recorder.count_call()
            return await super().pop_item()

        async def clear_session(self) -> None:
            recorder.count_call()
            await super().clear_session()

        def close(self) -> None:
            """Do nothing: a session of ours holds no connection, and its bank belongs to the caller."""

    for module in (agents, agents.memory):
        setattr(module, "SQLiteSession", SQLiteSession)  # noqa: B010 - a class cannot be assigned to


def pytest_unconfigure(config: Any) -> None:
    config.stash[_FOLDER].cleanup()
