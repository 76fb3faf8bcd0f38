"""Record a question of Codex: only its plan mode asks, which a program reaches through `codex app-server`."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from typing import Any

from benchmarks.hosts.model import ScriptedModel, ToolCall
from benchmarks.hosts.place import PATIENCE
from benchmarks.hosts.recorder.shop import ASK, ENDED, Shop

QUESTIONS = [
    {
        "id": "next",
        "header": "Currency",
        "question": "Which currency comes next?",
        "options": [{"label": "Franc", "description": "CHF"}, {"label": "Krone", "description": "DKK"}],
    },
    {
        "id": "source",
        "header": "Source",
        "question": "Where do the rates come from?",
        "options": [{"label": "File", "description": "rates.json"}, {"label": "Feed", "description": "a bank's feed"}],
    },
]
ANSWERS = {"next": {"answers": ["Franc"]}, "source": {"answers": ["user_note: from the treasury's spreadsheet"]}}


def record(command: list[str], model_name: str, environment: dict[str, str], shop: Shop, model: ScriptedModel) -> None:
    """Run one turn in plan mode. The model asks the questions, and this file answers as the person."""
    model.script = [ToolCall("request_user_input", {"questions": QUESTIONS}), ENDED]
    with subprocess.Popen(
        command, cwd=shop.project, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        impatient = threading.Timer(PATIENCE, process.kill)
        impatient.start()
        talk = _Talk(process)
        talk.call(
            "initialize", {"clientInfo": {"name": "shop", "version": "1"}, "capabilities": {"experimentalApi": True}}
        )
        _trust(talk, shop)
        thread = talk.call("thread/start", {"cwd": str(shop.project), "model": model_name})["thread"]["id"]
        mode = {"mode": "plan", "settings": {"model": model_name}}
        said = {"threadId": thread, "input": [{"type": "text", "text": ASK}], "collaborationMode": mode}
        talk.call("turn/start", said)
        talk.read_until(lambda message: message.get("method") == "turn/completed")
        process.stdin.close()  # type: ignore[union-attr]
        process.wait()
        impatient.cancel()


def _trust(talk: _Talk, shop: Shop) -> None:
    """Trust the hooks, as a person does in `/hooks`."""
    listed = talk.call("hooks/list", {"cwds": [str(shop.project)]})["data"]
    found = [(hook["key"], hook["currentHash"]) for each in listed for hook in each["hooks"]]
    states = [f"[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(digest)}\n" for key, digest in found]
    config = shop.home / ".codex" / "config.toml"
    written = config.read_text() if config.exists() else ""
    config.write_text(f"{written}\n{''.join(states)}")


class _Talk:
    """JSON-RPC with the server, which may ask in between."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._to, self._from = process.stdin, process.stdout
        self._calls = 0

    def call(self, method: str, params: dict[str, Any]) -> Any:
        self._calls += 1
        number = f"call-{self._calls}"
        self._send({"id": number, "method": method, "params": params})
        return self.read_until(lambda message: message.get("id") == number)["result"]

    def read_until(self, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        for line in self._from:
            message: dict[str, Any] = json.loads(line)
            if message.get("method") == "item/tool/requestUserInput":
                self._send({"id": message["id"], "result": {"answers": ANSWERS}})
            elif is_wanted(message):
                return message
        raise RuntimeError("codex app-server ended before it answered")

    def _send(self, message: dict[str, Any]) -> None:
        self._to.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._to.flush()
