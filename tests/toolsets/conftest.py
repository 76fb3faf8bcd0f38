"""Fixtures to call tools like a door, on a workspace with a fixed clock."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.store_helpers import HandClock
from tests.toolsets.outcome import misfits
from tests.toolsets.requirements import requirement

from pieria.toolsets import Banks, Host, Paths, Reply, called, registry
from pieria.workspace import Workspace

__all__ = ["Ask", "HandClock", "Host", "Refused", "answered", "requirement"]
"""Imported from here by most tests: the types of their fixtures, and the mark."""

Ask = Callable[..., Any]
"""Calls a tool by its name and returns the value of its reply, which is no error."""
Refused = Callable[..., Any]
"""The same for a reply that is an error."""


@pytest.fixture
def settings() -> dict[str, Any]:
    return {}


@pytest.fixture
def models() -> dict[str, Any]:
    """Return the models for the workspace: an embedder, a language model."""
    return {}


@pytest.fixture
def host(tmp_path: Path, clock: HandClock, settings: dict[str, Any], models: dict[str, Any]) -> Iterator[Host]:
    """Yield a session of the bank `notes`; files go to the test's own folder."""
    workspace = Workspace(tmp_path / "data", settings, clock=clock, **models)
    banks = Banks(workspace, "test")
    yield Host(banks, "notes", "monday", Paths(tmp_path, (tmp_path,)))
    banks.close()


def answered(host: Host, tool: str, arguments: dict[str, Any]) -> Reply:
    reply = called(registry(), tool, arguments, host)
    assert misfits(tool, reply) == []
    return reply


@pytest.fixture
def ask(host: Host) -> Ask:
    def asking(tool: str, at: Host = host, **arguments: Any) -> Any:
        reply = answered(at, tool, arguments)
        assert reply.error is None, reply.text
        return reply.value

    return asking


@pytest.fixture
def refused(host: Host) -> Refused:
    def asking(tool: str, at: Host = host, **arguments: Any) -> Any:
        reply = answered(at, tool, arguments)
        assert reply.is_error, reply.text
        return reply.value

    return asking
