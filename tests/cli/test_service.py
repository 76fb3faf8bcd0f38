"""`pieria service`: the written files, compared whole, and what a person is asked."""

import os
import plistlib
import shlex
from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path

import pytest
from tests.cli.conftest import Answer, Ask

from pieria.doors.service_file import LABEL, command, service_file
from pieria.errors import ConfigError

UNIT = """[Unit]
Description=Pieria: long-term memory for AI agents
Documentation=https://github.com/pieria-memory/pieria

[Service]
ExecStart={}
Restart=on-failure

[Install]
WantedBy=default.target
"""
QUOTED = {
    ("python", "--data", "/a/b"): "python --data /a/b",
    ("python", "/a b/%h/$HOME"): 'python "/a b/%%h/$$HOME"',
    ("python", 'a "b"\\'): 'python "a \\"b\\"\\\\"',
}


def test_unit_quotes_its_command_line(tmp_path: Path) -> None:
    made = {arguments: service_file(arguments, {}, tmp_path, "linux").text for arguments in QUOTED}
    assert made == {arguments: UNIT.format(line) for arguments, line in QUOTED.items()}


def test_each_system_has_its_file_and_commands(tmp_path: Path) -> None:
    (tmp_path / "systemd").mkdir()
    unit = service_file(["python"], {"XDG_RUNTIME_DIR": str(tmp_path)}, tmp_path, "linux")
    assert unit.file == tmp_path / ".config" / "systemd" / "user" / "pieria.service"
    assert (unit.can_run, unit.start[:2], unit.stop[2]) == (True, ("systemctl", "--user"), "disable")
    elsewhere = service_file(["python"], {"XDG_CONFIG_HOME": "/etc/mine"}, tmp_path, "linux")
    assert (str(elsewhere.file), elsewhere.can_run) == ("/etc/mine/systemd/user/pieria.service", False)
    agent = service_file(["python", "a&b"], {}, tmp_path, "darwin")
    assert agent.file == tmp_path / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    assert plistlib.loads(agent.text.encode()) == {
        **{"Label": LABEL, "ServiceDescription": "Pieria: long-term memory for AI agents"},
        **{"ProgramArguments": ["python", "a&b"], "RunAtLoad": True, "KeepAlive": {"SuccessfulExit": False}},
        "StandardErrorPath": str(tmp_path / "Library" / "Logs" / "pieria.log"),
    }
    with pytest.raises(ConfigError, match="systemd and launchd"):
        service_file(["python"], {}, tmp_path, "win32")


def test_service_is_written_and_removed_but_not_started(ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / ".config" / "systemd" / "user" / "pieria.service"
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert ask("service", "install", "--dry-run").json["text"].startswith("[Unit]")
    assert not file.exists()
    made = ask("service", "install", "--port", "7500", "--yes").json
    assert (made["changed"], made["started"], made["start"]) == (
        *(True, False),
        "systemctl --user enable --now pieria.service",
    )
    assert f"serve --port 7500 --data {home / 'data'}" in file.read_text()
    assert ask("service", "install", "--port", "7500").json["changed"] is False
    assert ask("service", "status").json["installed"] is True
    assert ask("service", "remove").json["removed"] is False
    assert ask("service", "remove", "--yes").json["removed"] is True
    assert not file.exists()
    file.write_text("[Unit]\nDescription=mine\n")
    assert "is not Pieria's" in ask("service", "install", "--yes").failed(1)
    assert ask("service", "remove", "--yes").json["installed"] is False
    assert file.read_text() == "[Unit]\nDescription=mine\n"
    assert "password" in ask("service", "install", "--data", "postgresql://there/pieria").failed(2)


def test_person_is_asked_before_the_service_starts(
    terminal: Callable[..., Answer], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systemctl, ran = tmp_path / "systemctl", tmp_path / "ran"
    systemctl.write_text(f'#!/bin/sh\necho "$*" >> {ran}\n')
    systemctl.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "systemd").mkdir()
    assert "to start it" in terminal("service", "install", typed="n\n").out
    assert not ran.exists()
    assert "to start it" not in terminal("service", "install", typed="y\n").out
    assert ran.read_text() == "--user enable --now pieria.service\n"


def test_unit_holds_its_command_line(tmp_path: Path) -> None:
    """Read the unit as systemd does: an ini file, with quoted arguments in which % and $ are doubled."""
    arguments = command(tmp_path / "a b" / '100% "$HOME"', 7411)
    unit = ConfigParser(interpolation=None)
    unit.read_string(service_file(arguments, {}, tmp_path, "linux").text)
    line = unit["Service"]["ExecStart"].replace("%%", "%").replace("$$", "$")
    assert shlex.split(line) == arguments
    assert Path(arguments[0]).is_absolute()
