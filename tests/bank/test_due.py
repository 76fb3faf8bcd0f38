"""The due memories match a plain definition, over banks with every reason for and against a review."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.contract.making import HandClock

from pieria.bank import Bank
from pieria.record.decay import may_go
from pieria.record.link import DRAWN_FROM
from pieria.upkeep.review import Retained

KINDS = ("note", "note", "note", "summary", "semantic", "drawer", "turn")
SIZE = 160


def lived(bank: Bank, clock: HandClock, drawn: random.Random) -> None:
    """Fill a bank: some memories are pinned, important, promoted, archived, removed, reworded, derived or used."""
    ids = [f"m{number:03}" for number in range(SIZE)]
    begin = clock.now
    for step in range(4):
        bank.remember_many([_one(id, drawn, begin) for id in ids[step::4]])
        clock.move(days=drawn.choice([2, 3, 5]))
        there = ids[step::4]
        bank.touch(drawn.sample(there, 6), accesses=drawn.randint(1, 5))
        bank.upkeep.review(drawn.sample(there, 3))
        bank.upkeep.promote(drawn.sample(there, 2))
        bank.update(drawn.choice(there), text="The heron, in other words.")
        bank.pin(drawn.choice(there))
        bank.remember("A summary of herons.", id=f"drawn{step}", kind="summary")
        bank.link(f"drawn{step}", drawn.choice(there), DRAWN_FROM)
        bank.remove(drawn.choice(there))
    for id in drawn.sample(ids, 4):
        if (one := bank.get(id)) is not None and one.status == "active":
            bank.update(id, status="archived")


def _one(id: str, drawn: random.Random, begin: Any) -> dict[str, Any]:
    return {
        "id": id,
        "text": f"The heron number {id} nests by the mill.",
        "kind": drawn.choice(KINDS),
        "importance": drawn.choice([0.2, 0.5, 0.5, 0.79, 0.8, 1.0]),
        "strength": drawn.choice([0.0, 0.4, 1.0, 1.0, 1.3, 2.0]),
        "tags": drawn.sample(["Bird", "mill", "rest"], drawn.randint(0, 2)),
        "at": begin - timedelta(days=drawn.choice([0, 0, 30])),
    }


def due(bank: Bank) -> list[Retained]:
    """Compute the due memories one by one."""
    there = list(bank.list(limit=1_000, include=("archived", "invalid")))
    left = bank.upkeep.retained([memory.id for memory in there])
    sources = {link.target.name for link in bank.links(relation=DRAWN_FROM)}
    urgent = [
        left[memory.id]
        for memory in there
        if may_go(memory, bank.core.fades) and memory.status == "active" and memory.id not in sources
    ]
    urgent = [one for one in urgent if one.urgency > 0]
    return sorted(urgent, key=lambda one: (-one.urgency, one.score, one.memory.row))


@pytest.mark.parametrize("settings", [{}, {"decay_halflives": "bird=9, summary=2", "decay_spacing": 1.0}])
def test_due_is_what_is_urgent_of_all_that_may_go(
    opened: Callable[..., Bank], clock: HandClock, settings: dict[str, Any]
) -> None:
    bank = opened(**settings)
    lived(bank, clock, random.Random(1))
    whole = due(bank)
    assert len(whole) > 5
    for k in (1, 3, len(whole), 1_000):
        assert list(bank.upkeep.due(k)) == whole[:k]


def test_faded_is_the_least_retained_of_all_that_may_go(opened: Callable[..., Bank], clock: HandClock) -> None:
    bank = opened()
    lived(bank, clock, random.Random(3))
    clock.move(days=20)
    shown = bank.upkeep.gc(threshold=0.2, dry_run=True)
    left = bank.upkeep.retained([one.memory.id for one in shown.faded])
    assert len(shown.faded) > 10
    assert [(one.memory, one.retained) for one in shown.faded] == [(one.memory, one.score) for one in left.values()]
    assert [one.retained for one in shown.faded] == sorted(one.retained for one in shown.faded)
    first = bank.upkeep.gc(threshold=0.2, dry_run=True, limit=3)
    assert (first.faded, first.left) == (shown.faded[:3], len(shown.faded) - 3)
