"""Thirty-two clients read and write for a minute: no call fails, and nothing is lost."""

import itertools
import random
import threading
import time
from collections import Counter

import pytest
from tests.doors.http.conftest import READS, WRITES, started

import pieria
from pieria.doors.http.tokens import Tokens

CLIENTS, SECONDS = 32, 60.0
SYLLABLES = ("ba", "do", "ku", "li", "mo", "na", "ri", "sa", "te", "vu")
WORDS = tuple(map("".join, itertools.product(SYLLABLES, repeat=3)))
WEIGHTS = tuple(1 / (rank + 1) for rank in range(len(WORDS)))
"""A word distribution like natural language: few words are everywhere, most are rare."""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_clients_for_a_minute(home: object, capsys: pytest.CaptureFixture[str]) -> None:
    with pieria.open("notes") as bank:
        tokens = Tokens(bank.data)
        bank.remember_many({"text": _said(random.Random(n), n)} for n in range(2_000))
    shown = [tokens.create(f"client {n}", "write", ["notes"])[1] for n in range(CLIENTS)]
    took: dict[str, list[float]] = {"read": [], "write": []}
    statuses: Counter[int] = Counter()
    written: list[str] = []
    with started("--rate", "0") as server:
        until = time.monotonic() + SECONDS

        def work(number: int) -> None:
            chance = random.Random(number)
            with server.client(headers={"Authorization": f"Bearer {shown[number]}"}) as client:
                while time.monotonic() < until:
                    kind, path, body = _call(chance)
                    began = time.perf_counter()
                    answer = client.post(f"/v1/banks/notes/{path}", json=body)
                    took[kind].append(time.perf_counter() - began)
                    statuses[answer.status_code] += 1
                    if kind == "write" and answer.is_success:
                        told = answer.json()
                        written.append(told.get("memory_id") or told["id"])

        workers = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert server.stop() == 0
    with capsys.disabled():
        for kind, seconds in took.items():
            print(f"\n{kind}: {len(seconds):,} calls, p50 {_share(seconds, 0.5)}, p95 {_share(seconds, 0.95)}")  # noqa: T201
    assert set(statuses) <= {200, 201}
    assert len(written) > 100
    with pieria.open("notes") as bank:
        kept = {memory.id for memory in bank.list(limit=10_000, order="oldest")}
        page = bank.list(limit=10_000, order="oldest")
        while page.cursor:
            page = bank.list(limit=10_000, order="oldest", cursor=page.cursor)
            kept |= {memory.id for memory in page}
        assert set(written) <= kept
        assert len(set(written)) == len(written)
        assert bank.doctor().well


def _said(chance: random.Random, number: int) -> str:
    return f"Note {number}: " + " ".join(chance.choices(WORDS, WEIGHTS, k=18))


def _call(chance: random.Random) -> tuple[str, str, dict[str, str]]:
    """Return a random call; four in five read."""
    if chance.random() < 0.2:
        text = _said(chance, chance.randrange(10**9))
        return chance.choice([("write", "memories", {"text": text}), ("write", f"tools/{WRITES}", {"content": text})])
    query = " ".join(chance.choices(WORDS, WEIGHTS, k=4))
    return chance.choice([("read", "recall", {"query": query}), ("read", f"tools/{READS}", {"query": query})])


def _share(seconds: list[float], share: float) -> str:
    return f"{1000 * sorted(seconds)[int(share * len(seconds))]:.0f} ms"
