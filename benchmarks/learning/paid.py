"""Count what a day of sessions costs with a language model: `python -m benchmarks.learning.paid [DAY.json] --steps 40`.

The model is a scripted server that speaks the protocol of OpenAI. The day runs once with a model that always answers,
and once for each fault: then one call in four fails with status 500, never answers, or answers no JSON. Prints JSON:
calls, prompt tokens (characters / 4 of all messages, and the server's own count of words and marks), calls by kind,
steps that the bank lacks in the end, and steps judged by rules.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pieria import Workspace

DAY = Path(__file__).parents[2] / "tests" / "data" / "day" / "day.json"
FAULTS = ("none", "500", "timeout", "no JSON")
EVERY = 4
"""One call in so many fails."""
PATIENCE = {"timeout": 1.0}
"""Seconds that the client allows for a call, where not 60."""
_TOKEN = re.compile(r"\w+|[^\w\s]")


class Model(ThreadingHTTPServer):
    """Answers each kind of request from the day; `fault` is what every fourth call meets."""

    daemon_threads = True

    def __init__(self, day: Mapping[str, Any], fault: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.topics = {step["observation"]: step.get("topic", 0) for step in day["steps"]}
        self.fault = fault
        self.calls = self.characters = self.tokens = 0
        self.kinds: Counter[str] = Counter()
        self.by_kind: Counter[str] = Counter()
        self.let_go = threading.Event()
        self._lock = threading.Lock()

    def counted(self, body: Mapping[str, Any]) -> tuple[str, int, bool]:
        """Count a request. Return its kind, its tokens, and whether it fails."""
        text = "\n".join(message["content"] for message in body["messages"])
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        kind = list(schema.get("properties", {"text": None}))[-1]
        with self._lock:
            self.calls += 1
            self.characters += len(text)
            tokens = len(_TOKEN.findall(text))
            self.tokens += tokens
            self.kinds[kind] += 1
            self.by_kind[kind] += len(text) // 4
            return kind, tokens, self.fault != "none" and self.calls % EVERY == 0

    def answer(self, kind: str, body: Mapping[str, Any]) -> str:
        lines = list(_entries(body["messages"][1]["content"]))
        seen = [line for line in lines if "observed" in line]
        match kind:
            case "steps":
                return json.dumps({"steps": [self._judgement(line) for line in seen]})
            case "facts":
                return json.dumps({"facts": [_fact(line) for line in seen]})
            case "instructions":
                return json.dumps({"instructions": [self._lesson(line) for line in seen[::3]]})
            case "scores":
                graded = [line["index"] for line in lines if "index" in line]
                return json.dumps({"scores": [{"index": index, "return_score": 8} for index in graded]})
            case "text":
                return "0.7"
            case _:
                return json.dumps({kind: "Both of them."})

    def _topic(self, line: Mapping[str, Any]) -> str:
        return TOPICS[self.topics.get(line["observed"], 0) % len(TOPICS)]

    def _judgement(self, line: Mapping[str, Any]) -> dict[str, Any]:
        told = f"After step {line['step']}: {_words(line['observed'], 12)}"
        return {"step": line["step"], "state": told, "subgoal": self._topic(line), "reward": 0.7}

    def _lesson(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "intent": f"{self._topic(line)}{MANNERS[len(line['observed']) % len(MANNERS)]}",
            "condition": _words(line["observed"], 10),
            "instruction": _words(line["action"], 16),
            "expected_outcome": "it goes on",
            "steps": [line["step"]],
        }


TOPICS = (
    "Get the nightly price import going again",
    "Mend the rounding of discounts on invoices",
    "Answer the customer's complaint about late parcels",
    "Move the warehouse report to the new database",
    "Prepare the release notes for Friday",
)
MANNERS = ("", " for the customer", " before noon", " once more", " safely", " as agreed", " in the team", " today")
"""Near wordings of an intent, which a commit merges."""


class _Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind, tokens, fails = self.server.counted(body)
        if fails and self.server.fault == "timeout":
            self.server.let_go.wait()
            return
        if fails and self.server.fault == "500":
            self._send(500, {"error": {"message": "out of order"}})
            return
        text = "I would rather not say." if fails else self.server.answer(kind, body)
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": tokens, "completion_tokens": len(_TOKEN.findall(text))}
        self._send(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: the output is JSON."""


def _entries(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def _words(text: str, most: int) -> str:
    return " ".join(text.split()[:most])


def _fact(line: Mapping[str, Any]) -> dict[str, Any]:
    told = f"It was seen that {_words(line['observed'], 14)}"
    return {"proposition": told, "concepts": _terms(line["observed"]), "confidence": 0.9, "steps": [line["step"]]}


def _terms(text: str) -> list[str]:
    return [word for word in re.findall(r"[A-Za-z]{6,}", text)[:3]]


@contextmanager
def serving(model: Model) -> Iterator[str]:
    with model:
        threading.Thread(target=model.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{model.server_port}/v1"
        finally:
            model.let_go.set()
            model.shutdown()


def lived(day: Mapping[str, Any], fault: str, embedder: str) -> dict[str, Any]:
    """Run the day through a session of a new bank, and count."""
    judges: Counter[str] = Counter()

    class Hearing:
        def notify(self, repo_id: str, event: Any) -> None:
            if event.name == "step_judged":
                judges[event.metadata["trace"].judged_by] += 1

    model = Model(day, fault)
    with tempfile.TemporaryDirectory() as folder, serving(model) as address:
        settings = {
            "llm": "openai:scripted",
            "llm_url": address,
            "llm_key": "none",
            "llm_seconds": PATIENCE.get(fault, 60.0),
            "embedder": embedder,
        }
        with Workspace(folder, settings, notifier=Hearing()) as workspace:
            bank = workspace.open("day")
            with bank.session(goal=day["goal"]) as session:
                for step in day["steps"]:
                    session.append(step["observation"], step["action"])
            bank.graph.consolidate()
            kept = bank.count(kinds="episodic")
            counted = {kind: bank.count(kinds=kind) for kind in ("semantic", "procedural", "subgoal", "intent")}
    return {
        "fault": fault,
        "calls": model.calls,
        "calls_per_step": round(model.calls / len(day["steps"]), 2),
        "prompt_tokens": model.characters // 4,
        "prompt_tokens_of_the_server": model.tokens,
        "by_kind": {kind: [calls, model.by_kind[kind]] for kind, calls in model.kinds.items()},
        "steps_lost": len(day["steps"]) - kept,
        "steps_judged_by_rules": judges["rules"],
        "nodes": counted,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("day", nargs="?", type=Path, default=DAY)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--fault", choices=FAULTS, action="append")
    asked = parser.parse_args(arguments)
    day = json.loads(asked.day.read_text("utf-8"))
    day["steps"] = day["steps"][: asked.steps]
    for fault in asked.fault or FAULTS:
        sys.stdout.write(f"{json.dumps(lived(day, fault, asked.embedder))}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
