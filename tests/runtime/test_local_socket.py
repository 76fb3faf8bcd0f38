"""The socket of a data folder: one process serves, and processes of the same user and version are answered."""

import os
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import soon

from pieria.runtime import local_call
from pieria.runtime.local_call import RefusedError, asked, path_of, received, send
from pieria.runtime.local_server import LocalServer

SECONDS = 60.0


def echoed(values: dict[str, Any]) -> dict[str, Any]:
    return {"said": values["text"]}


def broken(values: dict[str, Any]) -> dict[str, Any]:
    raise KeyError(values["text"])


ANSWERS = {"echo": echoed, "break": broken}


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as held:
        yield held


def serving(folder: Path, stack: ExitStack, **more: Any) -> LocalServer:
    server = LocalServer(folder, ANSWERS, **more)
    stack.callback(server.close)
    server.start()
    return server


def refusal(folder: Path, what: str = "echo") -> str:
    with pytest.raises(RefusedError) as caught:
        asked(str(folder), what, {"text": "x"}, SECONDS)
    return str(caught.value)


def test_twenty_callers_at_once_are_answered(tmp_path: Path, stack: ExitStack) -> None:
    assert asked(str(tmp_path), "echo", {"text": "x"}, SECONDS) is None
    assert serving(tmp_path, stack).is_serving.wait(SECONDS)
    assert oct(os.stat(tmp_path / local_call.FILE).st_mode)[-3:] == "600"
    with ThreadPoolExecutor(20) as pool:
        texts = [f"{n} é\n{'x' * 100_000}" for n in range(60)]
        answers = list(pool.map(lambda text: asked(str(tmp_path), "echo", {"text": text}, SECONDS), texts))
    assert answers == [{"said": text} for text in texts]


def test_next_process_takes_over_and_replaces_a_stale_socket(tmp_path: Path, stack: ExitStack) -> None:
    with socket.socket(socket.AF_UNIX) as left, path_of(str(tmp_path)) as path:
        left.bind(path)
    assert asked(str(tmp_path), "echo", {"text": "x"}, SECONDS) is None
    first, second = serving(tmp_path, stack), serving(tmp_path, stack)
    soon(lambda: first.is_serving.is_set() or second.is_serving.is_set())
    serves, waits = (first, second) if first.is_serving.is_set() else (second, first)
    assert asked(str(tmp_path), "echo", {"text": "x"}, SECONDS) == {"said": "x"}
    assert not waits.is_serving.is_set()
    serves.close()
    assert waits.is_serving.wait(SECONDS)
    assert asked(str(tmp_path), "echo", {"text": "y"}, SECONDS) == {"said": "y"}


def test_child_that_outlives_the_server_keeps_nobody_waiting(tmp_path: Path, stack: ExitStack) -> None:
    first = serving(tmp_path, stack)
    assert first.is_serving.wait(SECONDS)
    ends, begins = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(begins)
        os.read(ends, 1)
        os._exit(0)
    try:
        second = serving(tmp_path, stack)
        first.close()
        assert second.is_serving.wait(SECONDS)
        assert asked(str(tmp_path), "echo", {"text": "x"}, SECONDS) == {"said": "x"}
    finally:
        os.close(begins)
        os.waitpid(child, 0)
        os.close(ends)


def test_child_of_a_former_server_keeps_its_other_files(tmp_path: Path, stack: ExitStack) -> None:
    """A file that is opened later may get the number of the lock."""
    first = serving(tmp_path, stack)
    assert first.is_serving.wait(SECONDS)
    first.close()
    assert serving(tmp_path, stack).is_serving.wait(SECONDS), "the first has released its lock"
    with ExitStack() as files:
        opened = [files.enter_context((tmp_path / f"{n}").open("w")) for n in range(20)]
        first.leave_to_parent()
        assert all(os.fstat(file.fileno()) for file in opened)


