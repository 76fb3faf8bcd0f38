"""A slow, broken or missing engine: the agent only remembers less."""

import json
import logging
import threading
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.doors.hermes.conftest import Begin
from tests.waiting import soon

from pieria import Bank
from pieria.errors import BusyError, StorageError
from pieria.hermes import joined as joining
from pieria.hermes.joined import Behind
from pieria.hermes.options import save
from pieria.hermes.turns import PART


def held(monkeypatch: pytest.MonkeyPatch, verb: str) -> threading.Event:
    """Let this verb of every bank wait for the event."""
    go, real = threading.Event(), getattr(Bank, verb)

    def slow(*args: Any, **kwargs: Any) -> Any:
        go.wait(10)
        return real(*args, **kwargs)

    monkeypatch.setattr(Bank, verb, slow)
    return go


@pytest.mark.parametrize("error", [StorageError("read", "the disk is gone"), RuntimeError("a fault of ours")])
def test_every_hook_survives_a_bank_that_fails(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    agent = begin()
    for verb in ("remember", "recall", "list", "get", "remove"):
        monkeypatch.setattr(Bank, verb, Mock(side_effect=error))
    with caplog.at_level(logging.WARNING, "pieria.hermes"):
        assert agent.turn("Hello.", "Hi.") == ""
        agent.notes("add", "A note.")
        agent.notes("remove", "A note.")
        agent.delegated("a", "b")
        assert agent.compress() == ""
        assert agent.tool("mnemosyne_remember", {"content": "x"})["status"] == "error"
        agent.switch("next", reset=True)
        agent.leave()
    assert caplog.records


def test_a_file_that_is_no_bank_is_tried_again(begin: Begin, home: Path) -> None:
    file = home / "data" / "hermes.db"
    file.parent.mkdir()
    file.write_text("this is no database, and it is long enough to be read as one" * 100)
    agent = begin()
    assert agent.turn("Hello.", "Hi.") == ""
    assert agent.tool("mnemosyne_recall", {"query": "x"})["status"] == "error"
    file.unlink()
    assert agent.tool("mnemosyne_recall", {"query": "x"})["status"] == "ok"


def test_a_slow_recall_is_replaced_by_the_one_before(
    begin: Begin, bank: Bank, hermes_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(hermes_home, {"prefetch_ms": 600})
    bank.remember("The deploy key expires in May.")
    agent = begin()
    agent.turn("Tell me of the deploy key that expires.", "It expires in May.")
    agent.settle()
    go = held(monkeypatch, "recall")
    assert "in May" in agent.prefetch("When does it expire?")
    assert agent.prefetch("And when does it expire?") == ""
    go.set()
    agent.provider._join().recalling._running.join(5)
    assert "in May" in agent.prefetch("When does the deploy key expire?")


def test_a_turn_never_waits_for_the_bank(begin: Begin, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = begin()
    go = held(monkeypatch, "remember")
    for number in range(50):
        agent.provider.sync_turn(f"message {number}", f"answer {number}", session_id="first")
    go.set()
    agent.leave()
    assert bank.count(kinds="turn") == 100


def test_a_long_turn_resumes_at_the_failed_part(begin: Begin, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    tries, remember = count(1), Bank.remember

    def busy_in_between(*args: Any, **kwargs: Any) -> Any:
        if next(tries) in (2, 3):
            raise BusyError("write", "another process is writing")
        return remember(*args, **kwargs)

    monkeypatch.setattr(joining, "PAUSES", (0.01, 0.01, 0.01))
    monkeypatch.setattr(Bank, "remember", busy_in_between)
    agent = begin()
    long = "first " + "word " * (2 * PART // 5) + "last"
    agent.turn(long, "Kept.")
    agent.settle()
    for _ in range(2):
        assert agent.compress(required=True)
        agent.messages = [{"role": "user", "content": long}]
        kept = [memory.text for memory in bank.list(kinds="turn")]
        assert ("".join(reversed(kept[1:])), kept[0]) == (long, "Kept.")


def test_unwritten_turns_are_reported_at_the_end(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    agent = begin()
    monkeypatch.setattr("pieria.hermes.provider.FLUSH_SECONDS", 0.1)
    agent.provider._join().behind.flush(5)
    go = held(monkeypatch, "remember")
    agent.turn("Keep this.", "Kept.")
    agent.flush()
    agent.provider.shutdown()
    assert "were not kept" in caplog.text
    go.set()


def test_nothing_is_taken_after_the_end(begin: Begin, bank: Bank) -> None:
    agent = begin()
    agent.provider.shutdown()
    agent.provider.shutdown()
    assert agent.turn("Too late.", "Yes.") == ""
    agent.flush()
    reply = agent.tool("mnemosyne_remember", {"content": "Too late."})
    assert reply["status"] == "error" and "shut down" in json.dumps(reply)
    assert bank.count() == 0
    agent.provider.initialize("again", platform="cli")
    assert agent.turn("In time.", "Good.") == ""
    agent.leave()
    assert bank.count(kinds="turn") == 2


def test_a_user_without_a_home_is_served(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError("Could not determine home directory.")))
    assert begin().tool("mnemosyne_recall", {"query": "x"})["status"] == "ok"


def test_the_background_thread_ends_when_idle_and_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "IDLE_SECONDS", 0.05)
    done: list[int] = []
    work = Behind("test-behind")
    for number in range(3):
        assert work.add("a task", lambda number=number: done.append(number))  # type: ignore[misc]
        assert work.flush(5) == 0
        soon(lambda: not any(thread.name == "test-behind" for thread in threading.enumerate()))
    assert done == [0, 1, 2]
    work.add("a task that ends its own work", lambda: done.append(work.close(5)))
    work.flush(5)
    assert done[3:] == [1] and work.close(1) == 0
    assert work.add("a task", lambda: done.append(9)) is False


def test_a_thread_the_system_refuses_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[int] = []
    work = Behind("test-behind")
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        assert work.add("a task", lambda: done.append(1)) is False
    assert "a task: not done" in caplog.text and work.add("a task", lambda: done.append(2))
    assert work.close(5) == 0 and done == [2]
