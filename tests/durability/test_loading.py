"""A process that forks while one of its threads loads a module for the first time."""

import subprocess
import sys
from pathlib import Path

import pytest

FORKING = """
import os, signal, sys, threading
import pieria

def opened():
    return pieria.open("notes", data=sys.argv[1], settings={"embedder": "none"})

def use(bank):
    bank.facts.stats(), bank.recall("heron"), bank.context()

with opened() as bank:
    bank.remember("heron")
    thread = threading.Thread(target=use, args=(bank,))
    thread.start()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        use(opened())
        os._exit(0)
    thread.join()
    sys.exit(os.waitpid(child, 0)[1] != 0)
"""


@pytest.mark.slow
def test_the_child_does_not_wait_for_what_nobody_goes_on_loading_there(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
