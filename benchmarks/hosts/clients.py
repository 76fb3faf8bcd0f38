"""Clients that are no agents: the official one and fastmcp, over both transports, and the inspector's command line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.hosts.place import LONG_TOOL, ORDERS, PIERIA, QUESTION, SENTENCE, TOOLS, Outcome, Place, wait_for

CALLS = Path(__file__).with_name("client_calls.py")


def try_client(name: str, python: str, place: Place) -> Iterator[Outcome]:
    """Try a client in Python over stdio, and over HTTP."""
    version = place.run([python, "-c", f"from importlib.metadata import version; print(version({_package(name)!r}))"])

    def call(step: str, server: Any, given: str) -> dict[str, Any]:
        run = place.run([python, str(CALLS), name, step, json.dumps(server), given])
        return dict(json.loads(run.stdout)) if run.returncode == 0 else {"failed": run.stderr[-300:]}

    yield Outcome(name, "version", version.returncode == 0, version.stdout.strip())
    usual = [*PIERIA, "mcp", "--bank", f"{name}-stdio"]
    yield from _both(f"{name}, stdio", call("remember", usual, SENTENCE), call("recall", usual, QUESTION))
    for step in ("progress", "cancel"):
        command, arguments = place.long_server()
        yield _long(f"{name}, stdio", step, call(step, [command, *arguments], str(place.orders)))
    with _served(place) as url:
        there = f"{url}/mcp?bank={name}-http"
        yield from _both(f"{name}, HTTP", call("remember", there, SENTENCE), call("recall", there, QUESTION))
        exports = place.home / ".pieria" / "exports"
        exports.mkdir(exist_ok=True)
        shutil.copy(place.orders, exports / place.orders.name)
        for step in ("progress", "cancel"):
            place.long_server()
            there = f"{url}/mcp/mnemosyne?bank={place.long_bank}"
            yield _long(f"{name}, HTTP", step, call(step, there, place.orders.name))


def _package(name: str) -> str:
    return "mcp" if name == "official" else name


def _both(who: str, remembered: dict[str, Any], recalled: dict[str, Any]) -> Iterator[Outcome]:
    count = remembered.get("tools")
    yield Outcome(who, "list", count == TOOLS, f"{count} tools" if count else str(remembered))
    yield Outcome(who, "remember, recall", SENTENCE in recalled.get("texts", ()), str(recalled))


def _long(who: str, step: str, result: dict[str, Any]) -> Outcome:
    well = {
        "progress": result.get("notices", 0) > 0 and result.get("rising") and result.get("status") == "imported",
        "cancel": result.get("cancelled") and result.get("memories") == 1,
    }
    return Outcome(who, step, bool(well[step]), str(result))


@contextmanager
def _served(place: Place) -> Iterator[str]:
    command = [*PIERIA, "serve", "--port", "0"]
    environment = {**place.environment, "PIERIA_EMBEDDER": "none"}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=environment, cwd=place.project, text=True, **streams)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def try_inspector(program: Path, place: Place) -> Iterator[Outcome]:
    """Try the inspector's command line. It shows no progress."""
    name = "inspector"
    package = json.loads((program.parent.parent / "@modelcontextprotocol/inspector/package.json").read_text())
    usual = [str(program), "--cli", *PIERIA, "mcp", "--bank", "inspector"]
    listed = json.loads(place.run([*usual, "--method", "tools/list"]).stdout)
    yield Outcome(name, "list", len(listed["tools"]) == TOOLS, f"{package['version']}: {len(listed['tools'])} tools")
    call = ["--method", "tools/call", "--tool-name"]
    place.run([*usual, *call, "remember", "--tool-arg", f"text={SENTENCE}"], check=True)
    recalled = place.run([*usual, *call, "recall", "--tool-arg", f"query={QUESTION}"]).stdout
    yield Outcome(name, "remember, recall", SENTENCE in recalled, "two processes, one after the other")
    place.run(_long_call(program, place))
    sent = len(place.messages("server", "notifications/progress"))
    asked = any("progressToken" in one["params"].get("_meta", {}) for one in place.messages("host", "tools/call"))
    said = f"it asks for progress, gets {sent} notices and shows none" if asked else "it does not ask for progress"
    yield Outcome(name, "progress", None if not asked else sent > 0, said)
    kept = place.kept()
    yield Outcome(name, "a long call", kept == ORDERS + 1, f"{kept:,} memories afterwards")
    line = _long_call(program, place)
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    environment = {**place.environment, "PIERIA_EMBEDDER": "none"}
    process = subprocess.Popen(line, env=environment, cwd=place.project, text=True, start_new_session=True, **quiet)
    was_running = wait_for(place.is_long_call_running, process)
    # As the interrupt key does: it reaches the inspector and its children.
    os.killpg(process.pid, signal.SIGINT)
    process.wait(60)
    cancelled, kept = len(place.messages("host", "notifications/cancelled")), place.kept()
    said = f"on SIGINT it sent {cancelled} notifications/cancelled and ended; {kept:,} memories afterwards"
    yield Outcome(name, "cancel", was_running and kept == 1, said)


def _long_call(program: Path, place: Place) -> list[str]:
    command, arguments = place.long_server()
    call = ["--method", "tools/call", "--tool-name", LONG_TOOL, "--tool-arg", f"input_path={place.orders}"]
    return [str(program), "--cli", command, *arguments, *call]
