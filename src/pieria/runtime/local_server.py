"""The server of a data folder, over a socket in it, for processes of the same user.

Of all processes that offer to serve, one does: the one that holds the lock. When it ends, the next one takes over.
"""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pieria.runtime import forks
from pieria.runtime.local_call import VERSION, path_of, peer_of, received, send

log = logging.getLogger(__name__)

LOCK = "pieria.sock.lock"
PATIENCE = 30.0
"""Seconds that a connection may stay without a request."""
WAITING = 64
AT_ONCE = 100
"""Connections at once; further ones wait."""
RETRY = 1.0
"""Seconds until the server goes on after a failure to accept a caller, such as too many open files."""
Answer = Callable[[dict[str, Any]], dict[str, Any]]


class LocalServer:
    """`answers` has a function for each thing that can be asked. They run in a thread for each connection."""

    def __init__(self, folder: Path, answers: Mapping[str, Answer], user: int | None = None) -> None:
        self._folder = folder
        self._answers = answers
        self._user = os.getuid() if user is None else user
        self._lock: int | None = None
        self._listening: socket.socket | None = None
        self._is_begun = False
        self._closing = threading.Event()
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self.is_serving = threading.Event()
        _servers.add(self)

    def start(self) -> None:
        """Serve as soon as no other process does. Without a folder do nothing, so that a later call may start it."""
        if self._is_begun or not self._folder.is_dir():
            return
        self._is_begun = True
        threading.Thread(target=self._run, name="pieria-local", daemon=True).start()

    def close(self) -> None:
        self._closing.set()
        if self._listening is not None:
            # Wakes the thread that waits for callers.
            with suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()

    def _run(self) -> None:
        try:
            # The process that holds the lock serves. When it ends, even by a kill, the kernel passes the lock on.
            self._lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if not self._closing.is_set():
                self._serve()
        except OSError as problem:
            log.info("no local server: %s", problem)
        finally:
            # Forget it first: a forked child would close another file that has got this number.
            lock, self._lock = self._lock, None
            if lock is not None:
                os.close(lock)

    def _serve(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening, path_of(str(self._folder)) as path:
            # A socket that is still there is of a process that has ended: this one holds the lock.
            Path(path).unlink(missing_ok=True)
            listening.bind(path)
            os.chmod(path, 0o600)
            listening.listen(WAITING)
            self._listening = listening
            self.is_serving.set()
            try:
                while not self._closing.is_set():
                    self._accept(listening)
            finally:
                Path(path).unlink(missing_ok=True)

    def _accept(self, listening: socket.socket) -> None:
        self._room.acquire()
        try:
            line, _ = listening.accept()
        except OSError as problem:
            self._room.release()
            if not self._closing.is_set():
                log.warning("the local server could not accept a caller: %s", problem)
                self._closing.wait(RETRY)
            return
        threading.Thread(target=self._answer, args=(line,), name="pieria-local-call", daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with self._leaving(), line, suppress(OSError, ValueError):
            line.settimeout(PATIENCE)
            if peer_of(line) != self._user:
                send(line, {"refused": "this memory is another user's"})
                return
            asked = received(line)
            if asked is not None:
                send(line, self._answered(asked))

    @contextmanager
    def _leaving(self) -> Iterator[None]:
        """Make room for another caller in the end."""
        try:
            yield
        finally:
            self._room.release()

    def _answered(self, asked: dict[str, Any]) -> dict[str, Any]:
        version, what = asked.pop("version", None), asked.pop("what", None)
        if version != VERSION:
            return {"refused": f"version {VERSION} serves here, and version {version} asks: restart the older one"}
        answer = self._answers.get(str(what))
        if answer is None:
            return {"refused": f"this server has no answer to {what!r}"}
        try:
            return answer(asked)
        except Exception as problem:
            # The caller does the work itself, and so meets the problem where a person sees it.
            log.info("the local server could not answer %s", what, exc_info=True)
            return {"refused": f"{type(problem).__name__}: {problem}"}

    def leave_to_parent(self) -> None:
        """In a forked child: close what was inherited, since it would hold the lock and callers after the parent."""
        self._closing.set()
        for file in (self._lock, None if self._listening is None else self._listening.detach()):
            if file is not None and file >= 0:
                with suppress(OSError):
                    os.close(file)
        self._lock = self._listening = None


_servers: weakref.WeakSet[LocalServer] = weakref.WeakSet()


def _leave_all() -> None:
    for server in list(_servers):
        server.leave_to_parent()


forks.in_child(_leave_all)
