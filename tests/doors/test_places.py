"""Places for work: slow work makes room for other work, and has a lane of its own."""

import threading
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
    """With one place, quick work is done while slow work is still running."""
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
    at_work, most = 0, 0
    lock = threading.Lock()

    def slow() -> None:
        nonlocal at_work, most
        slow_down()
        with lock:
            at_work += 1
            most = max(most, at_work)
        slow_down()
        with lock:
            at_work -= 1

    async def main() -> None:
        shared = Places(8)
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(shared.run, slow)

    anyio.run(main)
    assert 1 <= most <= lanes.SLOW_AT_ONCE


def test_without_room_slow_work_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "SLOW_WAITING", 0)

    async def main() -> str:
        shared = Places(1)
        await shared.run(slow_down)
        return await shared.run(lambda: "quick")

    assert anyio.run(main) == "quick"
