"""A session over stdio and HTTP: a server that is killed in the middle, and one that serves many."""

from pathlib import Path
from typing import Any

import pytest
from tests.doors.http.conftest import Served, asked, calling, listening, serving
from tests.doors.mcp.conftest import begun_in
from tests.toolsets.conftest import requirement
from tests.waiting import soon

GOAL = "Plan a trip to Japan"
TOKYO: dict[str, Any] = {"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."}
DATES = {"observation": "March 3 to 17.", "action": "Booked the flight with ANA."}


@requirement("wire.killed")
@pytest.mark.slow
def test_session_outlives_its_killed_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_SESSION_LEASE", "1")
    first, second = (begun_in(tmp_path, "--toolset", "sessions", "--bank", "notes").begun() for _ in range(2))
    id = first.call("sessions_start", goal=GOAL)["structuredContent"]["session_id"]
    assert first.call("sessions_append", session_id=id, **TOKYO)["isError"] is False
    first.close()

    def ask(tool: str, **arguments: Any) -> Any:
        return second.call(tool, **arguments)["structuredContent"]

    def is_free() -> bool:
        told = ask("sessions_append", session_id=id, **DATES)
        assert told.get("step_index") == 1 or told["error"]["reason"] == "held_elsewhere"
        return "error" not in told

    assert ask("sessions_state", session_id=id)["recent_steps"] == [" -> ".join(TOKYO.values())]
    soon(is_free)
    assert ask("sessions_close", session_id=id)["state"] == "idle"
    nodes = ask("sessions_nodes", types=["episodic"])["nodes"]
    assert {node["observation"] for node in nodes} == {TOKYO["observation"], DATES["observation"]}
    second.close()


def told(served: Served, tool: str, status: int = 200, *, bank: str = "notes", headers: Any = None, **more: Any) -> Any:
    answer = served.client.post(f"/v1/banks/{bank}/tools/{tool}", json=more, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


@requirement("wire.rest")
def test_id_of_a_session_is_enough_over_http() -> None:
    with listening() as (served, _):
        id = told(served, "sessions_start", goal=GOAL)["session_id"]
        assert told(served, "sessions_append", bank="elsewhere", session_id=id, **TOKYO)["step_index"] == 0
        over_mcp = asked(served, "/mcp/sessions?bank=another", calling("sessions_append", session_id=id, **DATES))
        assert over_mcp.structured_content["step_index"] == 1
    with serving() as served:
        assert told(served, "sessions_state", session_id=id)["state"] == "collecting"
        assert told(served, "sessions_close", session_id=id)["state"] == "idle"
        assert told(served, "sessions_nodes", types=["episodic"])["count"] == 2
        assert told(served, "sessions_recall", query="Where does the user want to go?")["touched_nodes"]
        assert told(served, "sessions_append", 409, session_id=id, **TOKYO)["error"]["reason"] == "not_collecting"


@requirement("wire.tokens")
def test_token_reaches_no_session_of_another_bank() -> None:
    with serving() as served:
        id = told(served, "sessions_start", goal=GOAL)["session_id"]
        narrow, reading = served.token("write", "other"), served.token("read", "notes")
        for tool, more in (("sessions_append", TOKYO), ("sessions_close", {}), ("sessions_state", {})):
            error = told(served, tool, 403, bank="other", session_id=id, headers=narrow, **more)["error"]
            assert (error["reason"], "notes" in error["hint"]) == ("wrong_bank", False)
        error = told(served, "sessions_append", 403, session_id=id, headers=reading, **TOKYO)["error"]
        assert error["reason"] == "read_only"
        assert told(served, "sessions_state", session_id=id, headers=reading)["recent_steps"] == []
