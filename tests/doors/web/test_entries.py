"""Sign-ins and how long they last."""

from pathlib import Path

import pytest

from pieria.doors.http.callers import Door
from pieria.doors.http.tokens import Tokens
from pieria.doors.web.entries import KEPT, LASTS, Entries, cookie_name
from pieria.errors import AccessError
from pieria.toolsets import Access


class Hand:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path)


def entries(tokens: Tokens, now: Hand, setting: str | None = None) -> Entries:
    return Entries(Door(tokens, setting, always=False), now)


def test_an_entry_lasts_for_a_month_from_its_beginning(tokens: Tokens) -> None:
    _, shown = tokens.create("laptop", "read", ["notes"])
    now = Hand()
    held = entries(tokens, now)
    secret, caller = held.enter(f" {shown}\n")
    assert (caller.access, caller.opened) == (Access.read, ("notes",))
    now.at = LASTS - 1
    assert held.admit(secret) == caller
    now.at = LASTS + 1
    with pytest.raises(AccessError):
        held.admit(secret)
    now.at = 0.0
    with pytest.raises(AccessError):
        held.admit(secret)


def test_a_wrong_token_or_secret_lets_nobody_in(tokens: Tokens) -> None:
    _, shown = tokens.create("laptop")
    held = entries(tokens, Hand())
    for token in ("", "pieria_made-up", shown[:-1]):
        with pytest.raises(AccessError):
            held.enter(token)
    for secret in (None, "", shown, "0" * 43):
        with pytest.raises(AccessError):
            held.admit(secret)


def test_whoever_was_longest_away_is_signed_out_first(tokens: Tokens) -> None:
    _, shown = tokens.create("laptop")
    held = entries(tokens, Hand())
    first, second = held.enter(shown)[0], held.enter(shown)[0]
    held.admit(first)
    for _ in range(KEPT - 1):
        held.enter(shown)
    assert held.admit(first)
    with pytest.raises(AccessError):
        held.admit(second)


def test_the_token_of_the_settings_opens_the_page_too(tokens: Tokens) -> None:
    held = entries(tokens, Hand(), setting="by chance, and long enough")
    secret, caller = held.enter("by chance, and long enough")
    assert caller.access is Access.admin
    assert held.admit(secret) == caller


def test_a_seal_is_of_one_entry_and_of_one_server(tokens: Tokens) -> None:
    _, shown = tokens.create("laptop")
    held, other = entries(tokens, Hand()), entries(tokens, Hand())
    one, two = held.enter(shown)[0], held.enter(shown)[0]
    assert held.is_sealed(one, held.seal(one))
    assert not held.is_sealed(two, held.seal(one))
    assert not held.is_sealed(None, held.seal(one))
    assert not other.is_sealed(one, held.seal(one))
    assert not held.is_sealed(one, "ü")


def test_servers_of_one_machine_keep_cookies_apart() -> None:
    assert cookie_name(7411) != cookie_name(7412)
