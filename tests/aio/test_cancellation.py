"""A waiting caller may be cancelled at any moment: answered writes are stored, and no write is stored in part."""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest
from tests.aio.loops import in_a_loop

import pieria
import pieria.aio
from pieria.aio.call import PLACES, Pool, pool

GROUPS = 200
SIZE = 3


def test_answered_writes_are_kept_and_none_by_half() -> None:
    answered = asyncio.run(cancelled_at_random(Random(0)))
    with pieria.open("notes") as bank:
        held = {int(tag): number for tag, number in bank.count(by="tags").items()}
        assert bank.doctor().well
    assert answered <= held.keys() and set(held.values()) == {SIZE}
    assert len(answered) < GROUPS


async def cancelled_at_random(chance: Random) -> set[int]:
    """Write groups of memories, each in one write; after each answer cancel some of the waiting calls."""
    answered: set[int] = set()
    async with pieria.aio.open("notes") as bank:

        async def write(group: int) -> None:
            await bank.remember_many([{"text": f"{group} {part}", "tags": [str(group)]} for part in range(SIZE)])
            answered.add(group)
            for other in chance.choices(tasks, k=chance.randrange(3)):
                other.cancel()

        tasks = [asyncio.create_task(write(group)) for group in range(GROUPS)]
        for _ in range(chance.randrange(40)):
            await asyncio.sleep(0)
        for task in chance.sample(tasks, GROUPS // 8):
            task.cancel()
        over = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(one is None or isinstance(one, asyncio.CancelledError) for one in over)
    return answered


@in_a_loop
async def test_cancelled_call_that_has_not_begun_is_withdrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Pool()
    monkeypatch.setattr("pieria.aio.call.pool", own)
    # No thread gives up its place.
    monkeypatch.setattr("pieria.aio.call.MOMENT", 3600.0)
    async with pieria.aio.open("notes") as bank:
        waiting = [asyncio.create_task(bank.wait(2, 3600.0)) for _ in range(PLACES)]
        while own.at_work < PLACES:
            await asyncio.sleep(0)
        writing = [asyncio.create_task(bank.remember("never said")) for _ in range(10)]
        await asyncio.sleep(0)
        for task in [*writing, *waiting]:
            task.cancel()
        await asyncio.gather(*writing, *waiting, return_exceptions=True)
        assert await bank.count() == 0


@in_a_loop
async def test_cancelled_call_that_has_begun_is_finished() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def progress(done: int, of: int) -> None:
        begun.set()
        await go_on.wait()

    async with pieria.aio.open("notes", settings={"embedder": "hashing"}) as bank:
        writing = asyncio.create_task(bank.remember_many([{"text": "one"}, {"text": "two"}], progress=progress))
        await begun.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        go_on.set()
        while await bank.count() < 2:
            await asyncio.sleep(0)


@pytest.mark.parametrize("impatience", [0, 1, 5])
@in_a_loop
async def test_cancelled_block_closes_its_bank(impatience: int) -> None:
    entered = asyncio.Event()
    banks: list[pieria.aio.Bank] = []

    async def use() -> None:
        async with pieria.aio.open("notes") as bank:
            banks.append(bank)
            await bank.remember("a word")
            entered.set()
            await bank.wait(100, 3600.0)

    using = asyncio.create_task(use())
    await entered.wait()
    using.cancel()
    for _ in range(impatience):
        await asyncio.sleep(0)
        using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    await until_idle()
    assert "closed" in repr(banks[0])


@in_a_loop
async def test_cancelled_opening_leaves_nothing_open() -> None:
    for yields in range(0, 30, 3):
        opening = asyncio.create_task(enter("notes"))
        for _ in range(yields):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
    # A bank that is open in this process cannot be replaced.
    async with pieria.aio.open("notes") as bank:
        file = await bank.backup("notes.backup")
    await until_idle()
    assert (await pieria.aio.restore(file, name="notes", replace=True)).replaced


async def enter(name: str) -> None:
    async with pieria.aio.open(name):
        pass


async def until_idle() -> None:
    while pool.at_work or pool.waiting:
        await asyncio.sleep(0)


async def working(bank: pieria.aio.Bank) -> object:
    return await (await bank.jobs.worker()).run()


WAITING: dict[str, Callable[[pieria.aio.Bank], Coroutine[Any, Any, object]]] = {
    "wait": lambda bank: bank.wait(100, 3600.0),
    "follow": lambda bank: anext(bank.follow()),
    "worker": working,
}


@pytest.mark.parametrize("waits", WAITING)
def test_thread_of_a_cancelled_wait_is_free_again(waits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.bank.read.get.PATIENCE", 0.01)

    async def cancelled() -> None:
        async with pieria.aio.open("notes") as bank:
            waiting = [asyncio.create_task(WAITING[waits](bank)) for _ in range(10)]
            while pool.at_work < len(waiting):
                await bank.count()
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            await until_idle()

    asyncio.run(asyncio.wait_for(cancelled(), 60.0))
