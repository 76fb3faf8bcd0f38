"""Access: every route and every tool refuses callers without the right, and does nothing."""

from typing import Any

import pytest
from tests.doors.http.conftest import READS, SCRATCH_READ, SCRATCH_WRITE, Served, later, requests, serving

import pieria
from pieria.doors.http.openapi import OPENAPI
from pieria.record.check import NAME_LIMIT
from pieria.record.time import system_clock
from pieria.toolsets import registry

Asked = tuple[str, str, str, dict[str, Any] | None]
EVERY = list(requests())
SERVER = ["/", "/metrics", OPENAPI, "/v1/banks", "/v1/events?bank=notes&seconds=1"]


def shown(asked: Asked) -> str:
    return f"{asked[1]} {asked[2]}"


def said(told: dict[str, Any], name: str) -> object:
    """Return a field of an error; each toolset has its own shape."""
    error = told.get("error")
    if error is None or isinstance(error, str):
        return told[name]
    return error[name] if name in error else error["details"][name]


@pytest.mark.parametrize("asked", EVERY, ids=shown)
def test_whoever_may_not_is_sent_away_and_nothing_is_done(served: Served, asked: Asked) -> None:
    access, method, path, body = asked
    expired = served.token("admin", "notes", expires="2999-01-01")
    refused = [
        ({}, 401, "no_token"),
        ({"Authorization": "Bearer pieria_made-up"}, 401, "unknown_token"),
        ({"Authorization": "Basic dXNlcjpwYXNz"}, 401, "no_token"),
        (served.token("admin", "other"), 403, "wrong_bank"),
        (served.token("admin", "@me"), 403, "wrong_bank"),
    ]
    if access != "read":
        refused.append((served.token("read", "notes"), 403, "read_only"))
    if access == "admin":
        refused.append((served.token("write", "notes"), 403, "not_admin"))
    before = served.head()
    for headers, status, reason in refused:
        answer = served.client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, said(answer.json(), "reason")) == (status, reason)
        assert said(answer.json(), "hint")
        assert ("www-authenticate" in answer.headers) == (status == 401)
    later(served)
    answer = served.client.request(method, path, json=body, headers=expired)
    assert (answer.status_code, said(answer.json(), "reason")) == (401, "expired")
    assert served.head() == before


def test_a_refusal_says_what_would_do(served: Served) -> None:
    def hint(method: str, path: str, headers: dict[str, str], **more: Any) -> str:
        answer = served.client.request(method, path, headers=headers, **more)
        assert answer.status_code == 403
        return str(answer.json()["error"]["hint"])

    make = "pieria token create NAME --banks work,other,notes"
    named = f"The token opens work, other. Create one that also names this bank: {make}."
    stranger = served.token("write", "work", "other")
    assert hint("GET", "/v1/banks/notes/stats", stranger) == named
    assert hint("POST", f"/v1/banks/notes/tools/{READS}", stranger, json={"query": "x"}) == named
    listed = hint("GET", "/v1/banks/work/memories?scope=user", stranger)
    assert listed.startswith("The user's own memories are in the bank @me. The token opens work, other. ")
    assert listed.endswith("--banks work,other,@me.")
    reader = served.token("read")
    kept = {"text": "x"}
    assert "--access write" in hint("POST", "/v1/banks/notes/memories", reader, json=kept)
    assert "--access admin" in hint("POST", "/v1/banks/notes/tools/mnemosyne_export", served.token(), json={})


@pytest.mark.parametrize("path", SERVER)
def test_the_routes_of_the_server_need_a_token_as_well(served: Served, path: str) -> None:
    headers = served.token("read", "notes")
    assert served.client.get(path).status_code == 401
    assert served.client.get(path, headers=headers).status_code == 200
    assert served.client.get("/nowhere").status_code == 401
    assert served.client.get("/health").json() == {"status": "ok"}


def test_mcp_needs_one_too(served: Served) -> None:
    served.token()
    for name in (*registry().toolsets, "all"):
        assert served.client.post(f"/mcp/{name}", json={}).status_code == 401


def test_without_any_token_everybody_on_this_machine_may_do_everything_but_reach_the_user_s_bank(
    served: Served,
) -> None:
    with pieria.open("notes") as bank:
        bank.remember("My secret ingredient is saffron.", scope="user")
    client = served.client
    assert client.post("/v1/banks/notes/memories", json={"text": "x"}).status_code == 201
    assert client.get("/v1/banks").json() == {"banks": ["notes"]}
    for path in ("/v1/banks/@me/memories", "/v1/banks/@ME/memories", "/v1/banks/notes/memories?scope=user"):
        assert client.get(path).status_code in (403, 422), path
    refused = client.post("/v1/banks/@me/memories", json={"text": "I like tea"})
    assert (refused.status_code, refused.json()["error"]["reason"]) == (403, "wrong_bank")
    error = refused.json()["error"]
    assert error["message"] == "access: the caller has no access to this bank"
    make = "pieria token create NAME --banks '*,@me'"
    assert (
        error["hint"]
        == f"Only a token that names the bank opens it: {make}. Once there is a token, every caller needs one."
    )
    kept = {"text": "I like tea", "scope": "user"}
    assert client.post("/v1/banks/notes/memories", json=kept).status_code == 403
    assert "saffron" not in client.post("/v1/banks/notes/recall", json={"query": "the secret ingredient"}).text


