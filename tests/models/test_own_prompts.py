"""A user's own prompts in place of ours: their input, their results, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from tests.models.prompt_cases import CASES, GOAL, STEPS
from tests.models.scripted import Scripted

from pieria.errors import InputError, PromptError
from pieria.models.mind import Proposition, StepSeen
from pieria.models.minds.llm import LLMMind

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Well?"}]


class Own:
    """A prompt with its own messages and its own parser for any reply."""

    def __init__(self, means: Any, schema: Any = None, messages: list[dict[str, str]] = MESSAGES) -> None:
        self.means = means
        self.schema = schema
        self.messages = messages
        self.variables: Mapping[str, Any] = {}
        self.replies: list[Any] = []

    def build_messages(self, variables: Mapping[str, Any]) -> list[dict[str, str]]:
        self.variables = variables
        return self.messages

    def parse_response(self, response: Any) -> Any:
        self.replies.append(response)
        return self.means(response) if callable(self.means) else self.means


def test_own_prompt_replaces_that_of_any_step() -> None:
    """Its result is checked as ours is."""
    for step, case in CASES.items():
        own, llm = Own(case.reply), Scripted("Hm.")
        assert case.ask(LLMMind(llm, prompts={step: own})) == case.means
        assert own.replies == ["Hm."]
        [call] = llm.calls
        assert [dict(message) for message in call.messages] == own.build_messages(own.variables)
        assert call.schema is None
        for wrong in (case.wrong if case.is_structured else {"a": 1}, None, object()):
            with pytest.raises(PromptError) as failure:
                case.ask(LLMMind(Scripted("Hm."), prompts={step: Own(wrong)}))
            assert failure.value.prompt == step
            assert failure.value.reason in (case.reason, case.nothing)


def test_own_prompt_gets_the_data_of_its_step() -> None:
    facts, state = Own([]), Own("Red.")
    mind = LLMMind(Scripted("Hm.", "Hm."), prompts={"get_semantic": facts, "get_state": state})
    mind.propositions(GOAL, STEPS[:1])
    mind.state(GOAL, "tests fail")
    step = {"step": 1, "observed": STEPS[0].observation, "action": STEPS[0].action, "reward": 0.5}
    assert facts.variables == {"goal": GOAL, "steps": [step]}
    assert state.variables == {"goal": GOAL, "before": None, "action": None, "observation": "tests fail"}


def test_own_schema_is_sent_to_the_model() -> None:
    schema = {"type": "object", "properties": {"said": {"type": "array", "items": {"type": "string"}}}}
    for told in (schema, lambda: schema):
        own, llm = Own([{"proposition": "It rains.", "steps": [1]}], told), Scripted({"said": ["It rains."]})
        mind = LLMMind(llm, prompts={"get_semantic": own})
        assert mind.propositions(GOAL, [StepSeen("o", "a")]) == [Proposition("It rains.", steps=(0,))]
        assert llm.calls[0].schema == schema
        assert own.replies == [{"said": ["It rains."]}]


def test_overlay_and_domain_are_added_to_an_own_prompt() -> None:
    for own, beginning in ((Own("mixed"), "Be brief.\n\n"), (Own("mixed", messages=MESSAGES[1:]), "")):
        llm = Scripted("Hm.")
        mind = LLMMind(llm, prompts={"get_mode": own}, overlays={"get_mode": "Bills are facts."}, domain="Sails")
        mind.mode("Where?")
        [call] = llm.calls
        assert re.fullmatch(rf"{beginning}.*Sails.*Bills are facts\.", call.system, re.DOTALL)
        assert call.messages[-1]["role"] == "user"


def test_failing_own_prompt_is_an_error_of_its_step() -> None:
    broken, silent = Own(lambda response: response["mode"]), Own("", messages=[])
    with pytest.raises(PromptError, match=r"get_mode.*parse_response.*TypeError") as failure:
        LLMMind(Scripted("Hm."), prompts={"get_mode": broken}).mode("Where?")
    assert isinstance(failure.value.__cause__, TypeError)
    with pytest.raises(InputError, match=r"prompts\.get_mode\.build_messages"):
        LLMMind(Scripted(), prompts={"get_mode": silent}).mode("Where?")


def test_wrong_own_prompts_are_refused() -> None:
    wrong: list[tuple[Any, str]] = [
        ({"get_mood": Own("")}, "Did you mean get_mode"), ({"structuring": Own("")}, "prompts: expected one of"),
        ({"get_mode": "Which one?"}, "the methods build_messages and parse_response"),
        ({"get_mode": Own("", schema="text")}, "a JSON Schema"), (["get_mode"], "a mapping of steps to prompts"),
    ]  # fmt: skip
    for prompts, message in wrong:
        with pytest.raises(InputError) as failure:
            LLMMind(Scripted(), prompts=prompts)
        assert message in f"{failure.value} {failure.value.hint}"
