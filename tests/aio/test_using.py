"""A bank used from asyncio: opening, verbs, iteration, callbacks, loops and refusals."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from tests.aio.loops import in_a_loop

import pieria
import pieria.aio
from pieria.errors import AdapterError, ClosedError, InputError, UnavailableError


@in_a_loop
async def test_a_bank_is_closed_at_the_end_of_its_block() -> None:
    async with pieria.aio.open("notes") as bank:
        kept = await bank.remember("We chose JWT for all new APIs.", tags=["auth"])
        [hit] = await bank.recall("JWT")
        assert hit.memory.id == kept.id
    with pytest.raises(ClosedError):
        await bank.recall("JWT")


@in_a_loop
async def test_a_bank_that_was_awaited_is_closed_by_hand() -> None:
    bank = await pieria.aio.open("notes")
    await bank.remember("a word")
    await bank.close()
    with pieria.open("notes") as same:
        assert same.count() == 1


@in_a_loop
async def test_a_workspace_is_ready_when_it_is_awaited_or_entered(tmp_path: Path) -> None:
    workspace = pieria.aio.Workspace(tmp_path)
    with pytest.raises(ClosedError, match="not awaited yet"):
        _ = workspace.data
    async with workspace:
        assert workspace.data == tmp_path
        bank = await workspace.open("notes")
        assert isinstance(bank, pieria.aio.Bank)
        assert bank.name == "notes"
    with pytest.raises(ClosedError):
        await workspace.open("notes")
    again = await pieria.aio.Workspace(tmp_path)
    assert await again.banks() == ["notes"]
    await again.close()


@in_a_loop
async def test_what_verbs_return_is_mirrored_where_it_acts_on_the_bank_again() -> None:
    async with pieria.aio.Workspace() as workspace:
        bank = await workspace.open_repo("notes")
        assert isinstance(bank, pieria.aio.Bank)
        await bank.facts.add("Maya", "works_on", "billing")
        [fact] = await bank.facts.query("Maya")
        assert fact.object == "billing"
        assert (await bank.graph.graph).nodes == {}
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
async def test_many_calls_may_be_under_way() -> None:
    async with pieria.aio.open("notes") as bank:
        kept = await asyncio.gather(*(bank.remember(f"word {number}") for number in range(100)))
        assert len({one.id for one in kept}) == await bank.count() == 100


# --- refusals


@in_a_loop
async def test_what_is_wrong_with_a_call_is_raised_where_it_is_awaited() -> None:
    async with pieria.aio.open("notes") as bank:
        with pytest.raises(InputError, match="importance"):
            await bank.remember("a word", importance=7)
        with pytest.raises(TypeError, match="tag"):
            await bank.remember("a word", tag="auth")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="name"):
        await pieria.aio.open("no/name")


def test_outside_an_event_loop_it_says_what_it_needs() -> None:
    call = pieria.aio.Workspace().banks()
    with pytest.raises(UnavailableError, match=r"asyncio\.run"):
        call.send(None)


# --- values from the caller


ALIKE = [{"text": "Maya works on billing."}, {"text": "Billing is what Maya works on."}]
WHO: ContextVar[str] = ContextVar("who")


@in_a_loop
async def test_a_call_sees_the_context_variables_of_its_caller() -> None:
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
async def test_a_coroutine_function_for_progress_runs_on_the_loop() -> None:
    told: list[tuple[int, int]] = []

    async def progress(done: int, of: int) -> None:
        await asyncio.sleep(0)
        assert threading.current_thread() is threading.main_thread()
        told.append((done, of))

    async with pieria.aio.open("notes", settings={"embedder": "hashing"}) as bank:
        await bank.remember_many([{"text": f"word {number}"} for number in range(3)], progress=progress)
    assert told[-1] == (6, 6)


@in_a_loop
async def test_what_a_coroutine_for_progress_raises_ends_the_call() -> None:
    async def progress(done: int, of: int) -> None:
        raise TimeoutError("too long")

    async with pieria.aio.open("notes", settings={"embedder": "hashing"}) as bank:
        with pytest.raises(TimeoutError, match="too long"):
            await bank.remember_many([{"text": "a word"}], progress=progress)
        assert await bank.count() in (0, 1)


@in_a_loop
async def test_a_notifier_may_be_a_coroutine() -> None:
    class Told:
        def __init__(self) -> None:
            self.names: list[str] = []

        async def notify(self, repo_id: str, event: pieria.Event) -> None:
            assert threading.current_thread() is threading.main_thread()
            self.names.append(event.name)

    told = Told()
    async with pieria.aio.Workspace(notifier=told) as workspace:
        bank = await workspace.open_repo("notes")
        assert isinstance(bank, pieria.aio.Bank)
        await workspace.delete_nodes("notes", [])
    assert told.names == ["nodes_deleted"]


@in_a_loop
async def test_a_language_model_may_be_a_coroutine() -> None:
    async def model(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
        await asyncio.sleep(0)
        raise ConnectionError("nobody there")

    async with pieria.aio.Workspace(llm=model) as workspace, workspace.open("notes") as bank:
        kept = await bank.remember_many(ALIKE)
        with pytest.raises(AdapterError) as refused:
            await bank.upkeep.merge([one.id for one in kept])
    assert isinstance(refused.value.__cause__, ConnectionError)


class Vectors:
    """Embeds a text by its length and simulates a connection."""

    async def embed(self, text: str, opts: Mapping[str, Any] | None = None) -> pieria.EmbeddingResponse:
        return await self.embed_batch([text])

    async def embed_batch(
        self, texts: Sequence[str], opts: Mapping[str, Any] | None = None
    ) -> pieria.EmbeddingResponse:
        await asyncio.sleep(0)
        return pieria.EmbeddingResponse([[1.0, float(len(text))] for text in texts], "lengths")


@in_a_loop
async def test_an_embedding_may_be_a_coroutine_and_goes_by_its_own_name() -> None:
    async with pieria.aio.Workspace(embedder=Vectors()) as workspace, workspace.open("notes") as bank:
        kept = await bank.remember("a word")
        assert await bank.sync(30.0)
        assert await bank.embedded(kept.id) == {kept.id}
        settings = (await bank.doctor()).settings
    assert settings["embedder"] == ("custom:Vectors", "argument")


def test_a_callback_whose_loop_is_over_is_an_error_and_not_a_wait() -> None:
    async def model(messages: list[dict[str, str]], schema: dict[str, Any] | None) -> str:
        return "{}"

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


# --- several loops


def test_loops_in_several_threads_may_share_a_bank() -> None:
    bank = asyncio.run(opened())

    async def write(thread: int) -> list[str]:
        return [(await bank.remember(f"{thread} {number}")).id for number in range(10)]

    def in_a_thread(thread: int) -> list[str]:
        return asyncio.run(write(thread))

    with ThreadPoolExecutor(4) as threads:
        written = [id for ids in threads.map(in_a_thread, range(4)) for id in ids]
    assert asyncio.run(bank.count()) == len(set(written)) == 40
    asyncio.run(bank.close())


async def opened() -> pieria.aio.Bank:
    return await pieria.aio.open("notes")


def test_restore_and_copy_are_awaited(tmp_path: Path) -> None:
    async def both() -> tuple[Any, Any]:
        async with pieria.aio.open("notes") as bank:
            await bank.remember("a word")
            file = await bank.backup(tmp_path / "notes.backup")
        restored = await pieria.aio.restore(file, name="again")
        return restored, await pieria.aio.copy("again", to=tmp_path / "elsewhere")

    restored, copied = asyncio.run(both())
    assert restored.bank == copied.bank == "again"


def test_a_program_that_leaves_a_bank_open_ends() -> None:
    """Threads never keep the interpreter alive."""
    from tests.aio.processes import ended

    assert (
        ended(
            """
        import asyncio, pieria.aio

        async def main():
            bank = await pieria.aio.open("notes")
            asyncio.create_task(bank.wait(100, 3600.0))
            await bank.remember("a word")
            print(await bank.count())

        asyncio.run(main())
        """
        )
        == "1\n"
    )