def test_what_is_revoked_is_out_at_once_and_the_last_one_leaves_the_door_shut(served: Served) -> None:
    _, secret = served.tokens.create("laptop")
    headers = {"Authorization": f"Bearer {secret}"}
    assert served.client.get("/v1/banks", headers=headers).status_code == 200
    served.tokens.revoke("laptop")
    assert served.client.get("/v1/banks", headers=headers).json()["error"]["reason"] == "unknown_token"
    assert served.client.get("/v1/banks").status_code == 401


def test_a_token_reaches_its_banks_and_no_other(served: Served) -> None:
    client = served.client
    notes, every, mine = served.token("write", "NOTES"), served.token("write"), served.token("write", "*", "@me")
    assert client.post("/v1/banks/@me/memories", json={"text": "I like tea"}, headers=mine).status_code == 201
    assert client.post("/v1/banks/work/memories", json={"text": "A task"}, headers=every).status_code == 201
    assert client.get("/v1/banks", headers=notes).json() == {"banks": ["notes"]}
    assert client.get("/v1/banks", headers=every).json() == {"banks": ["notes", "work"]}
    assert client.get("/v1/banks", headers=mine).json() == {"banks": ["notes", "work", "@me"]}
    assert 'bank="work"' not in client.get("/metrics", headers=notes).text
    assert client.get("/v1/events?bank=work&seconds=1", headers=notes).status_code == 403


@pytest.mark.parametrize("path", ["/v1/banks/notes/recall", f"/v1/banks/notes/tools/{READS}"])
def test_what_belongs_to_the_user_is_shown_only_to_a_token_that_names_it(served: Served, path: str) -> None:
    with_user, without = served.token("write", "notes", "@me"), served.token("write", "notes")
    kept = {"text": "My secret ingredient is saffron.", "scope": "user"}
    assert served.client.post("/v1/banks/notes/memories", json=kept, headers=without).status_code == 403
    assert served.client.post("/v1/banks/notes/memories", json=kept, headers=with_user).status_code == 201
    question = {"query": "the secret ingredient"}
    assert "saffron" in served.client.post(path, json=question, headers=with_user).text
    assert "saffron" not in served.client.post(path, json=question, headers=without).text
    listed = "/v1/banks/notes/memories?scope=user"
    assert served.client.get(listed, headers=without).status_code == 403
    assert "saffron" in served.client.get(listed, headers=with_user).text


def test_the_setting_is_an_administrator_s_token(home: Any) -> None:
    with serving(setting="a-long-word-of-mine") as served:
        headers = {"Authorization": "bearer a-long-word-of-mine"}
        assert served.client.get("/v1/banks").status_code == 401
        assert served.client.get("/v1/banks", headers={"Authorization": "Bearer another"}).status_code == 401
        assert served.client.post("/v1/banks/b/memories", json={"text": "x"}, headers=headers).status_code == 201
        assert served.client.post("/v1/banks/@me/memories", json={"text": "x"}, headers=headers).status_code == 201
        assert served.client.get("/v1/banks/b/memories", headers=served.token("read")).status_code == 200


def test_a_file_of_tokens_that_cannot_be_read_lets_nobody_in(served: Served) -> None:
    headers = served.token("admin")
    served.tokens.path.write_text('{"tokens": [{}]}')
    answer = served.client.get("/v1/banks/notes/memories", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "config")
    assert "tokens" in answer.text
    assert not any(part in answer.text for part in (str(served.tokens.path), served.tokens.path.name))


