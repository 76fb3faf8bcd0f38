"""Days of work, learned by rules and asked the next morning.

The author of the first day saw none of the rules; later, we looked at what the rules miss in it.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.learning import answerable
from benchmarks.learning.answerable import DAY, FIRST, TYPES, days, learn, learned, settings, steps_of
from pieria import Workspace
from pieria.models.llm import LLMResponse, Message

MODES = {"fact": "semantic", "procedure": "procedural", "episode": "episodic", "several": "mixed"}
AT_LEAST = 22
"""The number of the thirty questions with an answering node among the first."""


def read(name: str) -> Any:
    return json.loads((DAY / f"{name}.json").read_text("utf-8"))


def test_labels_of_the_day_fit_its_steps() -> None:
    topics = [step["topic"] for step in read("day")["steps"]]
    assert read("cuts") == [at for at, (before, now) in enumerate(pairwise(topics), 1) if before != now]
    assert (len(topics), len(set(topics)), len(read("questions"))) == (60, 5, 30)
    assert all(one["steps"] and set(one["steps"]) <= set(range(60)) for one in read("questions"))


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose bank `day` learned the day, by rules."""
    folder = tmp_path_factory.mktemp("day")
    with Workspace(folder, settings("local")) as workspace:
        learned(workspace, "day", read("day"))
    return folder


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_questions_of_the_day_find_the_steps_that_answer(learnt: Path) -> None:
    with Workspace(learnt, settings("local")) as workspace:
        workspace.open_repo("day")
        graph = workspace.get_graph("day")
        answered = 0
        for asked in read("questions"):
            found = [each.id for each in workspace.recall("day", asked["question"]).touched_nodes if each.type in TYPES]
            answered += any(steps_of(graph, id) & set(asked["steps"]) for id in found[:FIRST])
    assert answered >= AT_LEAST


class Answering:
    """A language model that gives the set mode, then the longest words of the question, and asks for one more."""

    model = "answering"

    def ask(self, question: str, mode: str) -> None:
        self.calls: list[LLMResponse] = []
        self.mode, self.longest = mode, sorted(question.strip("?").split(), key=len)[-3:]

    def chat(self, messages: Sequence[Message], opts: Mapping[str, Any] | None = None) -> LLMResponse:
        return self._said(messages, "\n".join(self.longest) if self.calls else self.mode)

    def chat_structured(
        self, messages: Sequence[Message], schema: Mapping[str, Any], opts: Mapping[str, Any] | None = None
    ) -> LLMResponse:
        more = "tags" in schema["properties"]
        tags, answer = {"tags": self.longest[:1]}, {"reasoning": "It says so.", "information": "So it is [1]."}
        return self._said(messages, tags if more else answer)

    def _said(self, messages: Sequence[Message], content: Any) -> LLMResponse:
        read = sum(len(message["content"].split()) for message in messages)
        self.calls.append(LLMResponse(content, self.model, {"input_tokens": read, "output_tokens": len(str(content))}))
        return self.calls[-1]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_question_costs_a_language_model_three_to_six_calls(learnt: Path) -> None:
    asking = Answering()
    with Workspace(learnt, settings("local"), llm=asking) as workspace:
        workspace.open_repo("day")
        for number, asked in enumerate(read("questions")):
            asking.ask(asked["question"], MODES[asked["kind"] if number % 2 else "several"])
            trace = workspace.recall("day", asked["question"]).trace
            assert 3 <= trace.llm_calls == len(asking.calls) <= 6, asked["question"]
            spent = [call.usage for call in asking.calls]
            assert trace.tokens == {name: sum(used[name] for used in spent) for name in spent[0]}
            assert trace.problems == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_questions_that_a_day_does_not_answer_are_held_back(tmp_path: Path) -> None:
    asked, day = {**days("tuning"), **days("held_out")}, "held_out/day7"
    with Workspace(tmp_path, settings("local")) as workspace:
        told = list(answerable.replies(workspace, answerable.questions(asked, day), learn(workspace, day)))
    presented: dict[str, list[bool]] = {each.kind: [] for each in told}
    sure: dict[str, list[float]] = {each.kind: [] for each in told}
    for each in told:
        presented[each.kind].append(bool(each.presented))
        sure[each.kind].append(each.confidence)
    assert sum(presented["answered"]) >= 0.85 * len(presented["answered"])
    assert sum(presented["other work"]) <= 0.75 * len(presented["other work"])
    assert answerable.auc(sure["answered"], sure["same work"] + sure["other work"]) > 0.7
