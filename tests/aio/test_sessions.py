"""A session from asyncio commits at the end of its block, and keeps its steps if the block is cancelled."""

import asyncio
from typing import Any

import pytest
from tests.aio.loops import in_a_loop

import pieria.aio
from pieria.sessions import SessionState

COLD, HOT = "The oven of Maya is cold.", "The oven of Maya is hot."


@in_a_loop
async def test_session_commits_at_the_end_of_its_block() -> None:
    told: list[Any] = []
    over = asyncio.Event()

    async def callback(word: Any) -> None:
        told.append(word)
        over.set()

    async with pieria.aio.open("kitchen") as bank:
        async with bank.session(goal="Bake bread") as session:
            await session.append(COLD, "light it")
            await session.append_async(HOT, "knead", callback)
            await over.wait()
            assert session.state is SessionState.COLLECTING
            assert (await session.get_context() or {})["goal"] == "Bake bread"
        assert told == ["appended"]
        assert await bank.count(kinds="episodic") == 2


@in_a_loop
async def test_session_of_a_cancelled_block_keeps_its_steps() -> None:
    ids: list[str] = []
    appended = asyncio.Event()

    async def bake(workspace: pieria.aio.Workspace) -> None:
        bank = await workspace.open_repo("kitchen")
        assert isinstance(bank, pieria.aio.Bank)
        async with bank.session(goal="Bake bread") as session:
            await session.append(COLD, "light it")
            ids.append(session.id)
            appended.set()
            await asyncio.Event().wait()

    async with pieria.aio.Workspace() as workspace:
        baking = asyncio.create_task(bake(workspace))
        await appended.wait()
        baking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await baking
        assert await workspace.get_nodes_by_type("kitchen", ["episodic"]) == []
    async with pieria.aio.Workspace() as another:
        await another.open_repo("kitchen")
        async with another.resume(ids[0]) as session:
            assert [step.observation for step in session.steps] == [COLD]
        [step] = await another.get_nodes_by_type("kitchen", ["episodic"])
    assert COLD in step.text


@in_a_loop
async def test_answered_steps_survive_cancelled_ones() -> None:
    async with pieria.aio.Workspace() as workspace:
        await workspace.open_repo("kitchen")
        id = await workspace.start_session("Bake bread", "kitchen")
        answered: set[str] = set()

        async def append(number: int) -> None:
            await workspace.append(id, f"Maya ate roll {number}.", "bake another")
            answered.add(f"Maya ate roll {number}.")
            tasks[number * 7 % len(tasks)].cancel()

        tasks = [asyncio.create_task(append(number)) for number in range(40)]
        await asyncio.gather(*tasks, return_exceptions=True)
    async with pieria.aio.Workspace() as another:
        await another.open_repo("kitchen")
        session = await another.session(id)
        kept = [step.observation for step in session.steps]
    assert answered <= set(kept)
    assert len(kept) == len(set(kept))
    assert 0 < len(answered) < len(tasks)
