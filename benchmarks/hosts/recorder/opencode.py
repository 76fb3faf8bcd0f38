"""Record OpenCode through its server, with our plugin, whose hook writes what it gets."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.hosts.model import Script, ScriptedModel, ToolCall
from benchmarks.hosts.place import PATIENCE
from benchmarks.hosts.recorder.shop import ASK, CHECK, ENDED, FINDINGS, MEND, MENDED, MENDED_WORDS, RATES, Shop

PLAIN, PATCHING = "scripted", "gpt-5-scripted"
"""Models by name: OpenCode lets those of the second kind edit with patches."""
DESCRIBE = "Please describe the rates."
SUB_AGENT = "Find the uses of RATES."
QUESTIONS = [
    {
        "question": "Which currency comes next?",
        "header": "Currency",
        "options": [{"label": "Franc", "description": "CHF"}, {"label": "Krone", "description": "DKK"}],
    }
]
PATCH = f"""*** Begin Patch
*** Add File: rates.md
+# Rates
*** Update File: rates.py
@@
-{MENDED}
+{MENDED}  # see rates.md
*** End Patch"""
ANSWERS = [["the franc, because Zurich asks for it"]]


def record(program: Path, shop: Shop) -> None:
    folder = shop.home / ".config" / "opencode"
    (folder / "plugins").mkdir(parents=True)
    plugin = (files("pieria.capture.install") / "plugin.js.in").read_text("utf-8")
    plugin = plugin.replace("{capture}", json.dumps(shop.hook)).replace("{context}", "null")
    (folder / "plugins" / "pieria.js").write_text(plugin)
    with ScriptedModel(()) as model:
        model.script = _script(shop, model.address)
        find = ToolCall("read", {"filePath": str(shop.project / "check.py")})
        model.tasks = {SUB_AGENT: [find, FINDINGS]}
        (folder / "opencode.json").write_text(json.dumps(_settings(model.address)))
        with subprocess.Popen(
            [str(program), "serve", "--port", "0"], cwd=shop.project, env=shop.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            try:
                _talk(_address(process))
            finally:
                process.terminate()


def _settings(address: str) -> dict[str, Any]:
    options = {"baseURL": f"{address}/v1", "apiKey": "made-up"}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": options,
        "models": {PLAIN: {"name": PLAIN}, PATCHING: {"name": PATCHING}},
    }
    return {
        "provider": {"scripted": provider},
        "model": f"scripted/{PLAIN}",
        "autoupdate": False,
        "permission": {"webfetch": "deny"},
    }


def _script(shop: Shop, address: str) -> Script:
    rates = str(shop.project / "rates.py")
    check = ToolCall("bash", {"command": CHECK, "description": "Run the check"})
    todo = {"content": "Add yen", "status": "in_progress", "priority": "high"}
    return [
        check,
        ToolCall("read", {"filePath": rates}),
        ToolCall("todowrite", {"todos": [todo]}),
        ToolCall("edit", {"filePath": rates, "oldString": RATES, "newString": MENDED}),
        check,
        MENDED_WORDS,
        ToolCall("question", {"questions": QUESTIONS}),
        ToolCall("webfetch", {"url": "https://example.org/rates", "format": "text"}),
        ToolCall("bash", {"command": f"curl -s {address}/health", "description": "Ask the shop's server"}),
        ToolCall("task", {"description": "Find uses", "prompt": SUB_AGENT, "subagent_type": "general"}),
        ENDED,
        ToolCall("apply_patch", {"patchText": PATCH}),
        "The rates are described now.",
    ]


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return found[0]
    raise RuntimeError("OpenCode's server names no address")


def _talk(address: str) -> None:
    session = _call(address, "POST", "/session", {})["id"]
    for prompt, model in ((MEND, PLAIN), (ASK, PLAIN), (DESCRIBE, PATCHING)):
        of_model = {"providerID": "scripted", "modelID": model}
        given = {"model": of_model, "parts": [{"type": "text", "text": prompt}]}
        thread = threading.Thread(target=_call, args=(address, "POST", f"/session/{session}/message", given))
        thread.start()
        while thread.is_alive():
            for asked in _call(address, "GET", "/question"):
                _call(address, "POST", f"/question/{asked['id']}/reply", {"answers": ANSWERS})
            thread.join(0.2)
    _call(address, "DELETE", f"/session/{session}")
    time.sleep(3)


def _call(address: str, method: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    connection = HTTPConnection(address.removeprefix("http://"), timeout=PATIENCE)
    try:
        connection.request(method, path, data, {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read() or b"null")
    finally:
        connection.close()
