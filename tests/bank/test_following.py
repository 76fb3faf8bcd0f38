"""Waiting for changes and following them, in a folder and on a server."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.bank.kept import Kept

from pieria import Bank
from pieria.errors import ClosedError, InputError

LONG = 60.0
"""Seconds. No test waits that long, because each wait is woken before."""


@pytest.fixture
def bank(kept: Kept) -> Iterator[Bank]:
    with kept.opened("notes") as opened:
        yield opened


def written_elsewhere(kept: Kept, texts: list[str]) -> None:
    """Remember the texts in another process."""
    write = (
        "import pieria, sys\n"
        "with pieria.open('notes', data=sys.argv[1]) as bank:\n"
        "    for text in sys.argv[2:]: bank.remember(text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", write, kept.data, *texts],
        env=kept.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_change_that_is_there_is_not_waited_for(bank: Bank) -> None:
    assert not bank.wait(0, 0)
    bank.remember("first")
    assert bank.wait(0, LONG)
    assert not bank.wait(1, 0.05)


def test_a_change_of_another_process_wakes_whoever_waits(bank: Bank, kept: Kept) -> None:
    woken: list[bool] = []
    waiter = threading.Thread(target=lambda: woken.append(bank.wait(0, LONG)))
    waiter.start()
    written_elsewhere(kept, ["from elsewhere"])
    waiter.join(LONG)
    assert woken == [True]


def test_followed_changes_come_once_each_in_order_and_then_as_they_happen(bank: Bank, kept: Kept) -> None:
    bank.remember("before", id="before")
    bank.remember("also before", id="also")
    heard: list[int] = []

    def follow() -> None:
        for change in bank.follow(1):
            heard.append(change.seq)
            if change.seq == 6:
                return

    follower = threading.Thread(target=follow)
    follower.start()
    bank.remember("while it is followed")
    written_elsewhere(kept, ["one", "two", "three"])
    follower.join(LONG)
    assert heard == [2, 3, 4, 5, 6]


def test_without_a_number_it_begins_now_and_ends_when_the_time_is_over(bank: Bank) -> None:
    bank.remember("before")
    following = bank.follow(seconds=1.0)
    bank.remember("after", id="after")
    assert [change.ids for change in following] == [("after",)]
    assert next(bank.follow(0, seconds=0)).seq == 1


def test_it_ends_when_the_bank_is_closed(kept: Kept) -> None:
    with kept.opened("notes") as other, kept.opened("notes") as bank:
        other.remember("a word")
        heard: list[int] = []
        begun = threading.Event()

        def follow() -> None:
            for change in bank.follow(0):
                heard.append(change.seq)
                begun.set()

        follower = threading.Thread(target=follow)
        follower.start()
        assert begun.wait(LONG)
        bank.close()
        follower.join(LONG)
        assert not follower.is_alive()
        assert heard == [1]
        with pytest.raises(ClosedError):
            bank.wait(0, 0)


@pytest.mark.parametrize(
    "ask",
    [
        lambda bank: bank.wait(-1, 1),
        lambda bank: bank.wait("1", 1),
        lambda bank: bank.wait(0, -1),
        lambda bank: bank.wait(0, float("inf")),
        lambda bank: bank.follow(1),
        lambda bank: bank.follow(0, seconds="soon"),
    ],
)
def test_what_cannot_be_waited_for_is_refused_at_once(ask: Callable[[Bank], object], bank: Bank) -> None:
    with pytest.raises(InputError):
        ask(bank)
