"""The tools that make a missing bank are those that begin something, and the bank holds only their result."""

from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.conftest import Ask, Refused, answered

from pieria.toolsets import Access, Host, registry

BEGINNING = {
    "mnemosyne_remember": {"content": "One."},
    "mnemosyne_triple_add": {"subject": "Maya", "predicate": "leads", "object": "search"},
    "mnemosyne_scratchpad_write": {"content": "One."},
    "mnemosyne_import": {"input_path": "out.jsonl"},
}
OTHERS: dict[str, dict[str, Any]] = {
    "mnemosyne_recall": {"query": "One."},
    "mnemosyne_forget": {"memory_id": "one"},
    "mnemosyne_update": {"memory_id": "one", "content": "Two."},
    "mnemosyne_invalidate": {"memory_id": "one"},
    "mnemosyne_export": {"output_path": "new.jsonl"},
}


@pytest.fixture
def mistyped(ask: Ask, host: Host) -> Host:
    """Return a host with a misspelt bank name; the bank `notes` has an export."""
    ask("mnemosyne_remember", content="One.")
    ask("mnemosyne_export", output_path="out.jsonl")
    return host.having(bank_name="noets", is_named=True)


@pytest.mark.parametrize("tool", registry().only("mnemosyne").names)
def test_only_a_tool_that_begins_something_makes_a_bank(mistyped: Host, tool: str) -> None:
    reply = answered(mistyped, tool, BEGINNING.get(tool) or OTHERS.get(tool) or {})
    assert mistyped.banks.names() == (["noets", "notes"] if tool in BEGINNING else ["notes"])
    if tool not in BEGINNING:
        assert (reply.error and reply.error.code, reply.value["status"]) == ("not_found", "error")
        assert reply.value["error"]["hint"] == "Did you mean notes? What is first written to a bank makes it."


@pytest.mark.parametrize("text", [None, "", "a letter", "{}", '{"pieria":"export"}', "cut off"])
def test_a_file_that_cannot_be_brought_in_makes_no_bank(
    refused: Refused, mistyped: Host, tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "in.jsonl"
    if text == "cut off":
        file.write_bytes((tmp_path / "out.jsonl").read_bytes()[:-100])
    elif text is not None:
        file.write_text(text)
    refused("mnemosyne_import", at=mistyped, input_path="in.jsonl")
    assert mistyped.banks.names() == ["notes"]


def test_where_nobody_named_the_bank_there_is_nothing_to_find(ask: Ask, host: Host) -> None:
    assert ask("mnemosyne_recall", query="tea")["results"] == []


def test_who_may_only_read_makes_no_bank_at_all(refused: Refused, host: Host) -> None:
    assert refused("mnemosyne_recall", at=host.having(access=Access.read), query="tea")["error"]["code"] == "not_found"
    assert host.banks.names() == []
