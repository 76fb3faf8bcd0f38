"""A day of work through the hook, event by event, and the context of the next morning."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.capture.making import a_project, codex, common, drained, hooked
from tests.learning.replay import DAYS, events
from tests.learning.test_mornings import ENOUGH, TOKENS, answers

import pieria
from pieria.record.event import AgentEvent

pytestmark = pytest.mark.slow

NAMES = {
    "start": ("SessionStart", "source"), "prompt": ("UserPromptSubmit", "prompt"), "tool": ("PostToolUse", ""),
    "reply": ("Stop", "last_assistant_message"), "compact": ("PreCompact", "trigger"), "end": ("SessionEnd", "reason"),
}  # fmt: skip
OPENCODE = {"start": "session.created", "compact": "session.compacted", "end": "session.deleted"}


def said_by_host(event: AgentEvent, number: int, folder: Path) -> dict[str, Any]:
    """Return the event as its host sends it to the hook."""
    if event.host == "opencode":
        return by_plugin(event, number, folder)
    name, key = NAMES[event.what]
    more: dict[str, Any] = {key: event.text or "startup"}
    if event.what == "tool":
        more = {"tool_name": event.tool, "tool_input": dict(event.input), "tool_use_id": f"toolu_{number}"}
        more["tool_response"] = {"stdout": event.text, "stderr": "", "interrupted": False}
    if event.host == "codex":
        if event.what == "tool":
            more["tool_response"] = (
                f"Exit code: {1 if event.failed else 0}\nWall time: 0.1 seconds\nOutput:\n{event.text}"
            )
        return {**codex(name, folder, **more), "session_id": event.session, "turn_id": f"turn-{number}"}
    if event.failed:
        name, more["error"] = "PostToolUseFailure", f"Exit code 1\n{more.pop('tool_response')['stdout']}"
    return common(name, folder, event.session, prompt_id=f"prompt-{number}", **more)


def by_plugin(event: AgentEvent, number: int, folder: Path) -> dict[str, Any]:
    given: dict[str, Any] = {"sessionID": event.session}
    out: dict[str, Any] = {}
    hook = OPENCODE.get(event.what, "reply")
    if event.what == "prompt":
        hook, given["messageID"] = "chat.message", f"msg_{number}"
        out["parts"] = [{"type": "text", "text": event.text}]
    elif event.what == "reply":
        given["messageID"], out["text"] = f"msg_{number}", event.text
    elif event.what == "tool":
        hook = "tool.execute.after"
        given |= {"callID": f"call_{number}", "tool": event.tool, "args": dict(event.input)}
        out |= {"output": event.text, "metadata": {"exit": 1 if event.failed else 0}}
    return {"hook": hook, "directory": str(folder), "input": given, "output": out}


@pytest.mark.parametrize("day", ["shop", "gateway"])
def test_the_next_morning_knows_what_a_day_came_to(day: str, tmp_path: Path) -> None:
    project, data = a_project(tmp_path / "app", "app"), tmp_path / "data"
    # Codex has no event for the end of a session.
    happened = [event for event in events(day) if (event.host, event.what) != ("codex", "end")]
    for number, event in enumerate(happened):
        hooked(said_by_host(event, number, project), data / "spool", event.host)
    assert drained(data).banks == {"app": len(happened)}
    questions = json.loads((DAYS / f"{day}.json").read_text("utf-8"))["questions"]
    missed = []
    with pieria.open("app", data=data) as bank:
        bank.distil()
        for question in questions:
            context = bank.context(question["ask"], session="morning", budget_tokens=TOKENS)
            assert context.tokens <= TOKENS
            told = [bank.get(item.id) for item in context.items if {"full", "pinned", "rules"} & {*item.parts}]
            if not any(memory is not None and answers(memory, question) for memory in told):
                missed.append(question["ask"])
    assert len(questions) - len(missed) >= ENOUGH, missed
