"""A session over stdio and HTTP: a server that is killed in the middle, and one that serves many."""

import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.doors.http.conftest import Served, asked, calling, listening, serving
from tests.doors.mcp.conftest import begun_in, parameters_in
from tests.toolsets.requirements import requirement

GOAL = "Plan a trip to Japan"
TOKYO: dict[str, Any] = {"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."}
DATES = {"observation": "March 3 to 17.", "action": "Booked the flight with ANA."}
PATIENCE = 30.0
TOOLS = "/v1/banks/notes/tools"


@requirement("wire.killed")
@pytest.mark.slow
def test_session_outlives_its_killed_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIERIA_SESSION_LEASE", "1")
    first = begun_in(tmp_path, "--toolset", "sessions", "--bank", "notes").begun()
    id = first.call("sessions_start", goal=GOAL)["structuredContent"]["session_id"]
    assert first.call("sessions_append", session_id=id, **TOKYO)["isError"] is False
    first.process.kill()
    first.close()

    async def goes_on() -> None:
        async with Client(parameters_in(tmp_path, "--toolset", "sessions", "--bank", "notes")) as client:

            async def ask(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.structured_content
                return result.structured_content

            assert (await ask("sessions_state", session_id=id))["recent_steps"] == [" -> ".join(TOKYO.values())]
            until = time.monotonic() + PATIENCE
            while True:
                told = await client.call_tool("sessions_append", {"session_id": id, **DATES})
                if not told.is_error or time.monotonic() > until:
                    break
                assert told.structured_content["error"]["reason"] == "held_elsewhere"
            assert told.structured_content["step_index"] == 1
            assert (await ask("sessions_close", session_id=id))["state"] == "idle"
            nodes = (await ask("sessions_nodes", types=["episodic"]))["nodes"]
            assert {node["observation"] for node in nodes} == {TOKYO["observation"], DATES["observation"]}
            recalled = await ask("sessions_recall", query="Where does the user want to go?")
            assert recalled["touched_nodes"]
            assert (await ask("sessions_node", node_id=nodes[0]["id"]))["node"]["links"]["provenance"]

    anyio.run(goes_on)


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
