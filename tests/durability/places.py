"""Processes on a disk that is full or read-only. Each function is one whole process.

Root can write everywhere, so some functions switch to user `nobody` first. Import all they need before the switch.
"""

import os
import pwd
import sqlite3
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pieria
from pieria.errors import DiskFullError, PieriaError

FILLING = "heron " * 500
"""About one page, so that a small disk fills quickly."""


def become_nobody() -> None:
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)


def refused(act: Callable[[], Any]) -> tuple[str, str, bool]:
    """Return the error's class and message, and whether it has a hint."""
    try:
        act()
    except PieriaError as error:
        return type(error).__name__, str(error), bool(error.hint)
    return "nothing", "", False


def open_as_nobody(pipe: Connection, folder: str) -> None:
    become_nobody()
    pipe.send(refused(lambda: pieria.open("notes", data=folder).close()))


def restore_as_nobody(pipe: Connection, copied: str, folder: str) -> None:
    become_nobody()
    pipe.send(refused(lambda: pieria.restore(copied, folder, name="notes")))


def copy_as_nobody(pipe: Connection, folder: str, locked: str) -> None:
    become_nobody()
    with pieria.open("notes", data=folder) as bank:
        bank.remember("heron")
        pipe.send(refused(lambda: bank.backup(Path(locked, "copy.backup"))))
        pipe.send(refused(lambda: bank.export(Path(locked, "notes.jsonl"))))
        pipe.send([memory.text for memory in bank.list()])


def fill_the_disk(pipe: Connection, folder: str) -> None:
    """Write until the disk is full, check the bank, free space, and write again."""
    ballast = Path(folder, "ballast")
    ballast.write_bytes(b"\xff" * (1 << 19))
    with pieria.open("notes", data=Path(folder, "data")) as bank:
        kept: list[str] = []
        while True:
            try:
                kept.append(bank.remember(f"{FILLING} {len(kept)}").id)
            except DiskFullError as error:
                pipe.send(("refused", error.retryable, bool(error.hint)))
                break
            assert len(kept) < 10_000, "the disk is never full"
        texts = [refused(lambda: bank.remember_many([{"text": FILLING}] * 50))[0] for _ in range(3)]
        pipe.send(texts)
        changes = bank.changes()
        assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
        assert bank.count() == len(kept)
        assert all(bank.get(id) for id in kept)
        assert len(bank.recall("heron", k=1_000)) == len(kept)
        # Removing memories frees no space, but reading and reopening must still work.
        ballast.unlink()
        kept.append(bank.remember("after there was space again").id)
        assert bank.doctor().findings
        bad = [f for f in bank.doctor().findings if not f.well and f.check != "disk"]
        assert bad == []
    with pieria.open("notes", data=Path(folder, "data")) as bank:
        assert bank.count() == len(kept)
        assert [hit.memory.id for hit in bank.recall("space")] == kept[-1:]
    pipe.send(len(kept))


def reopen_on_a_full_disk(pipe: Connection, folder: str) -> None:
    """A bank on a full disk opens for reading or raises `DiskFullError`. Its file must not change."""
    data = Path(folder, "data")
    with pieria.open("notes", data=data) as bank:
        bank.remember("heron")
    ballast = Path(folder, "ballast")
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\xff" * 4096)
        except OSError:
            pass
    before = Path(data, "notes.db").read_bytes()
    said = refused(lambda: pieria.open("notes", data=data).close())
    assert said[0] in ("nothing", "DiskFullError"), said
    assert refused(lambda: pieria.open("new", data=data).remember("x"))[0] == "DiskFullError"
    ballast.unlink()
    for left in data.glob("*-wal"):
        assert left.stat().st_size == 0, left
    assert Path(data, "notes.db").read_bytes() == before
    for name in ("notes", "new"):
        with pieria.open(name, data=data) as bank:
            bank.remember("space again")
            assert bank.recall("space")
    pipe.send("done")


def limit_the_pages(folder: Path, pages: int) -> pieria.Bank:
    """Return an open bank whose file is limited to so many pages, as on a full disk."""
    bank = pieria.open("notes", data=folder)
    connection: sqlite3.Connection = bank.core.store._connections.writer()  # type: ignore[attr-defined]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    return bank


def counted(folder: Path) -> int:
    with closing(pieria.open("notes", data=folder)) as bank:
        found: int = bank.count()
        return found
