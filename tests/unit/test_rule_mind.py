"""The steps of RuleMind: subgoals, episodes, knowledge, questions, summaries, merging, naming."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.samples import samples

from pieria.language.packs import pack
from pieria.models.mind import NOTICED, TITLE, Deed, Found, Knowledge, Mind, Procedure, Reply, Said, StepSeen, Task
from pieria.models.minds.rules import RuleMind
from pieria.models.minds.rules.merge import Claim
from pieria.models.minds.rules.signs import BY_WORDS, SIGNS, Sight
from pieria.workspace.graph_recall import in_context

MIND = RuleMind()
SAMPLES = samples("grammar")
KINDS: tuple[Knowledge, ...] = ("episodic", "semantic", "procedural")
EPISODE = [StepSeen(**step) for step in SAMPLES["episode"]]


def test_a_step_has_a_state_and_a_subgoal() -> None:
    mind: Mind = MIND
    assert mind.name == "rules"
    assert MIND.state("ship", "The tests pass. CI is green.", action="run make test") == (
        "After: run make test — The tests pass. CI is green."
    )
    assert MIND.state("ship", "", before="CI is red.", action="wait") == "After: wait — CI is red."
    assert MIND.state("ship it", "") == "Nothing seen yet of: ship it"
    assert len(MIND.state("ship", "word " * 500, action="act " * 500).split()) <= 71
    subgoals = SAMPLES["subgoals"]
    assert {action: MIND.subgoal("book a flight", None, "", action) for action in subgoals} == subgoals
    assert named_next((), "The invoice of May lacks its number.", "Certainly!") == "The invoice of May lacks its number"


def test_success_is_rewarded_and_failure_is_not() -> None:
    for kind, least, most in (("good", 0.6, 1.0), ("bad", 0.0, 0.4), ("other", 0.5, 0.5)):
        for outcome in SAMPLES[f"{kind}_outcomes"]:
            assert least <= MIND.reward("", "a page", "go on", outcome) <= most, outcome
    assert MIND.reward("", "A list of rooms.", "click", "A list of rooms.") == 0.4
    assert MIND.reward("", "The upload shows an error.", "reload", "The upload shows a bar.") == 0.7
    assert MIND.reward("list flights", "A form.", "submit", "A list of flights.") == 0.6
    assert MIND.reward("", "a file", "grep error app.log", "error.log") == 0.5
    graded = SAMPLES["graded"]
    assert {each: MIND.reward("", "", *each.split(" → ")) for each in graded} == graded


BOOKING: list[tuple[str, str]] = SAMPLES["booking"]
CONTAINER = ("CI is red: no space left on the device", "Look at the disk of the runner")


def lived(mind: RuleMind, *steps: tuple[str, str]) -> list[StepSeen]:
    seen: list[StepSeen] = []
    for observation, action in steps:
        subgoal = mind.subgoal("a day of work", None, observation, action, before=seen)
        seen.append(StepSeen(observation, action, subgoal=subgoal))
    return seen


def named_next(before: Sequence[StepSeen], observation: str, action: str, mind: RuleMind = MIND) -> str:
    return mind.subgoal("a day of work", None, observation, action, before=before)


def test_the_subgoal_stays_until_the_work_changes() -> None:
    before = lived(MIND, *BOOKING)
    assert {step.subgoal for step in before} == {"see how slots are built"}
    assert named_next(before, *CONTAINER) == "Look at the disk of the runner"
    goes_on = SAMPLES["going_on"]
    assert named_next(before, *goes_on) == before[-1].subgoal
    assert named_next(before, f"Moving on: {goes_on[0]}", goes_on[1]) != before[-1].subgoal
    steps = (*BOOKING, CONTAINER)
    whole = [step.subgoal for step in lived(RuleMind(), *steps)]
    for number in range(len(steps)):
        assert [step.subgoal for step in lived(RuleMind(), *steps[:number])] == whole[:number]
    before = lived(MIND, *BOOKING[:3], ("41 tests passed", "Committed. Shall I deploy it?"))
    answer = ("Friday, please", "Deploying on Friday then, with a note to the front desk")
    assert named_next(before, *answer) == before[-1].subgoal
    assert named_next(lived(MIND, *BOOKING), *answer) != before[-1].subgoal
    for done, value in SAMPLES["settled"].items():
        sight = Sight("Good morning", "Look at the disk", [StepSeen("41 tests passed", done)])
        assert SIGNS["settled"](sight) == value, done


def test_work_of_like_meaning_in_other_words_goes_on() -> None:
    apart = pack("unrelated")["texts"]
    for is_alike in (True, False):

        def vector(text: str, is_alike: bool = is_alike) -> list[float]:
            if text in apart:
                return [float(text == other) for other in (*apart, "", "")]
            is_same = is_alike or text not in CONTAINER
            return [*[0.0] * len(apart), 1.0, 0.0] if is_same else [*[0.0] * len(apart), 0.0, 1.0]

        mind = RuleMind(embed=lambda texts: list(map(vector, texts)))
        before = lived(mind, *BOOKING)
        assert (named_next(before, *CONTAINER, mind=mind) == before[-1].subgoal) is is_alike
    weights = pack("turning")
    assert set(weights["by_meaning"]["signs"]) == set(SIGNS)
    assert set(weights["by_words"]["signs"]) == set(BY_WORDS)


def test_propositions_last_and_stand_alone() -> None:
    found = MIND.propositions("fix the build", EPISODE)
    assert {proposition.text for proposition in found} == set(SAMPLES["propositions"])
    assert all(proposition.confidence >= SAMPLES["propositions"][proposition.text] for proposition in found)
    concepts = {proposition.text: proposition.concepts for proposition in found}
    assert concepts["CI runs on GitHub Actions."] == ("CI", "GitHub Actions")
    steps = [StepSeen("Maya works at Acme. The deploy script uses rsync.", "")]
    assert MIND.propositions("repair the deploy script", steps)[0].text == "The deploy script uses rsync."
    steps = [StepSeen("Maya works at Acme.", ""), StepSeen("Maya works at Acme as a designer.", "")]
    assert [proposition.text for proposition in MIND.propositions("", steps)] == ["Maya works at Acme as a designer."]
    for remark in SAMPLES["passing"]:
        assert MIND.propositions("", [StepSeen(remark, "")]) == [], remark


def test_procedures_come_from_success_and_from_instructions() -> None:
    assert MIND.procedures("fix the build", EPISODE) == [
        Procedure(
            "install foo", "When the build fails with a missing module foo", "pip install foo", "The build passes", (0,)
        ),
        Procedure("fix the build", "When the cache is stale", "run make clean first", "", (2,)),
    ]
    for sentence, read in SAMPLES["procedures"].items():
        (found,) = MIND.procedures("", [StepSeen(sentence, "")])
        assert [found.condition, found.instruction] == read
    assert MIND.procedures("", [StepSeen("When the cache is stale, the page loads slowly. When is lunch?", "")]) == []
    done = {"install": "pip install foo", "fix the build": "call the vendor", "something else": "call the vendor"}
    procedures = [Procedure(intent, "", instruction, "") for intent, instruction in done.items()]
    assert MIND.returns("fix the build", EPISODE, procedures) == [0.95, 0.675, 0.5]
    assert MIND.returns("fix the build", [], procedures[:2]) == [0.5, 0.5]


def test_a_question_has_a_mode_and_a_plan_and_is_refined() -> None:
    assert {query: MIND.mode(query) for query in SAMPLES["modes"]} == SAMPLES["modes"]
    context = {"goal": "Find out how to bake bread", "recent_steps": [f"cat log -> {'rye ' * 2_000}"]}
    asked = in_context(context, "Who sells spelt flour?")
    assert asked is not None
    assert MIND.mode(asked) == "semantic"
    assert MIND.plan(asked, "semantic")[0] == "spelt flour"
    assert MIND.refine(asked, [])[:3] == ["sells", "spelt", "flour"]
    question = "What did Maya decide about the retry logic in March?"
    assert MIND.plan(question, "episodic") == ["Maya", "March", "retry logic"]
    assert MIND.plan(question, "semantic") == ["Maya", "retry logic"]
    assert MIND.plan("", "mixed") == []
    found = [Found("semantic", "Maya moved to Bern in 2021.")]
    assert MIND.refine("Which editor does Maya use in Bern?", found) == ["editor", "use"]
    assert MIND.refine("Did Maya move to Bern?", found) == []


def test_an_answer_begins_with_the_latest_and_best() -> None:
    found = [
        Found("semantic", "Maya lives in Oslo. She likes tea.", "2025-01-02", 0.9),
        Found("semantic", "Maya lives in Bern.", "2026-03-02", 0.8),
        Found("semantic", "Tom uses Vim.", "2024-03-02", 0.8),
    ]
    assert MIND.synthesize("Where does Maya live?", "semantic", found) == (
        "(2026-03-02) Maya lives in Bern. (2025-01-02, earlier) Maya lives in Oslo."
    )
    assert MIND.synthesize("Where does Maya live?", "episodic", found) == (
        "(2025-01-02, earlier) Maya lives in Oslo. (2026-03-02) Maya lives in Bern."
    )
    assert MIND.synthesize("Where does Maya live?", "semantic", []) == ""
    for one, other, contradicts in SAMPLES["contradicted"]:
        assert Claim(one).contradicts(Claim(other)) is contradicts, one
    found = [Found("procedural", "Deploy by hand.", score=0.2), Found("procedural", "Deploy with make.", score=0.9)]
    assert MIND.synthesize("How to deploy?", "procedural", found) == "Deploy with make. Deploy by hand."
    for what in KINDS:
        found = [Found(what, f"Heron release {number} is out.", f"2026-01-{number:02}") for number in range(10, 30)]
        assert 1 <= MIND.synthesize("Heron releases", what, found).count("Heron") <= 5


def test_intents_and_statements_become_one() -> None:
    assert MIND.merge_intent("Deploy the API", "deploy the API to staging") == "deploy the API to staging"
    assert MIND.merge_intent("deploy the API to staging", "Deploy the API") == "deploy the API to staging"
    assert MIND.merge_intent("Deploy the API", "Roll back a release") == "Deploy the API and roll back a release"
    assert MIND.merge_intent("", "Deploy") == "Deploy"
    assert len(MIND.merge_intent("word " * 29, "another one " * 9).split()) <= 30
    said = [
        Said("The retry limit is 3.", at="2025-01-01"),
        Said("The retry limit is 5.", at="2025-02-01"),
        Said("Maya works at Acme.", at="2025-01-05"),
        Said("Maya works at Acme as a designer", at="2025-01-04"),
    ]
    assert MIND.merge_statements(said) == "Maya works at Acme as a designer. The retry limit is 5."
    assert MIND.merge_statements([Said("Maya lives in Oslo."), Said("Maya lives in Bern.")]) == "Maya lives in Bern."
    assert (
        MIND.merge_statements([Said("Maya likes tea."), Said("Maya likes jazz.")]) == "Maya likes tea. Maya likes jazz."
    )
    assert MIND.merge_statements([]) == ""


def test_a_summary_keeps_names_numbers_times_and_speakers() -> None:
    talk, expected = [Said(*said) for said in SAMPLES["talk"]], "Heron uses PostgreSQL 16."
    assert MIND.summarize(talk, 40) == " ".join(SAMPLES["summary"])
    for words in (0, 1, 5, 12, 40, 200):
        summary = MIND.summarize(talk, words)
        assert len(summary.split()) <= words
        assert bool(summary) == bool(words)
    assert MIND.summarize([Said(expected, "Maya")]) == expected


def test_things_are_named_once_with_their_kind() -> None:
    kinds = SAMPLES["things"]
    found = MIND.entities(" ".join(SAMPLES["about_things"]))
    assert len(found) == len(kinds)
    assert {thing.name: thing.kind for thing in found} == kinds
    assert [thing.name for thing in found][:5] == ["Lena", "Oslo", "last week", "PostgreSQL", "Go"]
    for text in ("Go home now.", "Spring is near.", "We express our thanks.", "An unusual flask."):
        assert [thing for thing in MIND.entities(text) if thing.kind == "technology"] == [], text


TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(SAMPLES["words"].split(" ")), max_size=60).map(" ".join),
    st.lists(st.sampled_from(SAMPLES["words"].split(" ")), max_size=40).map("".join),
)
MAYBE = st.none() | TEXTS
SCORES = st.none() | st.floats(0, 1)
STEPS = st.lists(st.builds(StepSeen, TEXTS, TEXTS, MAYBE, MAYBE, SCORES), max_size=4)
PROCEDURES = st.lists(st.builds(Procedure, TEXTS, TEXTS, TEXTS, TEXTS), max_size=3)
SAID = st.lists(st.builds(Said, TEXTS, MAYBE, MAYBE), max_size=4)
DONE = st.sampled_from(["edited", "ran", "read", "searched", "fetched", "used"])
DEEDS = st.lists(st.builds(Deed, DONE, TEXTS, TEXTS, st.sampled_from([None, True, False])), max_size=4).map(tuple)
REPLIES = st.lists(st.builds(Reply, TEXTS, st.integers(0, 5), st.booleans()), max_size=3).map(tuple)
LEFT = st.lists(TEXTS, max_size=2).map(tuple)
TASKS = st.lists(st.builds(Task, TEXTS, DEEDS, REPLIES, TEXTS, st.booleans(), left=LEFT), max_size=3)
FOUND = st.lists(st.builds(Found, TEXTS, TEXTS, MAYBE, SCORES, st.integers(0, 3)), max_size=5)


def twice(step: str, *given: Any, **named: Any) -> Any:
    """Return what a step answers, which is the same for another mind."""
    found = getattr(RuleMind(), step)(*given, **named)
    assert getattr(RuleMind(), step)(*given, **named) == found
    return found


@given(TEXTS, TEXTS, MAYBE, MAYBE)
def test_any_step_can_be_read(goal: str, observation: str, before: str | None, action: str | None) -> None:
    for triple in twice("triples", observation):
        assert triple.subject and triple.object and triple.predicate.replace("_", "a").isalnum()
        assert triple.predicate == triple.predicate.lower()
        assert 0 <= triple.confidence <= 1
    assert all(entity.name and entity.kind for entity in twice("entities", observation))
    assert len(twice("state", goal, observation, before=before, action=action).split()) <= 72
    assert len(twice("subgoal", goal, before, observation, action or "").split()) <= 15
    assert 0 <= MIND.reward(goal, observation, action or "", before or "") <= 1


@given(TEXTS, TASKS, STEPS, PROCEDURES)
def test_any_work_can_be_read(
    goal: str, tasks: Sequence[Task], steps: Sequence[StepSeen], procedures: Sequence[Procedure]
) -> None:
    for noticed in twice("notice", tasks):
        assert noticed.type in NOTICED and noticed.text and len(noticed.title) <= TITLE
        task = tasks[noticed.task]
        assert task.deeds or task.asked or task.replies or task.left
        assert all(place < len(task.replies) for place in noticed.replies or ())
        assert all(place < len(tasks[noticed.task].deeds) for place in noticed.deeds)
    assert all(each.text and 0 <= each.confidence <= 1 for each in twice("propositions", goal, steps))
    assert all(each.instruction and each.intent for each in twice("procedures", goal, steps))
    returns = MIND.returns(goal, steps, procedures)
    assert len(returns) == len(procedures)
    assert all(0 <= value <= 1 for value in returns)


@given(TEXTS, TEXTS, FOUND, SAID, st.integers(0, 60))
def test_any_texts_can_be_asked_of_and_merged(
    query: str, new: str, found: Sequence[Found], said: Sequence[Said], words: int
) -> None:
    mode = MIND.mode(query)
    assert mode in (*KINDS, "mixed")
    tags = twice("plan", query, mode)
    assert len(tags) <= 8
    assert all(tags)
    assert len(MIND.refine(query, found)) <= 5
    for what in KINDS:
        twice("synthesize", query, what, found)
    twice("merge_intent", query, new)
    twice("merge_statements", said)
    assert len(twice("summarize", said, words).split()) <= words
