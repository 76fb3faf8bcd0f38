"""Tokens on the page on health: only administrators of the server see, create and revoke them."""

import re
from typing import Any

import pytest
from tests.doors.http.conftest import Served, serving
from tests.doors.web.conftest import fill, seal_in, sign_in

from pieria.errors import AccessError

HEALTH = "/banks/notes/health"
SECTION = "Access tokens"
NOBODY = "This server needs no token"


def send(served: Served, deed: str, **fields: str) -> Any:
    seal = seal_in(served.client.get(HEALTH))
    return served.client.post(f"{HEALTH}/token/{deed}", data={"seal": seal, **fields})


def test_who_governs_sees_the_tokens_there_are_and_never_what_they_are(served: Served) -> None:
    _, shown = served.tokens.create("<b>old</b> laptop", "read", ["notes", "work"], "2999-01-01")
    sign_in(served, "admin")
    page = served.client.get(HEALTH).text
    assert SECTION in page and "&lt;b&gt;old&lt;/b&gt; laptop" in page and "notes, work" in page
    assert page.count('action="/banks/notes/health/token/revoke"') == 2
    for token in served.tokens.all():
        assert token.id in page and token.digest not in page
    assert shown not in page and page.count(">yours<") == 1 and "expired" not in page


def test_one_that_has_expired_is_called_so(served: Served) -> None:
    sign_in(served, "admin")
    served.tokens.create("short", "read", ["*"], "2999-01-01")
    text = served.tokens.path.read_text()
    served.tokens.path.write_text(text.replace('"expires": "2999', '"expires": "2001'))
    assert "expired</span>" in served.client.get(HEALTH).text


@pytest.mark.parametrize(("access", "banks"), [("read", ()), ("write", ()), ("admin", ("notes",))])
def test_nobody_else_learns_that_there_are_any(served: Served, access: str, banks: tuple[str, ...]) -> None:
    other, _ = served.tokens.create("other", "admin")
    seal = sign_in(served, access, *banks)
    page = served.client.get(HEALTH)
    assert page.status_code == 200
    assert SECTION not in page.text and other.id not in page.text and "/token/" not in page.text
    for deed, fields in (("revoke", {"id": other.id}), ("create", {"name": "more", "access": "admin"})):
        answer = served.client.post(f"{HEALTH}/token/{deed}", data={"seal": seal, **fields})
        assert answer.status_code == 403
    assert {token.name for token in served.tokens.all()} == {"other", "test 1"}


def test_one_that_is_revoked_is_out_at_once_and_who_revokes_their_own_is_too(served: Served) -> None:
    other, shown = served.tokens.create("other", "admin")
    sign_in(served, "admin")
    page = served.client.get(HEALTH).text
    assert "you are signed out, too" in page
    answer = send(served, "revoke", id=other.id)
    assert answer.headers["location"] == f"{HEALTH}#tokens"
    bearer = {"Authorization": f"Bearer {shown}"}
    assert served.client.get("/v1/banks", headers={**bearer, "accept": "*/*"}).status_code == 401
    assert send(served, "revoke", id=other.id).status_code == 404
    [own] = served.tokens.all()
    assert send(served, "revoke", id=own.name).status_code == 404, "by its id alone"
    assert "all access is closed" in served.client.get(HEALTH).text
    send(served, "revoke", id=own.id)
    assert served.client.get(HEALTH).headers["location"].startswith("/sign-in")


def test_one_that_is_made_is_shown_once_and_does_what_was_asked(served: Served) -> None:
    sign_in(served, "admin")
    answer = send(served, "create", name="phone", access="read", banks="notes, work", expires="2999-12-31")
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    [shown] = re.findall(r"pieria_[\w-]{20,}", answer.text)
    token = served.tokens.matching(shown)
    assert token is not None and token.expires is not None
    assert (token.name, token.access.name, token.banks) == ("phone", "read", ("notes", "work"))
    assert token.expires.isoformat() == "3000-01-01T00:00:00+00:00", "with that day"
    assert shown not in served.client.get(HEALTH).text
    again = send(served, "create", name="phone", access="read")
    assert again.status_code == 409 and "pieria_" not in again.text
    assert send(served, "create", name="late", expires="2001-01-01").status_code == 422
    made = send(served, "create", name="plain")
    assert made.status_code == 200
    plain = served.tokens.all()[-1]
    assert (plain.name, plain.access.name, plain.banks) == ("plain", "read", ("*",))


def test_nobody_gives_or_takes_away_what_is_not_open_to_them(served: Served) -> None:
    mine, _ = served.tokens.create("of the user", "write", ["@me"])
    sign_in(served, "admin")
    refused = send(served, "create", name="more", access="admin", banks="*, @ME")
    assert refused.status_code == 403 and AccessError.reasons["wrong_bank"] in refused.text
    assert send(served, "revoke", id=mine.id).status_code == 403
    assert served.client.get(HEALTH).text.count('action="/banks/notes/health/token/revoke"') == 1
    assert len(served.tokens.all()) == 2


def test_where_nobody_needs_a_token_it_says_what_that_means_and_makes_none(served: Served) -> None:
    page = served.client.get(HEALTH).text
    assert NOBODY in page and "pieria token create NAME --access admin" in page and "/token/" not in page
    refused = send(served, "create", name="first", access="admin")
    assert refused.status_code == 409 and "in a terminal" in refused.text
    assert not served.tokens.needed


def test_the_token_of_the_settings_is_told_of_and_opens_the_users_own() -> None:
    fill()
    with serving(setting="by chance, and long enough", always=True) as served:
        served.client.headers["accept"] = "text/html"
        served.client.follow_redirects = False
        seal = seal_in(served.client.get("/sign-in"))
        served.client.post("/sign-in", data={"seal": seal, "token": "by chance, and long enough"})
        page = served.client.get(HEALTH).text
        assert "<code>token</code> gives administrator" in page and "by chance" not in page
        assert send(served, "create", name="of the user", access="write", banks="@me").status_code == 200
        served.tokens.path.write_text("{}")
        broken = served.client.get(HEALTH)
        assert broken.status_code == 200 and "not a token file" in broken.text
