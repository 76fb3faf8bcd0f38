"""The other steps of RuleMind, each on its own input: episodes, knowledge, questions, summaries, merging, naming."""

import pytest

from pieria.language.grammar import Named
from pieria.models.mind import Found, Knowledge, Mind, Mode, Procedure, Proposition, Said, StepSeen
from pieria.models.minds.rules import RuleMind
from pieria.models.minds.rules.merge import Claim
from pieria.workspace.graph_recall import in_context

MIND = RuleMind()

EPISODE = (
    StepSeen(
        observation="CI runs on GitHub Actions. The build fails with a missing module foo. What now?",
        action="pip install foo",
        subgoal="install foo",
        reward=0.95,
    ),
    StepSeen(
        observation="The build passes. We decided to pin foo at version 2.1 because 3.0 is broken. Thanks!",
        action="edit requirements.txt",
        subgoal="pin foo",
        reward=0.4,
    ),
    StepSeen(
        observation="user: Always answer in metric units. Maya works at Acme. She lives in Bern. "
        "When the cache is stale, run make clean first.",
        action="git push",
    ),
)


def test_it_is_a_mind() -> None:
    mind: Mind = MIND
    assert mind.name == "rules"


# --- a step


def test_the_state_is_what_was_done_and_what_shows() -> None:
    assert MIND.state("ship", "The tests pass. CI is green.", action="run make test") == (
        "After: run make test — The tests pass. CI is green."
    )
    assert MIND.state("ship", "", before="CI is red.", action="wait") == "After: wait — CI is red."
    assert MIND.state("ship it", "") == "Nothing seen yet of: ship it"
    assert len(MIND.state("ship", "word " * 500, action="act " * 500).split()) <= 71


@pytest.mark.parametrize(
    ("action", "subgoal"),
    [
        ("Let me run `pytest -q` to see which tests fail.", "see which tests fail"),
        ("I will open the settings page.", "open the settings page"),
        ("git push origin main", "git push origin main"),
        ("Search for flights from Oslo to Rome in June", "Search for flights from Oslo to Rome in June"),
        ("", "book a flight"),
    ],
)
def test_the_subgoal_is_the_purpose_or_the_action(action: str, subgoal: str) -> None:
    assert MIND.subgoal("book a flight", None, "", action) == subgoal


GOOD = ("All 34 tests passed.", "No errors found.", "exit code 0", "It works now, thanks!", "Build succeeded, 0 failed")
BAD = ("Error: permission denied", "3 failed, 20 passed", "exited with code 2", "HTTP 404", "It did not work.")
NEITHER = ("", "The page shows a list of rooms.", "The episode is over, nothing further was observed.")


@pytest.mark.parametrize("outcome", GOOD)
def test_success_is_rewarded(outcome: str) -> None:
    assert MIND.reward("", "a page", "go on", outcome) >= 0.6


@pytest.mark.parametrize("outcome", BAD)
def test_failure_is_not(outcome: str) -> None:
    assert MIND.reward("", "a page", "go on", outcome) <= 0.4


@pytest.mark.parametrize("outcome", NEITHER)
def test_what_shows_neither_is_worth_half(outcome: str) -> None:
    assert MIND.reward("", "a page", "go on", outcome) == 0.5


def test_an_outcome_is_seen_beside_what_was_before_and_wanted() -> None:
    assert MIND.reward("", "A list of rooms.", "click", "A list of rooms.") == 0.4
    assert MIND.reward("", "The upload shows an error.", "reload", "The upload shows a bar.") == 0.7
    assert MIND.reward("list flights", "A form.", "submit", "A list of flights.") == 0.6
    assert MIND.reward("", "a file", "grep error app.log", "error.log") == 0.5


# --- knowledge


def test_propositions_last_and_stand_alone() -> None:
    found = MIND.propositions("fix the build", EPISODE)
    assert {proposition.text: proposition.confidence for proposition in found} == {
        "CI runs on GitHub Actions.": 0.9,
        "We decided to pin foo at version 2.1 because 3.0 is broken.": 0.9,
        "Always answer in metric units.": 1.0,
        "Maya works at Acme.": 0.9,
        "Maya lives in Bern.": 0.9,
    }
    concepts = {proposition.text: proposition.concepts for proposition in found}
    assert concepts["CI runs on GitHub Actions."] == ("CI", "GitHub Actions")


