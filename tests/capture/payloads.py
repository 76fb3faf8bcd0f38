"""Payloads that hosts send to hooks, in their documented shapes with our content, and the hook as they run it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.trust import trusted_project

import pieria
from pieria.capture import hook
from pieria.capture.drain import Drain, Drained
from pieria.capture.spool_line import Told, event_of

HOOK = Path(hook.__file__)
SESSION = "3f0c9a52-7d1e-4a55-9a07-2b1f6f0d9e11"


def common(name: str, folder: str | Path, session: str = SESSION, **more: Any) -> dict[str, Any]:
    """Return the fields of every Claude Code event."""
    of_session = {"session_id": session, "transcript_path": f"/somewhere/{session}.jsonl", "cwd": str(folder)}
    return {**of_session, "permission_mode": "default", "hook_event_name": name, **more}


def prompt(folder: str | Path, text: str, session: str = SESSION, **more: Any) -> dict[str, Any]:
    return common("UserPromptSubmit", folder, session, prompt=text, **more)


def stop(folder: str | Path, text: str, session: str = SESSION, **more: Any) -> dict[str, Any]:
    more = {"stop_hook_active": False, **more}
    return common("Stop", folder, session, last_assistant_message=text, **more)


def bash(folder: str | Path, command: str, stdout: str, number: int = 1, session: str = SESSION) -> dict[str, Any]:
    answer = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
    more = {"tool_use_id": f"toolu_{number:08}", "session": session}
    return tool(folder, "Bash", {"command": command, "description": "Runs it"}, answer, **more)


def tool(folder: str | Path, name: str, given: dict[str, Any], answer: Any, **more: Any) -> dict[str, Any]:
    more = {"tool_use_id": "toolu_00000099", **more}
    return common("PostToolUse", folder, tool_name=name, tool_input=given, tool_response=answer, **more)


def codex(name: str, folder: str | Path, **more: Any) -> dict[str, Any]:
    """Return the fields of every event in a Codex turn."""
    told = {"session_id": SESSION, "turn_id": "turn-7", "transcript_path": None, "cwd": str(folder)}
    return {**told, "hook_event_name": name, "model": "some-model", "permission_mode": "default", **more}


def host_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}


def command(spool: Path, host: str = "claude-code") -> list[str]:
    return [sys.executable, "-I", "-S", str(HOOK), host, str(spool)]


def ran(
    payload: Any, spool: Path, host: str = "claude-code", *, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook's process like a host, without PIERIA_DATA unless `env` sets it."""
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    environ = host_environment() | (env or {})
    return subprocess.run(command(spool, host), input=given, capture_output=True, check=False, timeout=30, env=environ)


def started(spool: Path) -> subprocess.Popen[bytes]:
    """Start the hook's process, whose input stays open."""
    return subprocess.Popen(command(spool), stdin=subprocess.PIPE, env=host_environment())


def hooked(payload: Any, spool: Path, host: str = "claude-code") -> list[dict[str, Any]]:
    """Handle the payload like the hook's process, without the process; return all lines of the spool."""
    hook.take(host, str(spool), payload)
    return lines(spool)


def lines(spool: Path) -> list[dict[str, Any]]:
    live = spool / hook.LIVE
    return [json.loads(line) for line in live.read_text().splitlines() if line] if live.exists() else []


def events(spool: Path) -> list[dict[str, Any]]:
    return [line["event"] for line in lines(spool)]


def drained(data: Path) -> Drained:
    with pieria.Workspace(data) as workspace:
        return Drain(workspace).drain()


def turns(data: Path, bank: str) -> list[str]:
    """Return the turns in the bank, oldest first."""
    with pieria.open(bank, data=data) as opened:
        return [memory.text for memory in opened.list(kinds="turn", limit=500)][::-1]


def on_disk(folder: Path) -> bytes:
    """Return the bytes of all files below the folder."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def spooled(spool: Path, *lines: Any) -> None:
    """Write lines to the spool like hooks."""
    spool.mkdir(parents=True, exist_ok=True)
    with (spool / hook.LIVE).open("ab") as live:
        for line in lines:
            live.write(b"\n" + (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")


def said(text: str, own: str, folder: Path, what: str = "prompt") -> dict[str, Any]:
    """Return the spool's line of an event."""
    event = {"host": "claude-code", "at": "2026-05-01T10:00:00Z", "what": what, "session": SESSION, "text": text}
    return {"own": own, "event": {**event, "folder": str(folder)}}


def a_project(folder: Path, bank: str, *more: str) -> Path:
    """Make a folder whose trusted settings name its bank."""
    folder.mkdir()
    trusted_project(folder, "\n".join([f'bank = "{bank}"', *more, ""]))
    return folder


def kept_and_dropped(data: Path, value: bool) -> tuple[int, int]:
    """Return how many prompts were kept and dropped with this `capture` in the data folder's settings."""
    data.joinpath("pieria.toml").write_text(f"capture = {str(value).lower()}\n")
    said = {"what": "prompt", "at": "2026-05-01", "host": "h", "session": "s", "text": "Use JWT.", "folder": str(data)}
    with pieria.Workspace(data) as workspace:
        done = Drain(workspace).hand_over([Told(event_of(said))])
    return done.kept, done.dropped
