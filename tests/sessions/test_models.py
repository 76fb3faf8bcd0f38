"""Sessions whose model is a server: how many calls a day costs, and what each failure of the model costs."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.models.llm_server import LLMServer, Request, Said, hangs, refuses, running, says, status
from tests.sessions.scripted_sessions import FLUSH, Life

from pieria.errors import PipelineError
from pieria.graph import Edge
from pieria.learning.models import mind_of
from pieria.models.llms.server import OpenAILLM
from pieria.sessions import Crew, Session, SessionState

JUDGED = {"state": "The dough rests.", "reward": 0.8}
MODEL = "openai:baker"


def kind_of(request: Request) -> str:
    """Return the main key of the reply, such as `facts`; `text` if there is no schema."""
    return str(next(iter((request.schema or {"properties": {"text": 0}})["properties"])))


def lines_of(request: Request) -> list[dict[str, Any]]:
    return [json.loads(line) for line in request.messages[1]["content"].splitlines() if line.startswith("{")]


class Baker(LLMServer):
    """Judges by the first word of an action, and learns a fact from each step and one lesson from each request.

    `faults` are met by the requests of a kind, one each.
    """

    def __init__(self, faults: dict[str, list[Said]]) -> None:
        super().__init__([])
        self.faults = faults

    def asked(self) -> Counter[str]:
        return Counter(map(kind_of, self.requests))

    def seen(self, kind: str) -> list[list[str]]:
        """Return the observations that each request of the kind shows."""
        shown = [lines_of(request) for request in self.requests if kind_of(request) == kind]
        return [[line["observed"] for line in lines if "observed" in line] for lines in shown]

    def _otherwise(self, request: Request) -> Said:
        kind, lines = kind_of(request), lines_of(request)
        if self.faults.get(kind):
            return self.faults[kind].pop(0)
        steps = [line for line in lines if "observed" in line]
        if kind == "steps":
            return {"steps": [{"step": one["step"], "subgoal": one["action"].split()[0], **JUDGED} for one in steps]}
        if kind == "facts":
            return {"facts": [{"proposition": f"Fact: {one['observed']}.", "steps": [one["step"]]} for one in steps]}
        if kind == "instructions":
            lesson = {"intent": "Bake", "condition": "It is late.", "expected_outcome": "Bread."}
            return {"instructions": [{**lesson, "instruction": f"Do {steps[0]['action']}."}]}
        if kind == "scores":
            return {"scores": [{"index": line["index"], "return_score": 10} for line in lines if "index" in line]}
        return "0.8"


@dataclass
class Kitchen:
    life: Life
    server: Baker
    session: Session

    def bake(self, *actions: str) -> None:
        for action in actions:
            index = self.session.steps[-1].index + 1 if self.session.steps else 0
            self.session.append(f"o{index}", f"{action} goes on")

    def judges(self) -> list[str]:
        return [event.metadata["trace"].judged_by for event in self.life.events if event.name == "step_judged"]

    def resumed(self) -> Session:
        mind = self.session._machine.at.mind
        self.life.anew()
        self.life.log.release(self.session.id)
        return Session.resume(self.session.id, replace(self.life.surroundings(), mind=mind))


@contextmanager
def kitchen(
    faults: dict[str, list[Said]] | None = None, *, auto: bool = True, by_hand: bool = False, seconds: float = 20
) -> Iterator[Kitchen]:
    life = Life(auto_commit=auto)
    with running(Baker(faults or {})) as server:
        mind = mind_of(OpenAILLM("baker", base_url=server.address, seconds=seconds, sleep=lambda pause: None))
        at = life.surroundings(crew=None if by_hand else Crew())
        yield Kitchen(life, server, Session.begin("Bake", replace(at, mind=mind)))


def observed(count: int) -> list[str]:
    return [f"o{index}" for index in range(count)]


def test_day_of_forty_steps_costs_few_calls() -> None:
    for length in (1, 8):
        topics = [topic for topic in ("bread", "ships", "stars", "tea") * 10 for _ in range(length)][:40]
        with kitchen() as made:
            made.bake(*topics)
            made.session.close_and_commit()
            assert len(made.server.requests) <= 50
            assert [step for batch in made.server.seen("steps") for step in batch] == observed(40)
            assert made.life.steps() == dict.fromkeys(observed(40), 0.8)
            assert len(made.life.facts()) == 40
            assert len(made.life.nodes("subgoal")) == 40 / length
            for fact in made.life.nodes("semantic"):
                steps = made.life.backend.get_linked_nodes([fact.id], Edge.PROVENANCE)
                assert [f"Fact: {step.observation}." for step in steps] == [fact.text]  # type: ignore[attr-defined]


def test_step_is_judged_by_rules_until_its_batch_is() -> None:
    with kitchen(by_hand=True) as made:
        life, session = made.life, made.session
        made.bake(*["bread"] * 6, *["ships"] * 5)
        assert (made.server.requests, len(life.told("step_appended"))) == ([], 11)
        assert {(step.judged_by, step.provisional) for step in session.steps} == {("rules", True)}
        life.run()
        assert made.server.seen("steps") == [observed(10)], "ten, for what came of the tenth is known"
        assert made.server.requests[0].messages[1]["content"].count("o10") == 1
        assert [(one.judged_by, one.provisional) for one in session.steps[9:]] == [(MODEL, False), ("rules", True)]
        assert [step.subgoal for step in session.steps[:10]] == ["bread"] * 6 + ["ships"] * 4
        told = life.told("step_judged")
        assert [event["step_index"] for event in told if event["boundary_detected"]] == [6]
        assert [event["trajectory_id"] for event in told] == [step.trajectory_id for step in session.steps[:10]]
        life.close(session)
        committed = [event["trajectory_id"] for event in life.told("trajectory_committed")]
        assert committed == list(dict.fromkeys(event["trajectory_id"] for event in told))


def test_batch_that_waits_is_judged_after_resuming() -> None:
    with kitchen(by_hand=True) as made:
        made.bake(*["bread"] * 12)
        taken_up = made.resumed()
        made.life.run()
        assert [step.provisional for step in taken_up.steps] == [False] * 10 + [True] * 2


def test_flush_judges_steps_before_it_extracts_them() -> None:
    with kitchen(by_hand=True) as made:
        made.bake("bread", "bread")
        made.life.wait(FLUSH)
        assert made.life.steps() == {"o0": 0.8, "o1": None}
        made.bake("bread")
        assert made.life.steps()["o1"] is not None, "graded by rules, for the model was asked before"


FAULTS: dict[str, Said] = {
    "error": status(500),
    "no JSON": says("I would rather not."),
    "other JSON": {"steps": "none"},
    "refusal": refuses(),
    "permanent": status(401, "no such key"),
}


def test_batch_that_fails_stays_judged_by_rules() -> None:
    judges, lost = {}, {}
    for name, fault in FAULTS.items():
        with kitchen({"steps": [fault] * 4}) as made:
            made.bake("bread", "bread")
            made.session.close_and_commit()
            judges[name], lost[name] = tuple(made.judges()), 2 - len(made.life.steps())
    assert judges == dict.fromkeys(FAULTS, ("rules", "rules"))
    assert lost == dict.fromkeys(FAULTS, 0)


def test_step_that_a_reply_leaves_out_stays_with_rules() -> None:
    partly: Said = {"steps": [{"step": 2, "subgoal": "bread", **JUDGED}, {"step": 7, "subgoal": "tea", **JUDGED}]}
    with kitchen({"steps": [partly, partly]}) as made:
        made.bake("bread", "bread", "bread")
        made.session.close_and_commit()
        assert made.judges() == ["rules", MODEL, "rules"]


def test_model_that_never_answers_costs_no_step() -> None:
    with kitchen({"steps": [hangs]}, seconds=1) as made:
        made.bake("bread")
        made.session.close_and_commit()
        assert (made.judges(), list(made.life.steps())) == (["rules"], ["o0"])


def test_retry_asks_only_for_what_is_missing() -> None:
    for auto, fails, kept in ((True, "instructions", "facts"), (False, "facts", "instructions")):
        with kitchen({fails: [status(503)] * 3}, auto=auto) as made:
            made.bake("bread", "bread")
            made.session.close_and_commit()
            assert made.server.asked() == {"steps": 1, fails: 4, kept: 1, "scores": 1}
            assert len(made.life.facts()) == 2
            assert made.life.log.load(made.session.id)[0].answers == {}


def test_retry_that_gained_an_answer_does_not_count() -> None:
    with kitchen({"facts": [status(503)] * 3, "instructions": [status(503)] * 9}) as made:
        made.bake("bread")
        made.session.close_and_commit(max_retries=2)
        assert made.server.asked() == {"steps": 1, "facts": 4, "instructions": 10, "scores": 1}


def test_paid_answer_serves_the_next_process() -> None:
    with kitchen({"instructions": [status(400)]}, by_hand=True) as made:
        made.bake("bread")
        made.life.close(made.session)
        assert made.session.state is SessionState.FAILED
        made.life.commit(made.resumed())
        assert made.server.asked() == {"steps": 1, "facts": 1, "instructions": 2, "scores": 1}
        assert len(made.life.facts()) == 1


def test_permanent_error_is_not_asked_again() -> None:
    for code, hint in ((400, "model's name"), (401, "API key"), (403, "rights"), (404, "model's name")):
        with kitchen({"facts": [status(code)] * 3}) as made:
            made.bake("bread")
            with pytest.raises(PipelineError) as failed:
                made.session.close_and_commit()
            assert made.server.asked()["facts"] == 1, code
            assert hint in str(failed.value.hint)
            assert [step.observation for step in made.session.steps] == ["o0"]


def test_long_retry_after_ends_the_attempts() -> None:
    with kitchen({"facts": [status(429, Retry_After="3600")] * 3}) as made:
        made.bake("bread")
        with pytest.raises(PipelineError) as failed:
            made.session.close_and_commit()
        assert made.server.asked()["facts"] == 1
        assert "3,600 seconds" in str(failed.value.hint)
