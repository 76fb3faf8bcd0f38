"""Worktrees of one repository share one memory."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.toolsets.requirements import requirement

from pieria.doors.cli.root import cli


@requirement("across.worktrees")
def test_worktrees_of_a_repository_share_one_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"]
    for command in (
        [*git, "init", "-q", "main"], [*git, "-C", "main", "commit", "-q", "--allow-empty", "-m", "x"],
        [*git, "-C", "main", "worktree", "add", "-q", "../tree"],
    ):  # fmt: skip
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    def call(where: str, tool: str, **arguments: object) -> Any:
        monkeypatch.chdir(tmp_path / where)
        done = CliRunner().invoke(cli, ["call", tool, json.dumps(arguments)])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    made = call("main", "mem-create", title="T", type="change", narrative="A heron.", files=["src/a.py"])
    found = call("tree", "mem-find", query="heron")
    assert len(found["data"]["results"]) == 1
    assert found["meta"]["bank"] == made["meta"]["bank"]
    call("tree", "mem-maintenance", action="folderContextRebuild")
    assert (tmp_path / "tree" / "AGENTS.md").exists()
    assert not (tmp_path / "main" / "AGENTS.md").exists()
