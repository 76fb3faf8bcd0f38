"""The threads behind sessions: they exist while there is work, and none delays the end of the process."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.scripted_sessions import Life, bake, start

from pieria.errors import ClosedError, SessionError
from pieria.graph import Changeset, InMemoryBackend, Tag
from pieria.runtime import pool
from pieria.runtime.pool import Pool
from pieria.runtime.timers import Timers
from pieria.sessions import Crew, Session, SessionState, leave

SOON = 20.0
ROOT = Path(__file__).parents[2]


def signalled(here: threading.Event, go_on: threading.Event, most: float | None = SOON) -> Callable[[], bool]:
    def work() -> bool:
        here.set()
        return go_on.wait(most)

    return work


def ended(name: str) -> bool:
    for thread in [thread for thread in threading.enumerate() if thread.name == name]:
        thread.join(SOON)
    return name not in {thread.name for thread in threading.enumerate()}


def test_pool_uses_its_threads_and_keeps_none(caplog: pytest.LogCaptureFixture) -> None:
    crowd, go_on = Pool("three", 3), threading.Barrier(3)
    left, met = threading.Semaphore(0), []

    def work() -> None:
        go_on.wait(SOON)
        met.append(threading.current_thread().name)
        left.release()

    crowd.submit(lambda: 1 / 0)
    for _ in range(6):
        crowd.submit(work)
    for _ in range(6):
        assert left.acquire(timeout=SOON)
    assert met == ["three"] * 6
    assert ended("three")
    assert "ZeroDivisionError" in caplog.text


def test_ended_pool_begins_nothing_more() -> None:
    crowd, here, go_on, began = Pool("ending", 1), threading.Event(), threading.Event(), []
    crowd.submit(signalled(here, go_on))
    crowd.submit(lambda: began.append("a second"))
    assert here.wait(SOON)
    crowd.end(until=time.monotonic())
    crowd.submit(lambda: began.append("a third"))
    go_on.set()
    assert ended("ending")
    assert began == []


def test_timers_ring_once_and_need_a_thread_only_when_armed() -> None:
    timers, rung, done = Timers(), [], threading.Event()
    timers.arm("a", 3_600_000, lambda: rung.append("too late"))
    waiting = timers._thread
    timers.arm("b", 3_600_000, lambda: rung.append("disarmed"))
    timers.arm("a", 1, lambda: rung.append("in its place"))
    timers.disarm("b")
    timers.arm("c", 2, lambda: 1 / 0)
    timers.arm("d", 3, done.set)
    assert done.wait(SOON)
    assert waiting is not None
    waiting.join(SOON)
    assert not waiting.is_alive()
    assert rung == ["in its place"]
    timers.disarm("a")


def test_sessions_draw_at_the_same_time_without_a_lock() -> None:
    before = {*threading.enumerate()}
    life, crew = Life(), Crew()
    assert {*threading.enumerate()} <= before
    together, go_on = threading.Barrier(4), threading.Event()
    life.mind.within["propositions"] = lambda: (together.wait(SOON), go_on.wait(SOON))
    sessions = [life.begin(crew=crew) for _ in range(3)]
    for number, session in enumerate(sessions):
        session.append(f"loaf {number}", "bread goes on")
        session.close()
    together.wait(SOON)
    assert [session.state for session in sessions] == [SessionState.EXTRACTING] * 3
    assert all(session.get_context() for session in sessions)
    with pytest.raises(SessionError):
        sessions[0].append("flour", "bread goes on")
    go_on.set()
    for session in sessions:
        session.wait(SOON)
    assert len(life.facts()) == 3


def test_threads_that_append_to_one_session_lose_no_step() -> None:
    life = Life()
    session = life.begin(crew=Crew())

    def append(number: int) -> None:
        for loaf in range(5):
            session.append(f"loaf {number}-{loaf}", f"{('bread', 'ships')[loaf % 2]} goes on")

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(append, range(6)))
    assert [event["step_index"] for event in life.told("step_appended")] == list(range(30))
    session.close_and_commit()
    assert len(life.steps()) == len(life.facts()) == 30


class Watched(InMemoryBackend):
    """Notes each read of its tags and each write, and if the calling thread held the repository's lock."""

    def __init__(self, crew: Crew) -> None:
        super().__init__()
        self._crew = crew
        self.alone: list[bool] = []

    def find_tags(self, labels: Sequence[str]) -> list[Tag]:
        self.alone.append(self._crew.lane("kitchen").locked())
        return super().find_tags(labels)

    def apply_changeset(self, changeset: Changeset) -> None:
        self.alone.append(self._crew.lane("kitchen").locked())
        super().apply_changeset(changeset)


