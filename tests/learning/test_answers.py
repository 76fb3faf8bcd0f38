"""From candidates to answers: one answer per type, and the nodes it is based on."""

from dataclasses import replace
from typing import Any

from tests.learning.asked import NOW, fact, procedure, tag
from tests.learning.trajectories import Told
from tests.models.scripted import Scripted

from pieria import Config
from pieria.errors import AdapterError, PromptError
from pieria.graph import Episodic, Node
from pieria.learning.reasoning import reason
from pieria.learning.recalled import RetrievalResult, TaggedCandidate
from pieria.models.mind import Found


def found(*nodes: Node, **more: Any) -> RetrievalResult:
    candidates = [TaggedCandidate(node, 1 / (n + 1), "initial", 0) for n, node in enumerate(nodes)]
    return replace(RetrievalResult.of(candidates, "mixed", []), **more)


class Seeing(Told):
    def __init__(self, **answers: Any) -> None:
        super().__init__(**answers)
        self.seen: dict[str, list[Found]] = {}

    def synthesize(self, query: str, what: Any, found: Any) -> str:
        self.seen[what] = list(found)
        return super().synthesize(query, what, found)


WAY = procedure("p", [1.0])
STEP = Episodic(id="step", observation="It failed.", action="Tried again", state="Broken.", reward=0.2, created_at=NOW)
STEP_AFTER = Episodic(id="after", observation="It failed again.", action="Stopped", created_at=NOW)


def test_each_found_type_is_answered_by_itself() -> None:
    made = reason(found(fact("f"), WAY, tag("t", [1.0])), Seeing(semantic="One fact.", procedural="One way."), "?")
    assert (made.semantic, made.procedural, made.episodic) == ("One fact.", "One way.", None)
    assert made.shown == {"semantic": ("f",), "procedural": ("p",)}


def test_mind_sees_the_best_of_each_type_in_its_words() -> None:
    only_two: dict[str, Any] = {"params": {"semantic": {"top_k": 2}}}
    config = Config(llm={"model": "none"}, embedding={"model": "auto"}, value_function=only_two)
    mind = Seeing()
    how = procedure("p", [1.0], condition="it rains", expected_outcome="dry", return_score=0.25)
    when = procedure("q", [1.0], condition="When it snows")
    reason(found(fact("a", confidence=0.9), fact("b"), fact("c"), STEP, how, when), mind, "?", config=config)
    day = "2026-05-01 12:00:00"
    facts = [(each.text, each.at, each.score) for each in mind.seen["semantic"]]
    assert facts == [("This is a.", day, 0.9), ("This is b.", day, 1.0)]
    assert mind.seen["procedural"][0].score == 0.25
    assert mind.seen["procedural"][0].text == "When it rains: Do p. Expected: dry"
    assert mind.seen["procedural"][1].text.startswith("When it snows: ")
    assert mind.seen["episodic"][0].text == "It failed. → Tried again\n(Broken.)"
    reason(found(procedure("r", [1.0], condition="if it rains")), mind, "?")
    assert mind.seen["procedural"][0].text.startswith("if it rains: ")


def test_rules_word_each_type_that_reaches_its_floor() -> None:
    floors = {"semantic": 0.34, "procedural": 0.5}
    for sure, said in (((0.33, 0.5), (False, True)), ((0.34, 0.49), (True, False)), ((0.34, 0.5), (True, True))):
        both = found(fact("f"), WAY, sure=dict(zip(floors, sure, strict=True)), floors=floors)
        made = reason(both, Told(), "?")
        assert (made.semantic is not None, made.procedural is not None) == said
        assert len(made.shown) == sum(said)
        assert made.withheld is None
    made = reason(found(fact("f"), sure={"semantic": 0.33}, floors=floors), Told(), "?")
    assert (made.semantic, made.shown) == (None, {})
    assert made.withheld is not None and "0.33, below 0.34 (semantic)" in made.withheld


def test_language_model_itself_judges_if_anything_answers() -> None:
    model = Scripted({"reasoning": "It does not say.", "information": "Nobody said so."})
    made = reason(found(fact("f"), sure={"semantic": 0.0}, floors={"semantic": 0.5}), model, "?")
    assert (made.semantic, made.withheld) == ("Nobody said so.", None)


def test_failing_answer_leaves_the_others() -> None:
    for problem in (PromptError("reason_semantic", "empty_response"), AdapterError("m", "chat", "gone")):
        made = reason(found(fact("f"), WAY), Told(semantic=problem), "?")
        assert (made.semantic, made.procedural) == (None, "So it is [1].")
        assert ["semantic" in problem for problem in made.problems] == [True]


def test_answer_cites_what_it_names_or_repeats() -> None:
    cites = {
        "It is so [2].": "b",
        "It is so. [1, 3] And so [2]": "abc",
        "It is so. [1][3]": "ac",
        "[2] says so, and (so does [3]).": "bc",
        "巴黎是首都[1] “It is.”[2] **So it is**[3]": "abc",
        "Nobody knows [7] or x[1] or x[1][2].": "",
        "It is said: This is c.": "c",
        "Nothing is known.": "",
    }
    results = found(fact("a"), fact("b"), fact("c"))
    made = [reason(results, Told(semantic=answer), "?") for answer in cites]
    assert {str(each.semantic): "".join(each.cited["semantic"]) for each in made} == cites
    by_rules = reason(found(fact("heron"), fact("stork")), None, "What is heron?")
    assert by_rules.cited == {"semantic": ("heron",)}


def test_model_is_asked_to_number_its_sources() -> None:
    llm = Scripted(*[{"reasoning": "Both tell.", "information": "It is b [2]. And a, too [1]."}] * 3)
    for node, other in ((fact("a"), fact("b")), (WAY, procedure("b", [1.0])), (STEP, STEP_AFTER)):
        made = reason(found(node, other), llm, "Which?")
        assert made.cited == made.shown == {node.node_type: (node.id, other.id)}
    for call in llm.calls:
        assert "in square brackets" in call.system
        assert '{"n": 1,' in call.user
