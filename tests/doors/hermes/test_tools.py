"""The tools that the agent sees, and the replies of their calls: JSON for every input."""

from pathlib import Path
from typing import Any

import pytest
from tests.doors.hermes.conftest import Begin

from pieria import Bank
from pieria.hermes.options import save
from pieria.hermes.tools import CHOSEN, NAMES


def test_the_agent_is_given_all_fifteen_as_they_are_listed(begin: Begin) -> None:
    agent = begin()
    assert tuple(agent.tools) == NAMES
    assert len(NAMES) == 15
    for _, tool in CHOSEN:
        assert agent.tools[tool.name] == {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        }


def test_the_prompt_says_how_to_use_them(begin: Begin) -> None:
    prompt = begin().system_prompt
    assert prompt.startswith("# Long-term memory (Pieria)")
    assert "mnemosyne_remember" in prompt
    assert "not instruction" in prompt
    assert len(prompt) < 1_600


def test_what_is_remembered_by_a_tool_is_recalled_by_itself_and_by_anybody(begin: Begin, bank: Bank) -> None:
    agent = begin("one")
    kept = agent.tool("mnemosyne_remember", {"content": "The pilot ends on 2026-03-31."})
    assert kept["status"] == "stored"
    memory = bank.get(kept["memory_id"])
    assert memory is not None
    assert (memory.session, memory.author, memory.author_type) == ("one", "hermes", "agent")
    found = agent.tool("mnemosyne_recall", {"query": "When does the pilot end?"})
    assert [result["id"] for result in found["results"]] == [kept["memory_id"]]
    assert "2026-03-31" in begin("two").prefetch("When does the pilot end?")


def test_a_tool_speaks_for_the_session_that_the_host_names(begin: Begin, bank: Bank) -> None:
    agent = begin("one")
    agent.switch("two", reset=True)
    for kwargs, session in (({}, "two"), ({"session_id": "three"}, "three")):
        kept = agent.tool("mnemosyne_remember", {"content": f"Said in {session}."}, **kwargs)
        memory = bank.get(kept["memory_id"])
        assert memory is not None
        assert memory.session == session


@pytest.mark.parametrize(
    "args",
    [{"contents": "x"}, {"content": 7}, {}, [], "content", {"content": "x", "importance": 5}, {"content": ""}],
)
def test_wrong_arguments_are_an_error_in_json(begin: Begin, bank: Bank, args: Any) -> None:
    reply = begin().tool("mnemosyne_remember", args)
    assert reply["status"] == "error"
    assert reply["error"]["message"]
    assert bank.count() == 0


def test_no_arguments_are_none(begin: Begin) -> None:
    agent = begin()
    assert agent.provider.handle_tool_call("mnemosyne_diagnose", None).startswith("{")


def test_a_tool_that_is_not_there_is_an_error_in_json(begin: Begin) -> None:
    reply = begin().tool("mnemosyne_recal", {"query": "x"})
    assert reply["status"] == "error"
    assert "mnemosyne_recall" in reply["error"]["hint"]


def test_a_tool_that_was_not_chosen_is_neither_given_nor_called(begin: Begin, bank: Bank, hermes_home: Path) -> None:
    save(hermes_home, {"tools": ["mnemosyne_recall", "mnemosyne_remember"]})
    agent = begin()
    assert set(agent.tools) == {"mnemosyne_recall", "mnemosyne_remember"}
    kept = agent.tool("mnemosyne_remember", {"content": "Keep me."})["memory_id"]
    assert agent.tool("mnemosyne_forget", {"memory_id": kept})["status"] == "error"
    assert bank.get(kept) is not None
    assert "mnemosyne_recall" in agent.system_prompt
    assert "mnemosyne_forget" not in agent.system_prompt


def test_an_agent_without_tools_is_still_told_what_bears_on_a_message(
    begin: Begin, bank: Bank, hermes_home: Path
) -> None:
    save(hermes_home, {"tools": []})
    bank.remember("The deploy key expires in May.")
    agent = begin()
    assert agent.tools == {}
    assert "mnemosyne_" not in agent.system_prompt
    assert "May" in agent.prefetch("When does the deploy key expire?")


def test_all_fifteen_do_their_work_for_an_agent_over_two_lives(begin: Begin, bank: Bank, home: Path) -> None:
    agent = begin("one")
    asked: set[str] = set()

    def ask(tool: str, **args: Any) -> dict[str, Any]:
        asked.add(f"mnemosyne_{tool}")
        reply: dict[str, Any] = agent.tool(f"mnemosyne_{tool}", args)
        assert reply.get("status") != "error", reply
        return reply

    old = ask("remember", content="Maya works on billing.", importance=0.9)["memory_id"]
    new = ask("remember", content="Maya works on search.")["memory_id"]
    assert ask("update", memory_id=new, content="Maya works on search since May.")["status"] == "updated"
    assert ask("invalidate", memory_id=old, replacement_id=new)["status"] == "invalidated"
    assert ask("triple_add", subject="Maya", predicate="works_on", object="search")["status"] == "added"
    assert ask("scratchpad_write", content="Ask Maya about June.")["status"] == "written"
    assert ask("export", output_path=str(home / "data" / "out.jsonl"))["status"] == "exported"
    agent.leave()
    agent = begin("one")
    found = {found["id"]: found["content"] for found in ask("recall", query="What does Maya work on?")["results"]}
    assert found.pop(new) == "Maya works on search since May."
    assert list(found.values()) == ["Maya works on search."]
    assert ask("triple_query", subject="Maya")["results_count"] >= 1
    assert [entry["content"] for entry in ask("scratchpad_read")["entries"]] == ["Ask Maya about June."]
    assert ask("scratchpad_clear")["status"] == "cleared"
    assert ask("import", input_path=str(home / "data" / "out.jsonl"))["status"] == "imported"
    assert ask("sleep", dry_run=True)["bank"] == "hermes"
    assert ask("get_stats")["stats"]["total_memories"] == 2
    assert ask("diagnose")["checks_failed"] == 0
    assert ask("forget", memory_id=new)["status"] == "deleted"
    assert bank.get(new) is None
    assert asked == set(NAMES)


def test_a_file_elsewhere_is_refused(begin: Begin, tmp_path: Path) -> None:
    reply = begin().tool("mnemosyne_export", {"output_path": str(tmp_path.parent.parent / "elsewhere.jsonl")})
    assert reply["status"] == "error"
    assert "output_path" in reply["error"]["message"]
