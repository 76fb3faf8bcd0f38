"""A user's own prompts in place of ours: their input, their results, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.models.prompt_cases import CASES, GOAL, STEPS, Case
from tests.models.scripted import Scripted

from pieria.errors import InputError, PromptError
from pieria.models.mind import Proposition, StepSeen
from pieria.models.minds.llm import LLMMind

every_step = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


class Own:
    """A prompt with its own words and its own parser for any reply."""

    schema: Any = None

    def __init__(self, means: Any, schema: Any = None) -> None:
        self.means = means
        self.schema = schema
        self.variables: Mapping[str, Any] = {}
        self.replies: list[Any] = []

    def build_messages(self, variables: Mapping[str, Any]) -> list[dict[str, str]]:
        self.variables = variables
        return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Well?"}]

    def parse_response(self, response: Any) -> Any:
        self.replies.append(response)
        return self.means


@every_step
def test_the_prompt_of_any_step_can_be_replaced(case: Case) -> None:
    own, llm = Own(case.reply), Scripted("Hm.")
    assert case.ask(LLMMind(llm, prompts={case.step: own})) == case.means
    assert own.replies == ["Hm."]
    assert [dict(message) for message in llm.calls[0].messages] == own.build_messages(own.variables)
    assert llm.calls[0].schema is None
    assert len(llm.calls) == 1


@every_step
def test_what_a_prompt_makes_of_a_reply_is_checked(case: Case) -> None:
    for wrong in (case.wrong if case.is_structured else {"a": 1}, None, object()):
        with pytest.raises(PromptError) as failure:
            case.ask(LLMMind(Scripted("Hm."), prompts={case.step: Own(wrong)}))
        assert failure.value.prompt == case.step
        assert failure.value.reason in (case.reason, case.nothing)


def test_the_variables_are_the_data_of_the_step() -> None:
    own = Own([])
    LLMMind(Scripted("Hm."), prompts={"get_semantic": own}).propositions(GOAL, STEPS[:1])
    step = {"step": 1, "observed": STEPS[0].observation, "action": STEPS[0].action, "reward": 0.5}
    assert own.variables == {"goal": GOAL, "steps": [step]}
    state = Own("Red.")
    LLMMind(Scripted("Hm."), prompts={"get_state": state}).state(GOAL, "tests fail")
    assert state.variables == {"goal": GOAL, "before": None, "action": None, "observation": "tests fail"}


def test_with_a_schema_the_model_is_held_to_it() -> None:
    schema = {"type": "object", "properties": {"said": {"type": "array", "items": {"type": "string"}}}}
    for told in (schema, lambda: schema):
        own, llm = Own([{"proposition": "It rains.", "steps": [1]}], told), Scripted({"said": ["It rains."]})
        mind = LLMMind(llm, prompts={"get_semantic": own})
        assert mind.propositions(GOAL, [StepSeen("o", "a")]) == [Proposition("It rains.", steps=(0,))]
        assert llm.calls[0].schema == schema
        assert own.replies == [{"said": ["It rains."]}]


def test_overlay_and_domain_end_the_system_message_of_an_own_prompt_too() -> None:
    class Systemless(Own):
        def build_messages(self, variables: Mapping[str, Any]) -> list[dict[str, str]]:
            return [{"role": "user", "content": json.dumps(dict(variables))}]

    for own, beginning in ((Own("mixed"), "Be brief.\n\n"), (Systemless("mixed"), "")):
        llm = Scripted("Hm.")
        mind = LLMMind(llm, prompts={"get_mode": own}, overlays={"get_mode": "Bills are facts."}, domain="Sails")
        mind.mode("Where?")
        assert llm.calls[0].system.startswith(beginning)
        assert "Sails" in llm.calls[0].system
        assert llm.calls[0].system.endswith("Bills are facts.")
        assert llm.calls[0].messages[-1]["role"] == "user"


def test_what_an_own_prompt_raises_is_an_error_of_its_step() -> None:
    class Broken(Own):
        def parse_response(self, response: Any) -> Any:
            return response["mode"]

    with pytest.raises(PromptError, match=r"get_mode.*parse_response.*TypeError") as failure:
        LLMMind(Scripted("Hm."), prompts={"get_mode": Broken("")}).mode("Where?")
    assert isinstance(failure.value.__cause__, TypeError)

    class Silent(Own):
        def build_messages(self, variables: Mapping[str, Any]) -> list[dict[str, str]]:
            return []

    llm = Scripted("Hm.")
    with pytest.raises(InputError, match=r"prompts\.get_mode\.build_messages"):
        LLMMind(llm, prompts={"get_mode": Silent("")}).mode("Where?")
    assert llm.calls == []


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        ({"get_mood": Own("")}, "Did you mean get_mode"),
        ({"structuring": Own("")}, "prompts: expected one of"),
        ({"get_mode": "Which one?"}, "the methods build_messages and parse_response"),
        ({"get_mode": Own("", schema="text")}, "a JSON Schema"),
        (["get_mode"], "a mapping of steps to prompts"),
    ],
)
def test_what_is_no_prompt_is_refused_at_once(prompts: Any, message: str) -> None:
    with pytest.raises(InputError) as failure:
        LLMMind(Scripted(), prompts=prompts)
    assert message in f"{failure.value} {failure.value.hint}"
