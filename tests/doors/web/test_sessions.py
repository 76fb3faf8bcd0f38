"""The page on sessions: where each stands, its steps as they were cut, what waits, and how a recall went."""

import html
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from tests.doors.http.conftest import Served, serving
from tests.doors.web.conftest import HOSTILE, seal_in, sign_in

import pieria
from pieria import telemetry
from pieria.doors.web.witness import Witness
from pieria.errors import AdapterError

SESSIONS = "/banks/notes/sessions"
STEPS = (
    ("The build fails: Bazel cannot find the toolchain.", "Looked into the workspace file."),
    ("The toolchain is registered twice.", "Removed the second registration."),
    ("The build passes.", "Told Ada that the toolchain must be registered once."),
)


@pytest.fixture
def waiting(home: object) -> Iterator[str]:
    """A session whose knowledge waits to be committed, left by its process."""
    with pieria.open("notes") as bank:
        session = bank.session("Mend the build", auto_commit=False)
        for observation, action in STEPS:
            session.append(observation, action)
        session.close_and_wait(60)
        yield session.id


@pytest.fixture
def served(waiting: str) -> Iterator[Served]:
    with serving() as found:
        found.client.headers["accept"] = "text/html"
        found.client.follow_redirects = False
        yield found


def test_it_tells_where_each_session_stands(served: Served, waiting: str) -> None:
    page = served.client.get(SESSIONS).text
    assert "Mend the build" in page and f"sessions/one?id={waiting}" in page
    assert '<li aria-current="step">ready</li>' in page
    assert "waiting</span>" in page


def test_a_session_shows_its_steps_and_what_would_be_written(served: Served, waiting: str) -> None:
    page = html.unescape(served.client.get(f"{SESSIONS}/one?id={waiting}").text)
    for observation, action in STEPS:
        assert observation in page and f"→ {action}" in page
    with pieria.open("notes") as bank:
        found = bank.session_kept(waiting)
        assert found is not None
        nodes = [node for changeset in found[0].waiting for node in changeset.additions]
        said = [node.text for node in nodes if type(node).__name__ == "Procedural"]
    assert said and all(text[:200] in page for text in said)
    assert served.client.get(f"{SESSIONS}/one?id=nowhere").status_code == 404


def test_what_waits_is_committed_or_given_up_by_whoever_may(served: Served, waiting: str) -> None:
    page = served.client.get(f"{SESSIONS}/one?id={waiting}")
    assert f'action="{SESSIONS}/commit"' in page.text
    held = served.client.post(f"{SESSIONS}/discard", data={"seal": seal_in(page), "id": waiting})
    # It is still open in the process that went through it.
    assert held.status_code == 409 and 'role="alert"' in held.text


def test_a_session_that_was_left_is_committed_from_the_page(home: object) -> None:
    with pieria.open("notes") as bank:
        session = bank.session("Mend the build", auto_commit=False)
        for observation, action in STEPS:
            session.append(observation, action)
        session.close_and_wait(60)
    with serving() as served:
        served.client.headers["accept"] = "text/html"
        page = served.client.get(f"{SESSIONS}/one?id={session.id}")
        answer = served.client.post(
            f"{SESSIONS}/commit", data={"seal": seal_in(page), "id": session.id}, follow_redirects=False
        )
        assert answer.headers["location"] == SESSIONS
        assert "knowledge written" in served.client.get(SESSIONS).text
        answered = html.unescape(served.client.get(f"{SESSIONS}/ask?q=what about the toolchain?").text)
        assert "The toolchain is registered twice" in answered
        assert "How it was found" in answered and "0 calls" in answered and "Candidates" in answered
    with pieria.open("notes") as bank:
        assert bank.count(kinds=["episodic"]) == len(STEPS)


