"""Events of an agent's work: one form, checked, capped, and the same however often they are sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from pieria.errors import InputError
from pieria.record.event import OUTPUT_LIMIT, AgentEvent, capped, digest_of, event_id

AT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
TOLD = {"what": "tool", "at": "2026-11-22T09:30:00Z", "host": "codex", "session": "s1", "tool": "shell"}


def test_an_event_survives_the_way_through_json() -> None:
    event = AgentEvent(
        id="event1", what="tool", at=AT, host="claude-code", session="s1", folder="/home/me", text="ok", tool="Bash",
        input={"command": "make test", "timeout": 5, "nested": {"a": [1, "b"]}}, files=("src/app.py",), failed=False,
        length=9000, digest="ab",
    )  # fmt: skip
    assert AgentEvent.from_dict(json.loads(json.dumps(event.as_dict()))) == event


def test_what_says_nothing_is_not_written_and_failed_no_is_said() -> None:
    event = AgentEvent.from_dict({**TOLD, "failed": False})
    assert set(event.as_dict()) == {"id", *TOLD, "failed"}
    assert "failed" not in AgentEvent.from_dict(TOLD).as_dict()


def test_without_an_id_the_same_happening_gets_the_same_one() -> None:
    assert AgentEvent.from_dict(TOLD).id == AgentEvent.from_dict(dict(reversed(TOLD.items()))).id
    other = {
        AgentEvent.from_dict({**TOLD, **more}).id for more in ({}, {"text": "x"}, {"tool": "read"}, {"session": "s2"})
    }
    assert len(other) == 4


def test_the_id_of_a_happening_tells_hosts_and_sessions_apart() -> None:
    assert event_id("codex", "s1", "tool", "7") == event_id("codex", "s1", "tool", "7")
    assert event_id("codex", "s1", "tool", "7") != event_id("codex", "s", "1tool", "7")


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        ({"what": "tools"}, "what"),
        ({"what": None}, "what"),
        ({"at": "yesterday"}, "at"),
        ({"session": ""}, "session"),
        ({"host": None}, "host"),
        ({"text": 5}, "text"),
        ({"input": ["ls"]}, "input"),
        ({"input": {"a": float("nan")}}, "input"),
        ({"files": "a.py"}, "files"),
        ({"failed": "no"}, "failed"),
        ({"length": -1}, "length"),
        ({"colour": "red"}, "event"),
    ],
)
def test_what_cannot_be_right_is_refused_by_its_name(more: dict[str, object], parameter: str) -> None:
    with pytest.raises(InputError) as refused:
        AgentEvent.from_dict({**TOLD, **more})
    assert refused.value.parameter == parameter


def test_what_a_program_put_out_is_kept_in_a_form_that_every_store_holds() -> None:
    event = AgentEvent.from_dict({**TOLD, "text": "a\0b\ud800", "input": {"k\0": ["\udfff"]}})
    json.dumps(event.as_dict(), ensure_ascii=False).encode()
    assert "\0" not in str(event.as_dict())


def test_a_long_output_keeps_head_and_tail_and_says_what_the_whole_was() -> None:
    whole = "first line\n" + "x" * 50_000 + "\n3 failed"
    event = AgentEvent.from_dict({**TOLD, "text": whole}).capped()
    assert len(event.text) == OUTPUT_LIMIT
    assert event.text.startswith("first line") and event.text.endswith("3 failed")
    assert (event.length, event.digest) == (len(whole), digest_of(whole))
    assert event.capped() == event


def test_what_is_short_enough_and_what_was_said_stay_whole() -> None:
    assert capped("short") == ("short", 0, "")
    said = AgentEvent.from_dict({**TOLD, "what": "prompt", "text": "y" * 50_000})
    assert said.capped() == said


def test_capping_does_not_change_the_id_of_a_happening() -> None:
    event = AgentEvent.from_dict({**TOLD, "text": "z" * 50_000})
    told = event.capped().as_dict()
    del told["id"]
    assert AgentEvent.from_dict(told).id == event.id


def test_long_arguments_are_capped_however_deep_they_stand() -> None:
    given = {"content": "a" * 100_000, "edits": [{"old": "b" * 100_000}] * 50, "deep": {"a": {"b": {"c": {"d": {}}}}}}
    kept = AgentEvent.from_dict({**TOLD, "input": given}).input
    assert len(json.dumps(kept)) < 3_000
    assert str(kept["content"]).startswith("aaa")


def test_too_many_arguments_are_counted() -> None:
    kept = AgentEvent.from_dict({**TOLD, "input": {f"argument{n}": "x" * 500 for n in range(30)}}).input
    assert "more" in str(kept["…"])
