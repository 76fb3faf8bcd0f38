"""Uses of a bank across a fork. Each function is one whole process and makes its own assertions.

Each runs in a new process, because a fork must start from one thread and without a test runner around it.
"""

import os
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from tests.durability.processes import PATIENCE

import pieria
from pieria.bank import Bank

Story = Callable[[Connection, str], None]


def texts(bank: Bank) -> set[str]:
    return {memory.text for memory in bank.list(limit=10_000)}


def child(work: Callable[[], None]) -> int:
    """Fork a child that does the work and exits. Return its process id for `ended_well`."""
    pid = os.fork()
    if pid:
        return pid
    _work_and_die(work)


def _work_and_die(work: Callable[[], None]) -> NoReturn:
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


class Turn:
    """A one-way signal between processes."""

    def __init__(self) -> None:
        self.read, self.write = os.pipe()

    def give(self) -> None:
        os.write(self.write, b"!")

    def wait(self) -> None:
        os.read(self.read, 1)


def both_write(pipe: Connection, folder: str) -> None:
    with pieria.open("forked", data=folder) as bank:
        bank.remember("before the fork")
        assert texts(bank) == {"before the fork"}

        def work() -> None:
            assert "before the fork" in texts(bank)
            for n in range(20):
                bank.remember(f"child {n}")
            bank.close()

        pid = child(work)
        for n in range(20):
            bank.remember(f"parent {n}")
        ended_well(pid)
        expected = {f"{who} {n}" for who in ("child", "parent") for n in range(20)} | {"before the fork"}
        assert texts(bank) == expected
        assert bank.doctor().well


def child_outlives_parent_s_bank(pipe: Connection, folder: str) -> None:
    """Closing the parent's bank must not break the child's connection to the file."""
    closed, written = Turn(), Turn()
    bank = pieria.open("forked", data=folder)
    bank.remember("before the fork")

    def work() -> None:
        bank.remember("child, first")
        written.give()
        closed.wait()
        bank.remember("child, after the parent closed")
        assert texts(bank) == {"before the fork", "child, first", "child, after the parent closed"}

    pid = child(work)
    written.wait()
    bank.close()
    closed.give()
    ended_well(pid)
    with pieria.open("forked", data=folder) as again:
        assert texts(again) == {"before the fork", "child, first", "child, after the parent closed"}
        assert again.doctor().well


def parent_outlives_child(pipe: Connection, folder: str) -> None:
    """A child that closes the bank or exits leaves the parent's bank intact, also if a third process opens it then."""
    for end in ("close", "end"):
        with pieria.open(end, data=folder) as bank:
            bank.remember("before the fork")

            def work(bank: Bank = bank, end: str = end) -> None:
                bank.remember("child")
                if end == "close":
                    bank.close()

            for _ in range(3):
                ended_well(child(work))
                third = child(lambda end=end: _write_as_a_third(folder, end))  # type: ignore[misc]
                ended_well(third)
                bank.remember("parent")
        with pieria.open(end, data=folder) as bank:
            assert bank.count() == 10
            assert bank.doctor().well


def _write_as_a_third(folder: str, name: str) -> None:
    with pieria.open(name, data=folder) as bank:
        bank.remember("third")


def parent_s_locks_hold(pipe: Connection, folder: str) -> None:
    """No child may write while the parent is in a write. The parent's write must be complete."""
    with pieria.open("forked", data=folder, settings={"busy_seconds": 5}) as bank:
        bank.remember("before the fork")
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with bank.core.store.writing() as writer:
                writer.head()
                inside.set()
                leave.wait(PATIENCE)

        thread = threading.Thread(target=hold)
        held, tried = Turn(), Turn()

        def work() -> None:
            # Open a new bank in the child, so that the lock of the parent's other thread blocks it.
            held.wait()
            with pieria.open("forked", data=folder, settings={"busy_seconds": 5}) as own:
                try:
                    own.remember("child, while the parent writes")
                except pieria.errors.BusyError:
                    tried.give()
                    return
            raise AssertionError("two writers at once")

        pid = child(work)
        thread.start()
        assert inside.wait(PATIENCE)
        held.give()
        tried.wait()
        leave.set()
        thread.join(PATIENCE)
        ended_well(pid)
        bank.remember("after")
        assert texts(bank) == {"before the fork", "after"}


