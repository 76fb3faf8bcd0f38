"""The plug-ins of hosts: their files agree with the table of hosts, and their hooks run from a made-up home."""

import base64
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.capture.payloads import events, host_environment, prompt

import pieria
from pieria.capture import plugin_hook
from pieria.capture.install.commands import SILENTLY
from pieria.capture.install.hosts import HOSTS
from pieria.settings.folders import DATA

ROOT = Path(__file__).parents[2]
CLAUDE, GEMINI = ROOT / "plugins" / "claude-code", ROOT / "plugins" / "gemini"
SERVER = {"command": "pieria", "args": ["mcp"]}
PATIENT = """
from pieria.capture import context_hook
from pieria.doors.cli import main
context_hook.SECONDS = 600
main()
"""
"""The command line, with time for a machine of any speed."""


def read(*parts: str | Path) -> Any:
    return json.loads(Path(*parts).read_text("utf-8"))


def lines(folder: Path) -> dict[str, list[tuple[str, int]]]:
    """Return the commands of each event, with their time limits."""
    hooks = read(folder, "hooks", "hooks.json")["hooks"]
    return {event: [(one["command"], one["timeout"]) for [one] in _handlers(groups)] for event, groups in hooks.items()}


def _handlers(groups: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [[handler] for group in groups for handler in group["hooks"]]


@pytest.mark.parametrize(("folder", "name"), [(CLAUDE, "claude-code"), (GEMINI, "gemini")])
def test_plugin_hooks_are_those_that_setup_installs(folder: Path, name: str) -> None:
    host = HOSTS[name]

    def wanted(event: str) -> list[tuple[str, int]]:
        whats = plugin_hook.WHATS if event in host.telling else plugin_hook.WHATS[:1]
        return [(f"pieria hooks run {name} {what}{SILENTLY}", host.timeout) for what in whats]

    assert lines(folder) == {event: wanted(event) for event in host.events}


def test_plugins_start_the_server_and_have_one_version() -> None:
    assert read(CLAUDE, ".mcp.json") == {"mcpServers": {"pieria": SERVER}}
    extension, registered = read(GEMINI, "gemini-extension.json"), read(ROOT, "server.json")
    assert extension["mcpServers"] == {"pieria": SERVER}
    [package] = registered["packages"]
    assert [one["value"] for one in package["packageArguments"]] == SERVER["args"]
    [plugin] = read(ROOT, ".claude-plugin", "marketplace.json")["plugins"]
    assert read(ROOT, plugin["source"], ".claude-plugin", "plugin.json")["name"] == plugin["name"] == "pieria"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    manifest = read(CLAUDE, ".claude-plugin", "plugin.json")
    versions = {one["version"] for one in (extension, registered, package, manifest)}
    assert versions == {project["version"]}
    assert f"mcp-name: {registered['name']}" in (ROOT / "README.md").read_text("utf-8")


def test_commands_of_both_plugins_say_the_same() -> None:
    for name in ("recall", "remember", "rules"):
        said = (CLAUDE / "commands" / f"{name}.md").read_text("utf-8").split("---", 2)
        other = tomllib.loads((GEMINI / "commands" / f"{name}.toml").read_text("utf-8"))
        assert f"description: {other['description']}" in said[1]
        own = said[2].replace("$ARGUMENTS", "{{args}}").replace("!`pieria rules --json`", "!{pieria rules --json}")
        assert own.strip() == other["prompt"].strip()


def test_links_add_the_server() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    cursor, code = (parse_qs(urlsplit(link).query) for link in re.findall(r"\((https://[^)]*config=[^)]*)\)", page))
    assert json.loads(base64.b64decode(cursor["config"][0])) == SERVER
    assert json.loads(code["config"][0]) == {"type": "stdio", **SERVER}
    assert cursor["name"] == code["name"] == ["pieria"]


def test_plugin_hooks_capture_and_tell(home: Path, tmp_path: Path) -> None:
    """Run the lines of the plug-in's file in a shell, as the host does, with `pieria` on the path."""
    assert Path(plugin_hook.DATA) == DATA
    with pieria.open("default", data=home / ".pieria") as bank:
        bank.remember("JWT keys are rotated daily by the deploy job, which runs at noon.")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**host_environment(), "HOME": str(home), "PATH": path, "PIERIA_BANK": "default"}
    payload = json.dumps(prompt(tmp_path, "When are the JWT keys rotated?")).encode()

    def ran(*line: str) -> bytes:
        return subprocess.run(line, input=payload, env=environment, capture_output=True, check=True).stdout

    capture = lines(CLAUDE)["UserPromptSubmit"][0][0]
    assert ran("sh", "-c", capture) == b""
    assert [event["text"] for event in events(home / ".pieria" / "spool")] == ["When are the JWT keys rotated?"]
    told = json.loads(ran(sys.executable, "-c", PATIENT, "hooks", "run", "claude-code", "context"))
    assert "rotated daily" in told["hookSpecificOutput"]["additionalContext"]
    environment["PATH"] = "/usr/bin:/bin"
    assert ran("sh", "-c", capture) == b""


def test_plugin_hook_takes_bank_and_data_by_hand(home: Path, tmp_path: Path) -> None:
    payload = json.dumps(prompt(tmp_path, "Never deploy on Fridays.")).encode()
    line = [sys.executable, "-m", "pieria", "hooks", "run", "codex", "capture", "--data", str(tmp_path / "own")]
    environment = {**host_environment(), "HOME": str(home)}
    subprocess.run([*line, "--bank", "shop"], input=payload, env=environment, capture_output=True, check=True)
    [written] = [
        json.loads(line) for line in (tmp_path / "own" / "spool" / "events.jsonl").read_text().splitlines() if line
    ]
    assert (written["bank"], written["event"]["host"]) == ("shop", "codex")


def test_status_warns_of_plugin_beside_hooks() -> None:
    host = HOSTS["claude-code"]
    for on, expected in ((True, 1), (False, 0)):
        settings = json.dumps({"enabledPlugins": {"pieria@pieria": on, "other@pieria": True}})
        assert len(host.warnings(settings, {}, Path())) == expected
