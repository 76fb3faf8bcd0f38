"""Any text is valid for RuleMind: its answers have their types, repeat exactly, and read long texts to the end."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pieria.models.mind import NOTICED, TITLE, Deed, Found, Procedure, Said, StepSeen, Task
from pieria.models.minds.rules import RuleMind

WORDS = (
    "Maya she it my our the a an is was has been not never if would might and or , . ? ; : ( ) ' 's n't \" “ ” ` of at"
    " in to for since until from by on works lives uses moved is based named called who which that Postgres Go 2019"
    " Monday sister CEO plans decided was built by when , run error passed no 0 failed 玛雅 😀 Ünïcode \n \t - — don't"
    " I we you"
)
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(WORDS.split(" ")), max_size=60).map(" ".join),
    st.lists(st.sampled_from(WORDS.split(" ")), max_size=40).map("".join),
)
MAYBE = st.none() | TEXTS
SCORES = st.none() | st.floats(0, 1)
STEPS = st.lists(st.builds(StepSeen, TEXTS, TEXTS, MAYBE, MAYBE, SCORES), max_size=4)
PROCEDURES = st.lists(st.builds(Procedure, TEXTS, TEXTS, TEXTS, TEXTS), max_size=3)
SAID = st.lists(st.builds(Said, TEXTS, MAYBE, MAYBE), max_size=4)
DONE = st.sampled_from(["edited", "ran", "read", "searched", "fetched", "used"])
DEEDS = st.lists(st.builds(Deed, DONE, TEXTS, TEXTS, st.sampled_from([None, True, False])), max_size=4).map(tuple)
TASKS = st.lists(st.builds(Task, TEXTS, DEEDS, TEXTS, TEXTS, st.booleans()), max_size=3)
FOUND = st.lists(st.builds(Found, TEXTS, TEXTS, MAYBE, SCORES, st.integers(0, 3)), max_size=5)


@given(TEXTS)
def test_triples_and_entities_of_any_text(text: str) -> None:
    triples = RuleMind().triples(text)
    assert triples == RuleMind().triples(text)
    for triple in triples:
        assert triple.subject and triple.object and triple.predicate.replace("_", "a").isalnum()
        assert triple.predicate == triple.predicate.lower()
        assert 0 <= triple.confidence <= 1
    entities = RuleMind().entities(text)
    assert entities == RuleMind().entities(text)
    assert all(entity.name and entity.kind for entity in entities)


@given(TEXTS, TEXTS, MAYBE, MAYBE)
def test_a_step_of_any_texts(goal: str, observation: str, before: str | None, action: str | None) -> None:
    mind = RuleMind()
    state = mind.state(goal, observation, before=before, action=action)
    assert state == mind.state(goal, observation, before=before, action=action)
    subgoal = mind.subgoal(goal, before, observation, action or "")
    assert subgoal == mind.subgoal(goal, before, observation, action or "")
    assert len(state.split()) <= 72
    assert len(subgoal.split()) <= 15
    assert 0 <= mind.reward(goal, observation, action or "", before or "") <= 1


@given(TASKS)
def test_what_is_noticed_of_any_tasks(tasks: Sequence[Task]) -> None:
    found = RuleMind().notice(tasks)
    assert found == RuleMind().notice(tasks)
    for noticed in found:
        assert noticed.type in NOTICED
        assert len(noticed.title) <= TITLE
        assert noticed.text
        assert tasks[noticed.task].deeds or noticed.type == "decision"
        assert all(place < len(tasks[noticed.task].deeds) for place in noticed.deeds)


@given(TEXTS, STEPS, PROCEDURES)
def test_knowledge_from_any_steps(goal: str, steps: Sequence[StepSeen], procedures: Sequence[Procedure]) -> None:
    mind = RuleMind()
    propositions = mind.propositions(goal, steps)
    assert propositions == mind.propositions(goal, steps)
    assert all(proposition.text and 0 <= proposition.confidence <= 1 for proposition in propositions)
    found = mind.procedures(goal, steps)
    assert found == mind.procedures(goal, steps)
    assert all(procedure.instruction and procedure.intent for procedure in found)
    returns = mind.returns(goal, steps, procedures)
    assert len(returns) == len(procedures)
    assert all(0 <= value <= 1 for value in returns)


@given(TEXTS, FOUND)
def test_a_question_of_any_text(query: str, found: Sequence[Found]) -> None:
    mind = RuleMind()
    mode = mind.mode(query)
    assert mode in ("episodic", "semantic", "procedural", "mixed")
    tags = mind.plan(query, mode)
    assert tags == mind.plan(query, mode)
    assert len(tags) <= 8
    assert all(tags)
    assert len(mind.refine(query, found)) <= 5
    answers = {what: mind.synthesize(query, what, found) for what in ("episodic", "semantic", "procedural")}
    assert answers == {what: mind.synthesize(query, what, found) for what in ("episodic", "semantic", "procedural")}


@given(TEXTS, TEXTS, SAID, st.integers(0, 60))
def test_merging_and_summing_any_texts(held: str, new: str, said: Sequence[Said], words: int) -> None:
    mind = RuleMind()
    assert mind.merge_intent(held, new) == mind.merge_intent(held, new)
    assert mind.merge_statements(said) == mind.merge_statements(said)
    summary = mind.summarize(said, words)
    assert summary == mind.summarize(said, words)
    assert len(summary.split()) <= words


TRAPS = {
    "letters": "a",
    "ideographs": "玛雅在柏林工作。",
    "quotes": '"',
    "ticks": "`'",
    "brackets": "(",
    "owners": "Maya's ",
    "relatives": "Maya, who ",
    "lists": "A, ",
    "years": "in 2019 ",
    "conditions": "when x, do ",
    "purposes": "to run ",
    "cues": "error no ",
    "lines": "A\n",
    "pictures": "😀",
    "persons": "I and I ",
    "sentences": "Maya works at Acme and uses Postgres. ",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_long_texts_of_one_thing_are_read_to_the_end(trap: str) -> None:
    """Superlinear time would exceed the suite's limit."""
    mind = RuleMind()
    text = TRAPS[trap] * (20_000 // len(TRAPS[trap]))
    steps = [StepSeen(text, text, text, text, 0.9)]
    assert len(mind.triples(text)) <= 2
    assert len(mind.entities(text)) <= 3
    assert 0 <= mind.reward(text, text, text, text + "!") <= 1
    assert len(mind.propositions(text, steps)) <= 2
    procedures = mind.procedures(text, steps)
    assert len(mind.returns(text, steps, procedures)) == len(procedures)
    assert len(mind.plan(text, mind.mode(text))) <= 8
    assert mind.refine(text, [Found("semantic", text)]) == []
    assert len(mind.summarize([Said(text, "Maya"), Said("Heron is a tool.", "Tom")], 50).split()) <= 50
    assert mind.merge_statements([Said(text), Said(text)]) == mind.merge_statements([Said(text)])
    assert len(mind.state(text, text, before=text, action=text)) < 3_000
    assert len(mind.synthesize(text, "semantic", [Found("semantic", text)])) < 20_000