def fork_while_another_thread_writes(pipe: Connection, folder: str) -> None:
    """The writing thread does not exist in the child. Its locks must not block the child."""
    with pieria.open("forked", data=folder) as bank:
        bank.remember("before the fork")
        stop = threading.Event()
        wrote = [0]

        def keep_writing() -> None:
            while not stop.is_set():
                bank.remember("thread")
                wrote[0] += 1

        thread = threading.Thread(target=keep_writing)
        thread.start()

        def work() -> None:
            bank.remember("child")
            assert "child" in texts(bank)

        for _ in range(20):
            ended_well(child(work))
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert bank.count() == 1 + 20 + wrote[0]
        assert bank.doctor().well


def fork_while_another_thread_reads(pipe: Connection, folder: str) -> None:
    """A read is open during the fork, and the parent closes first. The child's write must survive."""
    bank = pieria.open("forked", data=folder)
    bank.remember("before the fork")
    inside, leave = threading.Event(), threading.Event()
    closed = Turn()

    def hold() -> None:
        with bank.core.store.reading() as reader:
            reader.head()
            inside.set()
            leave.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(PATIENCE)
    letting_go = threading.Timer(0.2, leave.set)
    letting_go.start()

    def work() -> None:
        bank.remember("child, first")
        closed.wait()
        bank.remember("child, after the parent closed")

    pid = child(work)
    thread.join(PATIENCE)
    letting_go.join(PATIENCE)
    bank.close()
    closed.give()
    ended_well(pid)
    with pieria.open("forked", data=folder) as again:
        assert texts(again) == {"before the fork", "child, first", "child, after the parent closed"}
        assert again.doctor().well


def many_threads_and_many_forks(pipe: Connection, folder: str) -> None:
    """Fork often while many threads work, with children that fork again. No process may hang or lose a write."""
    with pieria.open("forked", data=folder) as bank:
        stop = threading.Event()
        counts = [0] * 4

        def keep_at_it(number: int) -> None:
            while not stop.is_set():
                bank.remember(f"thread {number}")
                bank.recall("thread")
                counts[number] += 1

        threads = [threading.Thread(target=keep_at_it, args=(n,)) for n in range(len(counts))]
        for thread in threads:
            thread.start()

        def work() -> None:
            bank.remember("child")
            ended_well(child(lambda: _note(bank, "grandchild")))
            bank.close()

        for _ in range(10):
            ended_well(child(work))
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in threads)
        assert bank.count() == 10 * 2 + sum(counts)
        assert bank.doctor().well


def fork_while_threads_read_two_banks_at_once(pipe: Connection, folder: str) -> None:
    """A recall also reads the user's bank. A fork must not wait for a reader that waits for the fork."""
    with ExitStack() as stack:
        banks = [stack.enter_context(pieria.open("forked", data=Path(folder, str(n)))) for n in range(5)]
        for bank in banks:
            bank.remember("thread of ours")
            bank.remember("thread of the user", scope="user")
        stop = threading.Event()
        counts = [0] * len(banks)

        def keep_recalling(number: int) -> None:
            while not stop.is_set():
                assert len(banks[number].recall("thread")) == 2
                counts[number] += 1

        threads = [threading.Thread(target=keep_recalling, args=(n,)) for n in range(len(banks))]
        for thread in threads:
            thread.start()
        for number in range(20):
            ended_well(child(lambda number=number: _note(banks[number % 5], f"child {number}")))  # type: ignore[misc]
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert all(counts)
        assert [bank.count() for bank in banks] == [5] * 5


