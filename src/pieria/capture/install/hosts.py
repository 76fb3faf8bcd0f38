"""The hosts: where each keeps its hooks and its MCP servers, and which events it has.

`entries`, `servers` and the plugin have the content.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pieria.capture.install import entries, jsontext
from pieria.capture.install.commands import CAPTURE, CONTEXT, HOST_SECONDS, Commands, argv_of
from pieria.capture.install.files import MARK
from pieria.capture.install.servers import JSON, TOML, Servers

MISSING, INSTALLED, OUTDATED, FOREIGN = "missing", "installed", "outdated", "foreign"
USER, PROJECT = SCOPES = ("user", "project")
PLUGIN = "plugin"
PLUGIN_MARK = "// Written by `pieria hooks install`"
_TELLS_NOTHING = "const CONTEXT = null"
_ARGV = re.compile(r'^const (?:HOOK|CONTEXT) = (\["[^\n]*"\])$', re.MULTILINE)
_SPOKEN = ("SessionStart", "UserPromptSubmit")


Folder = Callable[[Mapping[str, str], Path], Path]


class Foreign(ValueError):
    """Another program's file has the name of Pieria's file."""


@dataclass(frozen=True, slots=True)
class Host:
    """`folder` returns the host's folder of the user. `file` has its hooks, and `project` is its unshared file inside
    a project; both are empty for a host without hooks.
    """

    name: str
    title: str
    folder: Folder
    file: str = ""
    project: str = ""
    events: tuple[str, ...] = ()
    """Events of a host whose hooks are entries in a file; empty for a host that gets a plugin file."""
    timeout: int = HOST_SECONDS
    """How long the host waits for a hook, in its own unit."""
    telling: tuple[str, ...] = ()
    """Events whose hook output the host shows to its model."""
    next_step: str | None = None
    """What the user still has to do by hand."""
    servers: Servers | None = None
    """How the host writes its MCP servers; None for a host with another way in."""
    server_files: tuple[str, ...] = ()
    """The files that may have the MCP servers: the first that exists, or else the first."""
    server_folder: Folder | None = None
    """Where these files are, if not in the host's folder."""
    sessions: tuple[Folder, tuple[str, ...]] | None = None
    """The folder of past sessions, and patterns for their files."""

    def path(self, scope: str, environ: Mapping[str, str], home: Path, root: Path) -> Path:
        return self.folder(environ, home) / self.file if scope == USER else root / self.project

    def server_path(self, environ: Mapping[str, str], home: Path) -> Path:
        folder = (self.server_folder or self.folder)(environ, home)
        files = [folder / name for name in self.server_files]
        return next((file for file in files if file.exists()), files[0])

    def files(self, environ: Mapping[str, str], home: Path) -> list[Path]:
        """Return the user's files that setup writes."""
        hooks = [self.path(USER, environ, home, home)] if self.file else []
        return [*hooks, *([self.server_path(environ, home)] if self.server_files else [])]

    def is_here(self, environ: Mapping[str, str], home: Path) -> bool:
        return self.folder(environ, home).is_dir()

    def installed(self, text: str | None, commands: Commands, *, context: bool) -> str:
        """Return the text with our hooks. With `context` the host also shows what is remembered."""
        if self.events:
            telling = self.telling if context else ()
            wanted = {event: (CAPTURE, CONTEXT) if event in telling else (CAPTURE,) for event in self.events}
            return entries.installed(text, wanted, commands.line, self.timeout)
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

    def like(self, text: str | None, commands: Commands) -> Commands:
        """Return the commands for the folders that the hooks in the file name."""
        if self.events:
            return commands.like(map(argv_of, entries.lines(text)))
        return commands.like(map(_argv, _ARGV.findall(text or "")))

    def state(self, text: str | None, commands: Commands) -> str:
        """Return the state of the hooks in the file."""
        found = self.found(text)
        if not found:
            return FOREIGN if not self.events and text is not None else MISSING
        telling = any(CONTEXT in done for done in found.values())
        return INSTALLED if self.installed(text, commands, context=telling) == text else OUTDATED

    def warnings(self, text: str | None, environ: Mapping[str, str], home: Path) -> list[str]:
        """Return the reasons why the host does not run the installed hooks."""
        if self.name == "claude-code" and text is not None and _flag(text, "disableAllHooks") is True:
            return ["disableAllHooks is set, so Claude Code runs no hooks"]
        if self.name == "claude-code" and text is not None and _has_plugin(text):
            return ["the plug-in pieria has the same hooks, so agents get each block twice: remove one of the two"]
        if self.name == "codex" and _codex_hooks_are_off(self.folder(environ, home) / "config.toml"):
            return ["features.hooks is false in config.toml, so Codex runs no hooks"]
        if self.name == "gemini" and text is not None and _flag(text, "hooksConfig", "enabled") is False:
            return ["hooksConfig.enabled is false, so Gemini CLI runs no hooks"]
        return []


def _under(variable: str, *usual: str) -> Folder:
    def folder(environ: Mapping[str, str], home: Path) -> Path:
        named = environ.get(variable)
        return Path(named).expanduser() if named else home.joinpath(*usual)

    return folder


