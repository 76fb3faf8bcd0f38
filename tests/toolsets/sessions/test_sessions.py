"""A session from its first step to its commit, as an agent uses it."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.llm_server import fitting
from tests.toolsets.conftest import Ask, Refused, requirement

from pieria.errors import AdapterError
from pieria.models.llm import LLMResponse
from pieria.toolsets import Access, Banks, Host
from pieria.workspace import Workspace

GOAL = "Plan a trip to Japan"
TOKYO = {"observation": "The user wants to visit Tokyo in March.", "action": "Asked about the dates."}
NEXT = {"collecting": "close", "ready": "commit", "idle": "start"}
"""The tool that goes on from each state."""
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


@requirement("document.session")
def test_session_is_recorded_and_learnt_from(ask: Ask, begun: Begun) -> None:
    id = begun()
    told = ask("sessions_append", session_id=id, observation="March 3 to 17.", action="Booked the flight with ANA.")
    assert (told["state"], told["step_index"]) == ("collecting", 1)
    state = ask("sessions_state", session_id=id)
    assert (state["goal"], state["recent_steps"][0]) == (GOAL, " -> ".join(TOKYO.values()))
    closed = ask("sessions_close", session_id=id)
    steps = ask("sessions_nodes", types=["episodic"])["nodes"]
    assert {step["observation"] for step in steps} == {TOKYO["observation"], "March 3 to 17."}
    assert (closed["state"], {step["id"] for step in steps} <= {*closed["node_ids"]}) == ("idle", True)
    assert ask("sessions_state", session_id=id)["state"] == "idle"


@requirement("document.boundary")
def test_step_to_something_else_ends_a_stretch(ask: Ask, begun: Begun) -> None:
    id = begun()
    for day in ("3", "17"):
        observation = f"The user wants to be in Tokyo on March {day}."
        told = ask("sessions_append", session_id=id, observation=observation, action=f"Noted Tokyo for March {day}.")
        assert told["boundary_detected"] is False
    baking = "Next task: the oven is cold and the rye bread has to be baked before the shop opens."
    turned = ask("sessions_append", session_id=id, observation=baking, action="Baked bread with rye flour.")
    assert (turned["boundary_detected"], turned["trajectory_id"] == told["trajectory_id"]) == (True, False)
    again = ask("sessions_append", session_id=id, observation="The rye bread is done.", action="Took out the bread.")
    assert (again["boundary_detected"], again["trajectory_id"]) == (False, turned["trajectory_id"])


@requirement("document.manual")
def test_held_back_steps_are_committed_or_discarded(ask: Ask, begun: Begun, refused: Refused) -> None:
    ids = [begun(auto_commit=False) for _ in range(2)]
    for id in ids:
        told = ask("sessions_close", session_id=id)
        assert (told["state"], "node_ids" in told) == ("ready", False)
    assert ask("sessions_nodes", types=["episodic"])["count"] == 0
    assert ask("sessions_discard", session_id=ids[0])["state"] == "idle"
    kept = ask("sessions_commit", session_id=ids[1])
    [node] = ask("sessions_nodes", types=["episodic"])["nodes"]
    assert (kept["state"], node["id"] in kept["node_ids"]) == ("idle", True)
    assert refused("sessions_commit", session_id=ids[0])["error"]["reason"] == "not_ready"


@requirement("ours.failed")
@pytest.mark.parametrize("models", [{"llm": Unsteady()}])
def test_failed_model_is_tried_again(ask: Ask, begun: Begun, refused: Refused, models: dict[str, Any]) -> None:
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
@pytest.mark.parametrize("models", [{"llm": Unsteady()}])
def test_waiting_close_hears_the_progress(ask: Ask, begun: Begun, host: Host, models: dict[str, Any]) -> None:
    id = begun()
    heard: list[tuple[int, int]] = []
    models["llm"].may_answer.clear()
    assert ask("sessions_close", session_id=id, wait=False)["state"] == "extracting"

    def hear(done: int, whole: int) -> None:
        heard.append((done, whole))
        models["llm"].may_answer.set()

    assert ask("sessions_close", at=host.having(progress=hear), session_id=id)["state"] == "idle"
    assert heard[0] == (0, 1)
    assert ask("sessions_state", session_id=id)["state"] == "idle"


@requirement("document.profiles")
@pytest.mark.parametrize("models", [{"llm": Unsteady()}])
def test_profile_holds_in_any_process(ask: Ask, begun: Begun, host: Host, models: dict[str, Any]) -> None:
    plain, coding = begun(), begun(profile="coding")
    prompts = models["llm"].prompts
    host.banks.close()
    reopened = Workspace(host.banks.workspace.data, **models)
    later = host.having(banks=Banks(reopened, "test"))
    said = {}
    for id in (plain, coding):
        prompts.clear()
        assert ask("sessions_close", at=later, session_id=id)["state"] == "idle"
        said[id] = "\n".join(prompts)
    reopened.close()
    assert len(said[coding]) > len(said[plain])


@requirement("ours.held", "ours.resumed")
def test_session_of_another_process_is_read_or_resumed(ask: Ask, begun: Begun, refused: Refused, host: Host) -> None:
    id = begun()
    other = Workspace(host.banks.workspace.data, clock=host.banks.workspace.clock)
    there = host.having(banks=Banks(other, "test"))
    assert ask("sessions_state", at=there, session_id=id)["state"] == "collecting"
    error = refused("sessions_append", at=there, session_id=id, **TOKYO)["error"]
    assert (error["kind"], error["reason"]) == ("framework", "held_elsewhere")
    host.banks.close()
    assert ask("sessions_append", at=there, session_id=id, observation="March.", action="Noted it.")["step_index"] == 1
    assert ask("sessions_close", at=there, session_id=id)["state"] == "idle"
    assert ask("sessions_nodes", at=there, types=["episodic"])["count"] == 2
    other.close()


@requirement("ours.banks")
def test_id_of_a_session_finds_its_bank_within_reach(ask: Ask, begun: Begun, refused: Refused, host: Host) -> None:
    id = begun(bank="other")
    assert ask("sessions_state", session_id=id)["goal"] == GOAL
    narrow = host.having(covers=lambda name: name == "notes", opened=("notes",))
    given = {"append": TOKYO, "close": {}, "commit": {}, "discard": {}, "state": {}, "recall": {"query": "Tokyo"}}
    for verb, more in given.items():
        error = refused(f"sessions_{verb}", at=narrow, session_id=id, **more)["error"]
        assert (error["code"], error["reason"]) == ("access", "wrong_bank"), verb
    assert refused("sessions_start", at=narrow, goal=GOAL, bank="other")["error"]["reason"] == "wrong_bank"
    assert ask("sessions_list_banks", at=narrow)["count"] == 1
    error = refused("sessions_state", session_id="session_nobody")["error"]
    assert (error["reason"], error["resource"]) == ("not_found", "session")


@requirement("ours.read_only")
def test_reader_records_nothing(ask: Ask, begun: Begun, refused: Refused, host: Host) -> None:
    id, reader = begun(), host.having(access=Access.read)
    assert ask("sessions_state", at=reader, session_id=id)["state"] == "collecting"
    given: dict[str, dict[str, str]] = {"start": {"goal": GOAL}, "append": TOKYO, "maintain": {"operation": "decay"}}
    for verb in ("start", "append", "close", "commit", "discard", "maintain"):
        error = refused(f"sessions_{verb}", at=reader, **given.get(verb, {"session_id": id}))["error"]
        assert (error["kind"], error["reason"]) == ("framework", "read_only"), verb


@requirement("ours.errors", "ours.private")
def test_errors_are_explained_and_private_text_is_not_kept(refused: Refused, begun: Begun, ask: Ask) -> None:
    error = refused("sessions_append", session_id=begun(), observation="", act="y")["error"]
    assert (error["kind"], error["reason"]) == ("invalid", "invalid_input")
    assert {one["parameter"] for one in error["violations"]} == {"observation", "action", "act"}
    told = ask("sessions_start", goal="Open <private>the safe</private> it")
    id = told["session_id"]
    assert "safe" not in told["goal"]
    ask("sessions_append", session_id=id, observation="The code is <private>4711</private>.", action="Noted.")
    assert "4711" not in str(ask("sessions_state", session_id=id))
    ask("sessions_close", session_id=id)
    assert "4711" not in str(ask("sessions_nodes", types=["episodic", "source"]))


def test_refusal_names_the_state_and_the_next_tool(refused: Refused, begun: Begun, ask: Ask) -> None:
    id = begun(auto_commit=False)
    calls: dict[str, dict[str, Any]] = {"append": TOKYO, "close": {}, "commit": {}, "discard": {}}
    for state, verbs in {"collecting": ["commit", "discard"], "ready": ["append", "close"], "idle": [*calls]}.items():
        for verb in verbs:
            error = refused(f"sessions_{verb}", session_id=id, **calls[verb])["error"]
            assert (error["state"], f"sessions_{NEXT[state]}" in error["hint"]) == (state, True), verb
        if state != "idle":
            ask(f"sessions_{NEXT[state]}", session_id=id)
    error = refused("sessions_close", session_id=id, wait=False)["error"]
    assert (error["state"], "sessions_start" in error["hint"]) == ("idle", True)
    page = Path(__file__).parents[3] / "docs" / "toolsets" / "sessions.md"
    shown = next(line for line in page.read_text("utf-8").splitlines() if line.startswith('{"error"'))
    assert refused("sessions_append", session_id=id, **TOKYO) == json.loads(shown)