@pytest.mark.parametrize("auto", [True, False])
def test_sessions_that_commit_at_once_share_tags(auto: bool) -> None:
    crew = Crew()
    backend = Watched(crew)
    life = Life(auto_commit=auto, backend=backend)
    sessions = [life.begin(crew=crew) for _ in range(4)]
    for number, session in enumerate(sessions):
        session.append(f"loaf {number}", "bread goes on")
    for session in sessions:
        session.close()
    for session in [each for each in sessions if each.wait(SOON) is SessionState.READY]:
        session.commit()
    assert backend.alone == [True] * 8
    assert len(life.nodes("semantic")) == 4
    assert [node.text for node in life.nodes("tag")] == ["seen"]


def drawing(life: Life, crew: Crew, most: float | None = SOON) -> tuple[Session, threading.Event]:
    """Return a session that draws from a step, and the event that its mind waits for."""
    here, go_on = threading.Event(), threading.Event()
    life.mind.within["propositions"] = life.mind.within["procedures"] = signalled(here, go_on, most)
    session = life.begin(crew=crew)
    bake(session, "bread")
    session.close()
    assert here.wait(SOON)
    return session, go_on


def test_leaving_waits_for_work_under_way() -> None:
    life, crew = Life(), Crew()
    session, go_on = drawing(life, crew)
    threading.Timer(0.01, go_on.set).start()
    leave([session], patience=SOON)
    crew.close()
    assert len(life.facts()) == 1
    with pytest.raises(ClosedError):
        session.start_episode("Sail")


def test_work_that_takes_too_long_is_left_for_later() -> None:
    life, crew, told = Life(), Crew(), list[Any]()
    session, go_on = drawing(life, crew)
    session.start_episode_async("Sail", told.append)
    leave([session], patience=0)
    crew.close(patience=0)
    assert [type(each) for each in told] == [ClosedError]
    life.mind.within.clear()
    taken_up = Session.resume(session.id, life.surroundings())
    go_on.set()
    assert ended("pieria-extraction")
    assert life.facts() == []
    life.run()
    assert (taken_up.state, len(life.facts())) == (SessionState.IDLE, 1)


def test_left_session_refuses_everything_and_draws_nothing() -> None:
    (life, session), told = start("bread", "ships"), list[Any]()
    for number in range(3):
        session.append_async(f"loaf {number}", "bread goes on", told.append)
    leave([session], patience=0)
    life.run()
    assert [type(each) for each in told[:2]] == [ClosedError, ClosedError]
    assert len(told) == 3
    assert (life.mind.count("propositions"), life.told("trajectory_extraction_failed")) == (0, [])
    leave([session], patience=0)
    uses: list[Callable[[], object]] = [
        session.close, session.close_async, session.close_and_commit, lambda: session.append("flour", "bread"),
        lambda: session.append_async("flour", "bread"),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(ClosedError):
            use()
    assert life.timers.armed == {}


def hang_at_the_end() -> None:
    pool.LAST_WORK = 0.01
    session, _ = drawing(Life(), Crew(), None)
    session.start_episode_async("Sail")


@pytest.mark.slow
def test_process_ends_though_its_model_never_answers() -> None:
    code = "from tests.sessions.test_threads import hang_at_the_end; hang_at_the_end()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
