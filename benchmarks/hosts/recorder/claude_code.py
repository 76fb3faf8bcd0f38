"""Record Claude Code through its protocol for programs. This file plays the person: it allows and answers."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import threading
from pathlib import Path
from typing import Any

from benchmarks.hosts.agents import AGENTS
from benchmarks.hosts.model import Request, Script, ScriptedModel, Step, ToolCall
from benchmarks.hosts.place import PATIENCE
from benchmarks.hosts.recorder.shop import ASK, CHECK, ENDED, FINDINGS, MEND, MENDED, MENDED_WORDS, RATES, Shop
from pieria.capture.install.hosts import HOSTS

PLAN = "# A file for the rates\n\n1. Move the rates into rates.json.\n2. Read the file in rates.py.\n"
QUESTIONS = [
    {
        "question": "Which currency comes next?",
        "header": "Currency",
        "multiSelect": False,
        "options": [{"label": "Franc", "description": "CHF"}, {"label": "Krone", "description": "DKK"}],
    },
    {
        "question": "Where do the rates come from?",
        "header": "Source",
        "multiSelect": False,
        "options": [{"label": "File", "description": "rates.json"}, {"label": "Feed", "description": "a bank's feed"}],
    },
]
TYPED = "from the treasury's spreadsheet, every Monday"
ANSWERS = {"Which currency comes next?": "Franc", "Where do the rates come from?": TYPED}
SUB_AGENT, BEHIND = "Find the uses of RATES.", "Count the currencies."
COUNTED, HEARD = "Two currencies: EUR and JPY.", "There are two currencies."
AFTER = {MENDED_WORDS: ASK, HEARD: "Please plan a file for the rates, then make it."}
"""What the person says after a turn's last words. A turn of its own tells of the sub-agent in the background."""
LAST = "The rates are in a file of their own."


def record(program: Path, shop: Shop) -> None:
    hook = {"hooks": [{"type": "command", "command": shlex.join(shop.hook)}]}
    (shop.home / ".claude").mkdir()
    settings = shop.home / ".claude" / "settings.json"
    settings.write_text(json.dumps({"hooks": {event: [hook] for event in HOSTS["claude-code"].events}}))
    with ScriptedModel(()) as model:
        model.script = _script(shop, model.address)
        find = ToolCall("Bash", {"command": "grep -n RATES check.py", "description": "Search"})
        late = ToolCall("Bash", {"command": "sleep 2", "description": "Wait until the turn has ended"})
        model.tasks = {SUB_AGENT: [find, FINDINGS], BEHIND: [late, COUNTED]}
        environment = {**shop.environment, **AGENTS[0].environment(model.address)}
        command = [str(program), "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        with subprocess.Popen(
            [*command, "--permission-prompt-tool", "stdio"], cwd=shop.project, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as process:  # fmt: skip
            impatient = threading.Timer(PATIENCE, process.kill)
            impatient.start()
            _talk(process)
            process.wait()
            impatient.cancel()


def _script(shop: Shop, address: str) -> Script:
    rates = str(shop.project / "rates.py")
    check = ToolCall("Bash", {"command": CHECK, "description": "Run the check"})
    behind = {"description": "Count", "prompt": BEHIND, "subagent_type": "general-purpose", "run_in_background": True}
    return [
        check,
        ToolCall("Read", {"file_path": rates}),
        ToolCall("TaskCreate", {"subject": "Add yen", "description": "To the table of rates"}),
        ToolCall("Edit", {"file_path": rates, "old_string": RATES, "new_string": MENDED}),
        check,
        MENDED_WORDS,
        ToolCall("AskUserQuestion", {"questions": QUESTIONS}),
        ToolCall("WebFetch", {"url": "https://example.org/rates", "prompt": "Find the rate of the franc"}),
        ToolCall("Bash", {"command": f"curl -s {address}/health", "description": "Ask the shop's server"}),
        ToolCall("Agent", {"description": "Find uses", "prompt": SUB_AGENT, "subagent_type": "general-purpose"}),
        ToolCall("Agent", behind),
        ENDED,
        HEARD,
        ToolCall("EnterPlanMode", {}),
        _written_plan,
        ToolCall("ExitPlanMode", {}),
        ToolCall("Write", {"file_path": str(shop.project / "rates.json"), "content": '{"EUR": 1, "JPY": 163}\n'}),
        LAST,
    ]


def _written_plan(request: Request) -> Step:
    """Write the plan to the file that Claude Code names."""
    named = re.findall(r"(/[\w./-]*plans/[\w-]+\.md)", request.text)
    return ToolCall("Write", {"file_path": named[-1], "content": PLAN})


def _talk(process: subprocess.Popen[str]) -> None:
    """Say the prompts, and answer what Claude Code asks."""
    assert process.stdin is not None and process.stdout is not None

    def send(message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()

    def say(prompt: str) -> None:
        send({"type": "user", "message": {"role": "user", "content": prompt}})

    send({"type": "control_request", "request_id": "begin", "request": {"subtype": "initialize"}})
    say(MEND)
    for line in process.stdout:
        message = json.loads(line)
        if message["type"] == "control_request":
            answer = {
                "subtype": "success",
                "request_id": message["request_id"],
                "response": _answer(message["request"]),
            }
            send({"type": "control_response", "response": answer})
        elif message.get("result") in AFTER:
            say(AFTER[message["result"]])
        elif message.get("result") == LAST:
            process.stdin.close()


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    if asked["tool_name"] == "WebFetch":
        return {"behavior": "deny", "message": "No web here."}
    more = {"answers": ANSWERS} if asked["tool_name"] == "AskUserQuestion" else {}
    return {"behavior": "allow", "updatedInput": {**asked["input"], **more}}
