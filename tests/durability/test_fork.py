"""A forked child is refused the bank of its parent and opens its own, and neither breaks the other.

Each scene is one whole process, because a fork must start from one thread and without a test runner around it.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import PATIENCE, done

import pieria
from pieria.bank import Bank
from pieria.errors import BusyError, ForkedError
from pieria.runtime.background import background
from pieria.workspace.open_stores import stores

FORK = multiprocessing.get_context("fork")
MODELS = Path(sys.prefix) / "share" / "pieria" / "models"


def texts(bank: Bank) -> set[str]:
    return {memory.text for memory in bank.list(limit=10_000)}


def write(folder: str, text: str) -> None:
    with pieria.open("forked", data=folder) as own:
        own.remember(text)


def child(work: Callable[[], None]) -> int:
    """Fork a child that does the work and exits. Return its process id for `ended_well`."""
    pid = os.fork()
    if pid:
        return pid
    signal.alarm(int(PATIENCE / 2))
    try:
        work()
    except BaseException:  # noqa: BLE001 - told to the parent by the exit code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def ended_well(pid: int) -> None:
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "the forked process failed; what it said is above"


@contextmanager
def held_by_a_thread(*held: AbstractContextManager[Any]) -> Iterator[threading.Event]:
    """Let another thread be inside these during the block, or until the event is set."""
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as stack:
            for each in held:
                stack.enter_context(each)
            inside.set()
            leave.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert inside.wait(PATIENCE)
        yield leave
    finally:
        leave.set()
        thread.join(PATIENCE)


def inherited_is_refused(pipe: Connection, folder: str) -> None:
    """The child gets the error at once, although threads of the parent hold every lock on the way. It opens its own."""
    workspace = pieria.Workspace(folder)
    bank = workspace.open("forked")
    workspace.open_repo("repository")
    session = bank.session("Bake bread")
    places, sessions, parent = bank.places, bank.sessions, os.getpid()
    uses: dict[str, list[Callable[[], object]]] = {
        "bank": [
            lambda: bank.remember("child"), lambda: bank.recall("bread"), bank.stats, bank.jobs.list,
            lambda: bank.wait(0, 1), lambda: bank.session("Sail"), places.counts, sessions.list,
            sessions.opened.standing,
        ],
        "workspace": [
            lambda: workspace.open("other"), lambda: workspace.open_repo("other"), workspace.banks,
            workspace.list_repos, lambda: workspace.remove_bank("forked"), lambda: workspace.session(session.id),
        ],
        "session": [lambda: session.append("flour", "bread"), session.get_context, session.close],
    }  # fmt: skip

    def work() -> None:
        for kind, use in ((kind, use) for kind, asked in uses.items() for use in asked):
            with pytest.raises(ForkedError) as refused:
                use()
            problem = refused.value
            assert (problem.opened_in, problem.process) == (parent, os.getpid())
            assert problem.what.startswith(kind)
            assert "in this process" in str(problem.hint)
        bank.close()
        workspace.close()
        with pieria.Workspace(folder) as own:
            own.open("forked").remember("child")
            own.open("forked").session("Sail").append("wind", "sail")

    locks = (stores.lock, workspace._own_lock, places._lock, session._machine.changed, background._lock)
    with held_by_a_thread(*locks):
        ended_well(child(work))
    session.append("flour", "bread")
    bank.remember("parent")
    assert texts(bank) == {"child", "parent"}
    workspace.close()


def child_uses_the_model(pipe: Connection, folder: str) -> None:
    """Parent and child use the real model, while threads of the parent write and recall. Each finds the other's."""
    settings = {"embedder": "local", "models": str(MODELS)}
    bird = "The heron nests by the mill."

    def found(bank: Bank, question: str) -> str:
        text: str = bank.recall(question, k=1)[0].memory.text
        return text

    with pieria.open("forked", data=folder, settings=settings) as bank:
        bank.remember(bird)
        assert bank.sync(PATIENCE)
        stop, made = threading.Event(), list[str]()

        def keep_at_it(number: int) -> None:
            while not stop.is_set():
                made.append(bank.remember(f"Thread {number} counts.").id)
                assert found(bank, "Which bird lives at the water?") == bird

        def work() -> None:
            with pieria.open("forked", data=folder, settings=settings) as own:
                own.remember("The child bakes rye loaves.", id=str(os.getpid()))
                assert found(own, "Which bird lives at the water?") == bird

        threads = [threading.Thread(target=keep_at_it, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        children = [child(work) for _ in range(3)]
        for pid in children:
            ended_well(pid)
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert all(bank.get(id) is not None for id in (*made, *map(str, children)))
        assert found(bank, "Who makes bread?") == "The child bakes rye loaves."
        assert bank.count() == 1 + len(set(made)) + 3
        assert bank.doctor().well


def either_may_close_first(pipe: Connection, folder: str) -> None:
    """A thread reads during the fork. No write is lost, whoever closes first, also if a third process opens it."""
    bank = pieria.open("forked", data=folder)
    bank.remember("before the fork")
    closed, written = FORK.Event(), FORK.Event()

    def work() -> None:
        with pieria.open("forked", data=folder) as own:
            own.remember("child")
            written.set()
            assert closed.wait(PATIENCE)
            own.remember("child, after the parent closed")

    with held_by_a_thread(bank.core.store.reading()) as leave:
        letting_go = threading.Timer(0.2, leave.set)
        letting_go.start()
        ended_well(child(lambda: write(folder, "first child")))
    bank.remember("parent, after a child closed")
    pid = child(work)
    assert written.wait(PATIENCE)
    bank.close()
    ended_well(child(lambda: write(folder, "third")))
    closed.set()
    ended_well(pid)
    with pieria.open("forked", data=folder) as again:
        assert texts(again) == {
            "before the fork", "first child", "parent, after a child closed", "child", "third",
            "child, after the parent closed",
        }  # fmt: skip
        assert again.doctor().well


def parents_locks_hold(pipe: Connection, folder: str) -> None:
    """No child may write while the parent is in a write. The parent's write must be complete."""
    with pieria.open("forked", data=folder) as bank:
        bank.remember("before the fork")
        held, tried = FORK.Event(), FORK.Event()

        def work() -> None:
            assert held.wait(PATIENCE)
            with pieria.open("forked", data=folder, settings={"busy_seconds": 5}) as own, pytest.raises(BusyError):
                own.remember("child, while the parent writes")
            tried.set()

        pid = child(work)
        with held_by_a_thread(bank.core.store.writing()):
            held.set()
            assert tried.wait(PATIENCE)
        ended_well(pid)
        bank.remember("after")
        assert texts(bank) == {"before the fork", "after"}


def fork_while_a_read_stays_open(pipe: Connection, folder: str) -> None:
    """If a fork times out, the child is refused the file: SQLite would take locks for granted there."""
    with pieria.open("forked", data=folder) as bank:
        bank.remember("before the fork")

        def work() -> None:
            with pytest.raises(ForkedError) as refused:
                pieria.open("forked", data=folder)
            assert "while it is idle" in str(refused.value.hint)
            with pieria.open("other", data=folder) as other:
                other.remember("elsewhere")

        with held_by_a_thread(bank.core.store.reading()):
            ended_well(child(work))
        bank.remember("parent")
        assert texts(bank) == {"before the fork", "parent"}


def fork_inside_ones_own_reading(pipe: Connection, folder: str) -> None:
    """The forking thread itself has a read open. The parent goes on with it."""
    with pieria.open("forked", data=folder) as bank:
        bank.remember("before the fork")
        with bank.core.store.reading() as reader:
            assert reader.head().documents == 1
            ended_well(child(lambda: write(folder, "child")))
            assert reader.head().documents == 1
        bank.remember("parent")
        assert texts(bank) == {"before the fork", "child", "parent"}


FAST = (inherited_is_refused, fork_inside_ones_own_reading)
SLOW = (child_uses_the_model, either_may_close_first, parents_locks_hold, fork_while_a_read_stays_open)


@pytest.mark.parametrize("scene", [*FAST, *(pytest.param(scene, marks=pytest.mark.slow) for scene in SLOW)])
def test_fork(tmp_path: Path, scene: Callable[..., None]) -> None:
    assert done(scene, str(tmp_path)) == []


FORK_DURING_IMPORTS = """
import os, signal, sys, threading
import pieria

def use(bank):
    bank.facts.stats(), bank.recall("heron"), bank.context()

with pieria.open("notes", data=sys.argv[1]) as bank:
    bank.remember("heron")
    thread = threading.Thread(target=use, args=(bank,))
    thread.start()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        use(pieria.open("notes", data=sys.argv[1]))
        os._exit(0)
    thread.join()
    sys.exit(os.waitpid(child, 0)[1] != 0)
"""


@pytest.mark.slow
def test_child_does_not_wait_for_imports_of_the_parent(tmp_path: Path) -> None:
    """The process forks while one of its threads loads a module for the first time."""
    command = [sys.executable, "-c", FORK_DURING_IMPORTS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
