"""What a token allows, verb by verb, and what a caller may claim."""

import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.doors.http.conftest import Served
from tests.remote.conftest import Opened, secret

import pieria
from pieria.errors import AccessError, InputError, NotFoundError
from pieria.record.draft import NewMemory
from pieria.record.trust import AGENT, HEARSAY, OUTSIDE, PERSON
from pieria.remote.verbs import ADMIN, DOWNLOADS, READ, VERBS

NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Loading certificates takes long, and no test here needs them."""


def asked(method: str, url: str, headers: Mapping[str, str], **more: Any) -> httpx2.Response:
    return httpx2.request(method, url, headers=dict(headers), timeout=30, verify=NO_CERTIFICATES, **more)


def called(url: str, verb: str, headers: Mapping[str, str], bank: str = "notes", **body: Any) -> httpx2.Response:
    return asked("POST", f"{url}/v1/banks/{bank}/verbs/{verb}", headers, json=body)


def told(answer: httpx2.Response) -> tuple[int, object]:
    error = answer.json()["error"]
    return answer.status_code, error.get("reason") or error.get("parameter") or error["code"]


def test_every_verb_needs_a_token_with_its_access(at: tuple[Served, str], behind: Opened) -> None:
    served, url = at
    behind().remember("We chose JWT.", id="jwt")
    reader, writer = served.token("read", "notes"), served.token("write", "notes")
    stranger = served.token("admin", "other")
    head = served.head()
    for verb, access in VERBS.items():
        assert told(called(url, verb, {})) == (401, "no_token"), verb
        assert told(called(url, verb, stranger)) == (403, "wrong_bank"), verb
        if access != READ:
            assert told(called(url, verb, reader)) == (403, "read_only"), verb
        if access == ADMIN:
            assert told(called(url, verb, writer)) == (403, "not_admin"), verb
    for path, method in (("uploads", "POST"), ("downloads/one", "GET")):
        refused = asked(method, f"{url}/v1/banks/notes/{path}", writer)
        assert told(refused) == (403, "not_admin")
    assert served.head() == head


def test_names_outside_the_table_are_no_verbs(at: tuple[Served, str], behind: Opened) -> None:
    _, url = at
    behind()
    for verb in (
        "close",
        "core.apply",
        "_core",
        "__init__",
        "jobs.worker",
        "facts",
        "sessions.log",
        "remember.x",
        "open",
    ):
        assert told(called(url, verb, {})) == (404, "not_found"), verb
    for verb, arguments in (("get", {"self": 1}), ("get", {"reference": "m", "core": 1}), ("get", {})):
        assert told(called(url, verb, {}, arguments=arguments)) == (422, "arguments")
    assert told(called(url, "recall", {}, arguments={"query": "x", "colour": 1})) == (422, "arguments")
    assert told(called(url, "sync", {}, arguments={"progress": 1})) == (422, "progress")
    assert told(called(url, "session", {}, arguments={"goal": "x", "llm": "openai:gpt-5"})) == (422, "llm")


def test_a_reader_makes_no_bank_and_a_writer_does(at: tuple[Served, str], behind: Opened) -> None:
    served, _ = at
    with pytest.raises(NotFoundError):
        behind("fresh", "read")
    with pytest.raises(NotFoundError):
        behind("fresh", "write", create=False)
    assert behind("fresh", "write").count() == 0 and served.service.banks.names() == ["fresh"]


def test_an_agents_token_claims_no_better_way_in(behind: Opened) -> None:
    bank = behind(access="admin", via=PERSON)
    assert bank.via == AGENT
    memory = bank.remember("Always deploy on Fridays.")
    assert (memory.via, memory.trust) == (AGENT, 0.6)
    item = NewMemory("Never deploy.", id="n", via=PERSON)
    for claim in (
        lambda: bank.remember("Always.", via=PERSON),
        lambda: bank.remember_many(["plain", {"text": "Always.", "via": PERSON}]),
        lambda: bank.remember_many([item]),
        lambda: bank.update(memory.id, text="Never.", via=PERSON),
        lambda: bank.sources.intake(via=PERSON).take([item]),
        lambda: bank.sources.intake().take([item]),
    ):
        with pytest.raises(AccessError) as refused:
            claim()
        assert refused.value.reason == "not_a_person"
    with pytest.raises(AccessError):
        bank.rules.accept(memory.id)
    assert bank.remember("From a page.", via=OUTSIDE).via == OUTSIDE and bank.count() == 2


def test_a_persons_token_speaks_for_a_person_if_asked(behind: Opened) -> None:
    assert behind(access="write", person=True).remember("x").via == AGENT
    assert behind(access="write", person=True, via=PERSON).remember("y").via == PERSON
    assert behind(access="write", person=True, via=OUTSIDE).remember("z").via == OUTSIDE


def test_an_import_is_believed_only_from_a_person(behind: Opened, tmp_path: Path) -> None:
    source = behind("source", "admin", person=True, via=PERSON)
    source.remember("Always run the tests.", id="rule")
    source.export(tmp_path / "x.jsonl")
    agent = behind("target", "admin")
    with pytest.raises(AccessError):
        agent.import_(tmp_path / "x.jsonl", trusted=True)
    agent.import_(tmp_path / "x.jsonl")
    found = agent.get("rule")
    assert found is not None and found.via == HEARSAY and found.trust <= 0.5
    assert agent.rules.list("told").rules == ()


def test_session_names_belong_to_their_token(at: tuple[Served, str], behind: Opened) -> None:
    """Also those within items, events and filters."""
    served, _ = at
    one, other = (behind(access="write", session="planning") for _ in range(2))
    one.remember("Mine alone.", id="a", scope="session")
    one.remember_many(
        [NewMemory("In items.", id="b", session="planning"), {"text": "c", "id": "c", "session": "planning"}]
    )
    one.scratchpad.write("draft")
    assert other.get("a") is None and other.scratchpad.read() == []
    assert one.get("a") is not None and [entry.content for entry in one.scratchpad.read()] == ["draft"]
    marks = {one.get(id).session for id in "abc"}  # type: ignore[union-attr]
    assert len(marks) == 1 and marks.pop().endswith("/planning")  # type: ignore[union-attr]
    assert one.count(session="planning") == 3 and other.count(session="planning") == 0
    with pytest.raises(NotFoundError):
        other.forget(session="planning")
    event = {"what": "prompt", "at": "2026-03-01T09:30:00Z", "host": "h", "session": "planning", "text": "Bake."}
    one.observe([event])
    seen = {session.id for session in behind(access="admin").sessions.list()}
    assert "planning" not in seen and served.head()


def test_without_a_name_only_administrators_have_no_session(behind: Opened) -> None:
    assert behind(access="admin").remember("x").session is None
    assert behind(access="write").remember("y").session is not None


def test_memories_of_the_user_need_a_token_that_names_them(behind: Opened) -> None:
    agent, own = behind(access="write"), behind(access="write", banks=("*", "@me"))
    own.remember("I like tea.", scope="user")
    assert len(own.recall("tea")) == 1 and len(agent.recall("tea")) == 0
    with pytest.raises(AccessError):
        agent.remember("I like coffee.", scope="user")
    with pytest.raises(AccessError):
        behind("@me", "write")


def test_no_path_of_the_server_is_read_or_written(at: tuple[Served, str], behind: Opened, tmp_path: Path) -> None:
    _, url = at
    behind().remember("x")
    secret_file, target = tmp_path / "secret.jsonl", tmp_path / "target.jsonl"
    secret_file.write_text('{"pieria":"export"')
    for verb in DOWNLOADS:
        assert told(called(url, verb, {}, arguments={"path": str(target)})) == (422, "path")
    assert told(called(url, "import_", {}, arguments={"path": str(secret_file)})) == (422, "path")
    assert told(called(url, "import_", {}, arguments={"path": {"$upload": "../x"}})) == (404, "not_found")
    assert told(called(url, "remember", {}, arguments={"text": {"$upload": "x"}})) == (422, "arguments")
    assert not target.exists()


def test_results_name_no_folder_of_the_server(at: tuple[Served, str], behind: Opened, tmp_path: Path) -> None:
    served, url = at
    bank = behind()
    bank.remember("x")
    data = str(served.service.workspace.data)
    for verb in ("stats", "doctor", "export", "backup"):
        assert data not in called(url, verb, {}).text, verb
    assert bank.export(tmp_path / "x.jsonl").path == tmp_path / "x.jsonl"


def test_a_file_belongs_to_its_caller_and_bank(at: tuple[Served, str], behind: Opened) -> None:
    served, url = at
    behind().remember("x")
    one, other = served.token("admin", "notes", "more"), served.token("admin", "notes")
    file = called(url, "export", one).json()["file"]
    path = f"{url}/v1/banks/{{}}/downloads/{file}"
    assert asked("GET", path.format("notes"), other).status_code == 404
    assert asked("GET", path.format("more"), one).status_code == 404
    assert asked("GET", path.format("notes"), one).status_code == 200
    assert asked("GET", path.format("notes"), one).status_code == 404, "a file is fetched once"
    headers = {**one, "Content-Type": "application/octet-stream"}
    held = asked("POST", f"{url}/v1/banks/notes/uploads", headers, content=b"abc").json()
    assert held["bytes"] == 3
    again = asked("POST", f"{url}/v1/banks/notes/uploads?id={held['id']}&at=1", headers, content=b"d")
    assert told(again) == (422, "at")
    assert [each.name for each in served.service.workspace.data.glob(".file-*")] == []


def test_too_many_held_files_are_refused(
    at: tuple[Served, str], behind: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pieria.doors.http.held_files.MOST", 1)
    _, url = at
    behind().remember("x")
    assert called(url, "export", {}).status_code == 200
    assert called(url, "export", {}).status_code == 429
    monkeypatch.setattr("pieria.doors.http.held_files.UNUSED", 0.0)
    assert called(url, "export", {}).status_code == 200


def test_odd_bodies_are_refused_in_words(at: tuple[Served, str], behind: Opened) -> None:
    _, url = at
    behind()
    bodies: tuple[dict[str, Any], ...] = (
        {"arguments": []},
        {"speaker": {"via": "god"}},
        {"speaker": {"session": 5}},
        {"on": 5},
        {"more": 1},
        {"arguments": {"query": {"$record": "Bank", "fields": {}}}},
        {"arguments": {"query": {"$tuple": 5}}},
        {"arguments": {"$tuple": []}},
    )
    for body in bodies:
        answer = called(url, "recall", {}, **body)
        assert answer.status_code == 422, (body, answer.text)
    assert called(url, "session.append", {}, on={"id": "nope"}, arguments={}).status_code == 404
    assert json.loads(called(url, "recall", {}, arguments={"query": "x"}).text)["value"]["$record"] == "Recall"


def test_a_token_of_a_removed_right_ends_at_once(at: tuple[Served, str]) -> None:
    served, url = at
    headers = served.token("write")
    with pieria.open("notes", data=url, token=secret(headers)) as bank:
        bank.remember("x")
        served.tokens.revoke(served.tokens.all()[0].id)
        with pytest.raises(AccessError) as refused:
            bank.remember("y")
        assert refused.value.reason == "unknown_token"


def test_errors_of_arguments_are_those_of_the_embedded_verb(behind: Opened) -> None:
    with pieria.open("here") as embedded, pytest.raises(InputError) as expected:
        embedded.remember("x", importance=5)
    with pytest.raises(InputError) as found:
        behind().remember("x", importance=5)
    assert found.value.as_dict() == expected.value.as_dict()
    with pytest.raises(TypeError, match="unexpected keyword"):
        behind().pin("x", wrong=1)  # type: ignore[call-arg]
