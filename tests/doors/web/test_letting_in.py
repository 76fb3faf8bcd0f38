"""Access to the site, and attacks on it or on a visitor's browser."""

from collections.abc import Iterator

import pytest
from tests.doors.http.conftest import Served, listening, serving
from tests.doors.web.conftest import SEAL, fill, seal_in, sign_in

from pieria.doors.web.entries import LASTS
from pieria.errors import AccessError

HERE = "/banks/notes/recall"


@pytest.fixture
def live() -> Iterator[Served]:
    """Serve on a socket: a long answer is read while it arrives."""
    fill()
    with listening() as (served, _):
        yield served


def enter(served: Served, **more: str) -> None:
    seal = seal_in(served.client.get("/sign-in"))
    assert served.client.post("/sign-in", data={"seal": seal, **more}).status_code == 303


@pytest.mark.parametrize("path", ["recall", "memories/new", "events", "nowhere"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_a_bank_s_name_that_cannot_be_read_is_refused(served: Served, method: str, path: str) -> None:
    seal = seal_in(served.client.get(HERE))
    form = {"seal": seal, "text": "x"} if method == "POST" else None
    answer = served.client.request(method, f"/banks/%ff/{path}", data=form)
    assert 400 <= answer.status_code < 500
    assert "<h1>" in answer.text


@pytest.mark.parametrize("url", ["http://[", "http://localhost:7411//elsewhere.example/", "javascript:alert(1)"])
def test_a_part_that_was_asked_from_nowhere_leads_to_the_door(served: Served, url: str) -> None:
    served.tokens.create("somebody")
    answer = served.client.get(HERE, headers={"HX-Request": "true", "HX-Current-URL": url})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/sign-in?next=%2F")


def test_whoever_signs_in_stays_for_a_month_and_ends_what_was_begun_before(served: Served) -> None:
    _, token = served.tokens.create("laptop")
    enter(served, token=token)
    [first] = served.client.cookies.jar
    seal = seal_in(served.client.get(HERE))
    again = served.client.post("/sign-in", data={"seal": seal, "token": token})
    assert f"Max-Age={int(LASTS)}" in again.headers["set-cookie"]
    assert served.client.get(HERE).status_code == 200
    served.client.cookies.clear()
    served.client.cookies.set(str(first.name), str(first.value))
    assert served.client.get(HERE).status_code == 303


def test_a_link_from_elsewhere_leads_to_a_door_that_opens(served: Served) -> None:
    sign_in(served)
    kept = {each.name: str(each.value) for each in served.client.cookies.jar}
    served.client.cookies.clear()
    door = served.client.get(
        f"/sign-in?next={HERE}", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    )
    assert f'<a href="{HERE}">continue</a>' in door.text
    assert "go on" not in served.client.get("/sign-in").text
    served.client.cookies.update(kept)
    _, token = served.tokens.create("another")
    answer = served.client.post("/sign-in", data={"seal": seal_in(door), "token": token, "next": HERE})
    assert (answer.status_code, answer.headers["location"]) == (303, HERE)
    assert served.client.get(f"/sign-in?next={HERE}").headers["location"] == HERE


def test_a_form_made_for_nobody_changes_nothing_for_whoever_is_signed_in(served: Served) -> None:
    served.tokens.create("somebody")
    stranger_s = seal_in(served.client.get("/sign-in"))
    sign_in(served)
    for path in ("/banks/notes/memories/new", "/sign-out"):
        assert served.client.post(path, data={"seal": stranger_s, "text": "x"}).status_code == 403
    assert served.client.get(HERE).status_code == 200


def test_what_a_form_of_ours_carries_is_told_under_our_names_alone(served: Served) -> None:
    answer = served.client.get(HERE, headers={"host": "elsewhere.example:7411"})
    assert answer.status_code == 421
    assert SEAL not in answer.text and SEAL in served.client.get(HERE).text


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", [HERE, "/banks/notes/memory/voices?id=jwt", "/v1/banks"])
def test_a_page_from_elsewhere_makes_no_browser_ask(served: Served, site: str, path: str) -> None:
    for destination in ("image", "iframe", "empty", "script"):
        answer = served.client.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Dest": destination})
        assert answer.status_code == 403
        assert AccessError.reasons["foreign_origin"] in answer.text
    led = served.client.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "document"})
    own = served.client.get(path, headers={"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"})
    assert led.status_code == own.status_code == 200
    assert led.headers["cross-origin-opener-policy"] == led.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/banks/notes/events", "/v1/events?bank=notes"])
def test_whoever_asks_for_the_headers_of_events_is_answered_at_once(live: Served, path: str) -> None:
    answer = live.client.head(path)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert live.client.get("/health").status_code == 200 and live.service.hub.listeners == 0


def test_events_end_when_the_token_is_revoked(live: Served) -> None:
    live.service.hub.keep_alive = 0.2
    token, secret = live.tokens.create("page", "read", ["notes"])
    live.client.headers["accept"] = "text/html"
    enter(live, token=secret)
    with live.client.stream("GET", "/banks/notes/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        live.tokens.revoke(token.id)
        assert [line for line in lines if line and not line.startswith(":")] == []
    part = {"HX-Request": "true", "Last-Event-ID": "1"}
    assert live.client.get("/banks/notes/events", headers=part).status_code == 401


def test_where_there_is_no_bank_only_whoever_may_begin_one_is_asked_to() -> None:
    with serving() as served:
        served.client.headers["accept"] = "text/html"
        served.client.follow_redirects = False
        for access, begins in (("read", False), ("write", True)):
            _, token = served.tokens.create(access, access, ["other"])
            served.client.cookies.clear()
            enter(served, token=token)
            for path in ("/", "/banks/other/recall"):
                assert ('href="/banks/other/memories/new"' in served.client.get(path).text) is begins
