"""Events of an agent's work: one form, checked, capped, and the same however often they are sent."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from pieria.errors import InputError
from pieria.record.event import REPORT_LIMIT, AgentEvent, capped, digest_of, event_id

AT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
GIVEN = {"what": "tool", "at": "2026-11-22T09:30:00Z", "host": "codex", "session": "s1", "tool": "shell"}


def event(**more: Any) -> AgentEvent:
    return AgentEvent.from_dict({**GIVEN, **more})


def test_an_event_survives_json_with_an_id_by_its_content() -> None:
    whole = AgentEvent(
        id="event1", what="tool", at=AT, host="claude-code", session="s1", folder="/home/me", text="ok", tool="Bash",
        input={"command": "make test", "timeout": 5, "nested": {"a": [1, "b"]}}, files=("src/app.py",), failed=False,
        length=9000, digest="ab",
    )  # fmt: skip
    assert AgentEvent.from_dict(json.loads(json.dumps(whole.as_dict()))) == whole
    assert set(event(failed=False).as_dict()) == {"id", *GIVEN, "failed"}
    assert "failed" not in event().as_dict()
    assert event().id == AgentEvent.from_dict(dict(reversed(GIVEN.items()))).id
    assert len({event(**more).id for more in ({}, {"text": "x"}, {"tool": "read"}, {"session": "s2"})}) == 4
    assert event_id("codex", "s1", "tool", "7") == event_id("codex", "s1", "tool", "7")
    assert event_id("codex", "s1", "tool", "7") != event_id("codex", "s", "1tool", "7")
    kept = event(text="a\0b\ud800", input={"k\0": ["\udfff"]})
    json.dumps(kept.as_dict(), ensure_ascii=False).encode()
    assert "\0" not in str(kept.as_dict())


def test_a_wrong_value_is_refused_by_its_name() -> None:
    wrong: list[tuple[str, Any]] = [
        ("what", "tools"), ("what", None), ("at", "yesterday"), ("session", ""), ("host", None), ("text", 5),
        ("input", ["ls"]), ("input", {"a": float("nan")}), ("files", "a.py"), ("failed", "no"), ("length", -1),
        ("colour", "red"),
    ]  # fmt: skip
    for name, value in wrong:
        with pytest.raises(InputError) as refused:
            event(**{name: value})
        assert refused.value.parameter == ("event" if name == "colour" else name)


def test_a_long_output_keeps_its_head_tail_length_and_digest() -> None:
    whole = "first line\n" + "x" * 50_000 + "\n3 failed"
    long = event(text=whole)
    kept = long.capped()
    assert len(kept.text) == REPORT_LIMIT
    assert kept.text.startswith("first line") and kept.text.endswith("3 failed")
    assert (kept.length, kept.digest) == (len(whole), digest_of(whole))
    assert kept.capped() == kept
    assert AgentEvent.from_dict({**kept.as_dict(), "id": None}).id == long.id
    assert capped("short") == ("short", 0, "")
    said = event(what="prompt", text="y" * 50_000)
    assert said.capped() == said
    given = {"content": "a" * 100_000, "edits": [{"old": "b" * 100_000}] * 50, "deep": {"a": {"b": {"c": {"d": {}}}}}}
    arguments = event(input=given).input
    assert len(json.dumps(arguments)) < 3_000
    assert str(arguments["content"]).startswith("aaa")
    several = event(input={"edits": [{"old": "b" * 500, "new": "c" * 500}] * 4}).input["edits"]
    assert [(edit["old"][:9], edit["new"][-9:]) for edit in several] == [("b" * 9, "c" * 9)] * 4
    assert event(input={"edits": [{f"a{n}": "b" * 200 for n in range(8)}] * 4}).input["edits"][-1] == "… 3 more"
    assert "more" in str(event(input={f"argument{n}": "x" * 500 for n in range(30)}).input["…"])
