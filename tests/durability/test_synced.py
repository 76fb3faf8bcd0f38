"""The syncs that the system was asked for before a write was acknowledged, seen by strace."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.durability.processes import ROOT

import pieria
from pieria.bank import Bank

SYNC = re.compile(r"\b(?:fdatasync|fsync)\((?P<fd>\d+)(?:<(?P<path>[^>]*)>)?\)\s*=\s*0")
SAID = re.compile(r'\bwrite\(1(?:<[^>]*>)?, "<(?P<word>[a-z_ ]+)>')
STDOUT = 1

pytestmark = pytest.mark.slow


def verbs(bank: Bank) -> dict[str, Callable[[], object]]:
    """Return every writing verb, since each could reach the disk in its own way."""
    one, other = "one", "other"
    return {
        "remember": lambda: bank.remember("first", id=one),
        "remember_many": lambda: bank.remember_many([{"text": "second", "id": other}, {"text": "third", "id": "3"}]),
        "update": lambda: bank.update(one, text="first again"),
        "pin": lambda: bank.pin(one),
        "touch": lambda: bank.touch(one),
        "link": lambda: bank.link(one, other),
        "unlink": lambda: bank.unlink(one, other),
        "fact": lambda: bank.facts.add("a", "is", "b"),
        "note": lambda: bank.scratchpad.write("a note"),
        "revise": lambda: bank.revise(other, text="second again"),
        "invalidate": lambda: bank.invalidate(one),
        "remove": lambda: bank.remove(one),
        "restore": lambda: bank.restore(one),
        "undo": lambda: bank.undo(bank.changes()[-1].seq),
        "purge": lambda: bank.purge("3"),
        "user": lambda: bank.remember("about the user", scope="user"),
    }


def write_everything(folder: str, durability: str) -> None:
    """Call each verb, and print when it begins and when it is acknowledged: strace shows that among the syncs."""

    def say(word: str) -> None:
        os.write(STDOUT, f"<{word}>\n".encode())

    with pieria.open("traced", data=folder, settings={"durability": durability}) as bank:
        for name, verb in verbs(bank).items():
            say(f"begin {name}")
            verb()
            say(f"acknowledged {name}")
        say("closing")


def traced(folder: Path, durability: str) -> list[str]:
    """Return the events in order: `begin X`, `acknowledged X`, `closing`, and the name of each synced file."""
    strace = shutil.which("strace")
    assert strace, "this test looks at system calls: install strace (Debian: `apt-get install strace`)"
    log = folder / "strace.log"
    command = [strace, "-f", "-y", "-s", "80", "-e", "trace=write,fdatasync,fsync", "-o", str(log)]
    command += [sys.executable, "-m", "tests.durability.test_synced", str(folder / "data"), durability]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    happened = []
    for line in log.read_text(errors="replace").splitlines():
        if said := SAID.search(line):
            happened.append(said["word"])
        elif synced := SYNC.search(line):
            happened.append(Path(synced["path"] or "?").name)
    assert happened.count("closing") == 1
    return happened


def between(happened: list[str], begin: str, end: str) -> list[str]:
    return happened[happened.index(begin) + 1 : happened.index(end)]


def acknowledged(happened: list[str]) -> list[str]:
    found = [word.removeprefix("acknowledged ") for word in happened if word.startswith("acknowledged ")]
    assert len(found) > 10
    return found


def test_every_write_waits_for_the_disk(tmp_path: Path) -> None:
    happened = traced(tmp_path, "full")
    for verb in acknowledged(happened):
        synced = between(happened, f"begin {verb}", f"acknowledged {verb}")
        assert any(name.endswith((".db", ".db-wal")) for name in synced), (verb, synced)
    # A new file is durable only after a sync of its folder and of that folder's parent.
    before_the_first = happened[: happened.index("acknowledged remember")]
    assert {"data", tmp_path.name} <= set(before_the_first)


def test_relaxed_writes_wait_only_at_a_checkpoint(tmp_path: Path) -> None:
    happened = traced(tmp_path, "relaxed")
    # A purge makes a checkpoint. The user's bank is a new file at its first write. Leave both out.
    quiet = between(happened, "acknowledged remember", "begin purge")
    assert [word for word in quiet if not word.startswith(("begin ", "acknowledged "))] == []
    assert len(acknowledged(quiet)) > 10
    after = happened[happened.index("closing") :]
    assert any(name.endswith(".db") for name in after), after


def test_no_write_waits_with_durability_off(tmp_path: Path) -> None:
    happened = traced(tmp_path, "off")
    assert [name for name in happened if name.endswith((".db", ".db-wal"))] == []


if __name__ == "__main__":
    write_everything(*sys.argv[1:])
