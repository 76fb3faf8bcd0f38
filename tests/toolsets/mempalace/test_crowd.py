"""Four processes in one palace, and one is killed: no acknowledged write is lost, and no reply is stale."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import requirement

from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace

EACH = 40
FILING = Path(__file__).with_name("filer.py")


def begun(data: Path, who: str, number: int) -> subprocess.Popen[str]:
    line = [sys.executable, str(FILING), str(data), who, str(number)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def value(host: Host, tool: str, **arguments: Any) -> Any:
    return called(registry(), f"mempalace_{tool}", arguments, host).value


def check_seen(host: Host, id: str, number: int) -> None:
    """A drawer of another process is there for this one at once: found, opened, listed and counted."""
    content = f"Crate {number} of victim holds {number * 7} kestrels."
    hits = value(host, "search", query=f'"{content}"', wing="victim", limit=3)["results"]
    assert (id, content) in [(hit["drawer_id"], hit["text"]) for hit in hits]
    assert value(host, "get_drawer", drawer_id=id)["content"] == content
    rooms = value(host, "list_rooms", wing="victim")["rooms"]
    assert number < sum(rooms.values()) <= value(host, "list_drawers", wing="victim")["total"]


@requirement("crowd.safe", "complaint.corruption", "complaint.divergence", "complaint.lease")
@pytest.mark.slow
def test_acknowledged_drawers_survive_a_killed_process(tmp_path: Path) -> None:
    with Workspace(tmp_path, {"embedder": "hashing"}) as workspace:
        host = Host(Banks(workspace, "watcher"), "home", None, Paths(tmp_path, ()))
        assert value(host, "add_drawer", wing="w", room="r", content="First.")["success"]
        victim = begun(tmp_path, "victim", 100_000)
        others = {name: begun(tmp_path, name, EACH) for name in ("ann", "ben", "cid")}
        assert victim.stdout is not None
        acknowledged = []
        for number in range(EACH // 2):
            acknowledged.append(victim.stdout.readline().strip())
            check_seen(host, acknowledged[-1], number)
        victim.kill()
        rest = victim.stdout.read().splitlines(keepends=True)
        acknowledged += [line.strip() for line in rest if line.endswith("\n")]
        victim.communicate(timeout=60)
        for process in others.values():
            out, problem = process.communicate(timeout=300)
            assert process.returncode == 0, problem
            acknowledged += out.split()
        for begin in range(0, len(acknowledged), 500):
            assert "missing" not in value(host, "get_drawers", drawer_ids=acknowledged[begin : begin + 500])
        wings = value(host, "list_wings")["wings"]
        assert {name: wings[name] for name in others} == dict.fromkeys(others, EACH)
        assert wings["victim"] in (len(acknowledged) - 3 * EACH, len(acknowledged) - 3 * EACH + 1)
        assert host.bank.sync()
        assert host.bank.doctor().well
