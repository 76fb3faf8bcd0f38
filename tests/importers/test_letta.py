"""Letta: an agent file with the members of its schema, and a server with its API's shape (letta-client 1.12)."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.importers.api import Api, served

from pieria.bank import Bank
from pieria.errors import TransferError
from pieria.importers import import_from

WRAPPED = json.dumps({"type": "user_message", "message": "Hello from a ferry.", "time": "now"})
SPOKEN = {"function": {"name": "send_message", "arguments": json.dumps({"message": "Hello, Ida."})}}
AGENT = {
    "id": "agent-0", "name": "sam", "agent_type": "memgpt_v2_agent", "block_ids": ["block-0"],
    "messages": [
        {"id": "message-0", "role": "system", "content": [{"type": "text", "text": "You are Sam."}]},
        {"id": "message-1", "role": "user", "content": [{"type": "text", "text": WRAPPED}],
         "created_at": "2025-01-02T10:00:00Z"},
        {"id": "message-2", "role": "assistant", "content": [{"type": "text", "text": "She greets."}],
         "tool_calls": [SPOKEN], "created_at": "2025-01-02T10:00:01Z"},
        {"id": "message-3", "role": "user", "content": '{"type": "heartbeat", "reason": "x"}'},
        {"id": "message-4", "role": "tool", "content": "OK"},
    ],
}  # fmt: skip
BLOCKS: list[dict[str, object]] = [
    {"id": "block-0", "label": "human", "value": "Ida rows.", "limit": 5000, "description": "About the user",
     "metadata": {"k": 1}},
    {"id": "block-1", "label": "empty", "value": ""},
]  # fmt: skip
FILE = {"agents": [AGENT], "groups": [], "blocks": BLOCKS, "files": [{"file_name": "log.txt", "content": "Day one."}],
        "sources": [], "tools": [{"id": "tool-0"}], "mcp_servers": []}  # fmt: skip


def test_agent_file_becomes_blocks_turns_and_files(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "agent.af"
    path.write_text(json.dumps(FILE))
    tried = import_from(bank, "letta", path, dry_run=True)
    report = import_from(bank, "letta", path)
    assert tried.memories == report.memories == {"new": 4} and report.well
    assert report.left["tools"] == 1 and report.left["blocks without text"] == 1
    held = {memory.text: memory for memory in bank.list()}
    human = held["Ida rows."]
    assert (human.pinned, human.title, human.context, human.meta["limit"]) == (True, "human", "About the user", 5000)
    said, answered = held["Hello from a ferry."], held["Hello, Ida."]
    assert (said.kind, said.session, said.origin.author_type, said.at.day) == ("turn", "sam", "human", 2)
    assert (answered.author, answered.origin.author_type) == ("sam", "agent") and human.trust == 0.5
    assert import_from(bank, "letta", path).memories == {"unchanged": 4}
    other = FILE | {"agents": [AGENT | {"name": "kim"}]}
    path.write_text(json.dumps(other))
    assert import_from(bank, "letta", path).memories["new"] == 4


def test_broken_file_lists_its_records(bank: Bank, tmp_path: Path) -> None:
    path = tmp_path / "agent.af"
    path.write_text(json.dumps({"agents": [{"name": "sam"}], "blocks": [{"label": "x"}, BLOCKS[0]]}))
    report = import_from(bank, "letta", path)
    assert report.memories == {"new": 1}
    assert [problem.where for problem in report.problems] == ["agent.af, agents[0]", "agent.af, blocks[0]"]
    path.write_text('{"agents": [')
    with pytest.raises(TransferError, match="nothing in it can be read") as refused:
        import_from(bank, "letta", path)
    assert "agent file" in str(refused.value.hint)


@pytest.mark.slow
def test_server_gives_blocks_passages_and_messages(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pieria.importers.letta.PAGE", 2)
    id = "agent-0f000000-0000-4000-8000-000000000001"
    passages = [{"id": f"passage-0f000000-0000-4000-8000-00000000000{number}", "text": f"Note {number}.",
                 "tags": ["log"], "created_at": "2025-02-01T00:00:00Z"} for number in range(3)]  # fmt: skip
    spoken = {"id": "message-0f000000-0000-4000-8000-000000000001", "message_type": "user_message",
              "content": "Ahoy.", "date": "2025-02-02T00:00:00Z"}  # fmt: skip
    thought = {"id": "message-0f000000-0000-4000-8000-000000000002", "message_type": "reasoning_message"}

    def listed(*rows: Mapping[str, object]) -> Api:
        def page(query: Mapping[str, str], _: object) -> object:
            after = [row["id"] for row in rows].index(query["after"]) + 1 if "after" in query else 0
            return rows[after : after + int(query["limit"])]

        return page

    routes = {
        "GET /v1/agents/": listed({"id": id, "name": "sam"}, {"id": "agent-other", "name": "kim"}),
        f"GET /v1/agents/{id}/core-memory/blocks": lambda query, body: [BLOCKS[0] | {"id": "block-" + id}],
        f"GET /v1/agents/{id}/archival-memory": listed(*passages),
        f"GET /v1/agents/{id}/messages": listed(spoken, thought),
    }
    with served(routes) as api:
        report = import_from(bank, "letta", api.address, user="sam", token="l")
        assert import_from(bank, "letta", api.address, user="sam").memories == {"unchanged": 5}
    assert report.memories == {"new": 5} and report.well
    assert api.seen[0].headers["authorization"] == "Bearer l"
    assert bank.get(str(passages[2]["id"])) is not None