def fork_while_a_read_stays_open(pipe: Connection, folder: str) -> None:
    """If a fork times out, the child writes safely or is refused. No acknowledged write may be lost."""
    bank = pieria.open("forked", data=folder)
    bank.remember("before the fork")
    inside, leave, closed, tried = threading.Event(), threading.Event(), Turn(), Turn()

    def hold() -> None:
        with bank.core.store.reading() as reader:
            reader.head()
            inside.set()
            leave.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(PATIENCE)

    def work() -> None:
        acknowledged = Path(folder, "acknowledged")
        for text in ("child, first", "child, after the parent closed"):
            try:
                bank.remember(text)
            except pieria.PieriaError:
                pass
            else:
                with acknowledged.open("a") as file:
                    file.write(f"{text}\n")
            tried.give()
            closed.wait()

    pid = child(work)
    tried.wait()
    leave.set()
    thread.join(PATIENCE)
    bank.close()
    closed.give()
    closed.give()
    ended_well(pid)
    told = Path(folder, "acknowledged").read_text().split("\n")[:-1] if Path(folder, "acknowledged").exists() else []
    with pieria.open("forked", data=folder) as again:
        assert texts(again) == {"before the fork", *told}
        assert again.doctor().well


def _note(bank: Bank, text: str) -> None:
    bank.remember(text)


def fork_inside_one_s_own_reading(pipe: Connection, folder: str) -> None:
    """The forking thread itself has a read open. Parent and child must both go on."""
    with pieria.open("forked", data=folder) as bank:
        bank.remember("before the fork")
        with bank.core.store.reading() as reader:
            assert reader.head().documents == 1

            def work() -> None:
                bank.remember("child")
                assert texts(bank) == {"before the fork", "child"}

            ended_well(child(work))
            assert reader.head().documents == 1
        bank.remember("parent")
        assert texts(bank) == {"before the fork", "child", "parent"}


def a_bank_that_was_closed_before_the_fork_stays_closed(pipe: Connection, folder: str) -> None:
    bank = pieria.open("forked", data=folder)
    bank.remember("before the fork")
    bank.close()

    def work() -> None:
        try:
            bank.remember("child")
        except pieria.errors.ClosedError:
            return
        raise AssertionError("a closed bank was written to")

    ended_well(child(work))


def a_workspace_outlives_a_fork(pipe: Connection, folder: str) -> None:
    workspace = pieria.Workspace(folder)
    first = workspace.open("forked")
    first.remember("before the fork", scope="user")

    def work() -> None:
        with workspace.open("forked") as mine:
            mine.remember("child")
            mine.remember("child of the user", scope="user")
        first.remember("child, in the bank it carried")
        workspace.close()

    ended_well(child(work))
    first.remember("parent")
    assert texts(first) == {"child", "child, in the bank it carried", "parent"}
    assert {hit.memory.text for hit in first.recall("user fork")} == {"before the fork", "child of the user"}
    workspace.close()


def pool_work(folder: str, number: int) -> str:
    with pieria.open("pooled", data=folder) as bank:
        return bank.remember(f"pool {number}").id


def pools_of_both_kinds(pipe: Connection, folder: str) -> None:
    """Run pools of forked and of spawned processes from a process that has the bank open."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with pieria.open("pooled", data=folder) as bank:
        bank.remember("before")
        made = []
        for kind in ("fork", "spawn"):
            context = multiprocessing.get_context(kind)
            with ProcessPoolExecutor(2, mp_context=context) as pool:
                made += list(pool.map(pool_work, [folder] * 6, range(6)))
            bank.remember("between")
        assert len(set(made)) == 12
        assert bank.count() == 15
        assert all(bank.get(id) for id in made)
        assert bank.doctor().well
    assert Path(folder, "pooled.db").exists()