def test_what_belongs_to_the_goal_comes_first() -> None:
    steps = [StepSeen("Maya works at Acme. The deploy script uses rsync.", "")]
    assert MIND.propositions("repair the deploy script", steps)[0].text == "The deploy script uses rsync."


def test_the_fuller_of_two_statements_is_kept() -> None:
    steps = [StepSeen("Maya works at Acme.", ""), StepSeen("Maya works at Acme as a designer.", "")]
    assert [proposition.text for proposition in MIND.propositions("", steps)] == ["Maya works at Acme as a designer."]


PASSING = (
    "Hello there!",
    "Which database do we use?",
    "This is nice.",
    "I am looking at the page right now.",
    "If Tom moves to Oslo, he needs a flat.",
    "They live in Bern.",
)


@pytest.mark.parametrize("remark", PASSING)
def test_passing_remarks_are_no_propositions(remark: str) -> None:
    assert MIND.propositions("", [StepSeen(remark, "")]) == []


def test_procedures_come_from_what_went_well_and_from_what_was_told() -> None:
    assert MIND.procedures("fix the build", EPISODE) == [
        Procedure(
            "install foo",
            "When the build fails with a missing module foo",
            "pip install foo",
            "The build passes",
            (0,),
        ),
        Procedure("fix the build", "", "Always answer in metric units", "", (2,)),
        Procedure("fix the build", "When the cache is stale", "run make clean first", "", (2,)),
    ]


@pytest.mark.parametrize(
    ("sentence", "condition", "instruction"),
    [
        ("If the migration hangs, restart the worker.", "If the migration hangs", "restart the worker"),
        ("Restart the worker when the migration hangs.", "when the migration hangs", "Restart the worker"),
        ("To free the disk, delete old logs.", "", "delete old logs"),
    ],
)
def test_a_rule_is_read_whichever_way_it_is_put(sentence: str, condition: str, instruction: str) -> None:
    (found,) = MIND.procedures("", [StepSeen(sentence, "")])
    assert (found.condition, found.instruction) == (condition, instruction)


def test_what_is_said_of_somebody_is_no_procedure() -> None:
    assert MIND.procedures("", [StepSeen("When the cache is stale, the page loads slowly. When is lunch?", "")]) == []


def test_returns_are_the_rewards_of_the_steps_that_did_it() -> None:
    procedures = [
        Procedure("install", "", "pip install foo", ""),
        Procedure("fix the build", "", "call the vendor", ""),
        Procedure("something else", "", "call the vendor", ""),
    ]
    assert MIND.returns("fix the build", EPISODE, procedures) == [0.95, 0.675, 0.5]
    assert MIND.returns("fix the build", [], procedures[:2]) == [0.5, 0.5]


# --- a question


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("How do I deploy the API to Fly.io?", "procedural"),
        ("When did Maya move to Bern?", "episodic"),
        ("What happened last Friday?", "episodic"),
        ("What is Maya's favourite editor?", "semantic"),
        ("Who leads the payments team?", "semantic"),
        ("Tell me everything about Heron", "mixed"),
        ("heron", "mixed"),
        ("", "mixed"),
    ],
)
def test_the_mode_of_a_question(query: str, mode: Mode) -> None:
    assert MIND.mode(query) == mode


def test_a_question_in_a_session_is_read_before_what_it_is_asked_in_and_alone_says_its_mode() -> None:
    context = {"goal": "Find out how to bake bread", "recent_steps": [f"cat log -> {'rye ' * 2_000}"]}
    asked = in_context(context, "Who sells spelt flour?")
    assert asked is not None
    assert MIND.mode(asked) == "semantic"
    assert MIND.plan(asked, "semantic")[0] == "spelt flour"
    assert MIND.refine(asked, [])[:3] == ["sells", "spelt", "flour"]


def test_a_plan_names_what_to_look_for() -> None:
    assert MIND.plan("What did Maya decide about the retry logic in March?", "episodic") == [
        "Maya",
        "March",
        "retry logic",
    ]
    assert MIND.plan("What did Maya decide about the retry logic in March?", "semantic") == ["Maya", "retry logic"]
    assert MIND.plan("", "mixed") == []


def test_refining_asks_for_what_nothing_found_speaks_of() -> None:
    found = [Found("semantic", "Maya moved to Bern in 2021.")]
    assert MIND.refine("Which editor does Maya use in Bern?", found) == ["editor", "use"]
    assert MIND.refine("Did Maya move to Bern?", found) == []


