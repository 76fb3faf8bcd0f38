"""A session from asyncio: it commits at the end of its block, and keeps its steps when that is cancelled."""

import asyncio
from typing import Any

import pytest
from tests.aio.loops import in_a_loop
from tests.sessions.living import Life

import pieria.aio
from pieria.aio.mirroring import Opening
from pieria.sessions import Crew, Session, SessionState


def baking(life: Life) -> Opening[pieria.aio.Session]:
    return Opening(lambda: Session.begin("Bake bread", life.surroundings(crew=Crew())))


@in_a_loop
async def test_what_a_session_learnt_is_committed_when_its_block_ends() -> None:
    life = Life()
    told: list[Any] = []
    over = asyncio.Event()

    async def callback(word: Any) -> None:
        told.append(word)
        over.set()

    async with baking(life) as session:
        await session.append("The oven is cold.", "bread: light it")
        await session.append_async("The oven is hot.", "bread: knead", callback)
        await over.wait()
        assert session.state is SessionState.COLLECTING
        assert (await session.get_context() or {})["goal"] == "Bake bread"
    assert told == ["appended"]
    assert life.backend.get_nodes_by_type(["semantic"])


@in_a_loop
async def test_a_session_whose_block_is_cancelled_keeps_its_steps_uncommitted() -> None:
    life = Life()
    ids: list[str] = []
    appended = asyncio.Event()

    async def bake() -> None:
        async with baking(life) as session:
            await session.append("The oven is cold.", "bread: light it")
            ids.append(session.id)
            appended.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(bake())
    await appended.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    _, steps = life.log.load(ids[0])
    assert [step.observation for step in steps] == ["The oven is cold."]
    assert not life.backend.get_nodes_by_type(["semantic"])
