"""Trajectories for tests, and a scripted mind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from pieria import Config, telemetry
from pieria.graph import Changeset, Node
from pieria.learning.steps import Step, Trajectory
from pieria.models import EmbeddingResponse
from pieria.models.mind import Found, Mode, Procedure, Proposition, StepSeen
from pieria.models.minds.rules import RuleMind

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
GOAL = "Get the nightly build green again"


def clock() -> datetime:
    return NOW


def config(**more: Any) -> Config:
    return Config(**{"llm": {"model": "none"}, "embedding": {"model": "auto"}, **more})


Heard = list[tuple[str, dict[str, Any], dict[str, Any]]]


@contextmanager
def telemetry_heard() -> Iterator[Heard]:
    """Yield a list that grows by each event: its name, what was measured, and what it is about."""
    heard: Heard = []
    detach = telemetry.attach(lambda event, took, about: heard.append((".".join(event[1:]), dict(took), dict(about))))
    try:
        yield heard
    finally:
        detach()


def step(index: int, reward: float | None = 0.5, *, state: str | None = "red", trajectory: str = "traj_1") -> Step:
    return Step(
        index, f"Observed {index}.", f"Did {index}.", f"Aim {index}", state, reward, trajectory_id=trajectory
    )  # fmt: skip


def trajectory(*rewards: float | None, id: str = "traj_1", first: int = 0) -> Trajectory:
    return Trajectory.of([step(first + n, reward, trajectory=id) for n, reward in enumerate(rewards)])


class Told(RuleMind):
    """A mind with given answers; an error among them is raised. `asked` lists the answered questions."""

    guesses_modes = False

    def __init__(self, facts: Any = (), procedures: Any = (), returns: Any = (), **answers: Any) -> None:
        super().__init__()
        self.answers = {"facts": facts, "procedures": procedures, "returns": returns, **answers}
        self.asked: list[str] = []

    def answer(self, what: str, otherwise: Any = None) -> Any:
        self.asked.append(what)
        answer = self.answers.get(what, otherwise)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def propositions(self, goal: str, steps: Sequence[StepSeen]) -> list[Proposition]:
        return list(self.answer("facts"))

    def procedures(self, goal: str, steps: Sequence[StepSeen]) -> list[Procedure]:
        return list(self.answer("procedures"))

    def returns(self, goal: str, steps: Sequence[StepSeen], procedures: Sequence[Procedure]) -> list[float]:
        return list(self.answer("returns"))

    def merge_intent(self, held: str, new: str) -> str:
        return str(self.answer("merged", "Both"))

    def mode(self, query: str) -> Mode:
        return self.answer("mode", "semantic")  # type: ignore[no-any-return]

    def plan(self, query: str, mode: Mode) -> list[str]:
        return list(self.answer("plan", []))

    def refine(self, query: str, found: Sequence[Found]) -> list[str]:
        return list(self.answer("refine", []))

    def synthesize(self, query: str, what: Any, found: Sequence[Found]) -> str:
        return str(self.answer(what, f"So it is [{len(found)}]."))


class Embedding:
    """Embeds each text by a function. `batches` are the calls; `broken` is the error that one raises."""

    is_at_hand = False

    def __init__(self, vector: Callable[[str], Sequence[float]], broken: BaseException | None = None) -> None:
        self.vector, self.broken = vector, broken
        self.batches: list[list[str]] = []

    def embed(self, text: str, opts: Any = None) -> EmbeddingResponse:
        return self.embed_batch([text])

    def embed_batch(self, texts: Sequence[str], opts: Any = None) -> EmbeddingResponse:
        self.batches.append(list(texts))
        if self.broken is not None:
            raise self.broken
        return EmbeddingResponse([list(self.vector(text)) for text in texts], "function")


def letters(broken: BaseException | None = None) -> Embedding:
    return Embedding(lambda text: [1.0, *(float(text.lower().count(it)) for it in "aeiouns")], broken)


def of(changeset: Changeset, kind: str) -> list[Any]:
    return [node for node in changeset.additions if node.node_type == kind]


def named(changeset: Changeset, text: str, kind: str | None = None) -> Node:
    [found] = [node for node in changeset.additions if node.text == text and kind in (None, node.node_type)]
    return found


def tied(changeset: Changeset, node: Node, edge: str) -> set[str]:
    texts = {each.id: each.text for each in changeset.additions}
    ends = [(one, other) for one, other, kind in changeset.ties() if kind == edge and node.id in (one, other)]
    return {texts[other if one == node.id else one] for one, other in ends}


def outline(changeset: Changeset) -> str:
    """Return a line for each node with its rewards, and under it its ties."""
    lines = []
    for node in changeset.additions:
        entry = changeset.metadata[node.id]
        rewards = f" ({entry.avg_reward():.3f} of {entry.reward_count})" if entry.reward_count else ""
        lines.append(f"{node.node_type}: {node.text}{rewards}")
        ties = {edge: sorted(tied(changeset, node, edge)) for edge in sorted({edge for *_, edge in changeset.ties()})}
        lines += [f"    {edge}: {' | '.join(texts)}" for edge, texts in ties.items() if texts]
    return "\n".join(lines) + "\n"