def test_server_goes_on_after_a_failure_to_accept(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([OSError("too many open files")])
    accept = socket.socket.accept

    def failing(listening: socket.socket) -> Any:
        line = accept(listening)
        for failure in failures:
            line[0].close()
            raise failure
        return line

    monkeypatch.setattr("pieria.runtime.local_server.RETRY", 0.0)
    monkeypatch.setattr(socket.socket, "accept", failing)
    assert serving(tmp_path, stack).is_serving.wait(SECONDS)
    assert asked(str(tmp_path), "echo", {"text": "x"}, SECONDS) is None
    assert asked(str(tmp_path), "echo", {"text": "x"}, SECONDS) == {"said": "x"}


def test_other_user_or_version_is_refused_with_a_word(
    tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
    assert serving(theirs, stack, user=os.getuid() + 1).is_serving.wait(SECONDS)
    assert refusal(theirs) == "this memory is another user's"
    assert serving(ours, stack).is_serving.wait(SECONDS)
    assert refusal(ours, "sing") == "this server has no answer to 'sing'"
    assert refusal(ours, "break") == "KeyError: 'x'"
    with monkeypatch.context() as newer:
        newer.setattr(local_call, "VERSION", "9.9")
        assert refusal(ours).endswith("and version 9.9 asks: restart the older one")
        newer.setattr(os, "getuid", lambda: 12_345)
        assert asked(str(ours), "echo", {"text": "x"}, SECONDS) is None, "a server of another user was asked"
    assert asked(str(ours), "echo", {"text": "x"}, SECONDS) == {"said": "x"}


def test_server_that_dies_in_the_middle_gives_no_answer(tmp_path: Path) -> None:
    """Ends that a killed process leaves: before any answer, within its length, and within its text."""
    parts = (b"", struct.pack(">I", 50)[:2], struct.pack(">I", 50) + b'{"said"', struct.pack(">I", 1 << 31))
    with socket.socket(socket.AF_UNIX) as listening, path_of(str(tmp_path)) as path, ThreadPoolExecutor(1) as pool:
        listening.bind(path)
        listening.listen()
        for part in parts:
            answer = pool.submit(asked, str(tmp_path), "echo", {"text": "x"}, SECONDS)
            with listening.accept()[0] as line:
                assert received(line) == {"version": local_call.VERSION, "what": "echo", "text": "x"}
                line.sendall(part)
            assert answer.result() is None


def test_garbage_and_silence_do_not_keep_others_waiting(tmp_path: Path, stack: ExitStack) -> None:
    assert serving(tmp_path, stack).is_serving.wait(SECONDS)
    with path_of(str(tmp_path)) as path:
        for garbage in (
            b"",
            b"GET / HTTP/1.1\r\n\r\n",
            struct.pack(">I", 3) + b"[1]",
            struct.pack(">I", 2) + b"\xff\xff",
        ):
            line = stack.enter_context(socket.socket(socket.AF_UNIX))
            line.connect(path)
            line.sendall(garbage)
    assert asked(str(tmp_path), "echo", {"text": "x"}, SECONDS) == {"said": "x"}


def test_folder_with_a_long_path_is_served(tmp_path: Path, stack: ExitStack) -> None:
    long = tmp_path / ("long" * 30)
    long.mkdir()
    assert serving(long, stack).is_serving.wait(SECONDS)
    assert asked(str(long), "echo", {"text": "x"}, SECONDS) == {"said": "x"}
    later = serving(tmp_path / "later", stack)
    (tmp_path / "later").mkdir()
    later.start()
    assert later.is_serving.wait(SECONDS)


def test_version_is_that_of_the_package() -> None:
    assert version("pieria") == local_call.VERSION


def test_large_frames_go_both_ways() -> None:
    one, other = socket.socketpair()
    with one, other, ThreadPoolExecutor(1) as pool:
        sent = pool.submit(send, one, {"text": "ü" * 3_000_000})
        assert received(other) == {"text": "ü" * 3_000_000}
        sent.result()
        one.close()
        assert received(other) is None
