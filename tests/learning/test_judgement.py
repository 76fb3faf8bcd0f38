"""Batches of steps: which are due, where a batch is cut, and whose knowledge a shared request finds."""

from collections.abc import Sequence

from tests.learning.trajectories import Embedding, Told, of, tied, trajectory

from pieria.errors import AdapterError
from pieria.learning import Episode
from pieria.learning.judgement import append_step, judge_batch, judge_whole, next_batch
from pieria.learning.models import embedder_of
from pieria.learning.steps import Step
from pieria.learning.structuring import structure_together
from pieria.models.mind import Judgement, Procedure, Proposition, StepSeen
from pieria.models.minds.rules import RuleMind

TOPICS = ("bread", "ships", "stars")


class Together(RuleMind):
    """Its subgoal is the first word of the action; it knows nothing of the steps in `fails`, and may be `down`."""

    judges_together = True
    name = "together"

    def __init__(self, *fails: str, down: bool = False) -> None:
        super().__init__()
        self.fails, self.down = fails, down
        self.seen: list[tuple[list[str], str | None, str | None]] = []

    def judge_steps(
        self, goal: str, steps: Sequence[StepSeen], *, before: StepSeen | None = None, after: str | None = None
    ) -> list[Judgement]:
        self.seen.append(([step.observation for step in steps], before.subgoal if before else None, after))
        if self.down:
            raise AdapterError("together", "chat", "it is down")
        return [
            Judgement() if step.observation in self.fails else Judgement("so far", step.action.split()[0], 0.9)
            for step in steps
        ]


def embedding() -> Embedding:
    return Embedding(lambda text: [float(topic in text) for topic in TOPICS] + [0.1])


def lived(mind: RuleMind, embedder: Embedding, *topics: str) -> Episode:
    episode = Episode("Get through the day")
    for number, topic in enumerate(topics):
        episode, trace = append_step(episode, f"o{number}", f"{topic} goes on", mind, embedder_of(embedder))
        assert trace.judged_by == "rules"
    return episode


def step(index: int, length: int = 1) -> Step:
    return Step(index, "o" * length, "a", trajectory_id="t", provisional=True)


def test_batch_is_full_by_steps_or_by_characters() -> None:
    short, long = [step(n) for n in range(12)], [step(n, 9_000) for n in range(4)]
    cases = {
        "ten, the next shows the outcome": (short, 10), "no outcome yet": (short[:10], 0),
        "long texts": (long, 3), "three long ones": (long[:3], 0), "none waits": ([Step(0, "o", "a")], 0),
    }  # fmt: skip
    assert {name: len(next_batch(steps)) for name, (steps, _) in cases.items()} == {
        name: count for name, (_, count) in cases.items()
    }
    assert [len(next_batch(steps, rest=True)) for steps, _ in cases.values()] == [10, 10, 3, 3, 0]


def test_steps_of_a_batch_are_cut_by_the_models_subgoals() -> None:
    mind, vectors = Together(), embedding()
    episode = judge_whole(lived(mind, vectors, *["bread"] * 4, *["ships"] * 7, "bread"), mind, embedder_of(vectors))
    closed = episode.close()
    assert [[step.index for step in one.steps] for one in closed.trajectories] == [
        [0, 1, 2, 3], [4, 5, 6, 7, 8, 9, 10], [11]
    ]  # fmt: skip
    assert len({one.id for one in closed.trajectories}) == 3
    assert [(len(shown), before, after) for shown, before, after in mind.seen] == [
        (10, None, "o10"), (2, "ships", "The episode is over; nothing further was observed.")
    ]  # fmt: skip
    assert {(step.judged_by, step.provisional, step.reward) for step in episode.steps} == {("together", False, 0.9)}
    assert vectors.batches == [["bread", "ships"], ["ships", "bread"]], "one call for each batch, none for a step"


def test_no_boundary_lies_between_two_judges() -> None:
    mind, vectors = Together("o1", "o2"), embedding()
    episode = judge_whole(lived(mind, vectors, "bread", "ships", "stars", "tea"), mind, embedder_of(vectors))
    assert [step.judged_by for step in episode.steps] == ["together", "rules", "rules", "together"]
    assert len(episode.close().trajectories) == 1


def test_batch_of_a_failed_model_is_judged_and_graded_by_rules() -> None:
    mind, vectors = Together(down=True), embedding()
    episode = lived(mind, vectors, "bread", "bread")
    judged = judge_batch(episode, episode.steps, mind, embedder_of(vectors))
    assert [(one.step.judged_by, one.step.provisional) for one in judged] == [("rules", False)] * 2
    assert judged[-1].step.reward is None, "nothing shows what came of it"
    assert judge_whole(episode, mind, embedder_of(vectors)).steps[-1].reward == 0.5


def test_shared_request_leaves_each_trajectory_its_own() -> None:
    class Learning(Told):
        judges_together = True

    facts = [
        Proposition("Of the second.", steps=(2,)), Proposition("Of both.", steps=(1, 2)),
        Proposition("Of some step.", steps=()), Proposition("Of a step that is not there.", steps=(9,)),
    ]  # fmt: skip
    lessons = [Procedure("Aim", "c", f"Do {n}", "e", (n,)) for n in (3, 0)]
    mind = Learning(facts, lessons, [0.25, 0.75])
    together = [trajectory(0.5, 0.5, id="t1"), trajectory(0.5, 0.5, id="t2", first=2)]
    one, two = structure_together(together, "Goal", mind=mind, embedder=None)
    assert sorted(mind.asked) == ["facts", "procedures", "returns"]
    told = ([node.text for node in of(each.changeset, "semantic")] for each in (one, two))
    assert list(told) == [["Of both.", "Of some step.", "Of a step that is not there."], ["Of the second."]]
    both = next(node for node in one.changeset.additions if node.text == "Of both.")
    assert tied(one.changeset, both, "provenance") == {"Observed 1. → Did 1."}
    grades = [[(node.text, node.return_score) for node in of(each.changeset, "procedural")] for each in (one, two)]
    assert grades == [[("Do 0", 0.25)], [("Do 3", 0.75)]], "graded in the order in which they were shown"
