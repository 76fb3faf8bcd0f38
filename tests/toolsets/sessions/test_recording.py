"""A session from its first step to its commit, as an agent uses it."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.llm_server import fitting
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.errors import AdapterError
from pieria.models.llm import LLMResponse
from pieria.toolsets import Access, Banks, Host
from pieria.workspace import Workspace

GOAL = "Plan a trip to Japan"
TOKYO = {"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."}
Begun = Callable[..., str]


@pytest.fixture
def begun(ask: Ask) -> Begun:
    """Start a session with a step in it, and return its id."""

    def begin(at: Host | None = None, **values: Any) -> str:
        where = {} if at is None else {"at": at}
        id = str(ask("sessions_start", **where, goal=GOAL, **values)["session_id"])
        ask("sessions_append", **where, session_id=id, **TOKYO)
        return id

    return begin


class Unsteady:
    """A language model that answers with the least value that fits, and fails while the test says so."""

    model = "unsteady"

    def __init__(self) -> None:
        self.is_out = False
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.prompts: list[str] = []

    def chat(self, messages: Any, opts: Any = None) -> LLMResponse:
        return self._answer(messages, "0.5")

    def chat_structured(self, messages: Any, schema: Any, opts: Any = None) -> LLMResponse:
        return self._answer(messages, fitting(schema))

    def _answer(self, messages: Any, content: object) -> LLMResponse:
        self.prompts.append(messages[0]["content"])
        assert self.may_answer.wait(30)
        if self.is_out:
            raise AdapterError("unsteady", "chat", "it is out")
        return LLMResponse(content, self.model, {"input_tokens": 1, "output_tokens": 1})


@pytest.fixture
def models(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"llm": Unsteady()} if getattr(request, "param", None) == "unsteady" else {}


@requirement("document.session")
def test_what_is_done_in_a_session_is_learnt_from_and_kept(ask: Ask, begun: Begun) -> None:
    id = begun()
    told = ask("sessions_append", session_id=id, observation="March 3 to 17.", action="Booked the flight with ANA.")
    assert (told["state"], told["step_index"]) == ("collecting", 1)
    state = ask("sessions_state", session_id=id)
    assert (state["goal"], state["recent_steps"][0]) == (GOAL, " -> ".join(TOKYO.values()))
    closed = ask("sessions_close", session_id=id)
    assert closed["state"] == "idle"
    kept = {node["id"] for node in ask("sessions_nodes", types=["episodic", "source", "semantic"])["nodes"]}
    assert kept & set(closed["node_ids"])
    steps = ask("sessions_nodes", types=["episodic"])["nodes"]
    assert {step["observation"] for step in steps} == {TOKYO["observation"], "March 3 to 17."}
    assert ask("sessions_state", session_id=id)["state"] == "idle"


@requirement("document.boundary")
def test_a_step_that_turns_to_something_else_ends_a_stretch(ask: Ask, begun: Begun) -> None:
    id = begun()
    for day in ("3", "17"):
        observation = f"The user wants to be in Tokyo on March {day}."
        told = ask("sessions_append", session_id=id, observation=observation, action=f"Noted Tokyo for March {day}.")
        assert told["boundary_detected"] is False
    baking = "Next task: the oven is cold and the rye bread has to be baked before the shop opens."
    turned = ask("sessions_append", session_id=id, observation=baking, action="Baked bread with rye flour.")
    assert (turned["boundary_detected"], turned["trajectory_id"] == told["trajectory_id"]) == (True, False)
    again = ask(
        "sessions_append", session_id=id, observation="The rye bread is done.", action="Took out the rye bread."
    )
    assert (again["boundary_detected"], again["trajectory_id"]) == (False, turned["trajectory_id"])


@requirement("document.manual")
def test_what_a_session_holds_back_is_kept_when_told_to_or_thrown_away(
    ask: Ask, begun: Begun, refused: Refused
) -> None:
    ids = [begun(auto_commit=False) for _ in range(2)]
    for id in ids:
        told = ask("sessions_close", session_id=id)
        assert (told["state"], "node_ids" in told) == ("ready", False)
    assert ask("sessions_nodes", types=["episodic"])["count"] == 0
    assert ask("sessions_discard", session_id=ids[0])["state"] == "idle"
    kept = ask("sessions_commit", session_id=ids[1])
    assert (kept["state"], ask("sessions_nodes", types=["episodic"])["count"]) == ("idle", 1)
    assert ask("sessions_nodes", types=["episodic"])["nodes"][0]["id"] in kept["node_ids"]
    assert refused("sessions_commit", session_id=ids[0])["error"]["reason"] == "not_ready"


@requirement("ours.failed")
@pytest.mark.parametrize("models", ["unsteady"], indirect=True)
def test_where_a_model_fails_the_reply_says_so_and_commit_tries_again(
    ask: Ask, begun: Begun, refused: Refused, models: dict[str, Any]
) -> None:
    id = begun()
    models["llm"].is_out = True
    closed = ask("sessions_close", session_id=id)
    assert (closed["state"], closed["error"]["kind"]) == ("failed", "framework")
    error = refused("sessions_commit", session_id=id)["error"]
    assert (error["reason"], "sessions_discard" in error["hint"]) == ("extraction_failed", True)
    models["llm"].is_out = False
    assert ask("sessions_commit", session_id=id)["state"] == "idle"
    assert ask("sessions_nodes", types=["episodic"])["count"] == 1


@requirement("ours.at_once")
def test_who_does_not_wait_is_answered_at_once_and_asks_later(ask: Ask, begun: Begun, host: Host) -> None:
    id = begun()
    told = ask("sessions_close", session_id=id, wait=False)
    assert told["state"] in ("collecting", "extracting", "idle")
    host.banks.workspace.session(id).wait(30)
    assert ask("sessions_state", session_id=id)["state"] == "idle"


@requirement("ours.at_once")
@pytest.mark.parametrize("models", ["unsteady"], indirect=True)
def test_who_waits_hears_how_far_it_is_also_of_a_session_that_was_closed_before(
    ask: Ask, begun: Begun, host: Host, models: dict[str, Any]
) -> None:
    id = begun()
    heard: list[tuple[int, int]] = []
    models["llm"].may_answer.clear()
    assert ask("sessions_close", session_id=id, wait=False)["state"] == "extracting"

    def hear(done: int, whole: int) -> None:
        heard.append((done, whole))
        models["llm"].may_answer.set()

    assert ask("sessions_close", at=host.having(progress=hear), session_id=id)["state"] == "idle"
    assert heard[0] == (0, 1)


@requirement("document.profiles")
@pytest.mark.parametrize("models", ["unsteady"], indirect=True)
def test_a_profile_says_what_counts_in_that_session_alone_and_in_whichever_process(
    ask: Ask, begun: Begun, host: Host, models: dict[str, Any]
) -> None:
    plain, coding = begun(), begun(profile="coding")
    prompts = models["llm"].prompts
    host.banks.close()
    reopened = Workspace(host.banks.workspace.data, {"durability": "off"}, **models)
    later = host.having(banks=Banks(reopened, "test"))
    said = {}
    for id in (plain, coding):
        prompts.clear()
        assert ask("sessions_close", at=later, session_id=id)["state"] == "idle"
        said[id] = "\n".join(prompts)
    reopened.close()
    assert len(said[coding]) > len(said[plain])


@requirement("ours.resumed")
def test_a_later_process_goes_on_with_a_session_by_its_id(ask: Ask, begun: Begun, host: Host) -> None:
    id = begun()
    host.banks.close()
    reopened = Workspace(host.banks.workspace.data, {"durability": "off"})
    later = host.having(banks=Banks(reopened, "test"))
    assert ask("sessions_state", at=later, session_id=id)["state"] == "collecting"
    assert ask("sessions_append", at=later, session_id=id, observation="March.", action="Noted it.")["step_index"] == 1
    assert ask("sessions_close", at=later, session_id=id)["state"] == "idle"
    assert ask("sessions_nodes", at=later, types=["episodic"])["count"] == 2
    reopened.close()


@requirement("ours.held")
def test_what_another_process_holds_is_told_of_and_not_touched(
    ask: Ask, begun: Begun, refused: Refused, host: Host
) -> None:
    id = begun()
    other = Workspace(host.banks.workspace.data, {"durability": "off"}, clock=host.banks.workspace.clock)
    there = host.having(banks=Banks(other, "test"))
    assert ask("sessions_state", at=there, session_id=id)["state"] == "collecting"
    assert "trace" in ask("sessions_recall", at=there, query="What next?", session_id=id)
    error = refused("sessions_append", at=there, session_id=id, **TOKYO)["error"]
    assert (error["kind"], error["reason"]) == ("framework", "held_elsewhere")
    other.close()


@requirement("ours.banks")
def test_the_id_of_a_session_finds_its_bank_and_a_token_only_those_it_names(
    ask: Ask, begun: Begun, refused: Refused, host: Host
) -> None:
    id = begun(bank="other")
    assert ask("sessions_state", session_id=id)["goal"] == GOAL
    narrow = host.having(covers=lambda name: name == "notes", opened=("notes",))
    for tool, more in (
        ("sessions_append", TOKYO), ("sessions_close", {}), ("sessions_commit", {}), ("sessions_discard", {}),
        ("sessions_state", {}), ("sessions_recall", {"query": "Tokyo"}),
    ):  # fmt: skip
        error = refused(tool, at=narrow, session_id=id, **more)["error"]
        assert (error["code"], error["reason"]) == ("access", "wrong_bank"), tool
    assert refused("sessions_start", at=narrow, goal=GOAL, bank="other")["error"]["reason"] == "wrong_bank"
    assert ask("sessions_list_banks", at=narrow)["count"] == 1
    error = refused("sessions_state", session_id="session_nobody")["error"]
    assert (error["reason"], error["resource"]) == ("not_found", "session")


@requirement("ours.read_only")
def test_who_may_only_read_records_nothing(ask: Ask, begun: Begun, refused: Refused, host: Host) -> None:
    id = begun()
    reader = host.having(access=Access.read)
    assert ask("sessions_state", at=reader, session_id=id)["state"] == "collecting"
    for tool, arguments in (
        ("sessions_start", {"goal": GOAL}), ("sessions_append", {"session_id": id, **TOKYO}),
        ("sessions_close", {"session_id": id}), ("sessions_commit", {"session_id": id}),
        ("sessions_discard", {"session_id": id}), ("sessions_maintain", {"operation": "decay"}),
    ):  # fmt: skip
        error = refused(tool, at=reader, **arguments)["error"]
        assert (error["kind"], error["reason"]) == ("framework", "read_only"), tool


@requirement("ours.errors")
def test_an_error_says_its_kind_its_reason_and_what_to_do(refused: Refused, begun: Begun) -> None:
    error = refused("sessions_append", session_id=begun(), observation="", act="y")["error"]
    assert (error["kind"], error["reason"]) == ("invalid", "invalid_input")
    assert {one["parameter"] for one in error["violations"]} == {"observation", "action", "act"}


@requirement("ours.private")
def test_what_a_state_does_not_allow_is_told_with_the_tool_that_helps_as_the_page_shows(
    ask: Ask, refused: Refused, begun: Begun
) -> None:
    id = begun()
    assert "sessions_close" in refused("sessions_commit", session_id=id)["error"]["hint"]
    assert "sessions_close" in refused("sessions_discard", session_id=id)["error"]["hint"]
    ask("sessions_close", session_id=id)
    page = Path(__file__).parents[3] / "docs" / "toolsets" / "sessions.md"
    shown = next(line for line in page.read_text("utf-8").splitlines() if line.startswith('{"error"'))
    assert refused("sessions_append", session_id=id, **TOKYO) == json.loads(shown)


def test_what_is_private_is_neither_kept_nor_told(ask: Ask, begun: Begun) -> None:
    told = ask("sessions_start", goal="Open <private>the safe</private> it")
    assert "safe" not in told["goal"]
    ask(
        "sessions_append",
        session_id=told["session_id"],
        observation="The code is <private>4711</private>.",
        action="Noted.",
    )
    assert "4711" not in str(ask("sessions_state", session_id=told["session_id"]))
    ask("sessions_close", session_id=told["session_id"])
    assert "4711" not in str(ask("sessions_nodes", types=["episodic", "source"]))


@pytest.mark.parametrize("tool", ["sessions_append", "sessions_close", "sessions_commit", "sessions_discard"])
def test_what_a_session_refuses_tells_its_state_and_the_tool_that_goes_on_from_there(
    refused: Refused, begun: Begun, ask: Ask, tool: str
) -> None:
    id = begun(auto_commit=False)
    more = TOKYO if tool == "sessions_append" else {}
    if tool in ("sessions_commit", "sessions_discard"):
        error = refused(tool, session_id=id)["error"]
        assert (error["state"], "sessions_close" in error["hint"]) == ("collecting", True)
        ask("sessions_close", session_id=id)
    else:
        ask("sessions_close", session_id=id)
        error = refused(tool, session_id=id, **more)["error"]
        assert (error["state"], "sessions_commit" in error["hint"]) == ("ready", True)
    ask("sessions_commit", session_id=id)
    error = refused(tool, session_id=id, **more)["error"]
    assert (error["state"], "sessions_start" in error["hint"]) == ("idle", True)


def test_to_close_without_waiting_what_is_closed_says_to_begin_another(
    refused: Refused, begun: Begun, ask: Ask
) -> None:
    id = begun()
    ask("sessions_close", session_id=id)
    error = refused("sessions_close", session_id=id, wait=False)["error"]
    assert (error["state"], "sessions_start" in error["hint"]) == ("idle", True)
