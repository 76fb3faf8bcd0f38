"""Four processes in one palace; one is killed. Nothing that was acknowledged is lost, and nothing is stale."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.toolsets.requirements import requirement

from pieria.toolsets import Banks, Host, Paths, called, registry
from pieria.workspace import Workspace

EACH = 40
FILING = Path(__file__).with_name("filing.py")


def begun(data: Path, who: str, number: int) -> subprocess.Popen[str]:
    line = [sys.executable, str(FILING), str(data), who, str(number)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
@requirement("crowd.safe")
def test_several_file_and_search_and_one_is_killed(tmp_path: Path) -> None:
    with Workspace(tmp_path, {"embedder": "hashing"}) as workspace:
        host = Host(Banks(workspace, "watcher"), "home", None, Paths(tmp_path, ()))
        assert called(registry(), "mempalace_add_drawer", {"wing": "w", "room": "r", "content": "First."}, host).value
        victim = begun(tmp_path, "victim", 100_000)
        others = {name: begun(tmp_path, name, EACH) for name in ("ann", "ben", "cid")}
        assert victim.stdout is not None
        acknowledged = [victim.stdout.readline().strip() for _ in range(EACH // 2)]
        victim.kill()
        rest = victim.stdout.read().splitlines(keepends=True)
        acknowledged += [line.strip() for line in rest if line.endswith("\n")]
        victim.communicate(timeout=60)
        for process in others.values():
            out, problem = process.communicate(timeout=300)
            assert process.returncode == 0, problem
            acknowledged += out.split()
        told = called(registry(), "mempalace_get_drawers", {"drawer_ids": acknowledged[:500]}, host).value
        assert told["missing"] == []
        wings = called(registry(), "mempalace_list_wings", {}, host).value["wings"]
        assert {name: wings[name] for name in others} == dict.fromkeys(others, EACH)
        assert wings["victim"] in (len(acknowledged) - 3 * EACH, len(acknowledged) - 3 * EACH + 1)
        assert host.bank.sync()
        assert host.bank.doctor().well
