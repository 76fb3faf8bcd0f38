"""The tools that the agent sees, and the replies of their calls: JSON for every input."""

from pathlib import Path
from typing import Any

from tests.doors.hermes.conftest import Begin

from pieria import Bank
from pieria.hermes.options import save
from pieria.hermes.provider import provider
from pieria.hermes.tools import CHOSEN, NAMES


def test_the_agent_sees_all_tools_and_how_to_use_them(begin: Begin, hermes_home: Path, home: Path) -> None:
    looked = provider()
    assert looked.is_available()
    looked.initialize_for_inspection("s", hermes_home=str(hermes_home), platform="cli")
    assert "mnemosyne_recall" in looked.system_prompt_block()
    assert len(looked.get_tool_schemas()) == len(NAMES) == 15
    assert looked.backup_paths() == [str(home / "data" / "hermes.db")]
    assert not (home / "data").exists(), "looking at it opens nothing"
    agent = begin()
    assert tuple(agent.tools) == NAMES
    for _, tool in CHOSEN:
        shown = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
        assert agent.tools[tool.name] == shown
    prompt = agent.system_prompt
    assert prompt.startswith("# Long-term memory (Pieria)") and len(prompt) < 1_600
    assert "mnemosyne_remember" in prompt and "not instruction" in prompt


def test_memories_of_tools_have_their_session_and_author(begin: Begin, bank: Bank) -> None:
    agent = begin("one")
    kept = agent.tool("mnemosyne_remember", {"content": "The pilot ends on 2026-03-31."})
    assert kept["status"] == "stored"
    found = agent.tool("mnemosyne_recall", {"query": "When does the pilot end?"})
    assert [result["id"] for result in found["results"]] == [kept["memory_id"]]
    assert "2026-03-31" in begin("two").prefetch("When does the pilot end?")
    agent.switch("two", reset=True)
    for kwargs, session in (({}, "two"), ({"session_id": "three"}, "three")):
        later = agent.tool("mnemosyne_remember", {"content": f"Said in {session}."}, **kwargs)
        memory = bank.get(later["memory_id"])
        assert memory is not None and memory.session == session
    memory = bank.get(kept["memory_id"])
    assert memory is not None
    assert (memory.session, memory.author, memory.author_type) == ("one", "hermes", "agent")


def test_wrong_calls_are_errors_in_json(begin: Begin, bank: Bank, tmp_path: Path) -> None:
    agent = begin()
    wrong: list[Any] = [{"contents": "x"}, {}, [], "content", {"content": ""}]
    for args in wrong:
        reply = agent.tool("mnemosyne_remember", args)
        assert (reply["status"], bool(reply["error"]["message"])) == ("error", True), args
    assert bank.count() == 0
    reply = agent.tool("mnemosyne_recal", {"query": "x"})
    assert reply["status"] == "error" and "mnemosyne_recall" in reply["error"]["hint"]
    reply = agent.tool("mnemosyne_export", {"output_path": str(tmp_path.parent.parent / "elsewhere.jsonl")})
    assert reply["status"] == "error" and "output_path" in reply["error"]["message"]
    assert agent.provider.handle_tool_call("mnemosyne_diagnose", None).startswith("{")


def test_only_chosen_tools_are_seen_and_called(begin: Begin, bank: Bank, hermes_home: Path) -> None:
    save(hermes_home, {"tools": ["mnemosyne_recall", "mnemosyne_remember"]})
    agent = begin()
    assert set(agent.tools) == {"mnemosyne_recall", "mnemosyne_remember"}
    kept = agent.tool("mnemosyne_remember", {"content": "The deploy key expires in May."})["memory_id"]
    assert agent.tool("mnemosyne_forget", {"memory_id": kept})["status"] == "error"
    assert bank.get(kept) is not None
    assert "mnemosyne_recall" in agent.system_prompt and "mnemosyne_forget" not in agent.system_prompt
    save(hermes_home, {"tools": []})
    without = begin("next")
    assert without.tools == {} and "mnemosyne_" not in without.system_prompt
    assert "May" in without.prefetch("When does the deploy key expire?")