def _shared(variable: str, usual: str, name: str) -> Folder:
    """Return a folder in one of the folders that all programs share, such as `XDG_CONFIG_HOME`."""
    return lambda environ, home: _under(variable, *usual.split("/"))(environ, home) / name


def _config(name: str) -> Folder:
    return _shared("XDG_CONFIG_HOME", ".config", name)


def _application(name: str) -> Folder:
    """Return the folder of an application with a window."""
    return _under("", "Library", "Application Support", name) if sys.platform == "darwin" else _config(name)


def _opencode(environ: Mapping[str, str], home: Path) -> Path:
    named = environ.get("OPENCODE_CONFIG_DIR")
    return Path(named).expanduser() if named else _config("opencode")(environ, home)


_USUAL = Servers("mcpServers")
_TYPED = Servers("mcpServers", {"type": "stdio"})
_CODEX, _CLAUDE = _under("CODEX_HOME", ".codex"), _under("CLAUDE_CONFIG_DIR", ".claude")

HOSTS = {
    host.name: host
    for host in (
        Host(
            "claude-code",
            "Claude Code",
            _CLAUDE,
            "settings.json",
            ".claude/settings.local.json",
            (
                *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"),
                *("Stop", "PreCompact", "SessionEnd"),
            ),
            telling=_SPOKEN,
            servers=_TYPED,
            server_files=(".claude.json",),
            server_folder=_under("CLAUDE_CONFIG_DIR"),
            sessions=(lambda environ, home: _CLAUDE(environ, home) / "projects", ("*/*.jsonl",)),
        ),
        Host(
            "codex",
            "Codex",
            _CODEX,
            "hooks.json",
            ".codex/hooks.json",
            ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "SessionEnd"),
            telling=_SPOKEN,
            next_step="open /hooks in Codex once, and trust them",
            servers=Servers("mcp_servers", format=TOML),
            server_files=("config.toml",),
            sessions=(lambda environ, home: _CODEX(environ, home) / "sessions", ("**/rollout-*.jsonl",)),
        ),
        Host(
            "opencode",
            "OpenCode",
            _opencode,
            "plugins/pieria.js",
            ".opencode/plugins/pieria.js",
            servers=Servers("mcp", {"type": "local"}, {"enabled": True}, format=JSON, is_one_list=True),
            server_files=("opencode.json", "opencode.jsonc"),
            sessions=(
                _shared("XDG_DATA_HOME", ".local/share", "opencode"),
                ("storage/session/*/*.json", "opencode.db"),
            ),
        ),
        Host("cursor", "Cursor", _under("", ".cursor"), servers=_TYPED, server_files=("mcp.json",)),
        Host(
            "vscode",
            "VS Code",
            _application("Code"),
            servers=Servers("servers", {"type": "stdio"}),
            server_files=("User/mcp.json",),
        ),
        Host(
            "windsurf",
            "Windsurf",
            _under("", ".codeium", "windsurf"),
            servers=_USUAL,
            server_files=("mcp_config.json",),
        ),
        Host(
            "gemini",
            "Gemini CLI",
            _under("", ".gemini"),
            "settings.json",
            ".gemini/settings.json",
            ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd"),
            timeout=HOST_SECONDS * 1_000,
            telling=("SessionStart", "BeforeAgent"),
            servers=_USUAL,
            server_files=("settings.json",),
        ),
        Host(
            "zed",
            "Zed",
            _config("zed"),
            servers=Servers("context_servers", {"source": "custom"}, {"env": {}}),
            server_files=("settings.json",),
        ),
        Host(
            "claude-desktop",
            "Claude Desktop",
            _application("Claude"),
            servers=_USUAL,
            server_files=("claude_desktop_config.json",),
        ),
        Host("hermes", "Hermes", _under("HERMES_HOME", ".hermes")),
    )
}
HOOKED = {host.name: host for host in HOSTS.values() if host.file}
"""The hosts that have hooks."""


def _plugin(commands: Commands, context: bool) -> str:
    template = (files("pieria.capture.install") / "plugin.js.in").read_text("utf-8")
    telling = commands.argv(CONTEXT, "generic") if context else None
    return template.replace("{capture}", json.dumps(commands.argv(CAPTURE))).replace("{context}", json.dumps(telling))


def _argv(written: str) -> list[str]:
    """Return the arguments in a plugin; none if someone changed them into no list."""
    try:
        return list(map(str, json.loads(written)))
    except ValueError:
        return []


def _flag(text: str, *names: str) -> object:
    """Return the value under these names, one inside the other; None if there is none."""
    try:
        value = jsontext.parsed(text.removeprefix(MARK)).value
    except ValueError:
        return None
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _has_plugin(settings: str) -> bool:
    """Return whether Claude Code's settings enable a plug-in named pieria, of any marketplace."""
    plugins = _flag(settings, "enabledPlugins")
    return isinstance(plugins, dict) and any(name.startswith("pieria@") and on is True for name, on in plugins.items())


def _codex_hooks_are_off(config: Path) -> bool:
    try:
        features = tomllib.loads(config.read_text("utf-8")).get("features", {})
    except (OSError, ValueError):
        return False
    return isinstance(features, dict) and False in (features.get("hooks"), features.get("codex_hooks"))
