"""Claude Code and Codex with a scripted model: their tools, hooks, progress and interruption."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.hosts.model import Request, ScriptedModel, ToolCall
from benchmarks.hosts.place import LONG_TOOL, ORDERS, PATIENCE, QUESTION, SENTENCE, TOOLS, Outcome, Place, wait_for

FROM_START, FROM_PROMPT = "From Pieria, your long-term memory", "Confidence that the question is answered"
SERVERS_ALLOWED = "mcp__pieria,mcp__long"
Server = tuple[str, list[str]]


@dataclass(frozen=True, slots=True)
class Agent:
    """`command` returns a run of the program, from its path, a prompt, the model's address, and a second server."""

    name: str
    host: str
    program: str
    environment: Callable[[str], dict[str, str]]
    command: Callable[[str, str, str, Server | None], list[str]]


def _claude_environment(address: str) -> dict[str, str]:
    # Without more patience, a busy machine may connect the servers only after the first request.
    waiting = {"MCP_CONNECT_TIMEOUT_MS": "60000", "MCP_CONNECTION_NONBLOCKING": "false"}
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "made-up", **waiting, **quiet}


def _claude(program: str, prompt: str, address: str, server: Server | None) -> list[str]:
    line = [program, "-p", prompt, "--output-format", "stream-json", "--verbose"]
    return [*line, "--allowedTools", SERVERS_ALLOWED, *([] if server is None else long_servers(server))]


def long_servers(server: Server) -> list[str]:
    """Return the options by which Claude Code also starts the server of the long call."""
    long = {"command": server[0], "args": server[1], "env": {"PIERIA_EMBEDDER": "none"}}
    return ["--mcp-config", json.dumps({"mcpServers": {"long": long}})]


def _codex(program: str, prompt: str, address: str, server: Server | None) -> list[str]:
    provider = f'name="scripted",base_url="{address}/v1",env_key="SCRIPTED_KEY",wire_api="responses"'
    # Codex starts MCP servers in the background, unless they are required.
    settings = ['model_provider="scripted"', f"model_providers.scripted={{{provider}}}"]
    settings.append("mcp_servers.pieria.required=true")
    if server is not None:
        started = f"command={json.dumps(server[0])},args={json.dumps(server[1])},required=true"
        settings.append(f'mcp_servers.long={{{started},env={{PIERIA_EMBEDDER="none"}}}}')
    given = [part for setting in settings for part in ("-c", setting)]
    return [program, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *given, prompt]


def _codex_direct(program: str, prompt: str, address: str, server: Server | None) -> list[str]:
    """Return a run with a model that Codex does not know: it lists the tools instead of an interpreter."""
    return [*_codex(program, prompt, address, server), "-m", "scripted"]


def _codex_environment(address: str) -> dict[str, str]:
    return {"SCRIPTED_KEY": "made-up"}


AGENTS = (
    Agent("Claude Code", "claude-code", "claude", _claude_environment, _claude),
    Agent("Codex", "codex", "codex", _codex_environment, _codex_direct),
    Agent("Codex, tools by code", "codex", "codex", _codex_environment, _codex),
)


def try_agent(agent: Agent, program: Path, place: Place) -> Iterator[Outcome]:
    version = place.run([str(program), "--version"]).stdout.strip()
    yield Outcome(agent.name, "setup", True, f"{version}: {place.set_up(agent.host)}")
    sentence = f"{SENTENCE} ({agent.name})"
    first = _run(agent, program, place, "Please remember it.", ToolCall("mcp__pieria__remember", {"text": sentence}))
    listed = [name for name in first[0].tools if name.startswith("mcp__pieria__")]
    if first[0].by_code:
        yield Outcome(agent.name, "list", "mcp__pieria" in first[0].text, "the server is announced to the model")
    else:
        yield Outcome(agent.name, "list", len(listed) == TOOLS, f"{len(listed)} tools reach the model")
    result = _last_result(first)
    kept = '\\"id\\"' in result
    yield Outcome(agent.name, "remember", kept, "its reply has an id" if kept else result)
    second = _run(agent, program, place, QUESTION, ToolCall("mcp__pieria__recall", {"query": QUESTION}))
    result = _last_result(second)
    found = sentence in result
    yield Outcome(agent.name, "recall in a new session", found, "the model gets the text" if found else result)
    text = second[0].text
    start, _, prompt = text.partition(FROM_PROMPT)
    yield Outcome(agent.name, "hook at the start", FROM_START in start and sentence in start, "its block has the text")
    yield Outcome(agent.name, "hook with a prompt", sentence in prompt, "its block has the text")
    yield from _long(agent, program, place)
    yield from _interrupted(agent, program, place)


def _last_result(requests: list[Request]) -> str:
    return requests[-1].results[-1] if requests[-1].results else "the model got no result"


def _run(agent: Agent, program: Path, place: Place, prompt: str, *script: ToolCall) -> list[Request]:
    """Return what reached the model in one run; there is at least one request, or the run says why there is none."""
    with ScriptedModel(list(script)) as model:
        environment = {**place.environment, **agent.environment(model.address)}
        run = place.run(agent.command(str(program), prompt, model.address, None), env=environment)
    if not model.requests:
        raise RuntimeError(f"{agent.name} asked no model: {run.stdout[-500:]}{run.stderr[-500:]}")
    return model.requests


def _started(agent: Agent, program: Path, place: Place, address: str) -> subprocess.Popen[str]:
    environment = {**place.environment, **agent.environment(address)}
    command = agent.command(str(program), "Please import it.", address, place.long_server())
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return subprocess.Popen(command, env=environment, cwd=place.project, text=True, **quiet)


def long_call(place: Place) -> ToolCall:
    return ToolCall(f"mcp__long__{LONG_TOOL}", {"input_path": str(place.orders)})


def _long(agent: Agent, program: Path, place: Place) -> Iterator[Outcome]:
    with ScriptedModel([long_call(place)]) as model:
        _started(agent, program, place, model.address).wait(PATIENCE)
    asked = [call for call in place.messages("host", "tools/call") if "progressToken" in call["params"]["_meta"]]
    sent = len(place.messages("server", "notifications/progress"))
    yield Outcome(agent.name, "progress", bool(asked) and sent > 0, f"it asked for progress, and got {sent} notices")
    kept = place.kept()
    yield Outcome(agent.name, "a long call", kept == ORDERS + 1, f"{kept:,} memories afterwards")


def _interrupted(agent: Agent, program: Path, place: Place) -> Iterator[Outcome]:
    with ScriptedModel([long_call(place)]) as model:
        process = _started(agent, program, place, model.address)
        was_running = wait_for(place.is_long_call_running, process)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    cancelled = len(place.messages("host", "notifications/cancelled"))
    signals = place.signals()
    kept = place.kept()
    said = f"on SIGINT it sent {cancelled} notifications/cancelled and {signals or 'no signal'}; {kept:,} memories"
    yield Outcome(agent.name, "cancel", was_running and bool(cancelled or signals) and kept == 1, said)
