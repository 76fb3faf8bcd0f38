"""A day's work, learned by rules and asked the next morning.

Its author saw none of the rules; later, we looked at what the rules miss in it.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.learning.answerable import steps_of

from pieria import Workspace
from pieria.models.llm import LLMResponse, Message

DAY = Path(__file__).parents[1] / "data" / "day"
INSTALLED = Path(sys.prefix) / "share" / "pieria" / "models"
SETTINGS = {"embedder": "local", "models": INSTALLED, "count_uses": False, "durability": "off"}
MODES = {"fact": "semantic", "procedure": "procedural", "episode": "episodic", "several": "mixed"}
FIRST, AT_LEAST = 5, 22
"""The rank limit, and the number of the thirty questions with an answering node within it."""


def read(name: str) -> Any:
    return json.loads((DAY / f"{name}.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose bank `day` learned the day, by rules."""
    folder = tmp_path_factory.mktemp("day")
    with Workspace(folder, SETTINGS) as workspace:
        bank: Any = workspace.open_repo("day")
        with bank.session(goal=read("day")["goal"]) as session:
            for step in read("day")["steps"]:
                session.append(observation=step["observation"], action=step["action"])
        assert bank.sync(600)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_questions_of_a_day_find_what_was_learnt_from_the_steps_that_answer_them(learnt: Path) -> None:
    with Workspace(learnt, SETTINGS) as workspace:
        workspace.open_repo("day")
        graph = workspace.get_graph("day")
        answered = 0
        for asked in read("questions"):
            found = workspace.recall("day", asked["question"]).touched_nodes
            known = [each.id for each in found if each.type in ("episodic", "semantic", "procedural")][:FIRST]
            answered += any(steps_of(graph, id) & set(asked["steps"]) for id in known)
    assert answered >= AT_LEAST


class Answering:
    """A language model that classifies each question as given, takes its longest words, and asks for one more."""

    model = "answering"

    def __init__(self) -> None:
        self.calls: list[LLMResponse] = []
        self.kind, self.question = "", ""

    def chat(self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None) -> LLMResponse:
        first = len(self.calls) == 0
        return self._said(messages, MODES[self.kind] if first else "\n".join(self._longest()))

    def chat_structured(
        self, messages: Sequence[Message], schema: Mapping[str, Any], opts: Mapping[str, Any] | None = None
    ) -> LLMResponse:
        more = "tags" in schema["properties"]
        answer = {"tags": self._longest()[:1]} if more else {"reasoning": "It says so.", "information": "So it is [1]."}
        return self._said(messages, answer)

    def _longest(self) -> list[str]:
        return sorted(self.question.strip("?").split(), key=len)[-3:]

    def _said(self, messages: Sequence[Message], content: Any) -> LLMResponse:
        read = sum(len(message["content"].split()) for message in messages)
        self.calls.append(LLMResponse(content, self.model, {"input_tokens": read, "output_tokens": len(str(content))}))
        return self.calls[-1]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_with_a_language_model_each_of_these_questions_costs_three_to_six_calls_which_the_trace_counts(
    learnt: Path,
) -> None:
    asking = Answering()
    with Workspace(learnt, SETTINGS, llm=asking) as workspace:
        workspace.open_repo("day")
        for number, asked in enumerate(read("questions")):
            asking.calls.clear()
            asking.kind = asked["kind"] if number % 2 else "several"
            asking.question = asked["question"]
            trace = workspace.recall("day", asked["question"]).trace
            assert 3 <= trace.llm_calls <= 6, asked["question"]
            assert trace.llm_calls == len(asking.calls)
            spent = [call.usage for call in asking.calls]
            assert trace.tokens == {name: sum(used[name] for used in spent) for name in spent[0]}
            assert trace.problems == []
