"""Check the plug-ins by their hosts: `python -m benchmarks.hosts.plugins --npm FOLDER`.

FOLDER is where the caller installed the npm packages `@anthropic-ai/claude-code` and `@google/gemini-cli`. Both run in
a temporary home. No model is asked: Claude Code's address is a closed port of this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PATIENCE = 180
PROMPT = "We deploy from the release branch."


class Checked(NamedTuple):
    host: str
    step: str
    is_well: bool
    told: str


class Hosts(NamedTuple):
    """The hosts' programs, and the temporary home."""

    programs: Path
    home: Path

    def run(self, program: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        shown = {name: value for name, value in os.environ.items() if not name.startswith(("PIERIA_", "CLAUDE"))}
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        environment = {**shown, "HOME": str(self.home), "PATH": path, **more}
        line = [str(self.programs / program), *arguments]
        return subprocess.run(
            line, env=environment, cwd=self.home, capture_output=True, text=True, check=False, timeout=PATIENCE
        )

    def version(self, program: str) -> str:
        return self.run(program, "--version").stdout.strip()


def checks(hosts: Hosts) -> Iterator[Checked]:
    """Yield what each host says of its plug-in."""
    name, plugin = "Claude Code", ROOT / "plugins" / "claude-code"
    validated = [hosts.run("claude", "plugin", "validate", "--strict", str(path)) for path in (ROOT, plugin)]
    told = f"{hosts.version('claude')}: marketplace and plug-in, strictly"
    yield _checked(name, "validate", validated, lambda: told)
    added = hosts.run("claude", "plugin", "marketplace", "add", str(ROOT))
    installed = hosts.run("claude", "plugin", "install", "pieria@pieria")
    details = hosts.run("claude", "plugin", "details", "pieria")
    yield _checked(name, "install", [added, installed, details], lambda: _inventory(details.stdout))
    yield _hooks(hosts, name)
    name, plugin = "Gemini CLI", ROOT / "plugins" / "gemini"
    validated = [hosts.run("gemini", "extensions", "validate", str(plugin))]
    yield _checked(name, "validate", validated, lambda: hosts.version("gemini"))
    linked = hosts.run("gemini", "extensions", "link", str(plugin), "--consent")
    listed = hosts.run("gemini", "extensions", "list")
    servers = re.findall(r"MCP servers:\s+(\w+)", listed.stdout + listed.stderr)
    yield _checked(name, "link", [linked, listed], lambda: f"{len(servers)} MCP server")


def _checked(host: str, step: str, runs: list[subprocess.CompletedProcess[str]], told: Callable[[], str]) -> Checked:
    failed = next((run for run in runs if run.returncode), None)
    if failed is not None:
        return Checked(host, step, False, (failed.stdout + failed.stderr).strip()[-500:])
    return Checked(host, step, True, told())


def _inventory(details: str) -> str:
    """Return the numbers that Claude Code counted in the plug-in."""
    counted = {what: int(number) for what, number in re.findall(r"(Skills|Hooks|MCP servers) \((\d+)\)", details)}
    return f"{counted['MCP servers']} MCP server, {counted['Hooks']} hooks, {counted['Skills']} commands"


def _hooks(hosts: Hosts, name: str) -> Checked:
    """Let Claude Code take a prompt; its request then fails, since no model is there."""
    away = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "made-up"}
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "0"}
    hosts.run("claude", "-p", PROMPT, **away, **quiet)
    pieria = Hosts(Path(sys.executable).parent, hosts.home)
    drained = pieria.run("pieria", "hooks", "drain")
    listed = pieria.run("pieria", "list", "--kind", "turn", "--json")
    if listed.returncode:
        return _checked(name, "hooks", [drained, listed], str)
    texts = [memory["text"] for memory in json.loads(listed.stdout)["memories"]]
    return Checked(name, "hooks", texts == [PROMPT], f"captured {texts}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hosts.plugins", description=__doc__)
    parser.add_argument("--npm", type=Path, required=True, metavar="FOLDER", help="where the npm packages are")
    folder = parser.parse_args().npm.resolve()
    failures = 0
    with TemporaryDirectory() as home:
        for host, step, is_well, told in checks(Hosts(folder / "node_modules" / ".bin", Path(home))):
            failures += not is_well
            sys.stdout.write(f"{host:<13}{step:<10}{'ok' if is_well else 'FAILED':<8}{told}\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
