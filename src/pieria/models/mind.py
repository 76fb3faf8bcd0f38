"""What judges and writes: every step that needs judgement is one method of a mind.

An LLM is one mind, the built-in rules are another, and a user's object may be a third. A mind only proposes: dates,
scopes, ids and lineage are worked out by code, and a step that fails costs that step and no evidence. Minds keep
nothing and write nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Mode = Literal["episodic", "semantic", "procedural", "mixed"]
Knowledge = Literal["episodic", "semantic", "procedural"]


@dataclass(frozen=True, slots=True)
class StepSeen:
    """A step of an episode as it is judged. What is not known yet is None."""

    observation: str
    action: str
    state: str | None = None
    subgoal: str | None = None
    reward: float | None = None


@dataclass(frozen=True, slots=True)
class Proposition:
    """A fact that stands by itself: no pronoun points out of it. `confidence` is 1 for what was said, 0 for a guess.

    `steps` are the places of the steps it was drawn from, counted from 0; none where nobody can tell.
    """

    text: str
    concepts: tuple[str, ...] = ()
    confidence: float = 1.0
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Procedure:
    """What to do, when, for what, and what to expect of it. `steps` as those of a `Proposition`."""

    intent: str
    condition: str
    instruction: str
    expected_outcome: str
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """A text to be judged, with who said it and when, as far as that is known. `at` is written for people."""

    text: str
    author: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate of recall as a mind sees it; `score` is its confidence or return, where it has one."""

    kind: str
    text: str
    at: str | None = None
    score: float | None = None
    hop: int = 0


@dataclass(frozen=True, slots=True)
class Triple:
    """`subject` and `object` as the text spells them, `predicate` in snake_case. Times are as the text words them."""

    subject: str
    predicate: str
    object: str
    confidence: float = 1.0
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A thing that a text names; `kind` is of `record.entities.KINDS`, or `technology`, `date`, `person`, `place`."""

    name: str
    kind: str


Namer = Callable[[str], list[Named]]
"""What finds them in a text, each once and in its order."""

Deeds = Literal["edited", "ran", "read", "searched", "fetched", "used"]
NOTICED = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
"""The types of what is noticed of an agent's work."""
TITLE = 80
"""Characters of its title."""


@dataclass(frozen=True, slots=True)
class Deed:
    """A thing that an agent did: `target` is a file, a command, what was looked for, or an address.

    `detail` says of an edit what took the place of what, of a command how it ended, of a page how it begins.
    """

    what: Deeds
    target: str
    detail: str = ""
    failed: bool | None = None
    """None: nobody said."""
    mends: tuple[int, ...] = ()
    """The deeds of the same task that failed before, and go well now."""
    undone: bool = False
    """An edit that was taken back later in the same task."""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Task:
    """What was asked of an agent, what it did for it, and what it said in the end. `before` is what it had said before.

    A task that `goes_on` was told of already, and of what was asked in it nothing is to be noticed again. With
    `is_outside` the agent had read what came from out there, whether or not that is among the deeds.
    """

    asked: str = ""
    deeds: tuple[Deed, ...] = ()
    replied: str = ""
    before: str = ""
    goes_on: bool = False
    is_outside: bool = False


@dataclass(frozen=True, slots=True)
class Noticed:
    """What is worth keeping of a task, by its index; `type` is one of `NOTICED`. `deeds` are those that it tells of."""

    type: str
    title: str
    text: str
    task: int
    deeds: tuple[int, ...] = ()
    concepts: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    is_outside: bool = False
    """It holds words that came from outside: of a page, or of whoever had read one."""


@dataclass(frozen=True, slots=True)
class Mended:
    """Something that an agent tried and that failed, what it did about it, and the same thing as it then went well."""

    failed: str
    error: str
    steps: tuple[str, ...]
    passed: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a person said to an agent in the midst of its work, and what the agent had done and said before it."""

    said: str
    acts: tuple[str, ...] = ()
    before: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is to be learnt from the so-manieth of what was mended, or of what was told.

    A `procedure` says under which `condition` to do what, and what to expect; a `rule` is one sentence that begins
    with Always or Never, and rests on the `quote`, words of the person.
    """

    type: Literal["procedure", "rule"]
    of: int
    text: str
    condition: str = ""
    expected: str = ""
    quote: str = ""
    confidence: float = 0.5


class Mind(Protocol):
    """Every method raises `PromptError` where its step came to nothing, and `AdapterError` where a model failed."""

    @property
    def name(self) -> str:
        """`rules`, or the model's name."""

    # --- an episode, step by step

    def state(self, goal: str, observation: str, *, before: str | None = None, action: str | None = None) -> str:
        """The state of things after an observation, in a short paragraph."""

    def subgoal(
        self, goal: str, state: str | None, observation: str, action: str, *, before: Sequence[StepSeen] = ()
    ) -> str:
        """What the action was for, in one short sentence. `before` are the last steps with one subgoal.

        While the work goes on with the same thing, the subgoal keeps its wording: where it does not, a trajectory ends.
        """

    def reward(self, subgoal: str, observation: str, action: str, outcome: str) -> float:
        """How well the action served: 0 against it, 0.5 neither, 1 wholly."""

    # --- from an episode to knowledge

    def propositions(self, goal: str, steps: Sequence[StepSeen]) -> list[Proposition]:
        """None is an answer: not every stretch of work holds a fact worth keeping."""

    def procedures(self, goal: str, steps: Sequence[StepSeen]) -> list[Procedure]:
        """None is an answer here as well."""

    def returns(self, goal: str, steps: Sequence[StepSeen], procedures: Sequence[Procedure]) -> list[float]:
        """How far each procedure was borne out, 0 to 1, in their order."""

    # --- a question

    def mode(self, query: str) -> Mode: ...

    def plan(self, query: str, mode: Mode) -> list[str]:
        """What to look for: short noun phrases."""

    def refine(self, query: str, found: Sequence[Found]) -> list[str]:
        """What is still missing, as terms to look for; nothing where what was found is enough."""

    def synthesize(self, query: str, what: Knowledge, found: Sequence[Found]) -> str:
        """What the found says on the question, in three to five sentences."""

    # --- keeping

    def merge_intent(self, held: str, new: str) -> str: ...

    def merge_statements(self, statements: Sequence[Said]) -> str:
        """One statement that keeps what several say; the latest where they contradict each other."""

    def summarize(self, said: Sequence[Said], words: int = 120) -> str:
        """In so many words at most, with names, numbers and times kept."""

    def notice(self, tasks: Sequence[Task]) -> list[Noticed]:
        """What somebody who goes on with the work the next day should know of it; nothing where there is nothing."""

    def lessons(self, mended: Sequence[Mended], told: Sequence[Told]) -> list[Lesson]:
        """What to do the next time; nothing where it was chance, or a wish of the moment."""

    # --- a text

    def entities(self, text: str) -> list[Named]: ...

    def triples(self, text: str) -> list[Triple]:
        """What it states, and nothing that it denies, asks or supposes."""
