"""Processes that write and recall on one file with vectors: each finds the writes of the others by word and vector."""

import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest
from tests.durability.processes import FORKED, PATIENCE, Worker, working

import pieria
from pieria.bank import Bank
from pieria.recall.arms import ARMS
from pieria.recall.scores import WEIGHTS

FOUND, OVER = "found", "over"
LEAST = 3
"""The least number of memories that each process writes, even if it gets little processor time."""
SETTINGS = {"durability": "off", "embedder": "hashing"}


def only(arm: str) -> Mapping[str, float]:
    return {name: float(name in ARMS[arm].features) for name in WEIGHTS}


def is_found_at_once(bank: Bank, id: str, word: str) -> bool:
    """Check that words find the id at once. Return whether vectors do, too; else the plan must report pending rows."""
    by_words = bank.recall(word, k=5, weights=only("text"))
    assert id in [hit.memory.id for hit in by_words], (id, word, by_words.plan)
    ends = time.monotonic() + PATIENCE
    recalls = 0
    while True:
        by_vector = bank.recall(word, k=5, weights=only("dense"))
        recalls += 1
        reasons = {hit.memory.id: hit.why for hit in by_vector}
        if id in reasons:
            assert reasons[id]["dense"] > 0.99, (id, word, reasons)
            return recalls == 1
        assert by_vector.plan["embedding"]["pending"] > 0, (id, word, reasons, by_vector.plan)
        assert time.monotonic() < ends, by_vector.plan


class Member:
    """One process of a crowd. It writes again when the others have found its last write, so little is pending."""

    def __init__(self, bank: Bank, name: str, others: list[Connection]) -> None:
        self.bank = bank
        self.name = name
        self.others = others
        self.talking: list[Any] = list(others)
        self.kept: list[str] = []
        self.waited_for = self.found = self.at_once = self.over = 0

    def write(self) -> None:
        word = f"{self.name}x{len(self.kept)}heron"
        self.kept.append(self.bank.remember(word).id)
        self.waited_for = len(self.others)
        self.tell(self.kept[-1], word)

    def tell(self, what: str, word: str = "") -> None:
        for other in self.others:
            other.send((what, word))

    def hear(self) -> None:
        for other in wait(self.talking, PATIENCE):
            assert isinstance(other, Connection)
            try:
                what, word = other.recv()
            except EOFError:
                # It has finished, or it failed and reports that.
                self.talking.remove(other)
                continue
            if what == OVER:
                self.over += 1
            elif what == FOUND:
                self.waited_for -= 1
            else:
                self.at_once += is_found_at_once(self.bank, what, word)
                self.found += 1
                other.send((FOUND, word))


def member(pipe: Connection, folder: str, name: str, seconds: float, others: list[Connection]) -> None:
    """Write until the time is over, at least `LEAST` times. Then check the remaining messages of the others."""
    with pieria.open("crowd", data=folder, who=name, settings=SETTINGS) as bank:
        one = Member(bank, name, others)
        # Recall waits only briefly for vectors, too briefly to load the embedder. Load it here.
        is_found_at_once(bank, bank.remember(f"{name}stork").id, f"{name}stork")
        pipe.send("ready")
        assert pipe.recv() == "go"
        ends = time.monotonic() + seconds
        while time.monotonic() < ends or len(one.kept) < LEAST:
            if not one.waited_for:
                one.write()
            one.hear()
        while one.waited_for:
            assert one.talking
            one.hear()
        one.tell(OVER)
        while one.over < len(others):
            assert one.talking
            one.hear()
        assert bank.sync(PATIENCE)
    pipe.send((one.kept, one.found, one.at_once))


def a_crowd(folder: Path, size: int, seconds: float) -> None:
    names = [f"p{n}" for n in range(size)]
    ends: dict[str, list[Connection]] = {name: [] for name in names}
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            here, there = FORKED.Pipe()
            ends[one].append(here)
            ends[other].append(there)
    with ExitStack() as stack:
        workers: list[Worker] = [
            stack.enter_context(working(member, str(folder), name, seconds, ends[name])) for name in names
        ]
        for pipes in ends.values():
            for end in pipes:
                end.close()
        for worker in workers:
            assert worker.receive() == "ready"
        for worker in workers:
            worker.pipe.send("go")
        told = [worker.receive(3 * seconds + PATIENCE) for worker in workers]
        for worker in workers:
            worker.finish()
    written = {id for kept, _, _ in told for id in kept}
    assert all(found == len(written) - len(kept) for kept, found, _ in told)
    assert all(kept and at_once for kept, _, at_once in told)
    with closing(pieria.open("crowd", data=folder, settings=SETTINGS)) as bank:
        assert all(bank.get(id) is not None for id in written)
        assert bank.stats().pending.get("vectors", 0) == 0
        assert bank.doctor().well


def test_four_find_each_others_writes_for_a_moment(tmp_path: Path) -> None:
    a_crowd(tmp_path, 4, 1.5)


@pytest.mark.slow
def test_four_find_each_others_writes_for_a_minute(tmp_path: Path) -> None:
    a_crowd(tmp_path, 4, 60.0)
