"""The threads behind async calls: as many as needed, none blocks another, and idle ones end."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from textwrap import dedent
from unittest.mock import Mock

import pytest
from tests.aio.loops import in_a_loop
from tests.aio.overhead import measured

import pieria.aio
from pieria.aio import call
from pieria.aio.call import COMPUTING, MOMENT, PLACES, Pool, _Begun

BOUND = 60.0
"""Seconds to wait before concluding that an event will not come."""
SOURCE = Path(__file__).parents[2] / "src"


def printed(program: str) -> str:
    """Run a program in a process of its own; fail if it ends with an error or writes to stderr."""
    command, environment = (
        [sys.executable, "-W", "error", "-c", dedent(program)],
        {**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=BOUND)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


@in_a_loop
async def test_waiting_calls_do_not_hold_up_others() -> None:
    async with pieria.aio.open("notes") as bank:
        waiting = [asyncio.create_task(bank.wait(1_000, 3600.0)) for _ in range(4 * PLACES)]
        kept = await asyncio.wait_for(asyncio.gather(*(bank.remember(f"word {n}") for n in range(50))), BOUND)
        assert len(kept) == 50 and not any(task.done() for task in waiting)
        await asyncio.wait_for(bank.close(), BOUND)
        await asyncio.gather(*waiting, return_exceptions=True)


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="no thread's processor time is told here")
def test_computing_call_is_not_taken_for_a_waiting_one() -> None:
    me = threading.get_ident()
    begun = _Begun(at=0.0, used=time.thread_time())
    assert begun.waits(me, 100 * MOMENT) and not begun.waits(me, 0.9 * MOMENT)
    while time.thread_time() - begun.used < 100 * MOMENT * COMPUTING:
        pass
    assert not begun.waits(me, 100 * MOMENT)


def test_short_calls_share_a_few_threads() -> None:
    pool = Pool()
    for future in [pool.submit(lambda: None) for _ in range(500)]:
        future.result(BOUND)
    assert pool.threads <= 2 * PLACES


def test_closing_runs_though_every_thread_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "MOST", 3)
    pool, over = Pool(), threading.Event()
    waiting = [pool.submit(lambda: over.wait(BOUND)) for _ in range(3)]
    behind: Future[str] = pool.submit(lambda: "at last")
    assert pool.submit(lambda: "closed", at_once=True).result(BOUND) == "closed"
    over.set()
    assert behind.result(BOUND) == "at last" and all(future.result(BOUND) for future in waiting)


def test_idle_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "IDLE", 0.01)
    pool = Pool()
    thread = pool.submit(threading.current_thread).result(BOUND)
    thread.join(BOUND)
    assert not thread.is_alive() and pool.threads == 0
    assert pool.submit(lambda: "again").result(BOUND) == "again"


def test_missing_thread_is_an_error_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool()
    with monkeypatch.context() as refusing:
        refusing.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError, match="new thread"):
            pool.submit(lambda: None).result(BOUND)
    assert pool.submit(lambda: "again").result(BOUND) == "again"


@pytest.mark.slow
def test_forked_process_has_threads_of_its_own() -> None:
    """Threads never keep the interpreter alive either: a bank is left open."""
    program = """
        import asyncio, os, pieria.aio

        async def main(word):
            async with pieria.aio.open("notes") as bank:
                await bank.remember(word)
                return await bank.count()

        async def leave():
            bank = await pieria.aio.open("notes")
            asyncio.create_task(bank.wait(100, 3600.0))
            print(await bank.count())

        asyncio.run(main("parent"))
        child = os.fork()
        if child == 0:
            print(asyncio.run(main("child")), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        asyncio.run(leave())
        """
    assert printed(program) == "2\n2\n"


def test_importing_pieria_does_not_import_asyncio() -> None:
    assert (
        printed("import sys, pieria; print('asyncio' in sys.modules, 'pieria.aio' in sys.modules)") == "False False\n"
    )


@in_a_loop
async def test_cost_of_a_call_can_be_measured() -> None:
    found = await measured(5)
    assert list(found) == ["get", "remember", "recall"]
    assert all(verb["times"] > 0 and verb["processor_times"] >= 0 for verb in found.values())


def test_result_just_after_the_last_wait_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    class JustThen(Future[str]):
        """A future that is done between the end of a wait and the check after it."""

        def result(self, timeout: float | None = None) -> str:
            if timeout is not None:
                self.set_result("kept")
                raise TimeoutError
            return super().result()

    async def ask() -> str:
        return "kept"

    def begun(asked: Coroutine[object, object, str], loop: asyncio.AbstractEventLoop) -> JustThen:
        asked.close()
        return JustThen()

    loop = asyncio.new_event_loop()
    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", begun)
    try:
        assert call._run_on(loop, ask)() == "kept"
    finally:
        loop.close()
