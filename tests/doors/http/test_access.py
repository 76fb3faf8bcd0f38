"""Access: every route and every tool refuses callers without the right, and does nothing."""

from pathlib import Path
from typing import Any

import pytest
from tests.doors.http.conftest import READS, SCRATCH_READ, SCRATCH_WRITE, Served, later, requests, serving

from pieria.doors.http.openapi import OPENAPI
from pieria.errors import PieriaError
from pieria.record.address import Address
from pieria.record.check import NAME_LIMIT
from pieria.toolsets import registry
from pieria.workspace.folders import Folder
from pieria.workspace.servers import Server

MEMORIES, RECALL = "/v1/banks/notes/memories", "/v1/banks/notes/recall"
TOOL = f"/v1/banks/notes/tools/{READS}"
MINE = "/v1/banks/@me/memories"


def said(told: dict[str, Any], name: str) -> object:
    """Return a field of an error; each toolset has its own shape."""
    error = told.get("error")
    if error is None or isinstance(error, str):
        return told[name]
    return error[name] if name in error else error["details"][name]


def reason(answer: Any) -> tuple[int, object]:
    return answer.status_code, said(answer.json(), "reason")


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.doors.app.GUESSES_A_SECOND", 1e6)


def test_every_route_and_tool_needs_a_token_with_the_right(unhurried: None, served: Served) -> None:
    stranger, reader, writer = (
        served.token(access, bank) for access, bank in (("admin", "other"), ("read", "notes"), ("write", "notes"))
    )
    before = served.head()
    for access, method, path, body in requests():
        refused = [({}, 401, "no_token"), (stranger, 403, "wrong_bank")]
        if access != "read":
            refused.append((reader, 403, "read_only"))
        if access == "admin":
            refused.append((writer, 403, "not_admin"))
        for headers, *expected in refused:
            answer = served.client.request(method, path, json=body, headers=headers)
            assert (path, *reason(answer)) == (path, *expected) and said(answer.json(), "hint")
            assert ("www-authenticate" in answer.headers) == (answer.status_code == 401)
    for path in ("/", "/metrics", OPENAPI, "/v1/banks", "/v1/events?bank=notes&seconds=1"):
        assert served.client.get(path).status_code == 401
        assert served.client.get(path, headers=reader).status_code == 200
    for name in (*registry().toolsets, "all"):
        assert served.client.post(f"/mcp/{name}", json={}).status_code == 401
    assert served.client.get("/nowhere").status_code == 401
    assert served.client.get("/health").json() == {"status": "ok"} and served.head() == before
    assert served.client.get("/ready").json() == {"status": "ready"}


