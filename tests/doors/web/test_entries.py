"""Sign-ins and how long they last."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pieria.doors.http.callers import Door
from pieria.doors.http.tokens import Tokens
from pieria.doors.web.entries import KEPT, LASTS, Entries, cookie_name
from pieria.errors import AccessError
from pieria.toolsets import Access


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path)


def entries(tokens: Tokens, now: Callable[[], float] = lambda: 0.0) -> Entries:
    return Entries(Door(tokens, "by chance, and long enough", always=False), now)


def test_a_sign_in_lasts_a_month(tokens: Tokens) -> None:
    _, shown = tokens.create("laptop", "read", ["notes"])
    now = [0.0]
    held = entries(tokens, lambda: now[0])
    secret, caller = held.enter(f" {shown}\n")
    assert (caller.access, caller.opened) == (Access.read, ("notes",))
    now[0] = LASTS - 1
    assert held.admit(secret) == caller
    for at in (LASTS + 1, 0.0):
        now[0] = at
        with pytest.raises(AccessError):
            held.admit(secret)
    secret, caller = held.enter("by chance, and long enough")
    assert caller.access is Access.admin and held.admit(secret) == caller
    for token in ("", "pieria_made-up", shown[:-1]):
        with pytest.raises(AccessError):
            held.enter(token)
    for wrong in (None, "", shown, "0" * 43):
        with pytest.raises(AccessError):
            held.admit(wrong)


def test_the_longest_unused_sign_in_ends_first(tokens: Tokens) -> None:
    _, shown = tokens.create("laptop")
    held = entries(tokens)
    first, second = held.enter(shown)[0], held.enter(shown)[0]
    held.admit(first)
    for _ in range(KEPT - 1):
        held.enter(shown)
    assert held.admit(first)
    with pytest.raises(AccessError):
        held.admit(second)


def test_a_seal_is_of_one_sign_in_and_server(tokens: Tokens) -> None:
    _, shown = tokens.create("laptop")
    held, other = entries(tokens), entries(tokens)
    one, two = held.enter(shown)[0], held.enter(shown)[0]
    seal = held.seal(one)
    assert held.is_sealed(one, seal)
    sealed = [
        held.is_sealed(two, seal),
        held.is_sealed(None, seal),
        held.is_sealed(one, "ü"),
        other.is_sealed(one, seal),
    ]
    assert sealed == [False] * 4
    assert cookie_name(7411) != cookie_name(7412)