@pytest.mark.parametrize(
    ("one", "other", "against"),
    [
        ("The server b3 listens on port 8003.", "The server b0 listens on port 8000.", False),
        ("The server b3 listens on port 8003.", "The server b3 listens on port 8000.", True),
        ("The shop runs version v2.1 of the library.", "The shop runs version v2.2 of the library.", True),
        ("The release is planned for 2026-01-05.", "The release is planned for 2026-02-07.", True),
    ],
)
def test_another_number_contradicts_unless_it_is_another_thing_s(one: str, other: str, against: bool) -> None:
    assert Claim(one).contradicts(Claim(other)) is against


def test_the_latest_comes_first_where_what_was_found_contradicts_itself() -> None:
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


def test_the_procedure_that_returned_most_comes_first() -> None:
    found = [Found("procedural", "Deploy by hand.", score=0.2), Found("procedural", "Deploy with make.", score=0.9)]
    assert MIND.synthesize("How to deploy?", "procedural", found) == "Deploy with make. Deploy by hand."


@pytest.mark.parametrize("what", ["episodic", "semantic", "procedural"])
def test_an_answer_has_five_sentences_at_most(what: Knowledge) -> None:
    found = [Found(what, f"Heron release {number} is out.", f"2026-01-{number:02}") for number in range(10, 30)]
    assert 1 <= MIND.synthesize("Heron releases", what, found).count("Heron") <= 5


# --- keeping


def test_intents_become_one() -> None:
    assert MIND.merge_intent("Deploy the API", "deploy the API to staging") == "deploy the API to staging"
    assert MIND.merge_intent("deploy the API to staging", "Deploy the API") == "deploy the API to staging"
    assert MIND.merge_intent("Deploy the API", "Roll back a release") == "Deploy the API and roll back a release"
    assert MIND.merge_intent("", "Deploy") == "Deploy"
    assert len(MIND.merge_intent("word " * 29, "another one " * 9).split()) <= 30


def test_the_latest_value_wins_and_the_fullest_statement_stands() -> None:
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


TALK = (
    Said(
        "Hi there! We met yesterday with Lena about the Heron launch. The launch is on 12 May 2026 and costs 4,000"
        " euros. I had lunch. Heron uses PostgreSQL 16.",
        "Maya",
        "2026-03-02",
    ),
    Said("Great. The Heron launch needs a press text by Friday. Did you see the game?", "Tom", "2026-03-03"),
)


def test_a_summary_keeps_names_numbers_times_and_who_spoke() -> None:
    assert MIND.summarize(TALK, 40) == (
        "Maya: (2026-03-02) We met yesterday with Lena about the Heron launch. The launch is on 12 May 2026 and costs"
        " 4,000 euros. Heron uses PostgreSQL 16. Tom: (2026-03-03) The Heron launch needs a press text by Friday."
    )


@pytest.mark.parametrize("words", [0, 1, 5, 12, 40, 200])
def test_a_summary_has_so_many_words_at_most(words: int) -> None:
    summary = MIND.summarize(TALK, words)
    assert len(summary.split()) <= words
    assert bool(summary) == bool(words)


def test_one_speaker_is_not_named() -> None:
    assert MIND.summarize([Said("Heron uses PostgreSQL 16.", "Maya")]) == "Heron uses PostgreSQL 16."


# --- naming


def test_things_are_named_once_with_their_kind() -> None:
    text = (
        "My sister Lena moved to Oslo last week. She uses Postgres and PostgreSQL 16 with Go. I go home. "
        "Herons eat fish; Heron is a tool. Tom works at Acme since 2019-03-02, see src/a.py."
    )
    assert MIND.entities(text) == [
        Named("Lena", "person"),
        Named("Oslo", "place"),
        Named("last week", "date"),
        Named("PostgreSQL", "technology"),
        Named("Go", "technology"),
        Named("Heron", "name"),
        Named("Tom", "person"),
        Named("Acme", "name"),
        Named("2019-03-02", "date"),
        Named("src/a.py", "path"),
    ]


@pytest.mark.parametrize("text", ["Go home now.", "Spring is near.", "We express our thanks.", "An unusual flask."])
def test_words_of_english_are_no_technologies(text: str) -> None:
    assert [thing for thing in MIND.entities(text) if thing.kind == "technology"] == []


def test_a_proposition_has_concepts_without_times() -> None:
    (found,) = MIND.propositions("", [StepSeen("The standup is scheduled for Friday.", "")])
    assert found == Proposition("The standup is scheduled for Friday.", ("standup",), 0.9, (0,))
