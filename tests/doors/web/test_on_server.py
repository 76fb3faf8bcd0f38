"""The pages on a bank in PostgreSQL: every view, the main ways through them, and concurrent changes."""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.doors.http.conftest import Served, listening, serving
from tests.doors.http.test_events import told
from tests.doors.web.conftest import APART, address, fill, form_of, over, seal_in, sign_in, views

import pieria

HERE = "/banks/notes"


@pytest.fixture
def kept_there(empty_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_DATA", empty_database)
    monkeypatch.setenv("PIERIA_USER", "maya")
    fill()


@pytest.fixture
def served(kept_there: None) -> Iterator[Served]:
    with serving() as found:
        found.client.headers["accept"] = "text/html"
        yield found


def seen(served: Served, path: str, **asked: Any) -> str:
    answer = served.client.get(f"{HERE}/{path}", params=asked or None)
    assert answer.status_code == 200, answer.text
    return unescape(re.sub("<[^>]+>", "", answer.text))


def do(served: Served, path: str, **fields: Any) -> Any:
    seal = seal_in(served.client.get(f"{HERE}/memories"))
    answer = served.client.post(f"{HERE}/{path}", data={"seal": seal, **fields}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer


def test_every_view_is_shown(served: Served) -> None:
    for view in (view for view in views() if view.method == "GET" and view.path not in APART):
        answer = served.client.get(address(view))
        assert (view.line, answer.status_code) == (view.line, 200), answer.text
        assert 'role="alert"' not in answer.text
    assert "postgresql" in seen(served, "health")


def test_where_the_server_is_is_told_to_administrators_at_the_page_and_to_no_program(
    served: Served, empty_database: str
) -> None:
    database = urlsplit(empty_database).path.strip("/")
    api = "/v1/banks/notes"
    replies = [served.client.get(f"{api}/stats"), served.client.post(f"{api}/tools/mnemosyne_diagnose", json={})]
    assert all(reply.status_code == 200 and database not in reply.text for reply in replies)
    assert database in seen(served, "health") and database in seen(served, "health/checks")
    served.client.follow_redirects = False
    sign_in(served, "write")
    assert database not in seen(served, "health") + seen(served, "health/checks")
    with pieria.open("notes") as bank:
        assert bank.stats().store["database"] == database


def test_one_searches_opens_edits_and_looks_back(served: Served) -> None:
    assert "rotated daily" in seen(served, "recall", q="jwt rotated")
    form = form_of(served.client.get(f"{HERE}/memory/edit?id=jwt").text, "memory/edit")
    moved = do(served, "memory/edit", **{**form, "text": "Passkeys now.", "reason": "a better way"})
    newest = moved.headers["location"].partition("id=")[2]
    assert "Passkeys now." in seen(served, "memory", id=newest)
    assert "a better way" in seen(served, "memory/history", id=newest)
    do(served, "memory/remove", id="maya", reason="moved away")
    assert "aisle seat" not in seen(served, "memories")
    assert "moved away" in seen(served, "memory", id="maya")
    do(served, "memory/restore", id="maya")
    assert "aisle seat" in seen(served, "memories")
    with pieria.open("notes") as bank:
        [restored] = bank.changes(last=1)
    do(served, "time/undo", seq=restored.seq)
    assert "aisle seat" not in seen(served, "memories")
    assert f"undo {restored.seq}" in seen(served, "time")
    form = form_of(served.client.get(f"{HERE}/memory/purge?id=maya").text, "memory/purge")
    assert "The memory was purged" in served.client.post(f"{HERE}/memory/purge", data=form).text
    assert served.client.get(f"{HERE}/memory", params={"id": "maya"}).status_code == 404


def test_the_graph_and_the_past_are_drawn(served: Served) -> None:
    drawn = served.client.get(f"{HERE}/graph/data", params={"node": "memory:jwt", "hops": 2}).json()
    assert {"memory:gateway", "memory:drawn", "tag:auth"} <= {node["id"] for node in drawn["nodes"]}
    assert "Maya works on billing" in re.sub(r"\s+", " ", seen(served, "time/facts", entity="Maya"))
    with pieria.open("notes") as bank:
        day = bank.clock().date().isoformat()
    assert "rotated daily" in seen(served, "recall", q="jwt rotated", known_at=day)


def test_work_is_done_and_its_file_is_fetched(served: Served) -> None:
    seal = seal_in(served.client.get(f"{HERE}/health"))
    begun = served.client.post(f"{HERE}/health/file", data={"seal": seal, "what": "export"}, follow_redirects=False)
    [link] = re.findall(r'href="([^"]+/task/file[^"]+)"', over(served, begun))
    assert any(json.loads(line).get("id") == "jwt" for line in served.client.get(link).text.splitlines())


def test_a_session_is_looked_over_and_committed(served: Served) -> None:
    with pieria.open("notes") as bank:
        session = bank.session("Mend the build", auto_commit=False)
        session.append("The toolchain is registered twice.", "Removed the second registration.")
        session.close_and_wait(60)
    assert "all 1 ready 1" in re.sub(r"\s+", " ", seen(served, "sessions"))
    assert "A commit would write" in seen(served, "sessions/one", id=session.id)
    assert "<dt>steps</dt><dd>1</dd>" in served.client.get(f"{HERE}/sessions/discard", params={"id": session.id}).text
    assert "Committed " in over(served, do(served, "sessions/commit", id=session.id))
    assert "1 step committed as memories" in seen(served, "sessions/one", id=session.id)
    assert "toolchain" in seen(served, "recall", q="toolchain")
    [trace] = re.findall(r"sessions/trace\?id=\w+", served.client.get(f"{HERE}/sessions").text)
    assert "Cut by the deadline" in seen(served, trace)


def test_what_another_process_writes_reaches_an_open_page(kept_there: None) -> None:
    with listening() as (served, _):
        page = served.client.get(f"{HERE}/time").text
        [live] = re.findall(r'hx-sse:connect="([^"]+)"', page)
        with served.client.stream("GET", live) as stream:
            events = told(stream.iter_lines())
            assert next(events) == {"retry": "2000"}
            with pieria.open("notes") as bank:
                bank.remember("The kettle whistles in G.", id="kettle")
            assert next(events)["data"]["ids"] == ["kettle"]
        assert "The kettle whistles in G." in served.client.get(f"{HERE}/time").text
