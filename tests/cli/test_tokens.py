"""`pieria token`: made once and shown once, listed without it, revoked; by several processes at once."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask, Started

from pieria.doors.http.tokens import FILE, Tokens
from pieria.errors import ConfigError


def covers(home: Path, shown: str, *banks: str) -> list[bool]:
    """Return which of the banks this token opens."""
    token = Tokens(home / "data").matching(shown)
    assert token is not None
    return [token.covers(bank) for bank in banks]


def test_token_is_made_listed_and_revoked(ask: Ask, home: Path) -> None:
    made = ask("token", "create", "laptop", "--access", "read", "--banks", "notes, @me", "--expires", "+90d").json
    assert (made["access"], made["banks"], bool(made["expires"])) == ("read", ["notes", "@me"], True)
    file = home / "data" / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert made["token"] not in file.read_text()
    [listed] = ask("token", "list").json["tokens"]
    assert listed == {**{name: value for name, value in made.items() if name != "token"}, "expired": False}
    assert covers(home, made["token"], "notes", "Notes", "@me", "other") == [True, True, True, False]
    revoked = ask("token", "revoke", "laptop")
    assert revoked.json["revoked"]["id"] == made["id"]
    assert "that was the last one" in revoked.err
    assert ask("token", "list").json == {"tokens": []}
    assert Tokens(home / "data").needed


def test_token_opens_every_bank_but_the_users_own_by_default(ask: Ask, home: Path) -> None:
    shown = ask("-q", "token", "create", "ci").out.strip()
    assert covers(home, shown, "anything", "@me") == [True, False]
    assert ask("token", "list").json["tokens"][0]["access"] == "write"
    assert ask("token", "create", "one", "--bank", "notes").json["banks"] == ["notes"]
    with_user = ask("token", "create", "two", "--banks", "*,@me").json
    assert with_user["banks"] == ["*", "@me"]
    assert covers(home, with_user["token"], "anything", "@me") == [True, True]
    made = ask("token", "create", "three", "--banks", "All")
    assert covers(home, made.json["token"], "all", "notes") == [True, False]
    assert "every bank is '*'" in made.err


def test_name_in_use_is_refused_and_of_several_revokes_none(ask: Ask, home: Path) -> None:
    """A file of an earlier version may hold them."""
    first = ask("token", "create", "laptop").json["id"]
    said = ask("token", "create", " laptop ").failed(1)
    assert f"there is a token called laptop already ({first})" in said and f"pieria token revoke {first}" in said
    assert [each["id"] for each in ask("token", "list").json["tokens"]] == [first]
    assert ask("token", "revoke", "laptop").code == ask("token", "create", "laptop").code == 0
    first, second = (ask("token", "create", name).json["id"] for name in ("same", "other"))
    file = home / "data" / FILE
    file.write_text(file.read_text().replace('"other"', '"same"'))
    said = ask("token", "revoke", "same").failed(1)
    assert f"2 tokens are called same; name one by its id ({first}, {second})" in said
    assert ask("token", "revoke", second).code == 0
    left = [each["id"] for each in ask("token", "list").json["tokens"]]
    assert (first in left, second in left) == (True, False)


def test_expired_token_is_listed_as_such(ask: Ask, home: Path, terminal: Callable[..., Answer]) -> None:
    old = datetime(2020, 1, 1, 9, 30, 0, 123456, tzinfo=UTC)
    Tokens(home / "data", lambda: old).create("old", expires="2020-01-02")
    ask("token", "create", "new", "--expires", "+90d")
    listed = ask("token", "list").json["tokens"]
    assert [(each["name"], each["expired"]) for each in listed] == [("old", True), ("new", False)]
    assert listed[0]["created"] == "2020-01-01T09:30:00Z"
    first, second = terminal("token", "list").out.splitlines()
    assert "until 2020-01-03T00:00:00Z" in first and "\x1b[31m  expired" in first
    assert "expired" not in second and "." not in second.partition("until")[2]


@pytest.mark.slow
def test_processes_that_make_tokens_at_once_lose_none(started: Started, home: Path) -> None:
    names = [f"number {n}" for n in range(6)]
    with ExitStack() as stack:
        making = [stack.enter_context(started("-q", "token", "create", name)) for name in names]
        shown = [process.communicate(timeout=60)[0].decode().strip() for process in making]
    tokens = Tokens(home / "data")
    assert sorted(token.name for token in tokens.all()) == names
    assert all(tokens.matching(each) for each in shown)
    assert sorted(path.name for path in (home / "data").iterdir()) == [FILE, "tokens.lock"]


def test_invalid_or_unreadable_token_file_opens_no_door(ask: Ask, home: Path, tmp_path: Path) -> None:
    file = home / "data" / FILE
    file.mkdir(parents=True)
    said = ask("token", "list").failed(2)
    assert "the tokens cannot be read (Is a directory)" in said and "remove" not in said
    file.rmdir()
    file.write_text("[]")
    assert "not a token file" in ask("token", "create", "x").failed(2)
    assert file.read_text() == "[]"
    tokens = Tokens(tmp_path)
    assert not tokens.needed
    tokens.create("x")
    kept = tokens.path.rename(tmp_path / "kept.json")
    tokens.path.symlink_to(tokens.path)
    assert tokens.needed
    for ask_for in (tokens.all, lambda: tokens.create("y")):
        with pytest.raises(ConfigError, match="the tokens cannot be read"):
            ask_for()
    kept.rename(tokens.path)
    assert [token.name for token in tokens.all()] == ["x"]
