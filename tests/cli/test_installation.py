"""`pieria upgrade` and `pieria uninstall`: which program installed this Pieria, and what it is asked to do."""

from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Answer, Ask

from pieria.doors.cli.installation import Traces, installation

PIPX, UV = "pipx_metadata.json", "uv-receipt.toml"
FILE = {"url": "file:///downloads/pieria.whl", "archive_info": {}}
GIT = {"url": "https://example.org/pieria", "vcs_info": {"vcs": "git", "commit_id": "1f"}}
EDITABLE = {"url": "file:///my%20code/pieria", "dir_info": {"editable": True}}
ADDED = "it was added to the environment of llm: change it there with {}"
FROM_FILE = "it was installed from a file or folder: install a newer one in the same way"

CASES: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "pip": ({}, {}),
    "pip from git": ({}, {"origin": GIT}),
    "pip from a file": ({}, {"origin": FILE}),
    "uv pip": ({}, {"installer": "uv"}),
    "editable": ({}, {"origin": EDITABLE}),
    "pipx": ({PIPX: '{"main_package": {"package": "pieria"}}'}, {}),
    "pipx inject": ({PIPX: '{"main_package": {"package": "llm"}}'}, {}),
    "uv tool": ({UV: '[tool]\nrequirements = [{ name = "pieria" }]\n'}, {"installer": "uv"}),
    "uv tool --with": ({UV: '[tool]\nrequirements = [{ name = "llm" }, { name = "pieria" }]\n'}, {"installer": "uv"}),
    "the system's": ({}, {"managed": True}),
    "conda": ({}, {"installer": "conda"}),
}
PIP = "python -m pip"
FOUND: dict[str, tuple[str, list[str], list[str], str | None]] = {
    "pip": ("pip", [f"{PIP} install --upgrade pieria"], [f"{PIP} uninstall --yes pieria"], None),
    "pip from git": (
        "pip",
        [f"{PIP} install --upgrade pieria @ git+https://example.org/pieria"],
        [f"{PIP} uninstall --yes pieria"],
        None,
    ),
    "pip from a file": ("pip", [], [f"{PIP} uninstall --yes pieria"], FROM_FILE),
    "uv pip": (
        "uv",
        ["uv pip install --python python --upgrade pieria"],
        ["uv pip uninstall --python python pieria"],
        None,
    ),
    "editable": (
        "editable",
        ["git -C /my code/pieria pull --ff-only", f"{PIP} install --editable /my code/pieria"],
        [f"{PIP} uninstall --yes pieria"],
        None,
    ),
    "pipx": ("pipx", ["pipx upgrade memory"], ["pipx uninstall memory"], None),
    "pipx inject": ("pipx", [], [], ADDED.format("pipx")),
    "uv tool": ("uv tool", ["uv tool upgrade memory"], ["uv tool uninstall memory"], None),
    "uv tool --with": ("uv tool", [], [], ADDED.format("uv tool")),
    "the system's": ("other", [], [], "another package manager installed it (pip): use that one"),
    "conda": ("other", [], [], "another package manager installed it (conda): use that one"),
}


def test_each_way_of_installation_has_its_commands(tmp_path: Path) -> None:
    """pipx and uv name an environment after its tool, or as the person wished."""
    found = {}
    for name, (files, left) in CASES.items():
        prefix = tmp_path / name / "memory"
        prefix.mkdir(parents=True)
        for file, text in files.items():
            (prefix / file).write_text(text)
        made = installation(Traces(prefix, "python", **left))
        commands = ([" ".join(command) for command in each] for each in (made.upgrade, made.uninstall))
        found[name] = (made.how, *commands, made.why_not)
    assert found == FOUND


def test_uninstall_stops_at_entries_that_stay(
    ask: Ask, terminal: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []
    monkeypatch.setattr("pieria.doors.cli.programs.run", ran.append)
    (home / ".cursor").mkdir()
    file = home / ".cursor" / "mcp.json"
    file.write_text('{"mcpServers": {"Pieria": ')
    assert str(file) in ask("uninstall", "--dry-run").json["problems"][0]
    assert str(file) in ask("uninstall", "--yes").failed(1)
    said: Answer = terminal("uninstall", typed="n\n", width=300)
    assert said.code == 1 and "not removed" in said.out and ran == []
    assert terminal("uninstall", typed="y\n").code == 0
    assert len(ran) == 1
    for unrelated in (b'{"mcpServers": ', b"\xff\xfe{"):
        file.write_bytes(unrelated)
        assert str(file) in ask("uninstall", "--yes").json["unrelated"][0]
    assert len(ran) == 3


def test_dry_run_shows_everything_and_changes_nothing(ask: Ask, home: Path) -> None:
    (home / ".codex").mkdir()
    ask("hooks", "install")
    unit = ask("service", "install").json["file"]
    hooks = home / ".codex" / "hooks.json"
    before = hooks.read_text()
    gone = ask("uninstall", "--dry-run", "--yes").json
    assert (gone["agents"], gone["service"], gone["data"]) == ([str(hooks)], unit, str(home / "data"))
    assert gone["commands"][-1].endswith("pieria")
    assert hooks.read_text() == before and Path(unit).exists()
    assert ask("upgrade", "--dry-run").json["where"] == gone["where"]
    for command in ("upgrade", "uninstall"):
        assert "only a person" in ask(command).failed(1)
    assert hooks.read_text() == before and Path(unit).exists()
