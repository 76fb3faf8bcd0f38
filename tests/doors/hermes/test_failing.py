"""A slow, broken or missing engine: the agent only remembers less."""

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.doors.hermes.conftest import Begin
from tests.waiting import soon

from pieria import Bank
from pieria.errors import BusyError, StorageError
from pieria.hermes import joined as joining
from pieria.hermes.joined import Behind
from pieria.hermes.options import save
from pieria.hermes.turns import PART


def failing(error: Exception) -> Callable[..., Any]:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize("error", [StorageError("read", "the disk is gone"), RuntimeError("a fault of ours")])
def test_every_hook_survives_a_bank_that_fails(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    agent = begin()
    for verb in ("remember", "recall", "list", "get", "remove"):
        monkeypatch.setattr(Bank, verb, failing(error))
    with caplog.at_level(logging.WARNING, "pieria.hermes"):
        assert agent.turn("Hello.", "Hi.") == ""
        agent.notes("add", "A note.")
        agent.notes("remove", "A note.")
        agent.delegated("a", "b")
        assert agent.compress() == ""
        assert agent.tool("mnemosyne_remember", {"content": "x"})["status"] == "error"
        agent.switch("next", reset=True)
        agent.leave()
    assert agent.failures == []
    assert caplog.records


def test_a_file_that_is_no_bank_is_tried_again(begin: Begin, home: Path) -> None:
    data = home / "data"
    data.mkdir()
    (data / "hermes.db").write_text("this is no database, and it is long enough to be read as one" * 100)
    agent = begin()
    assert agent.turn("Hello.", "Hi.") == ""
    assert agent.tool("mnemosyne_recall", {"query": "x"})["status"] == "error"
    (data / "hermes.db").unlink()
    assert agent.tool("mnemosyne_recall", {"query": "x"})["status"] == "ok"
    assert agent.failures == []


def test_a_slow_recall_is_replaced_by_the_one_before(
    begin: Begin, bank: Bank, hermes_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(hermes_home, {"prefetch_ms": 600})
    bank.remember("The deploy key expires in May.")
    agent = begin()
    agent.turn("Tell me of the deploy key that expires.", "It expires in May.")
    agent.settle()
    go, recall = threading.Event(), Bank.recall

    def slow(self: Bank, *args: Any, **kwargs: Any) -> Any:
        go.wait(10)
        return recall(self, *args, **kwargs)

    monkeypatch.setattr(Bank, "recall", slow)
    assert "in May" in agent.prefetch("When does it expire?")
    assert agent.prefetch("And when does it expire?") == ""
    go.set()
    agent.provider._join().recalling._running.join(5)
    assert "in May" in agent.prefetch("When does the deploy key expire?")


def test_a_turn_never_waits_for_the_bank(begin: Begin, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    go, remember = threading.Event(), Bank.remember

    def slow(self: Bank, *args: Any, **kwargs: Any) -> Any:
        go.wait(10)
        return remember(self, *args, **kwargs)

    agent = begin()
    monkeypatch.setattr(Bank, "remember", slow)
    for number in range(50):
        agent.provider.sync_turn(f"message {number}", f"answer {number}", session_id="first")
    go.set()
    agent.leave()
    assert bank.count(kinds="turn") == 100


def test_a_long_turn_resumes_at_the_failed_part(begin: Begin, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []
    remember = Bank.remember

    def busy_in_between(self: Bank, *args: Any, **kwargs: Any) -> Any:
        tries.append(1)
        if len(tries) in (2, 3):
            raise BusyError("write", "another process is writing")
        return remember(self, *args, **kwargs)

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
        assert "".join(reversed(kept[1:])) == long
        assert kept[0] == "Kept."


def test_unwritten_turns_are_reported_at_the_end(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from pieria.hermes import provider as provider_module

    go = threading.Event()
    monkeypatch.setattr(provider_module, "FLUSH_SECONDS", 0.1)
    agent = begin()
    agent.provider._join().behind.flush(5)
    monkeypatch.setattr(Bank, "remember", lambda *args, **kwargs: go.wait(10))
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
    assert reply["status"] == "error"
    assert "shut down" in json.dumps(reply)
    assert bank.count() == 0
    assert agent.failures == []
    agent.provider.initialize("again", platform="cli")
    assert agent.turn("In time.", "Good.") == ""
    agent.leave()
    assert bank.count(kinds="turn") == 2


def test_a_user_without_a_home_is_served(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    agent = begin()
    assert agent.tool("mnemosyne_recall", {"query": "x"})["status"] == "ok"


# --- background work


def test_the_background_thread_ends_when_idle_and_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "IDLE_SECONDS", 0.05)
    done: list[int] = []
    work = Behind("test-behind")
    for number in range(3):
        assert work.add("a task", lambda number=number: done.append(number))  # type: ignore[misc]
        assert work.flush(5) == 0
        soon(lambda: not any(thread.name == "test-behind" for thread in threading.enumerate()))
    assert done == [0, 1, 2]
    assert work.close(1) == 0
    assert work.add("a task", lambda: done.append(9)) is False


def test_a_thread_the_system_refuses_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    done: list[int] = []
    work = Behind("test-behind")
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        assert work.add("a task", lambda: done.append(1)) is False
    assert "a task: not done" in caplog.text
    assert work.add("a task", lambda: done.append(2))
    assert work.close(5) == 0
    assert done == [2]


def test_a_background_task_may_end_its_own_work() -> None:
    work = Behind("test-behind")
    left: list[int] = []
    work.add("closing", lambda: left.append(work.close(5)))
    work.flush(5)
    assert left == [1]