def test_whoever_guesses_is_slowed_down_and_whoever_has_a_token_is_not(served: Served) -> None:
    headers = served.token("read")
    guesses = [served.client.get("/v1/banks", headers={"Authorization": f"Bearer {n}"}) for n in range(160)]
    assert {answer.status_code for answer in guesses} == {401, 429}
    refused = next(answer for answer in guesses if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert served.client.get("/v1/banks", headers=headers).status_code == 200


def test_each_caller_has_a_rate_of_their_own() -> None:
    with serving(rate=5) as served:
        one, other = served.token("read"), served.token("read")
        # Enough calls for a slow machine to exceed the rate limit.
        answers = (served.client.get("/v1/banks", headers=one) for _ in range(500))
        assert next(answers).status_code == 200
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["error"]["code"] == "limit"
        assert served.client.get("/v1/banks", headers=other).status_code == 200


def test_a_session_sees_what_it_said_to_itself(served: Served) -> None:
    kept = {"text": "Only here.", "scope": "session"}
    path = "/v1/banks/notes/memories"
    headers = {"X-Pieria-Session": "s1"}
    assert served.client.post(path, json=kept, headers=headers).json()["session"] == "s1"
    assert "Only here." in served.client.get(path, headers={"Mcp-Session-Id": "s1"}).text
    assert "Only here." not in served.client.get(path).text
    own = served.client.post(path, json=kept).json()["session"]
    assert own == served.client.post(path, json={"text": "Once more.", "scope": "session"}).json()["session"]
    assert served.client.get(path, headers={"X-Pieria-Session": "a\tb"}).status_code == 422


def test_a_token_is_kept_as_a_hash_in_a_file_of_the_user_s_own(served: Served) -> None:
    token, secret = served.tokens.create("laptop", "read", ["notes"], "2999-01-01")
    written = served.tokens.path.read_text()
    assert secret not in written and secret[-6:] not in written
    assert served.tokens.path.stat().st_mode & 0o777 == 0o600
    assert token.created <= system_clock()
    assert [each.name for each in served.tokens.all()] == ["laptop"]


def test_a_session_is_between_tokens_as_well(served: Served) -> None:
    """A caller that names another token's session gets a session of its own."""
    client, path = served.client, "/v1/banks/notes/memories"
    one, other = ({**served.token("write", "notes"), "X-Pieria-Session": "s1"} for _ in range(2))
    said = client.post(path, json={"text": "Only here.", "scope": "session"}, headers=one).json()
    client.post(f"/v1/banks/notes/tools/{SCRATCH_WRITE}", json={"content": "a plan"}, headers=one)
    pad = f"/v1/banks/notes/tools/{SCRATCH_READ}"
    for named in ("s1", said["session"]):
        assert "Only here." in client.get(path, params={"session": named}, headers=one).text
        mine = {**one, "X-Pieria-Session": named}
        assert "a plan" in client.post(pad, json={}, headers=mine).text
        assert "Only here." not in client.get(path, params={"session": named}, headers=other).text
        theirs = {**other, "X-Pieria-Session": named}
        assert "Only here." not in client.get(path, headers=theirs).text
        assert client.get(f"{path}/{said['id']}", headers=theirs).status_code == 404
        asked = client.post("/v1/banks/notes/recall", json={"query": "here", "session": named}, headers=theirs)
        assert "Only here." not in asked.text
        assert "a plan" not in client.post(pad, json={}, headers=theirs).text
    planted = {"text": "Planted.", "scope": "session", "session": said["session"]}
    assert client.post(path, json=planted, headers=other).status_code == 201
    assert "Planted." not in client.get(path, headers=one).text
    administrator = served.token("admin", "notes")
    assert "Only here." in client.get(path, params={"session": said["session"]}, headers=administrator).text


def test_a_token_without_a_session_of_its_choice_has_one_that_no_other_can_name(served: Served) -> None:
    client, path = served.client, "/v1/banks/notes/memories"
    one, other = served.token("write", "notes"), served.token("write", "notes")
    said = client.post(path, json={"text": "Only here.", "scope": "session"}, headers=one).json()
    assert "Only here." in client.get(path, headers=one).text
    assert "Only here." not in client.get(path, params={"session": said["session"]}, headers=other).text


def test_a_session_that_cannot_be_is_told_only_to_whoever_was_let_in(served: Served) -> None:
    headers = {"X-Pieria-Session": "a\tb"}
    known = {**served.token("read"), **headers}
    assert served.client.get("/v1/banks", headers=known).status_code == 422
    guesses = [served.client.get("/v1/banks", headers=headers) for _ in range(160)]
    assert guesses[0].status_code == 401
    assert {answer.status_code for answer in guesses} == {401, 429}
    long = {**known, "X-Pieria-Session": "s" * NAME_LIMIT}
    assert served.client.get("/v1/banks", headers=long).status_code == 422


def test_every_bank_is_a_word_that_no_bank_has(served: Served) -> None:
    """A bank called `all` is an ordinary bank."""
    one, every = served.token("write", "All"), served.token("write", "*")
    assert served.client.post("/v1/banks/all/memories", json={"text": "x"}, headers=one).status_code == 201
    assert served.client.get("/v1/banks", headers=one).json() == {"banks": ["all"]}
    assert served.client.get("/v1/banks/notes/memories", headers=one).status_code == 403
    assert served.client.get("/v1/banks", headers=every).json() == {"banks": ["all", "notes"]}
    assert served.client.get("/v1/banks/*/memories", headers=every).status_code == 422
