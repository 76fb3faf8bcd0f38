"""The pages on a bank in PostgreSQL: every view, and one way through them."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from tests.doors.http.conftest import Served, listening
from tests.doors.http.test_events import told
from tests.doors.web.conftest import APART, address, facing, fill, left_uncommitted, over, seal_in, sign_in, views

import pieria

HERE = "/banks/notes"


@pytest.fixture
def served(empty_database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("PIERIA_DATA", empty_database)
    monkeypatch.setenv("PIERIA_USER", "maya")
    fill()
    with facing() as found:
        yield found


def test_every_view_is_shown_and_administrators_see_the_server(served: Served, empty_database: str) -> None:
    for view in (view for view in views() if view.method == "GET" and view.path not in APART):
        answer = served.client.get(address(view))
        assert (view.line, answer.status_code, 'role="alert"' in answer.text) == (view.line, 200, False)
    database = urlsplit(empty_database).path.strip("/")
    api, health = "/v1/banks/notes", [f"{HERE}/health", f"{HERE}/health/checks"]
    for reply in (served.client.get(f"{api}/stats"), served.client.post(f"{api}/tools/mnemosyne_diagnose", json={})):
        assert reply.status_code == 200 and database not in reply.text
    assert all(database in served.page(path) for path in health) and "postgresql" in served.page(health[0])
    sign_in(served, "write")
    assert not any(database in served.page(path) for path in health)


def test_a_session_is_committed_and_a_change_is_live(served: Served) -> None:
    id = left_uncommitted()
    seal = seal_in(served.client.get(f"{HERE}/sessions/one?id={id}"))
    begun = served.client.post(f"{HERE}/sessions/commit", data={"seal": seal, "id": id})
    assert "Committed " in over(served, begun)
    with listening() as (live, _):
        [events] = re.findall(r'hx-sse:connect="([^"]+)"', live.page(f"{HERE}/time"))
        with live.client.stream("GET", events) as stream:
            coming = told(stream.iter_lines())
            assert next(coming) == {"retry": "2000"}
            with pieria.open("notes") as bank:
                bank.remember("The kettle whistles in G.", id="kettle")
            assert next(coming)["data"]["ids"] == ["kettle"]
