"""The page on sessions: the state of each, its redacted steps, what waits, and the trace of a recall."""

import html
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from tests.doors.http.conftest import PATIENCE, Served
from tests.doors.web.conftest import HOSTILE, STEPS, facing, left_uncommitted, over, seal_in, sign_in
from tests.models.llm_server import Exchange, llm_server, status

import pieria
from pieria import telemetry
from pieria.doors.web import tasks
from pieria.doors.web.witness import Witness
from pieria.errors import AdapterError
from pieria.graph import Changeset, Edge, Episodic, Intent, Semantic, Source, Tag
from pieria.sessions.log import UnfinishedSession

SESSIONS = "/banks/notes/sessions"


@pytest.fixture
def left() -> str:
    return left_uncommitted()


@pytest.fixture
def served(left: str) -> Iterator[Served]:
    with facing() as found:
        yield found


def page_of(served: Served, id: str, view: str = "one") -> str:
    return html.unescape(served.page(f"{SESSIONS}/{view}?id={id}"))


def decide(served: Served, what: str, id: str, bank: str = "notes") -> httpx2.Response:
    seal = seal_in(served.client.get(SESSIONS))
    return served.client.post(f"/banks/{bank}/sessions/{what}", data={"seal": seal, "id": id})


def ask(served: Served, bank: str = "notes", **question: str) -> httpx2.Response:
    page = f"/banks/{bank}/sessions/ask"
    return served.client.post(page, data={"seal": seal_in(served.client.get(page)), **question})


def answer(served: Served, **question: str) -> str:
    """Return the answer, at once or from its task."""
    asked = ask(served, **question)
    return html.unescape(over(served, asked) if asked.status_code == 303 else asked.text)


@contextmanager
def modelled(monkeypatch: pytest.MonkeyPatch, *script: Any) -> Iterator[Any]:
    """Let the bank's language model be a server that answers so."""
    with llm_server(*script) as llm:
        monkeypatch.setenv("PIERIA_LLM", "server:m")
        monkeypatch.setenv("PIERIA_LLM_URL", llm.address)
        yield llm


def keep(bank: pieria.Bank, id: str, *waiting: Changeset, **more: Any) -> None:
    """Write a session as a process may have left it."""
    kept = UnfinishedSession(id, bank.name, more.pop("goal", "Cross over"), auto_commit=False, waiting=waiting, **more)
    bank.sessions.log.begin(kept)
    bank.sessions.log.release(id)


def traces(served: Served) -> list[str]:
    found = re.findall(r'href="([^"]*/sessions/trace[^"]*)"', served.page(SESSIONS))
    return [html.unescape(served.page(html.unescape(path))) for path in found]


def test_a_waiting_session_is_shown_with_what_it_would_write(served: Served, left: str) -> None:
    listed = served.page(SESSIONS)
    assert "Mend the build" in listed and f"sessions/one?id={left}" in listed
    assert '<li aria-current="step">ready</li>' in listed and "waiting</span>" in listed
    page = page_of(served, left)
    assert all(observation in page and f"→ {action}" in page for observation, action in STEPS)
    found = served.bank.sessions.load(left)
    assert found is not None
    nodes = [node for changeset in found[0].waiting for node in changeset.additions]
    said = [node.text for node in nodes if type(node).__name__ == "Procedural"]
    assert said and all(text[:200] in page for text in said)
    assert served.client.get(f"{SESSIONS}/one?id=nowhere").status_code == 404


def test_a_session_open_elsewhere_is_not_decided_on() -> None:
    with pieria.open("notes") as bank, facing() as served:
        session = bank.session("Mend the build", auto_commit=False)
        session.append(*STEPS[0])
        session.close_and_wait(60)
        assert f'action="{SESSIONS}/commit"' in page_of(served, session.id)
        held = decide(served, "discard", session.id)
        assert held.status_code == 409 and 'role="alert"' in held.text
        told = over(served, decide(served, "commit", session.id))
        assert 'role="alert"' in told and "has the session open" in told
        assert '<li aria-current="step">ready</li>' in page_of(served, session.id)


