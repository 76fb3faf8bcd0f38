"""The protocol of minds: one method for each step that needs judgement.

A mind is an LLM, the built-in rules, or a user's object. A mind only proposes: code decides dates, scopes, ids and
lineage. A failed step loses only its own result. Minds store nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pieria.language.grammar import Named, Triple

Mode = Literal["episodic", "semantic", "procedural", "mixed"]
Knowledge = Literal["episodic", "semantic", "procedural"]


@dataclass(frozen=True, slots=True)
class StepSeen:
    """A step of an episode, as a mind sees it. Unknown fields are None."""

    observation: str
    action: str
    state: str | None = None
    subgoal: str | None = None
    reward: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a mind says of one step. What it could not judge is None."""

    state: str | None = None
    subgoal: str | None = None
    reward: float | None = None


@dataclass(frozen=True, slots=True)
class Proposition:
    """A fact that can be read alone: it has no unresolved pronoun. `confidence` is 1 for a statement, 0 for a guess.

    `steps` has the indices of its source steps, from 0; empty if they are unknown.
    """

    text: str
    concepts: tuple[str, ...] = ()
    confidence: float = 1.0
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Procedure:
    """What to do, when, why, and the expected outcome. `steps` is as in `Proposition`."""

    intent: str
    condition: str
    instruction: str
    expected_outcome: str
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """A text to judge, with its author and time if known. `at` is written for people."""

    text: str
    author: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A recall candidate, as a mind sees it. `score` is its confidence or return, if it has one."""

    kind: str
    text: str
    at: str | None = None
    score: float | None = None
    hop: int = 0


Namer = Callable[[str], list[Named]]
"""Finds the named things of a text, each once and in order."""

Deeds = Literal["edited", "ran", "read", "searched", "fetched", "used", "chosen", "planned", "reported"]
NOTICED = ("decision", "plan", "debt", "fact", "howto", "bugfix", "feature", "refactor", "change", "discovery")
"""The types of notes on an agent's work."""
TITLE = 120
"""Characters of a note's title."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action of an agent. `target` is a file, a command, a search term, an address or a question.

    `detail` has the replaced text of an edit, the result of a command, the beginning of a page, the user's choice, an
    approved plan, or the findings of another agent.
    """

    what: Deeds
    target: str
    detail: str = ""
    failed: bool | None = None
    """None if unknown."""
    mends: tuple[int, ...] = ()
    """Earlier failed deeds of the same task that this one repeats with success."""
    undone: bool = False
    """Whether the edit was undone later in the same task."""
    times: int = 1
    others: tuple[str, ...] = ()
    """The options that a choice left."""
    acts: bool = True
    """Whether a command does more than look or check."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Words of the agent, after its first `after` deeds. With `is_outside`, it had read outside content before."""

    text: str
    after: int = 0
    is_outside: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A request to an agent, its actions and its replies. `before` is its last reply before the request.

    With `goes_on`, the beginning of the task was noticed already, so its request is not noticed again. With
    `is_outside`, the agent had read outside content, even if no deed shows that. `open` are the indices of deeds that
    failed and were not fixed in this task or later; `left` are the to-do items left open when the session ended.
    """

    asked: str = ""
    deeds: tuple[Deed, ...] = ()
    replies: tuple[Reply, ...] = ()
    before: str = ""
    goes_on: bool = False
    is_outside: bool = False
    open: tuple[int, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def replied(self) -> str:
        """The last reply."""
        return self.replies[-1].text if self.replies else ""


@dataclass(frozen=True, slots=True)
class Noticed:
    """A note on a task. `type` is one of `NOTICED`; `task`, `deeds` and `replies` are indices of the task, its deeds
    and its replies. Without `replies` the note may quote any of them."""

    type: str
    title: str
    text: str
    task: int
    deeds: tuple[int, ...] = ()
    concepts: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    is_outside: bool = False
    """Whether it quotes outside content: a page, or a reply of an agent that had read one."""
    replies: tuple[int, ...] | None = None
    worth: float = 1.0
    """How probably a person would keep it, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Mended:
    """An action that failed, the steps that fixed it, and the same action when it passed."""

    failed: str
    error: str
    steps: tuple[str, ...]
    passed: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a person said to an agent during its work, with the agent's actions and words before that."""

    said: str
    acts: tuple[str, ...] = ()
    before: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson from the item with index `of`: a procedure from `mended`, a rule from `told`.

    A `procedure` says what to do under a `condition`, and what to expect. A `rule` is one sentence that begins with
    Always or Never, and rests on `quote`, the person's words.
    """

    type: Literal["procedure", "rule"]
    of: int
    text: str
    condition: str = ""
    expected: str = ""
    quote: str = ""
    confidence: float = 0.5


class Mind(Protocol):
    """Every method raises `PromptError` if its step gives no result, and `AdapterError` if a model fails."""

    @property
    def name(self) -> str:
        """`rules`, or the model's name."""

    # --- the steps of an episode

    def state(self, goal: str, observation: str, *, before: str | None = None, action: str | None = None) -> str:
        """Return the state after an observation, as a short paragraph."""

    def subgoal(
        self, goal: str, state: str | None, observation: str, action: str, *, before: Sequence[StepSeen] = ()
    ) -> str:
        """Return the purpose of the action, as one short sentence. `before` has the last steps, all with one subgoal.

        Return the same words while the work stays on one topic: a new subgoal ends the trajectory.
        """

    def reward(self, subgoal: str, observation: str, action: str, outcome: str) -> float:
        """Return how well the action served its subgoal: 0 worked against it, 0.5 neutral, 1 fully."""

    # --- from an episode to knowledge

    def propositions(self, goal: str, steps: Sequence[StepSeen]) -> list[Proposition]:
        """Return facts worth keeping. The list may be empty."""

    def procedures(self, goal: str, steps: Sequence[StepSeen]) -> list[Procedure]:
        """Return procedures worth repeating. The list may be empty."""

    def returns(self, goal: str, steps: Sequence[StepSeen], procedures: Sequence[Procedure]) -> list[float]:
        """Return how far the steps confirm each procedure, from 0 to 1, in order."""

    # --- a question

    def mode(self, query: str) -> Mode: ...

    def plan(self, query: str, mode: Mode) -> list[str]:
        """Return what to search for, as short noun phrases."""

    def refine(self, query: str, found: Sequence[Found]) -> list[str]:
        """Return search terms for what the candidates lack, or an empty list."""

    def synthesize(self, query: str, what: Knowledge, found: Sequence[Found]) -> str:
        """Return what the candidates say on the query, in three to five sentences."""

    # --- keeping

    def merge_intent(self, held: str, new: str) -> str: ...

    def merge_statements(self, statements: Sequence[Said]) -> str:
        """Return one statement that keeps the content of all. On a contradiction the latest wins."""

    def summarize(self, said: Sequence[Said], words: int = 120) -> str:
        """Return a summary of at most this many words. Keeps names, numbers and times."""

    def notice(self, tasks: Sequence[Task]) -> list[Noticed]:
        """Return what a successor must know to continue the work; empty if there is nothing."""

    def lessons(self, mended: Sequence[Mended], told: Sequence[Told]) -> list[Lesson]:
        """Return what to do the next time; skips accidents and momentary wishes."""

    # --- a text

    def entities(self, text: str) -> list[Named]: ...

    def triples(self, text: str) -> list[Triple]:
        """Return what the text states, but not what it denies, asks or supposes."""


class BatchMind(Mind, Protocol):
    """A mind that can judge several steps in one call. Sessions use any other mind one step at a time."""

    @property
    def judges_together(self) -> bool:
        """Whether `judge_steps` does the work of `state`, `subgoal` and `reward` now."""

    def judge_steps(
        self, goal: str, steps: Sequence[StepSeen], *, before: StepSeen | None = None, after: str | None = None
    ) -> list[Judgement]:
        """Return a judgement for each step, in order.

        `before` is the step before the first. `after` was observed after the last step; without it, the last step gets
        no reward.
        """
