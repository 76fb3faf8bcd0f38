"""From candidates to answers: one answer per type, and the nodes it is based on."""

from dataclasses import replace
from typing import Any

import pytest
from tests.learning.asked import NOW, Told, fact, procedure, tag
from tests.models.scripted import Scripted

from pieria import Config
from pieria.errors import AdapterError, PromptError
from pieria.graph import Episodic, Node
from pieria.learning.reasoning import reason
from pieria.learning.recalled import RetrievalResult, TaggedCandidate
from pieria.models.mind import Found


def found(*nodes: Node) -> RetrievalResult:
    """Return a result with these nodes, best first."""
    return RetrievalResult.of(
        [TaggedCandidate(node, 1 / (n + 1), "initial", 0) for n, node in enumerate(nodes)], "mixed", []
    )


class Seeing(Told):
    def __init__(self, **answers: Any) -> None:
        super().__init__(**answers)
        self.seen: dict[str, list[Found]] = {}

    def synthesize(self, query: str, what: Any, found: Any) -> str:
        self.seen[what] = list(found)
        return super().synthesize(query, what, found)


STEP = Episodic(id="step", observation="It failed.", action="Tried again", state="Broken.", reward=0.2, created_at=NOW)
STEP_AFTER = Episodic(id="after", observation="It failed again.", action="Stopped", created_at=NOW)


def test_each_type_is_answered_by_itself_and_one_that_was_not_found_is_not() -> None:
    mind = Seeing(semantic="One fact.", procedural="One way.")
    made = reason(found(fact("f"), procedure("p", [1.0]), tag("t", [1.0])), mind, "?")
    assert (made.semantic, made.procedural, made.episodic) == ("One fact.", "One way.", None)
    assert made.shown == {"semantic": ("f",), "procedural": ("p",)}


def test_a_mind_sees_the_best_first_and_no_more_than_the_type_has_room_for() -> None:
    config = Config(
        llm={"model": "none"}, embedding={"model": "auto"}, value_function={"params": {"semantic": {"top_k": 2}}}
    )
    mind = Seeing()
    how = procedure("p", [1.0], condition="it rains", expected_outcome="dry", return_score=0.25)
    reason(found(fact("a", confidence=0.9), fact("b"), fact("c"), STEP, how), mind, "?", config=config)
    assert [(each.text, each.at, each.score) for each in mind.seen["semantic"]] == [
        ("This is a.", "2026-05-01 12:00:00", 0.9), ("This is b.", "2026-05-01 12:00:00", 1.0),
    ]  # fmt: skip
    assert mind.seen["procedural"][0].text == "When it rains: Do p. Expected: dry"
    assert mind.seen["procedural"][0].score == 0.25
    assert mind.seen["episodic"][0].text == "It failed. → Tried again\n(Broken.)"


def test_a_condition_that_says_when_is_not_told_to_twice() -> None:
    mind = Seeing()
    said = ["When it rains", "if it rains", "it rains"]
    reason(found(*(procedure(each, [1.0], condition=each) for each in said)), mind, "?")
    told = {each.text.partition(":")[0] for each in mind.seen["procedural"]}
    assert told == {"When it rains", "if it rains"}


def test_rules_word_each_type_that_reaches_its_floor() -> None:
    both = found(fact("f"), procedure("p", [1.0]))
    for sure, said in (((0.33, 0.5), (False, True)), ((0.34, 0.49), (True, False)), ((0.34, 0.5), (True, True))):
        known = dict(zip(("semantic", "procedural"), sure, strict=True))
        made = reason(replace(both, sure=known, floors={"semantic": 0.34, "procedural": 0.5}), Told(), "?")
        assert (made.semantic is not None, made.procedural is not None) == said
        assert len(made.shown) == sum(said)
        assert made.withheld is None


def test_rules_say_why_no_type_is_worded() -> None:
    unsure = replace(found(fact("f")), sure={"semantic": 0.33}, floors={"semantic": 0.34})
    made = reason(unsure, Told(), "?")
    assert (made.semantic, made.shown) == (None, {})
    assert made.withheld is not None and "0.33, below 0.34 (semantic)" in made.withheld


def test_a_language_model_judges_by_itself_whether_anything_answers() -> None:
    model = Scripted({"reasoning": "It does not say.", "information": "Nobody said so."})
    made = reason(replace(found(fact("f")), sure={"semantic": 0.0}, floors={"semantic": 0.5}), model, "?")
    assert (made.semantic, made.withheld) == ("Nobody said so.", None)


def test_an_answer_that_cannot_be_made_leaves_the_others() -> None:
    for problem in (PromptError("reason_semantic", "empty_response"), AdapterError("m", "chat", "gone")):
        made = reason(found(fact("f"), procedure("p", [1.0])), Told(semantic=problem), "?")
        assert (made.semantic, made.procedural) == (None, "So it is [1].")
        assert len(made.problems) == 1
        assert "semantic" in made.problems[0]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("It is so [2].", ("b",)),
        ("It is so. [1, 3] And so [2]", ("a", "b", "c")),
        ("It is so. [1][3]", ("a", "c")),
        ("[2] says so, and (so does [3]).", ("b", "c")),
        ("巴黎是首都[1] “It is.”[2] **So it is**[3]", ("a", "b", "c")),
        ("Nobody knows [7] or x[1] or x[1][2].", ()),
        ("It is said: This is c.", ("c",)),
        ("Nothing is known.", ()),
    ],
)
def test_an_answer_cites_what_it_names_or_repeats_and_nothing_that_was_not_shown(
    answer: str, cited: tuple[str, ...]
) -> None:
    made = reason(found(fact("a"), fact("b"), fact("c")), Told(semantic=answer), "?")
    assert (made.semantic, made.cited) == (answer, {"semantic": cited})


def test_a_model_is_asked_for_the_numbers_of_what_its_sentences_rest_on_and_these_are_cited() -> None:
    llm = Scripted(*[{"reasoning": "Both tell.", "information": "It is b [2]. And a, too [1]."}] * 3)
    for node, other in ((fact("a"), fact("b")), (procedure("a", [1.0]), procedure("b", [1.0])), (STEP, STEP_AFTER)):
        made = reason(found(node, other), llm, "Which?")
        assert made.cited == made.shown == {node.node_type: (node.id, other.id)}
    for call in llm.calls:
        assert "in square brackets" in call.system
        assert '{"n": 1,' in call.user


def test_what_rules_say_cites_the_facts_that_it_is_made_of() -> None:
    made = reason(found(fact("heron"), fact("stork")), None, "What is heron?")
    assert made.cited == {"semantic": ("heron",)}
