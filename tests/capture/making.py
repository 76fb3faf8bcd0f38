"""What hosts say to hooks, in the shapes that they document (the content is ours), and the hook as they run it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pieria
from pieria.capture import hook
from pieria.capture.drain import Drain, Drained
from pieria.capture.spool_line import Told, event_of

HOOK = Path(hook.__file__)
SESSION = "3f0c9a52-7d1e-4a55-9a07-2b1f6f0d9e11"


def common(name: str, folder: str | Path, session: str = SESSION, **more: Any) -> dict[str, Any]:
    """What Claude Code says with every event."""
    return {
        "session_id": session,
        "transcript_path": f"/somewhere/{session}.jsonl",
        "cwd": str(folder),
        "permission_mode": "default",
        "hook_event_name": name,
        **more,
    }


def prompt(folder: str | Path, text: str, session: str = SESSION, **more: Any) -> dict[str, Any]:
    return common("UserPromptSubmit", folder, session, prompt=text, **more)


def stop(folder: str | Path, text: str, session: str = SESSION, **more: Any) -> dict[str, Any]:
    more = {"stop_hook_active": False, **more}
    return common("Stop", folder, session, last_assistant_message=text, **more)


def bash(folder: str | Path, command: str, stdout: str, number: int = 1, session: str = SESSION) -> dict[str, Any]:
    return common(
        "PostToolUse", folder, session,
        tool_name="Bash",
        tool_input={"command": command, "description": "Runs it"},
        tool_response={"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False},
        tool_use_id=f"toolu_{number:08}",
    )  # fmt: skip


def tool(folder: str | Path, name: str, given: dict[str, Any], answer: Any, **more: Any) -> dict[str, Any]:
    more = {"tool_use_id": "toolu_00000099", **more}
    return common("PostToolUse", folder, tool_name=name, tool_input=given, tool_response=answer, **more)


def codex(name: str, folder: str | Path, **more: Any) -> dict[str, Any]:
    """What Codex says with every event of a turn."""
    told = {"session_id": SESSION, "turn_id": "turn-7", "transcript_path": None, "cwd": str(folder)}
    return {**told, "hook_event_name": name, "model": "some-model", "permission_mode": "default", **more}


def ran(
    payload: Any,
    spool: Path,
    host: str = "claude-code",
    *,
    env: dict[str, str] | None = None,
    more: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[bytes]:
    """The hook as a host runs it, without PIERIA_DATA unless `env` says so."""
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIERIA_")}
    command = [sys.executable, "-I", "-S", str(HOOK), host, str(spool), *more]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=30, env=environ | (env or {}))


def hooked(payload: Any, spool: Path, host: str = "claude-code", **more: Any) -> list[dict[str, Any]]:
    """What it wrote, all in all; it must have been silent."""
    done = ran(payload, spool, host, **more)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
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
    """What was said, as the bank has it, oldest first."""
    with pieria.open(bank, data=data) as opened:
        return [memory.text for memory in opened.list(kinds="turn", limit=500)][::-1]


def on_disk(folder: Path) -> bytes:
    """Every byte of every file below it."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def kept_and_dropped(data: Path, value: bool) -> tuple[int, int]:
    """What became of a prompt where the data folder's file says whether to capture."""
    data.joinpath("pieria.toml").write_text(f"capture = {str(value).lower()}\n")
    said = {"what": "prompt", "at": "2026-05-01", "host": "h", "session": "s", "text": "Use JWT.", "folder": str(data)}
    with pieria.Workspace(data) as workspace:
        done = Drain(workspace).hand_over([Told(event_of(said))])
    return done.kept, done.dropped
