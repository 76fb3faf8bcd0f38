"""The hosts: where each keeps its hooks, and which events it has. `entries` and the plugin have the content."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pieria.capture.install import entries, jsontext
from pieria.capture.install.commands import CAPTURE, CONTEXT, Commands
from pieria.capture.install.files import MARK

USER, PROJECT = SCOPES = ("user", "project")
PLUGIN = "plugin"
PLUGIN_MARK = "// Written by `pieria hooks install`"
_TELLS_NOTHING = "const CONTEXT = null"
_SPOKEN = ("SessionStart", "UserPromptSubmit")


class Foreign(ValueError):
    """Another program's file has the name of Pieria's file."""


@dataclass(frozen=True, slots=True)
class Host:
    """`folder` returns the host's folder of the user; `project` is its unshared file inside a project."""

    name: str
    title: str
    folder: Callable[[Mapping[str, str], Path], Path]
    file: str
    project: str
    events: tuple[str, ...] = ()
    """Events of a host whose hooks are entries in a file; empty for a host that gets a plugin file."""
    telling: tuple[str, ...] = ()
    """Events whose hook output the host shows to its model."""
    next_step: str | None = None
    """What the user still has to do by hand."""

    def path(self, scope: str, environ: Mapping[str, str], home: Path, root: Path) -> Path:
        return self.folder(environ, home) / self.file if scope == USER else root / self.project

    def is_here(self, environ: Mapping[str, str], home: Path) -> bool:
        return self.folder(environ, home).is_dir()

    def installed(self, text: str | None, commands: Commands, *, context: bool) -> str:
        """Return the text with our hooks. With `context` the host also shows what is remembered."""
        if self.events:
            telling = self.telling if context else ()
            wanted = {event: (CAPTURE, CONTEXT) if event in telling else (CAPTURE,) for event in self.events}
            return entries.installed(text, wanted, commands.line)
        if text is not None and PLUGIN_MARK not in text:
            raise Foreign("Pieria did not write it")
        return _plugin(commands, context)

    def uninstalled(self, text: str) -> str | None:
        if self.events:
            return entries.uninstalled(text)
        return None if PLUGIN_MARK in text else text

    def found(self, text: str | None) -> dict[str, list[str]]:
        """Return our commands in the file, by event."""
        if self.events:
            return entries.found(text)
        if text is None or PLUGIN_MARK not in text:
            return {}
        return {PLUGIN: [CAPTURE] if _TELLS_NOTHING in text else [CAPTURE, CONTEXT]}

    def warnings(self, text: str | None, environ: Mapping[str, str], home: Path) -> list[str]:
        """Return the reasons why the host does not run the installed hooks."""
        if self.name == "claude-code" and text is not None and _flag(text, "disableAllHooks"):
            return ["disableAllHooks is set, so Claude Code runs no hooks"]
        if self.name == "codex" and _codex_hooks_are_off(self.folder(environ, home) / "config.toml"):
            return ["features.hooks is false in config.toml, so Codex runs no hooks"]
        return []


def _under(variable: str, *usual: str) -> Callable[[Mapping[str, str], Path], Path]:
    def folder(environ: Mapping[str, str], home: Path) -> Path:
        named = environ.get(variable)
        return Path(named).expanduser() if named else home.joinpath(*usual)

    return folder


def _opencode(environ: Mapping[str, str], home: Path) -> Path:
    named, shared = environ.get("OPENCODE_CONFIG_DIR"), environ.get("XDG_CONFIG_HOME")
    if named:
        return Path(named).expanduser()
    return (Path(shared).expanduser() if shared else home / ".config") / "opencode"


HOSTS = {
    host.name: host
    for host in (
        Host(
            "claude-code",
            "Claude Code",
            _under("CLAUDE_CONFIG_DIR", ".claude"),
            "settings.json",
            ".claude/settings.local.json",
            (
                *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"),
                *("Stop", "PreCompact", "SessionEnd"),
            ),
            telling=_SPOKEN,
        ),
        Host(
            "codex",
            "Codex",
            _under("CODEX_HOME", ".codex"),
            "hooks.json",
            ".codex/hooks.json",
            ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact"),
            telling=_SPOKEN,
            next_step="open /hooks in Codex once, and trust them",
        ),
        Host("opencode", "OpenCode", _opencode, "plugins/pieria.js", ".opencode/plugins/pieria.js"),
    )
}


def _plugin(commands: Commands, context: bool) -> str:
    template = (files("pieria.capture.install") / "plugin.js.in").read_text("utf-8")
    telling = commands.argv(CONTEXT, "generic") if context else None
    return template.replace("{capture}", json.dumps(commands.argv(CAPTURE))).replace("{context}", json.dumps(telling))


def _flag(text: str, name: str) -> bool:
    try:
        member = jsontext.parsed(text.removeprefix(MARK)).member(name)
    except ValueError:
        return False
    return member is not None and member.node.value is True


def _codex_hooks_are_off(config: Path) -> bool:
    try:
        features = tomllib.loads(config.read_text("utf-8")).get("features", {})
    except (OSError, ValueError):
        return False
    return isinstance(features, dict) and False in (features.get("hooks"), features.get("codex_hooks"))
