"""RuleMind judges every step by rules: no model, no network, the same answer every time."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

from pieria.language.grammar import Named, Triple
from pieria.language.grammar.clauses import triples
from pieria.language.grammar.names import named
from pieria.models.mind import (
    Found,
    Knowledge,
    Lesson,
    Mended,
    Mode,
    Namer,
    Noticed,
    Procedure,
    Proposition,
    Said,
    StepSeen,
    Task,
    Told,
)
from pieria.models.minds.rules.answers import answer, missing, mode_of, tags_of
from pieria.models.minds.rules.emphasis import Emphasis
from pieria.models.minds.rules.lasting_facts import lasting
from pieria.models.minds.rules.lessons import lessons
from pieria.models.minds.rules.merge import merged_intent, merged_statements
from pieria.models.minds.rules.notice import noticed
from pieria.models.minds.rules.procedures import procedures_of, returns_of
from pieria.models.minds.rules.signs import Embed
from pieria.models.minds.rules.steps import reward_of, state_after, subgoal_of
from pieria.models.minds.rules.summary import summarized


class RuleMind:
    """Judges by rules. Its own rules raise nothing: without a result they return an empty one, or 0.5 for a reward.

    `namer` finds names instead of the rules; `embed` returns unit vectors, and adds meaning to the detection of new
    topics. Both may raise. `profile` names a built-in profile: facts and procedures are kept to fit its work.
    """

    guesses_modes = True
    """The mode of a query is a guess from its words, so a search may try other modes, too."""
    repeats = True
    """A synthesis repeats the candidates, even if they do not answer the query. The caller must filter them."""

    def __init__(self, namer: Namer = named, embed: Embed | None = None, *, profile: str | None = None) -> None:
        self._namer = namer
        self._embed = embed
        self._emphasis = Emphasis(profile)

    def embedding(self, embed: Embed) -> Self:
        """Return a copy that uses `embed`, or this mind if it has one already."""
        if self._embed is not None:
            return self
        made = copy(self)
        made._embed = embed
        return made

    @property
    def name(self) -> str:
        return "rules"

    def state(self, goal: str, observation: str, *, before: str | None = None, action: str | None = None) -> str:
        return state_after(goal, observation, before, action)

    def subgoal(
        self, goal: str, state: str | None, observation: str, action: str, *, before: Sequence[StepSeen] = ()
    ) -> str:
        return subgoal_of(goal, state, observation, action, before, self._embed)

    def reward(self, subgoal: str, observation: str, action: str, outcome: str) -> float:
        return reward_of(subgoal, observation, action, outcome)

    def propositions(self, goal: str, steps: Sequence[StepSeen]) -> list[Proposition]:
        return lasting(goal, steps, self._emphasis)

    def procedures(self, goal: str, steps: Sequence[StepSeen]) -> list[Procedure]:
        return procedures_of(goal, steps, self._emphasis)

    def returns(self, goal: str, steps: Sequence[StepSeen], procedures: Sequence[Procedure]) -> list[float]:
        return returns_of(goal, steps, procedures)

    def mode(self, query: str) -> Mode:
        return mode_of(query)

    def plan(self, query: str, mode: Mode) -> list[str]:
        return tags_of(query, mode)

    def refine(self, query: str, found: Sequence[Found]) -> list[str]:
        return missing(query, found)

    def synthesize(self, query: str, what: Knowledge, found: Sequence[Found]) -> str:
        return answer(query, what, found)

    def merge_intent(self, held: str, new: str) -> str:
        return merged_intent(held, new)

    def merge_statements(self, statements: Sequence[Said]) -> str:
        return merged_statements(statements)

    def summarize(self, said: Sequence[Said], words: int = 120) -> str:
        return summarized(said, words)

    def notice(self, tasks: Sequence[Task]) -> list[Noticed]:
        return noticed(tasks)

    def lessons(self, mended: Sequence[Mended], told: Sequence[Told]) -> list[Lesson]:
        return lessons(mended, told)

    def entities(self, text: str) -> list[Named]:
        return self._namer(text)

    def triples(self, text: str) -> list[Triple]:
        return triples(text)
