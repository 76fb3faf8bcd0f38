"""A bank used from asyncio: opening, verbs, iteration, callbacks, loops, refusals and sessions."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from tests.aio.loops import in_a_loop

import pieria
import pieria.aio
from pieria.errors import AdapterError, ClosedError, InputError, UnavailableError
from pieria.sessions import SessionState


@in_a_loop
async def test_bank_is_closed_at_the_end_of_its_block() -> None:
    async with pieria.aio.open("notes") as bank:
        kept = await bank.remember("We chose JWT for all new APIs.", tags=["auth"])
        [hit] = await bank.recall("JWT")
        assert hit.memory.id == kept.id
    with pytest.raises(ClosedError):
        await bank.recall("JWT")


@in_a_loop
async def test_workspace_is_ready_when_awaited_or_entered(tmp_path: Path) -> None:
    workspace = pieria.aio.Workspace(tmp_path)
    with pytest.raises(ClosedError, match="not awaited yet"):
        _ = workspace.data
    async with workspace:
        assert workspace.data == tmp_path
        bank = await workspace.open("notes")
        assert isinstance(bank, pieria.aio.Bank) and bank.name == "notes"
    with pytest.raises(ClosedError):
        await workspace.open("notes")
    again = await pieria.aio.Workspace(tmp_path)
    assert await again.banks() == ["notes"]
    await again.close()


@in_a_loop
async def test_results_that_act_on_the_bank_are_mirrored() -> None:
    async with pieria.aio.Workspace() as workspace:
        bank = await workspace.open_repo("notes")
        assert isinstance(bank, pieria.aio.Bank)
        await bank.facts.add("Maya", "works_on", "billing")
        [fact] = await bank.facts.query("Maya")
        assert fact.object == "billing" and (await bank.graph.graph).nodes == {}
        assert not bank.vault.is_set
        await bank.jobs.add("embed")
        worker = await bank.jobs.worker()
        assert await worker.run(once=True) == {"done": 1}
        taken = await (await bank.sources.intake()).take([pieria.NewMemory("a word", id="one")])
        assert taken.outcomes == ["new"]


@in_a_loop
async def test_changes_are_followed_as_they_happen() -> None:
    async with pieria.aio.open("notes") as bank:
        begun = asyncio.Event()
        seen: list[int] = []

        async def follow() -> None:
            async for change in bank.follow(0):
                seen.append(change.seq)
                begun.set()

        following = asyncio.create_task(follow())
        await bank.remember("first")
        await begun.wait()
        await bank.remember("second")
        await bank.close()
        await following
    assert seen in ([1], [1, 2])


@in_a_loop
async def test_errors_are_raised_where_a_call_is_awaited() -> None:
    async with pieria.aio.open("notes") as bank:
        with pytest.raises(InputError, match="importance"):
            await bank.remember("a word", importance=7)
        with pytest.raises(TypeError, match="tag"):
            await bank.remember("a word", tag="auth")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="name"):
        await pieria.aio.open("no/name")


def test_call_outside_an_event_loop_is_refused() -> None:
    call = pieria.aio.Workspace().banks()
    with pytest.raises(UnavailableError, match=r"asyncio\.run"):
        call.send(None)


ALIKE = [{"text": "Maya works on billing."}, {"text": "Billing is what Maya works on."}]
WHO: ContextVar[str] = ContextVar("who")
Options = Mapping[str, Any] | None


@in_a_loop
async def test_call_sees_the_context_variables_of_its_caller() -> None:
    seen: list[tuple[str, bool]] = []

    def policy(features: Any) -> float:
        seen.append((WHO.get(), threading.current_thread() is threading.main_thread()))
        return 1.0

    async with pieria.aio.open("notes") as bank:
        await bank.remember("a word")
        WHO.set("Maya")
        await bank.recall("word", policy=policy)
    assert set(seen) == {("Maya", False)}


@in_a_loop
async def test_progress_may_be_a_coroutine_that_ends_the_call() -> None:
    told: list[tuple[int, int]] = []

    async def progress(done: int, of: int) -> None:
        await asyncio.sleep(0)
        assert threading.current_thread() is threading.main_thread()
        told.append((done, of))

    async def impatient(done: int, of: int) -> None:
        raise TimeoutError("too long")

    async with pieria.aio.open("notes", settings={"embedder": "hashing"}) as bank:
        await bank.remember_many([{"text": f"word {number}"} for number in range(3)], progress=progress)
        assert told[-1] == (6, 6)
        with pytest.raises(TimeoutError, match="too long"):
            await bank.remember_many([{"text": "a word"}], progress=impatient)
        assert await bank.count() in (3, 4)


@in_a_loop
async def test_a_notifier_may_be_a_coroutine() -> None:
    names: list[str] = []

    class Told:
        async def notify(self, repo_id: str, event: pieria.Event) -> None:
            assert threading.current_thread() is threading.main_thread()
            names.append(event.name)

    async with pieria.aio.Workspace(notifier=Told()) as workspace:
        await workspace.open_repo("notes")
        await workspace.delete_nodes("notes", [])
    assert names == ["nodes_deleted"]


async def model(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
    await asyncio.sleep(0)
    raise ConnectionError("nobody there")


@in_a_loop
async def test_a_language_model_may_be_a_coroutine() -> None:
    async with pieria.aio.Workspace(llm=model) as workspace, workspace.open("notes") as bank:
        kept = await bank.remember_many(ALIKE)
        with pytest.raises(AdapterError) as refused:
            await bank.upkeep.merge([one.id for one in kept])
    assert isinstance(refused.value.__cause__, ConnectionError)


class Vectors:
    """Embeds a text by its length and simulates a connection."""

    async def embed(self, text: str, opts: Options = None) -> pieria.EmbeddingResponse:
        return await self.embed_batch([text])

    async def embed_batch(self, texts: Sequence[str], opts: Options = None) -> pieria.EmbeddingResponse:
        await asyncio.sleep(0)
        return pieria.EmbeddingResponse([[1.0, float(len(text))] for text in texts], "lengths")


@in_a_loop
async def test_embedder_may_be_a_coroutine() -> None:
    async with pieria.aio.Workspace(embedder=Vectors()) as workspace, workspace.open("notes") as bank:
        kept = await bank.remember("a word")
        assert await bank.sync(30.0) and await bank.embedded(kept.id) == {kept.id}
        settings = (await bank.doctor()).settings
    assert settings["embedder"] == ("custom:Vectors", "argument")


def test_callback_of_an_ended_loop_is_an_error() -> None:
    async def begin() -> tuple[pieria.aio.Workspace, pieria.aio.Bank]:
        workspace = await pieria.aio.Workspace(llm=model)
        return workspace, await workspace.open("notes")

    async def go_on() -> None:
        kept = await bank.remember_many(ALIKE)
        with pytest.raises(ClosedError, match="event loop of model"):
            await bank.upkeep.merge([one.id for one in kept])
        await workspace.close()

    workspace, bank = asyncio.run(begin())
    asyncio.run(go_on())


def test_restore_and_copy_are_awaited(tmp_path: Path) -> None:
    async def both() -> tuple[Any, Any]:
        async with pieria.aio.open("notes") as bank:
            await bank.remember("a word")
            file = await bank.backup(tmp_path / "notes.backup")
        restored = await pieria.aio.restore(file, name="again")
        return restored, await pieria.aio.copy("again", to=tmp_path / "elsewhere")

    restored, copied = asyncio.run(both())
    assert restored.bank == copied.bank == "again"


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
        assert told == ["appended"] and await bank.count(kinds="episodic") == 2


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