def test_a_session_is_committed_once(served: Served, left: str) -> None:
    told = html.unescape(over(served, decide(served, "commit", left)))
    committed = re.search(r"Committed (\d+) nodes with \d+ links\.", told)
    assert committed and "1 procedural node" in told
    assert f'href="{SESSIONS}/one?id={left}">Continue</a>' in told
    shown = re.findall(r"memory\?id=[^\"]+", told)
    assert len(shown) == int(committed[1]) and served.client.get(f"/banks/notes/{shown[0]}").status_code == 200
    second = decide(served, "commit", left)
    assert second.status_code == 409 and "committed or discarded in the meantime" in second.text
    assert served.client.get(f"{SESSIONS}/discard?id={left}").status_code == 409
    page = page_of(served, left)
    assert "Its last episode is over" in page and "3 steps committed as memories" in page
    assert "knowledge written" in served.page(SESSIONS)
    answered = answer(served, q="what about the toolchain?")
    assert "The toolchain is registered twice" in answered
    assert "How it was found" in answered and "0 calls" in answered and "Candidates" in answered
    assert served.bank.count(kinds=["episodic"]) == len(STEPS)
    with served.bank.session("Mend the build") as session:
        session.append(*STEPS[0])
    served.bank.sessions.log.end(session.id)
    page = page_of(served, session.id)
    assert "This session is over" in page and STEPS[0][0] in page and "memory?id=" in page


def test_a_discard_shows_what_goes(served: Served, left: str) -> None:
    asked = page_of(served, left, "discard")
    assert all(observation in asked for observation, _ in STEPS) and "<dt>steps</dt><dd>3</dd>" in asked
    assert "<dt>procedural nodes</dt><dd>1</dd>" in asked and f'action="{SESSIONS}/discard"' in asked
    assert decide(served, "discard", left).headers["location"] == SESSIONS
    assert served.bank.count(kinds=["episodic", "procedural"]) == 0
    assert served.bank.sessions.load(left) == (served.bank.sessions.unfinished()[0], ())
    session = served.bank.session("Mend the build")
    for step in STEPS:
        session.append(*step)
    kept, _ = served.bank.sessions.load(session.id) or (None, [])
    assert kept is not None
    served.bank.sessions.log.keep(replace(kept, state="failed", committed=(0, 1), reason="no such model"))
    asked = page_of(served, session.id, "discard")
    assert "<dt>steps</dt><dd>1</dd>" in asked and STEPS[2][0] in asked and STEPS[0][0] not in asked


def test_a_commit_after_a_failed_model_is_shared_by_its_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    with modelled(monkeypatch) as llm:

        def slowly(exchange: Exchange) -> None:
            assert go_on.wait(PATIENCE)
            answer = llm._otherwise(exchange.request)
            assert callable(answer)
            answer(exchange)

        with pieria.open("notes") as bank:
            session = bank.session("Mend the build", auto_commit=False)
            for step in STEPS:
                session.append(*step)
            llm.script = [status(400, "no such model")] * 40
            assert session.close_and_wait(60) == "failed"
        with facing() as served:
            seal = sign_in(served)
            commit, asked = f"{SESSIONS}/commit", {"seal": seal, "id": session.id}
            told = over(served, served.client.post(commit, data=asked))
            assert 'role="alert"' in told and "are kept" in told and "Commit tries again" in told
            page = page_of(served, session.id)
            assert "What went wrong" in page and all(observation in page for observation, _ in STEPS)
            llm.script = [slowly] * 40
            first, again = (served.client.post(commit, data=asked) for _ in range(2))
            assert first.headers["location"] == again.headers["location"]
            own = dict(served.client.cookies)
            refused = served.client.post(commit, data={"seal": sign_in(served), "id": session.id})
            assert refused.status_code == 409 and "Another user started it" in refused.text
            assert "started by another user" in page_of(served, session.id)
            assert served.client.get(first.headers["location"]).status_code == 404
            go_on.set()
            served.client.cookies.clear()
            served.client.cookies.update(own)
            assert "Committed " in over(served, first)
    with pieria.open("notes", settings={"llm": "none"}) as bank:
        assert bank.count(kinds=["episodic"]) == len(STEPS)


def test_a_changeset_is_shown_with_links_and_existing_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_EMBEDDER", "hashing")
    odd = "odd/id ?&#é<b>"
    with pieria.open("notes") as bank:
        known = [Tag(id="ferry", label="Ferry"), Intent(id="cross", description="cross the bay")]
        bank.graph.apply_changeset(Changeset(known))
        assert bank.sync(PATIENCE)
        nodes = [
            Source(id="s0", episode_id="e", step_index=4, plain_text="The ferry leaves at nine."),
            Episodic(id="e0", observation="The ferry leaves at nine.", action="Told the user."),
            Semantic(id="f0", proposition="The ferry leaves at nine.", confidence=0.8),
            Tag(id="t0", label="ferry"),
            Intent(id="i0", description="Cross the bay"),
        ]
        ties = [("e0", "s0", Edge.PROVENANCE), ("f0", "e0", Edge.PROVENANCE), ("t0", "f0", Edge.MEMBERSHIP)]
        ties.append(("i0", "f0", Edge.HIERARCHICAL))
        keep(bank, odd, Changeset(nodes, ties), state="ready")
    with facing() as served:
        listed = served.page(SESSIONS)
        path = html.unescape(re.findall(r'href="([^"]*sessions/one[^"]*)"', listed)[0])
        page = html.unescape(served.page(path))
        assert "would write 3 nodes and 4 links" in page and page.count('href="#step-5">step 5</a>') == 3
        assert "confidence 80 %" in page and "membership, tag" in page
        assert 'memory?id=ferry">“Ferry”</a>, which does not change' in page
        assert "“Cross the bay”" in page and "has the same purpose as" in page
        assert 'memory?id=cross">“cross the bay”' in page
        assert "3 nodes with 4 links" in html.unescape(over(served, decide(served, "commit", odd)))
    with pieria.open("notes") as bank:
        assert [node.id for node in bank.graph.get_linked_nodes(["f0"], Edge.MEMBERSHIP)] == ["ferry"]


