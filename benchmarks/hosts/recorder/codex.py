"""Record Codex: one run, a second one that resumes it, and a session with a question."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

from benchmarks.hosts.model import Request, Script, ScriptedModel, Step, ToolCall
from benchmarks.hosts.place import PATIENCE
from benchmarks.hosts.recorder import codex_server
from benchmarks.hosts.recorder.shop import CHECK, FINDINGS, MEND, MENDED, MENDED_WORDS, RATES, Shop
from pieria.capture.install.hosts import HOSTS

MODEL = "gpt-5.5"
"""A model that Codex knows: it lists the tools and `apply_patch` to it."""
SUB_AGENT = "Find the uses of RATES."
PROMPTS = (MEND, "Please use floats, and describe the rates.")


def record(program: Path, shop: Shop) -> None:
    (shop.home / ".codex").mkdir()
    hook = {"hooks": [{"type": "command", "command": shlex.join(shop.hook)}]}
    (shop.home / ".codex" / "hooks.json").write_text(
        json.dumps({"hooks": {event: [hook] for event in HOSTS["codex"].events}})
    )
    with ScriptedModel(()) as model:
        model.script = _script(model.address)
        model.tasks = {SUB_AGENT: [_shell("grep -n RATES check.py"), FINDINGS]}
        provider = f'name="scripted",base_url="{model.address}/v1",env_key="SCRIPTED_KEY",wire_api="responses"'
        settings = ["-c", 'model_provider="scripted"', "-c", f"model_providers.scripted={{{provider}}}"]
        environment = {**shop.environment, "SCRIPTED_KEY": "made-up"}
        free = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        free.append("--dangerously-bypass-approvals-and-sandbox")
        for prompt in PROMPTS:
            again = [] if prompt == PROMPTS[0] else ["resume", "--last"]
            subprocess.run(
                [str(program), "exec", *again, *free, *settings, "-m", MODEL, prompt],
                cwd=shop.project, env=environment, timeout=PATIENCE, check=True, stdin=subprocess.DEVNULL,
                capture_output=True,
            )  # fmt: skip
        codex_server.record([str(program), "app-server", *settings], MODEL, environment, shop, model)


def _script(address: str) -> Script:
    mended = _patch("*** Update File: rates.py", "@@", f"-{RATES}", f"+{MENDED}")
    refused = _patch("*** Update File: rates.py", "@@", "-RATES = {}", "+RATES = None")
    floats = MENDED.replace("1,", "1.0,").replace("163", "163.0")
    described = ("*** Add File: rates.md", "+# Rates", "+How much one euro is.")
    return [
        _shell(CHECK),
        _shell("cat rates.py"),
        _shell(f"apply_patch <<'EOF'\n{refused}\nEOF"),
        _shell(f"apply_patch <<'EOF'\n{mended}\nEOF"),
        _shell(CHECK),
        MENDED_WORDS,
        ToolCall("apply_patch", refused),
        ToolCall("apply_patch", _patch("*** Update File: rates.py", "@@", f"-{MENDED}", f"+{floats}", *described)),
        _shell(f"curl -s {address}/health"),
        ToolCall("multi_agent_v1__spawn_agent", {"message": SUB_AGENT, "agent_type": "explorer"}),
        _wait,
        "The rates are floats now.",
    ]


def _wait(request: Request) -> Step:
    """Wait for the sub-agent that Codex has named."""
    agent = re.findall(r"agent_id[^0-9a-f]+([0-9a-f-]{36})", request.text)[-1]
    return ToolCall("multi_agent_v1__wait_agent", {"targets": [agent], "timeout_ms": 30_000})


def _shell(command: str) -> ToolCall:
    return ToolCall("exec_command", {"cmd": command})


def _patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
