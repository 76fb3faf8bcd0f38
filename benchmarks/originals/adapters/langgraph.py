"""A pytest plugin for LangGraph's tests of its stores: each `InMemoryStore` is one of ours, on an empty bank."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

import langgraph.store.memory
import pytest
from langgraph.store.base import Op, Result

from benchmarks.originals import recorder
from pieria.integrations.langgraph import PieriaStore
from pieria.workspace import Workspace

_FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: Any) -> None:
    made = config.stash[_FOLDER] = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    numbers = count()

    class InMemoryStore(PieriaStore):
        """A store on a bank of its own, with the embedder and the fields that the test names."""

        def __init__(self, *, index: dict[str, Any] | None = None) -> None:
            self.index_config = index
            embedder = None if index is None else index["embed"].embed_documents
            settings = {"embedder": "none"} if embedder is None else {}
            workspace = Workspace(Path(made.name) / str(next(numbers)), settings, embedder=embedder)
            super().__init__(workspace.open("store"), index=(index or {}).get("fields") or ("$",))

        def batch(self, ops: Iterable[Op]) -> list[Result]:
            recorder.count_call()
            return super().batch(ops)

    setattr(langgraph.store.memory, "InMemoryStore", InMemoryStore)  # noqa: B010 - a class cannot be assigned to


def pytest_unconfigure(config: Any) -> None:
    config.stash[_FOLDER].cleanup()