def test_open_sessions_are_shown_step_by_step_as_they_are_cut() -> None:
    turning = (
        ("The user wants to be in Tokyo on March 3.", "Noted Tokyo for March 3."),
        ("The user wants to be in Tokyo on March 17.", "Noted Tokyo for March 17."),
        ("Next task: the oven is cold and the rye bread has to be baked before the shop opens.", "Baked rye bread."),
    )
    with pieria.open("notes") as bank, facing() as served:
        session = bank.session("Plan a trip", auto_commit=False)
        for step in turning:
            session.append(*step)
            page = page_of(served, session.id)
            assert step[0] in page and "open</span>" in page and "Commit</button>" not in page
        cuts = len({step.trajectory_id for step in session.steps})
        assert page.count('<section class="cut">') == cuts == 2
        assert page.count("New trajectory: ") == cuts - 1 and "below 75 %" in page
        session.close_and_wait(60)
        assert "open</span>" not in page_of(served, session.id)
        session.commit()
        _, _, learnt = page_of(served, session.id).partition("3 steps committed as memories")
        places = [learnt.index(observation) for observation, _ in turning]
        assert places == sorted(places) and learnt.count('<section class="cut">') == 2
        hostile = bank.session(HOSTILE)
        hostile.append(HOSTILE, HOSTILE)
        for path in (SESSIONS, f"{SESSIONS}/one?id={hostile.id}"):
            text = served.page(path)
            assert "<script>document" not in text and "<svg onload" not in text
        assert "U+202E" in text


def test_sessions_are_listed_by_page_and_state() -> None:
    with pieria.open("notes") as bank:
        for number in range(45):
            keep(bank, f"session_{number:02}", goal=f"Goal {number:02}", state="failed" if number == 7 else "idle")
    with facing() as served:
        pages = [served.page(f"{SESSIONS}?start={start}") for start in (0, 20, 40)]
        goals = [re.findall(r"Goal \d\d", page) for page in pages]
        assert [len(each) for each in goals] == [20, 20, 5] and len({*goals[0], *goals[1], *goals[2]}) == 45
        assert goals[0][0] == "Goal 44" and "all 45" in pages[0] and "failed 1" in pages[0]
        assert "start=20" in pages[0] and "start=60" not in pages[2]
        assert re.findall(r"Goal \d\d", served.page(f"{SESSIONS}?state=failed")) == ["Goal 07"]
        assert served.client.get(f"{SESSIONS}?state=asleep").status_code == 422


def test_readers_and_other_banks_decide_nothing(served: Served, left: str) -> None:
    with pieria.open("other") as other:
        other.remember("Elsewhere.")
    for deed in ("commit", "discard"):
        assert decide(served, deed, left, "other").status_code == 404
    assert ask(served, "other", q="toolchain", of=left).status_code == 404
    seal = sign_in(served, "read")
    page = page_of(served, left)
    assert "What would be written" in page and "sessions/commit" not in page
    assert served.client.get(f"{SESSIONS}/discard?id={left}").status_code == 403
    for deed in ("commit", "discard", "go-on"):
        assert served.client.post(f"{SESSIONS}/{deed}", data={"seal": seal, "id": left}).status_code == 403
    # A session's id is the same for all callers: no token's mark belongs before it.
    assert "How it was found" in answer(served, q="toolchain", of=left)
    assert '<li aria-current="step">ready</li>' in page_of(served, left)


def test_questions_are_asked_of_banks_with_memories(served: Served) -> None:
    for method in (served.client.get, served.client.head):
        assert method("/banks/nowhere/sessions/ask").status_code == 404
    with pieria.open("fresh") as bank:
        assert "Nothing to ask about yet" in served.page("/banks/fresh/sessions/ask")
        bank.remember("Something is known by now.")
    assert "Nothing to ask about yet" not in served.page("/banks/fresh/sessions/ask")
    for path in (SESSIONS, f"{SESSIONS}/ask"):
        assert f"events?since={served.head()}" in served.page(path)


