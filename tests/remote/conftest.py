"""A server on a socket, and a function that opens its banks with a token."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.doors.http.conftest import Served, listening

import pieria
from pieria import Bank

Opened = Callable[..., Bank]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Served, str]]:
    """Yield a server on a socket, and its address. It needs no token yet, and lets wrong ones be tried quickly."""
    monkeypatch.setattr("pieria.doors.app.GUESSES_A_SECOND", 1e6)
    with listening() as found:
        yield found


@pytest.fixture
def behind(at: tuple[Served, str]) -> Iterator[Opened]:
    """Yield a function that opens a bank behind HTTP: with `access`, by a token made for it."""
    served, url = at
    opened: list[Bank] = []

    def made(
        name: str = "notes",
        access: str | None = None,
        *,
        banks: tuple[str, ...] = ("*",),
        person: bool = False,
        **more: Any,
    ) -> Bank:
        token = None if access is None else secret(served.token(access, *banks, person=person))
        opened.append(pieria.open(name, data=url, token=token, **more))
        return opened[-1]

    yield made
    for bank in opened:
        bank.close()


def secret(headers: dict[str, str]) -> str:
    return headers["Authorization"].removeprefix("Bearer ")
