"""Many threads on one bank. Each scene is one whole process, so that a crash stays in it."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import PATIENCE, done
from tests.durability.verbs import Mix, observed

import pieria
from pieria.errors import ClosedError

THREADS = 16


def together(work: Callable[[int], None], count: int = THREADS) -> None:
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait(PATIENCE)
        work(number)

    with ThreadPoolExecutor(count) as threads:
        list(threads.map(run, range(count), timeout=PATIENCE))


def mix_on_one_bank(pipe: Connection, folder: str, steps: int) -> None:
    """Run every verb in every thread, on the thread's own memories, and read the results back."""
    with pieria.open("threads", data=folder) as bank:

        def work(number: int) -> None:
            mix = Mix(bank, number)
            said: dict[Any, str] = {}
            for _ in range(steps):
                said.update({thing: observed(bank, thing) for thing in mix.take()})
                bank.recall("heron stork", k=3)
                bank.list(limit=5)
            assert {thing: observed(bank, thing) for thing in said} == said

        together(work)
        changes = bank.changes()
        assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
        assert len(changes) >= THREADS * steps
        assert bank.doctor().well


def mix_on_a_bank_each(pipe: Connection, folder: str, steps: int) -> None:
    """Do the same with one open bank per thread, opened and closed while the others work."""

    def work(number: int) -> None:
        for turn in range(3):
            with pieria.open("threads", data=folder, session=f"s{number}") as bank:
                mix = Mix(bank, (number, turn))
                for _ in range(steps):
                    for thing in mix.take():
                        assert observed(bank, thing) == observed(bank, thing)

    together(work)
    with pieria.open("threads", data=folder) as bank:
        assert bank.doctor().well


def close_under_others(pipe: Connection, folder: str, rounds: int) -> None:
    """Close a bank that threads use: they get `ClosedError`, and acknowledged writes are kept."""
    written: list[str] = []
    for number in range(rounds):
        bank = pieria.open("closing", data=folder)

        def work(thread: int, bank: pieria.Bank = bank, number: int = number) -> None:
            try:
                for n in range(1_000):
                    written.append(bank.remember(f"heron {number} {thread} {n}").id)
                    bank.recall("heron")
                    if thread == 0 and n == 3:
                        bank.close()
            except ClosedError:
                return
            raise AssertionError("the bank was closed, and went on")

        together(work, 4)
    with pieria.open("closing", data=folder) as bank:
        assert all(bank.get(id) for id in written)
        assert bank.doctor().well


def come_and_go(pipe: Connection, folder: str, rounds: int) -> None:
    def use(number: int) -> None:
        bank.remember(f"heron {number}")
        bank.recall("heron")

    with pieria.open("coming", data=folder) as bank:
        opened = []
        for _ in range(rounds):
            together(use, 4)
            opened.append(len(os.listdir("/proc/self/fd")))
        assert opened[-1] <= opened[1] + 20, opened


SLOW = ((mix_on_one_bank, 30), (mix_on_a_bank_each, 2), (close_under_others, 6), (come_and_go, 20))


@pytest.mark.parametrize(
    ("scene", "size"), [(mix_on_one_bank, 3), *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW)]
)
def test_threads_disturb_each_other_in_nothing(tmp_path: Path, scene: Callable[..., None], size: int) -> None:
    assert done(scene, str(tmp_path), size) == []
