"""Places for work: slow work makes room for other work, and has a lane of its own."""

import threading
from functools import partial
from time import thread_time

import anyio
import pytest

from pieria.doors import lanes
from pieria.doors.lanes import Places
from pieria.runtime import effort

PATIENCE = 30.0


def slow_down() -> None:
    began = thread_time()
    while thread_time() - began < effort.SLOW:
        pass
    effort.pause()


def test_slow_work_gives_its_place_away() -> None:
    goes_on = threading.Event()

    def slow() -> str:
        slow_down()
        assert goes_on.wait(PATIENCE)
        return "slow"

    async def main() -> list[str]:
        shared = Places(1)
        done: list[str] = []

        async def run_slow() -> None:
            done.append(await shared.run(slow))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_slow)
            await anyio.lowlevel.checkpoint()
            done.append(await shared.run(lambda: "quick"))
            goes_on.set()
        done.append(await shared.run(lambda: "again"))
        return done

    assert anyio.run(main) == ["quick", "slow", "again"]


def test_slow_work_goes_on_a_few_at_a_time() -> None:
    at_work: set[int] = set()
    most: list[int] = []

    def slow(number: int) -> None:
        slow_down()
        at_work.add(number)
        most.append(len(at_work))
        slow_down()
        at_work.remove(number)

    async def main() -> None:
        shared = Places(8)
        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(shared.run, partial(slow, number))

    anyio.run(main)
    assert len(most) == 8 and max(most) <= lanes.SLOW_AT_ONCE


def test_without_room_slow_work_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "SLOW_WAITING", 0)

    async def main() -> str:
        shared = Places(1)
        await shared.run(slow_down)
        return await shared.run(lambda: "quick")

    assert anyio.run(main) == "quick"


def test_work_given_up_before_it_begins_leaves_its_place() -> None:
    async def run() -> None:
        places = Places(1)
        for _ in range(50):
            with anyio.CancelScope() as scope:
                scope.cancel()
                await places.run(lambda: None, abandoned=True)
        with anyio.fail_after(5):
            assert await places.run(lambda: "done") == "done"

    anyio.run(run)


def test_a_thread_that_outlives_its_server_ends_quietly(caplog: pytest.LogCaptureFixture) -> None:
    begun, go = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def work() -> None:
        threads.append(threading.current_thread())
        begun.set()
        go.wait(10)

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: Places(1).run(work, abandoned=True))
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()

    anyio.run(run)
    go.set()
    threads[0].join(10)
    assert caplog.records == []
