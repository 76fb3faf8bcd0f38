"""A home folder of Hermes, and agents that are always closed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.doors.hermes.host import Hermes

import pieria
from pieria.hermes.options import Options, options_in, save
from pieria.hermes.provider import provider

LONGEST = {"prefetch_ms": 5_000}
"""These tests check the content and not the speed: recall gets the longest time limit."""


class Begin(Protocol):
    def __call__(self, session: str = "first", **said: Any) -> Hermes: ...


@pytest.fixture
def hermes_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / ".hermes"
    folder.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(folder))
    return folder


@pytest.fixture
def begin(hermes_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Yield a function that begins an agent for a person; each is ended, and none may have failed."""
    begun: list[Hermes] = []
    # A busy machine is not a failure.
    monkeypatch.setattr("pieria.hermes.provider.FLUSH_SECONDS", 60.0)

    def began(session: str = "first", **said: Any) -> Hermes:
        if options_in(hermes_home).prefetch_ms == Options().prefetch_ms:
            save(hermes_home, LONGEST)
        agent = Hermes(said.pop("provider", None) or provider(), hermes_home, session, **said)
        begun.append(agent)
        return agent

    yield began
    for agent in begun:
        agent.provider.shutdown()
        assert agent.failures == []


@pytest.fixture
def bank(hermes_home: Path) -> Iterator[pieria.Bank]:
    with pieria.open("hermes") as opened:
        yield opened
