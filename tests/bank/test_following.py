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
def bank(folder: Kept) -> Iterator[Bank]:
    with folder.opened("notes") as opened:
        yield opened


def test_changes_of_other_processes_are_heard_once_and_in_order(kept: Kept) -> None:
    write = (
        "import pieria, sys\n"
        "with pieria.open('notes', data=sys.argv[1]) as bank:\n"
        "    for text in sys.argv[2:]: bank.remember(text)"
    )
    heard: list[int] = []
    woken: list[bool] = []

    def follow() -> None:
        for change in bank.follow(1):
            heard.append(change.seq)
            if change.seq == 5:
                return

    with kept.opened("notes") as bank:
        bank.remember("before", id="before")
        bank.remember("also before", id="also")
        waiting = [threading.Thread(target=follow), threading.Thread(target=lambda: woken.append(bank.wait(2, LONG)))]
        for thread in waiting:
            thread.start()
        command = [sys.executable, "-c", write, kept.data, "one", "two", "three"]
        subprocess.run(command, env=kept.environment, timeout=LONG, check=True)
        for thread in waiting:
            thread.join(LONG)
    assert (heard, woken) == ([2, 3, 4, 5], [True])


def test_existing_change_is_not_waited_for(bank: Bank) -> None:
    assert not bank.wait(0, 0)
    bank.remember("first")
    assert bank.wait(0, LONG)
    assert not bank.wait(1, 0.05)
    # Without a number, it begins now and ends when the time is over.
    following = bank.follow(seconds=0.2)
    bank.remember("after", id="after")
    assert [change.ids for change in following] == [("after",)]
    assert next(bank.follow(0, seconds=0)).seq == 1


def test_following_ends_when_the_bank_is_closed(kept: Kept) -> None:
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


def test_wrong_number_or_time_is_refused_at_once(bank: Bank) -> None:
    wrong: list[Callable[[], object]] = [
        lambda: bank.wait(-1, 1),
        lambda: bank.wait("1", 1),  # type: ignore[arg-type]
        lambda: bank.wait(0, -1),
        lambda: bank.wait(0, float("inf")),
        lambda: bank.follow(1),
        lambda: bank.follow(0, seconds="soon"),  # type: ignore[arg-type]
    ]
    for ask in wrong:
        with pytest.raises(InputError):
            ask()