def test_a_slow_answer_has_a_page_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_COUNT_USES", "true")
    monkeypatch.setattr(tasks, "SOON", 0)
    go_on = threading.Event()
    with pieria.open("notes") as bank:
        bank.remember("The ferry leaves from pier nine.", id="pier")

    def slowly(exchange: Exchange) -> None:
        assert go_on.wait(PATIENCE)
        status(400)(exchange)

    with modelled(monkeypatch, *[slowly] * 40), facing() as served:
        question = {"q": "Where does the ferry leave from?"}
        begun, again = ask(served, **question), ask(served, **question)
        task = begun.headers["location"]
        assert begun.status_code == 303 and again.headers["location"] == task
        assert "Running" in served.page(task)
        go_on.set()
        page = html.unescape(over(served, begun))
        assert "pier nine" in page and "How it was found" in page and "get mode" in page
        [back] = re.findall(r'href="([^"]*)">Continue</a>', page)
        assert question["q"] in html.unescape(served.page(back))
        with pieria.open("notes", settings={"llm": "none"}) as bank:
            bank.sync()
            assert bank.usage("pier")["pier"].accesses == 0
            bank.purge("pier")
        erased = served.page(task)
        assert "pier nine" not in erased and "erased in the meantime" in erased


def test_a_quick_answer_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "SOON", PATIENCE)
    with pieria.open("notes") as bank:
        bank.remember("The ferry leaves from pier nine.", id="pier")
    with facing() as served:
        asked = ask(served, q="Where does the ferry leave from?")
        assert asked.status_code == 200 and "pier nine" in asked.text and "0 calls" in asked.text
        assert 'value="Where does the ferry leave from?"' in asked.text
        assert "Ask the sessions" not in served.page("/banks/notes/health")
        refused = ask(served, q="Where?", of="no such session")
        assert refused.status_code == 404 and 'value="Where?"' in refused.text
        assert ask(served, q=" ").status_code == 422


def test_a_trace_counts_the_calls_of_models_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    with pieria.open("notes") as bank:
        bank.remember("The ferry leaves from pier nine.", id="pier")
    with modelled(monkeypatch, "semantic", "ferry\npier", status(400)), facing() as served:
        asked = {"query": "Where does the ferry leave from?"}
        assert served.client.post("/v1/banks/notes/tools/sessions_recall", json=asked).status_code == 200
        (page,) = traces(served)
    assert '<th scope="row">get mode</th><td>server:m</td><td>1</td><td>0</td>' in page
    assert '<th scope="row">get plan</th>' in page and "<dt>Skipped</dt><dd>refinement (adapter)</dd>" in page
    assert '<th scope="row">get refined query</th><td>server:m</td><td>2</td><td>1</td>' in page


def test_recalls_unfold_into_traces_without_their_words() -> None:
    with pieria.open("notes") as bank, facing() as served:
        bank.remember("The ferry leaves from pier nine.", id="pier")
        bank.remember("A heron stands on the pier.", id="heron")
        post, question = served.client.post, {"query": "which pier has a bittern?"}
        served.client.get("/banks/notes/recall?q=pier+bittern")
        assert post("/v1/banks/notes/recall", json={**question, "policy": "similarity"}).status_code == 200
        assert post("/v1/banks/notes/tools/sessions_recall", json=question).status_code == 200
        listed = served.page(SESSIONS)
        assert ">recall" in listed and " ms</td>" in listed and "hits" in listed and "bittern" not in listed
        of_knowledge, by_program, by_page = traces(served)
        for page in (of_knowledge, by_program, by_page):
            assert "bittern" not in page and "The ferry leaves from pier nine." in page
        assert "<dd>similarity</dd>" in by_program and "<dd>hybrid</dd>" in by_page
        assert '<th scope="row">text</th>' in by_page and "Cut by the deadline" in by_page and "Confidence" in by_page
        for told in ("hop 0", "multi hop", "terms", "reasoning"):
            assert f'<th scope="row">{told}</th><td>' in of_knowledge
        assert "No model was called: rules decided." in of_knowledge and "semantic, score" in of_knowledge
        bank.remove("pier")
        page = traces(served)[-1]
        assert "memory?id=pier" not in page and "1 other not listed" in page
        [trace, *_] = re.findall(r"sessions/trace\?id=\w+", served.page(SESSIONS))
        pieria.open("other").close()
        assert served.client.get(f"/banks/other/{trace}").status_code == 404
        sign_in(served, "read", "other")
        for path in (trace, "sessions"):
            assert served.client.get(f"/banks/notes/{path}").status_code == 403


def test_a_failed_recall_is_noted_by_its_kind_of_error() -> None:
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