def test_recalls_are_told_with_their_times_and_never_with_their_words(served: Served) -> None:
    served.client.get("/banks/notes/recall?q=secret+of+the+heron")
    page = served.client.get(SESSIONS).text
    assert ">recall" in page and " ms</td>" in page and "hits" in page
    assert "heron" not in page
    sign_in(served, "admin", "other")
    assert served.client.get(SESSIONS).status_code == 403


def traces(served: Served) -> list[str]:
    """The traces that the page leads to, the latest first."""
    found = re.findall(r'href="([^"]*/sessions/trace[^"]*)"', served.client.get(SESSIONS).text)
    return [html.unescape(served.client.get(html.unescape(path)).text) for path in found]


def test_a_recall_by_any_door_unfolds_into_its_trace_without_its_words(served: Served) -> None:
    with pieria.open("notes") as bank:
        bank.remember("The ferry leaves from pier nine.", id="pier")
        bank.remember("A heron stands on the pier.", id="heron")
    post, question = served.client.post, {"query": "which pier has a bittern?"}
    served.client.get("/banks/notes/recall?q=pier+bittern")
    assert post("/v1/banks/notes/recall", json={**question, "policy": "similarity"}).status_code == 200
    assert post("/v1/banks/notes/tools/sessions_recall", json=question).status_code == 200
    of_knowledge, by_program, by_page = traces(served)
    assert all("bittern" not in page and "The ferry leaves from pier nine." in page for page in traces(served))
    assert "<dd>similarity</dd>" in by_program and "<dd>hybrid</dd>" in by_page
    assert '<th scope="row">text</th>' in by_page and "Cut by the deadline" in by_page and "Confidence" in by_page
    for told in ("hop 0", "multi hop", "terms", "reasoning"):
        assert f'<th scope="row">{told}</th><td>' in of_knowledge
    assert "No model was asked: rules judged." in of_knowledge and "semantic, score" in of_knowledge


def test_a_trace_leads_only_to_what_the_caller_may_see(served: Served) -> None:
    with pieria.open("notes") as bank, pieria.open("other") as other:
        other.remember("Elsewhere.")
        bank.remember("The ferry leaves from pier nine.", id="pier")
        served.client.get("/banks/notes/recall?q=ferry+pier")
        (page,) = traces(served)
        assert "memory?id=pier" in page
        bank.remove("pier")
    (page,) = traces(served)
    assert "memory?id=pier" not in page and "1 other not listed" in page
    trace = re.search(r"sessions/trace\?id=\w+", served.client.get(SESSIONS).text)
    assert trace is not None
    assert served.client.get(f"/banks/other/{trace[0]}").status_code == 404
    sign_in(served, "read", "other")
    assert served.client.get(f"/banks/notes/{trace[0]}").status_code == 403


def test_a_recall_that_breaks_off_is_told_by_the_kind_of_what_went_wrong() -> None:
    witness = Witness()
    detach = telemetry.attach(witness.hear)
    for error in (AdapterError("m", "chat", "she said: herons"), None):
        with suppress(AdapterError), telemetry.during("retrieval.retrieve", repo_id="notes", session_id=None):
            if error is not None:
                raise error
    detach()
    (seen,) = witness.of("notes")
    assert (seen.what, seen.failure, seen.trace) == ("recall of knowledge", "AdapterError", None)
    assert "herons" not in repr(seen)


def test_the_page_listens_from_where_it_was_shown(served: Served) -> None:
    served.client.get("/banks/notes/recall?q=toolchain")
    for path in (SESSIONS, f"{SESSIONS}/ask"):
        assert f"events?since={served.head()}" in served.client.get(path).text


def test_what_agents_saw_is_shown_as_text(home: object) -> None:
    with pieria.open("notes") as bank:
        session = bank.session(HOSTILE)
        session.append(HOSTILE, HOSTILE)
        with serving() as served:
            served.client.headers["accept"] = "text/html"
            for page in (SESSIONS, f"{SESSIONS}/one?id={session.id}"):
                text = served.client.get(page).text
                assert "<script>document" not in text and "<svg onload" not in text
            assert "U+202E" in text
