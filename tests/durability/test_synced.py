"""The syncs that the system was asked for before a write was acknowledged, seen by strace."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.durability.processes import ROOT

SYNC = re.compile(r"\b(?:fdatasync|fsync)\((?P<fd>\d+)(?:<(?P<path>[^>]*)>)?\)\s*=\s*0")
SAID = re.compile(r'\bwrite\(1(?:<[^>]*>)?, "<(?P<word>[a-z_ ]+)>')

pytestmark = pytest.mark.slow


def traced(folder: Path, durability: str) -> list[str]:
    """Return the events in order: `begin X`, `acknowledged X`, `closing`, and the name of each synced file."""
    strace = shutil.which("strace")
    assert strace, "this test looks at system calls: install strace (Debian: `apt-get install strace`)"
    log = folder / "strace.log"
    command = [strace, "-f", "-y", "-s", "80", "-e", "trace=write,fdatasync,fsync", "-o", str(log)]
    command += [sys.executable, "-m", "tests.durability.acknowledging", str(folder / "data"), durability]
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


def test_every_write_waits_for_the_disk_before_it_is_acknowledged(tmp_path: Path) -> None:
    happened = traced(tmp_path, "full")
    for verb in acknowledged(happened):
        synced = between(happened, f"begin {verb}", f"acknowledged {verb}")
        assert any(name.endswith((".db", ".db-wal")) for name in synced), (verb, synced)


def test_a_new_bank_s_folder_is_on_the_disk_with_its_first_write(tmp_path: Path) -> None:
    """A new file is durable only after a sync of its folder and of that folder's parent."""
    happened = traced(tmp_path, "full")
    before_the_first = happened[: happened.index("acknowledged remember")]
    assert "data" in before_the_first
    assert tmp_path.name in before_the_first


def test_with_the_relaxed_setting_no_write_waits_until_a_checkpoint(tmp_path: Path) -> None:
    happened = traced(tmp_path, "relaxed")
    # A purge makes a checkpoint. The user's bank is a new file at its first write. Leave both out.
    quiet = between(happened, "acknowledged remember", "begin purge")
    assert [word for word in quiet if not word.startswith(("begin ", "acknowledged "))] == []
    assert len(acknowledged(quiet)) > 10
    after = happened[happened.index("closing") :]
    assert any(name.endswith(".db") for name in after), after


def test_with_syncing_off_nothing_waits(tmp_path: Path) -> None:
    happened = traced(tmp_path, "off")
    assert [name for name in happened if name.endswith((".db", ".db-wal"))] == []