def test_server_is_not_ready_without_its_data_folder(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(served.service.workspace, "place", Folder(tmp_path / "file"))
    answer = served.client.get("/ready")
    assert (answer.status_code, answer.json()) == (503, {"status": "not ready", "code": "storage"})
    assert "cannot be read" in caplog.text
    assert served.client.get("/health").status_code == 200


def test_place_on_a_server_that_is_down_is_not_ready(tmp_path: Path) -> None:
    away = Server(Address("postgresql://maya@127.0.0.1:9/pieria"), tmp_path, None, 1, False)
    with pytest.raises(PieriaError):
        away.check_ready()


def test_unknown_expired_and_revoked_tokens_are_refused(served: Served) -> None:
    expired = served.token("admin", "notes", expires="2999-01-01")
    _, secret = served.tokens.create("laptop")
    laptop = {"Authorization": f"Bearer {secret}"}
    assert served.client.get(MEMORIES, headers=laptop).status_code == 200
    served.tokens.revoke("laptop")
    later(served)
    for headers, expected in (
        ({"Authorization": "Bearer pieria_made-up"}, (401, "unknown_token")),
        ({"Authorization": "Basic dXNlcjpwYXNz"}, (401, "no_token")),
        (laptop, (401, "unknown_token")),
        (expired, (401, "expired")),
        (served.token("admin", "@me"), (403, "wrong_bank")),
    ):
        assert reason(served.client.get(MEMORIES, headers=headers)) == expected
        assert reason(served.client.post(TOOL, json={"query": "x"}, headers=headers)) == expected
    for token in served.tokens.all():
        served.tokens.revoke(token.id)
    assert served.client.get("/v1/banks").status_code == 401, "without a token left, nobody is let in"


def test_a_refusal_names_the_token_that_would_do(served: Served) -> None:
    def hint(path: str, headers: dict[str, str], **body: Any) -> str:
        answer = served.client.post(path, json=body, headers=headers)
        assert answer.status_code == 403
        return str(answer.json()["error"]["hint"])

    make = "pieria token create NAME --banks work,other,notes"
    named = f"The token opens work, other. Create one that also names this bank: {make}."
    stranger, kept = served.token("write", "work", "other"), {"text": "x"}
    assert hint(MEMORIES, stranger, **kept) == hint(TOOL, stranger, query="x") == named
    of_user = hint("/v1/banks/work/memories", stranger, **kept, scope="user")
    assert of_user.startswith("The user's own memories are in the bank @me. The token opens work, other. ")
    assert of_user.endswith("--banks work,other,@me.")
    assert "--access write" in hint(MEMORIES, served.token("read"), **kept)
    assert "--access admin" in hint("/v1/banks/notes/tools/mnemosyne_export", served.token())


def test_without_tokens_all_but_the_users_own_bank_is_open(served: Served) -> None:
    served.bank.remember("My secret ingredient is saffron.", scope="user")
    client = served.client
    assert client.post(MEMORIES, json={"text": "x"}).status_code == 201
    assert client.get("/v1/banks").json() == {"banks": ["notes"]}
    for path in (MINE, "/v1/banks/@ME/memories", f"{MEMORIES}?scope=user"):
        assert client.get(path).status_code in (403, 422), path
    assert client.post(MEMORIES, json={"text": "I like tea", "scope": "user"}).status_code == 403
    error = client.post(MINE, json={"text": "I like tea"}).json()["error"]
    assert (error["reason"], error["message"]) == ("wrong_bank", "access: the caller has no access to this bank")
    make = "pieria token create NAME --banks '*,@me'"
    assert error["hint"].startswith(f"Only a token that names the bank opens it: {make}. Once there is a token, ")
    assert "saffron" not in client.post(RECALL, json={"query": "the secret ingredient"}).text


def test_a_token_opens_its_banks_and_no_other(served: Served) -> None:
    client = served.client
    notes, every, mine = served.token("write", "NOTES"), served.token("write"), served.token("write", "*", "@me")
    named_all = served.token("write", "All")
    for bank, headers in (("@me", mine), ("work", every), ("all", named_all)):
        assert client.post(f"/v1/banks/{bank}/memories", json={"text": "x"}, headers=headers).status_code == 201
    whole = ["all", "notes", "work"]
    for headers, banks in ((notes, ["notes"]), (named_all, ["all"]), (every, whole), (mine, [*whole, "@me"])):
        assert client.get("/v1/banks", headers=headers).json() == {"banks": banks}
    assert 'bank="work"' not in client.get("/metrics", headers=notes).text
    assert client.get("/v1/events?bank=work&seconds=1", headers=notes).status_code == 403
    assert client.get("/v1/banks/*/memories", headers=every).status_code == 422


def test_the_users_memories_are_shown_only_to_tokens_naming_it(served: Served) -> None:
    with_user, without = served.token("write", "notes", "@me"), served.token("write", "notes")
    kept = {"text": "My secret ingredient is saffron.", "scope": "user"}
    assert served.client.post(MEMORIES, json=kept, headers=without).status_code == 403
    assert served.client.post(MEMORIES, json=kept, headers=with_user).status_code == 201
    for path in (RECALL, TOOL):
        question = {"query": "the secret ingredient"}
        assert "saffron" in served.client.post(path, json=question, headers=with_user).text
        assert "saffron" not in served.client.post(path, json=question, headers=without).text
    listed = f"{MEMORIES}?scope=user"
    assert served.client.get(listed, headers=without).status_code == 403
    assert "saffron" in served.page(listed, headers=with_user)


def test_the_token_setting_is_an_administrators_token() -> None:
    with serving(setting="a-long-word-of-mine") as served:
        headers = {"Authorization": "bearer a-long-word-of-mine"}
        assert served.client.get("/v1/banks").status_code == 401
        assert served.client.get("/v1/banks", headers={"Authorization": "Bearer another"}).status_code == 401
        for bank in ("b", "@me"):
            assert served.client.post(f"/v1/banks/{bank}/memories", json={"text": "x"}, headers=headers).is_success
        assert served.client.get("/v1/banks/b/memories", headers=served.token("read")).status_code == 200


def test_a_damaged_token_file_lets_nobody_in(served: Served) -> None:
    headers = served.token("admin")
    served.tokens.path.write_text('{"tokens": [{}]}')
    answer = served.client.get(MEMORIES, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "config")
    assert "tokens" in answer.text and served.tokens.path.name not in answer.text


def test_guessing_is_slowed_down_and_known_callers_are_not(served: Served) -> None:
    known = served.token("read")
    # The session is impossible, but only callers who were let in are told so.
    for wrong in ("a\tb", "s" * NAME_LIMIT):
        assert served.client.get("/v1/banks", headers={**known, "X-Pieria-Session": wrong}).status_code == 422
    guessing = [{"Authorization": f"Bearer {n}", "X-Pieria-Session": "a\tb"} for n in range(160)]
    guesses = [served.client.get("/v1/banks", headers=headers) for headers in guessing]
    assert guesses[0].status_code == 401 and {answer.status_code for answer in guesses} == {401, 429}
    refused = next(answer for answer in guesses if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert served.client.get("/v1/banks", headers=known).status_code == 200


def test_each_caller_has_a_rate_of_their_own() -> None:
    with serving(rate=5) as served:
        one, other = served.token("read"), served.token("read")
        # Enough calls for a slow machine to exceed the rate limit.
        answers = (served.client.get("/v1/banks", headers=one) for _ in range(500))
        assert next(answers).status_code == 200
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.json()["error"]["code"] == "limit"
        assert served.client.get("/v1/banks", headers=other).status_code == 200


@pytest.mark.parametrize("named", [True, False])
def test_sessions_of_a_token_are_closed_to_other_tokens(served: Served, named: bool) -> None:
    """A caller that names another token's session gets a session of its own."""
    client, pad = served.client, f"/v1/banks/notes/tools/{SCRATCH_READ}"
    chosen = {"X-Pieria-Session": "s1"} if named else {}
    one, other = ({**served.token("write", "notes"), **chosen} for _ in range(2))
    kept = client.post(MEMORIES, json={"text": "Only here.", "scope": "session"}, headers=one).json()
    client.post(f"/v1/banks/notes/tools/{SCRATCH_WRITE}", json={"content": "a plan"}, headers=one)
    assert "Only here." in client.get(MEMORIES, headers=one).text
    for name in ("s1", kept["session"])[not named :]:
        mine, theirs = {**one, "X-Pieria-Session": name}, {**other, "X-Pieria-Session": name}
        assert "a plan" in client.post(pad, json={}, headers=mine).text
        assert "Only here." in client.get(MEMORIES, params={"session": name}, headers=one).text
        assert client.get(f"{MEMORIES}/{kept['id']}", headers=theirs).status_code == 404
        for answer in (
            client.get(MEMORIES, params={"session": name}, headers=other),
            client.get(MEMORIES, headers=theirs),
            client.post(RECALL, json={"query": "here", "session": name}, headers=theirs),
        ):
            assert "Only here." not in answer.text
        assert "a plan" not in client.post(pad, json={}, headers=theirs).text
    planted = {"text": "Planted.", "scope": "session", "session": kept["session"]}
    assert client.post(MEMORIES, json=planted, headers=other).status_code == 201
    assert "Planted." not in client.get(MEMORIES, headers=one).text
    administrator = served.token("admin", "notes")
    assert "Only here." in client.get(MEMORIES, params={"session": kept["session"]}, headers=administrator).text
