"""The mind: it chooses the step for each judgement, passes its data and converts the reply.

It has no access to a store, a file or a tool. A model's reply can change nothing but the returned judgement.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeVar, get_args

from pieria.errors import InputError, PromptError
from pieria.language import entities
from pieria.language.grammar import Named, Triple
from pieria.models.llm import LLM
from pieria.models.meter import Meter
from pieria.models.mind import (
    NOTICED,
    TITLE,
    Deed,
    Found,
    Judgement,
    Knowledge,
    Lesson,
    Mended,
    Mode,
    Noticed,
    Procedure,
    Proposition,
    Said,
    StepSeen,
    Task,
    Told,
)
from pieria.models.minds.llm import replies as reading
from pieria.models.minds.llm.prompt import STEPS, prompt
from pieria.models.minds.llm.request import Asker, Datum, Override, OwnPrompt, checked_prompts, model_of
from pieria.models.minds.llm.truncation import Listed, cut
from pieria.record.clip import clipped

log = logging.getLogger(__name__)
T = TypeVar("T")

FACTS, CONCEPTS, PROCEDURES = 50, 20, 30
TAGS, TERMS = 20, 10
ENTITIES, TRIPLES = 200, 200
NOTES, NARRATIVE, LESSONS, SENTENCE = 100, 4_000, 50, 600
"""Limits of a reply: items per list, characters of a narrative, and characters of each part of a lesson."""
DONE = 60
"""The latest deeds of a task that are shown."""
CANDIDATES, GLANCE, GRADED, TASK_TEXT = 20, 200, 200, 500
"""Candidates shown for a refinement, characters of each, of the texts of a step when procedures are graded, and of a
task's lesser texts."""
NEUTRAL = 0.5
"""The reward when none is known."""
KINDS = (*entities.KINDS, "technology", "date", "person", "place")


class LLMMind:
    """Judges with a chat model, one prompt per step. `Mind` documents the methods.

    `overrides` gives a step, or a group of steps, another model or further options. `overlays` adds text to the system
    message of a step, `domain` to all of them. `prompts` replaces prompts by step. `meter` is called before and after
    every model call.
    """

    def __init__(
        self,
        llm: LLM,
        *,
        overrides: Mapping[str, Override] | None = None,
        overlays: Mapping[str, str] | None = None,
        domain: str | None = None,
        prompts: Mapping[str, OwnPrompt] | None = None,
        meter: Meter | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._ask = Asker(
            llm,
            overrides=overrides or {},
            overlays=overlays or {},
            domain=domain,
            prompts=checked_prompts(prompts or {}),
            meter=meter,
            clock=clock,
        )
        self._name = model_of(llm)

    @property
    def name(self) -> str:
        return self._name

    @property
    def versions(self) -> dict[str, str]:
        """The version of each step's prompt: the shared version, a dot, and its own."""
        return {step: prompt(step).version for step in STEPS}

    @property
    def seconds(self) -> float:
        """The time that a model has for one answer."""
        return self._ask.seconds

    # --- the steps of an episode

    @property
    def judges_together(self) -> bool:
        """Whether `judge_steps` has the model and the prompts of the three steps below."""
        return self._ask.judges_together

    def judge_steps(
        self, goal: str, steps: Sequence[StepSeen], *, before: StepSeen | None = None, after: str | None = None
    ) -> list[Judgement]:
        """Return a judgement for each step. A step that the reply leaves out gets an empty one."""
        if not steps:
            return []
        data: dict[str, Datum] = {
            "goal": goal,
            "state": before.state if before else None,
            "held": before.subgoal if before else None,
            "steps": Listed(
                [{"step": n, "observed": one.observation, "action": one.action} for n, one in enumerate(steps, 1)],
                "steps",
            ),
            "outcome": after,
        }
        count, key = len(steps), "step"
        reply = self._ask.structured(
            "judge_steps", data, lambda reply: reading.numbering_problems(reply, "steps", key, count)
        )
        found = reading.by_number(reply["steps"], key, count)
        judged = [_judgement(found[place]) if place in found else Judgement() for place in range(count)]
        return judged if after is not None else [*judged[:-1], replace(judged[-1], reward=None)]

    def state(self, goal: str, observation: str, *, before: str | None = None, action: str | None = None) -> str:
        data: dict[str, Datum] = {"goal": goal, "before": before, "action": action, "observation": observation}
        return self._ask.text("get_state", data)

    def subgoal(
        self, goal: str, state: str | None, observation: str, action: str, *, before: Sequence[StepSeen] = ()
    ) -> str:
        held = before[-1].subgoal if before else None
        data: dict[str, Datum] = {
            "goal": goal,
            "held": held,
            "state": state,
            "observation": observation,
            "action": action,
        }
        return _filled("get_subgoal", self._ask.structured("get_subgoal", data)["subgoal"])

    def reward(self, subgoal: str, observation: str, action: str, outcome: str) -> float:
        data: dict[str, Datum] = {"subgoal": subgoal, "observation": observation, "action": action, "outcome": outcome}
        number = reading.leading_number(self._ask.text("get_reward", data))
        if number is None:
            raise PromptError("get_reward", "invalid_float")
        return number

    # --- from an episode to knowledge

    def propositions(self, goal: str, steps: Sequence[StepSeen]) -> list[Proposition]:
        step = "get_semantic"
        reply = self._ask.structured(step, {"goal": goal, "steps": _steps(steps)})
        return [
            Proposition(text, _concepts(fact), _confidence(fact), reading.places(fact.get("steps"), len(steps)))
            for fact in reading.bounded(step, reply["facts"], FACTS)
            if (text := reading.tidy(fact["proposition"]))
        ]

    def procedures(self, goal: str, steps: Sequence[StepSeen]) -> list[Procedure]:
        step = "get_procedural"
        reply = self._ask.structured(step, {"goal": goal, "steps": _steps(steps)})
        names = ("intent", "condition", "instruction", "expected_outcome")
        found = [
            Procedure(
                **{name: reading.tidy(item[name]) for name in names},
                steps=reading.places(item.get("steps"), len(steps)),
            )
            for item in reading.bounded(step, reply["instructions"], PROCEDURES)
        ]
        return [procedure for procedure in found if procedure.instruction]

    def returns(self, goal: str, steps: Sequence[StepSeen], procedures: Sequence[Procedure]) -> list[float]:
        """Return the grades. A procedure still ungraded after a second request gets the mean reward of the steps."""
        if not procedures:
            return []
        data: dict[str, Datum] = {
            "goal": goal,
            "steps": _graded_steps(steps, procedures),
            "procedures": _prescriptions(procedures),
        }
        count = len(procedures)

        def ungraded(reply: Mapping[str, Any]) -> list[str]:
            return reading.numbering_problems(reply, "scores", "index", count) if reply["scores"] else []

        grades = _grades(self._ask.structured("get_return", data, ungraded), count)
        if not grades:
            raise PromptError("get_return", "no_scores_extracted")
        rewards = [step.reward for step in steps if step.reward is not None]
        mean = round(sum(rewards) / len(rewards), 4) if rewards else NEUTRAL
        return [grades.get(index, mean) for index in range(count)]

    # --- a question

    def mode(self, query: str) -> Mode:
        mode = reading.MODES.get(self._ask.text("get_mode", {"query": query}).lower())
        if mode is None:
            raise PromptError("get_mode", "invalid_mode")
        return mode

    def plan(self, query: str, mode: Mode) -> list[str]:
        _check_among("mode", mode, tuple(reading.MODES))
        text = self._ask.text("get_plan", {"query": query, "mode": mode})
        return reading.bounded("get_plan", reading.lines(text), TAGS)

    def refine(self, query: str, found: Sequence[Found]) -> list[str]:
        shown = [{"kind": one.kind, "hop": one.hop, "text": cut(one.text, GLANCE), "at": one.at} for one in found]
        data: dict[str, Datum] = {
            "query": query,
            "found": Listed(shown, "candidates", oldest_first=False, most=CANDIDATES),
        }
        reply = self._ask.structured("get_refined_query", data)
        return reading.bounded("get_refined_query", reading.tidied(reply["tags"]), TERMS)

    def synthesize(self, query: str, what: Knowledge, found: Sequence[Found]) -> str:
        _check_among("what", what, get_args(Knowledge))
        step = f"reason_{what}"
        shown = [{"n": n, "at": one.at, "text": one.text} | _judged(what, one) for n, one in enumerate(found, start=1)]
        data: dict[str, Datum] = {"query": query, "found": Listed(shown, "candidates", oldest_first=False)}
        return _filled(step, self._ask.structured(step, data)["information"])

    # --- keeping

    def merge_intent(self, held: str, new: str) -> str:
        reply = self._ask.structured("merge_intent", {"held": held, "new": new})
        return _filled("merge_intent", reply["merged_intent"])

    def merge_statements(self, statements: Sequence[Said]) -> str:
        reply = self._ask.structured("merge_statements", {"statements": _told(statements, "statements")})
        return _filled("merge_statements", reply["statement"])

    def summarize(self, said: Sequence[Said], words: int = 120) -> str:
        if words < 1:
            raise InputError("words", "a whole number from 1", words)
        data: dict[str, Datum] = {"said": _told(said, "texts"), "words": str(words)}
        return reading.within_words(self._ask.text("summarize", data), words)

    def notice(self, tasks: Sequence[Task]) -> list[Noticed]:
        """Return notes on tasks. Page contents are not shown: an author of a page must not influence the notes."""
        if not tasks:
            return []
        step = "notice"
        reply = self._ask.structured(step, {"tasks": _worked(tasks)})
        return [
            Noticed(
                type=item.get("type") if item.get("type") in NOTICED else "change",
                title=clipped(title, TITLE),
                text=cut(text, NARRATIVE),
                task=item["task"] - 1,
                concepts=_concepts(item, step),
            )
            for item in reading.bounded(step, reply["notes"], NOTES)
            if 1 <= item["task"] <= len(tasks)
            and (title := reading.tidy(item["title"]))
            and (text := reading.tidy(item["narrative"]))
        ]

    def lessons(self, mended: Sequence[Mended], told: Sequence[Told]) -> list[Lesson]:
        """Return lessons. The caller must check that they rest on the evidence."""
        if not mended and not told:
            return []
        step = "lessons"
        reply = self._ask.structured(step, {"mended": _pairs(mended), "said": _sayings(told)})
        return [
            Lesson(
                item["type"],
                item["of"] - 1,
                text,
                condition=_part(item, "condition"),
                expected=_part(item, "expected_outcome"),
                quote=_part(item, "quote"),
                confidence=_confidence(item),
            )
            for item in reading.bounded(step, reply["lessons"], LESSONS)
            if (text := _part(item, "instruction"))
            and 1 <= item["of"] <= len(mended if item["type"] == "procedure" else told)
        ]

    # --- a text

    def entities(self, text: str) -> list[Named]:
        """Return things whose names occur in the text. An unknown kind becomes `name`."""
        if not text.strip():
            return []
        listed = self._ask.structured("entities", {"text": text})["entities"]
        named = [
            Named(reading.tidy(item["name"]), kind if (kind := item.get("kind")) in KINDS else "name")
            for item in reading.bounded("entities", listed, ENTITIES)
        ]
        return _spelt("entities", text, dict.fromkeys(named), lambda one: (one.name,))

    def triples(self, text: str) -> list[Triple]:
        """Return triples whose subject and object occur in the text. Times that do not occur are left out."""
        if not text.strip():
            return []
        listed = reading.bounded("triples", self._ask.structured("triples", {"text": text})["triples"], TRIPLES)
        whole = reading.spelt_in(text)
        made = [
            Triple(
                subject=reading.tidy(item["subject"]),
                predicate=re.sub(r"\W+", "_", reading.tidy(item["predicate"]).lower()).strip("_"),
                object=reading.tidy(item["object"]),
                confidence=_confidence(item),
                since=_time(item.get("since"), whole),
                until=_time(item.get("until"), whole),
            )
            for item in listed
        ]
        stated = dict.fromkeys(triple for triple in made if triple.predicate)
        return _spelt("triples", text, stated, lambda one: (one.subject, one.object))


def _check_among(parameter: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise InputError(parameter, f"one of {', '.join(known)}", word)


# --- data for prompts


def _steps(steps: Sequence[StepSeen]) -> Listed:
    shown = [
        {"step": n, "observed": step.observation, "action": step.action, "reward": step.reward}
        for n, step in enumerate(steps, start=1)
    ]
    return Listed(shown, "steps")


def _graded_steps(steps: Sequence[StepSeen], procedures: Sequence[Procedure]) -> Listed:
    """Show the steps that the procedures name, each with the step that shows its outcome; all, if one names none."""
    named = {place + later for procedure in procedures for place in procedure.steps for later in (0, 1)}
    is_whole = any(not procedure.steps for procedure in procedures)
    shown = [
        {
            "step": n,
            "state": step.state,
            "observed": cut(step.observation, GRADED),
            "action": cut(step.action, GRADED),
            "reward": step.reward,
        }
        for n, step in enumerate(steps, start=1)
        if is_whole or n - 1 in named
    ]
    return Listed(shown, "steps")


def _prescriptions(procedures: Sequence[Procedure]) -> Listed:
    shown = [
        {
            "index": index,
            "intent": procedure.intent,
            "instruction": procedure.instruction,
            "condition": procedure.condition,
            "expected_outcome": procedure.expected_outcome,
            "steps": [place + 1 for place in procedure.steps] or None,
        }
        for index, procedure in enumerate(procedures, start=1)
    ]
    return Listed(shown, "prescriptions", oldest_first=False)


def _told(said: Sequence[Said], nouns: str) -> Listed:
    return Listed([{"n": n, "by": one.author, "at": one.at, "text": one.text} for n, one in enumerate(said, 1)], nouns)


def _worked(tasks: Sequence[Task]) -> Listed:
    shown = [
        {
            "task": n,
            "asked": task.asked or None,
            "said before": cut(task.before, TASK_TEXT) or None,
            "did": "\n".join(_done(deed, task) for deed in task.deeds[-DONE:]) or None,
            "said on the way": "\n".join(cut(reply.text, TASK_TEXT) for reply in task.replies[:-1]) or None,
            "said in the end": task.replied or None,
            "left open": "\n".join(task.left) or None,
        }
        for n, task in enumerate(tasks, start=1)
    ]
    return Listed(shown, "tasks")


def _pairs(mended: Sequence[Mended]) -> Listed:
    shown = [
        {
            "of": n,
            "failed": one.failed,
            "error": one.error,
            "then": "\n".join(one.steps) or None,
            "went well": one.passed,
        }
        for n, one in enumerate(mended, start=1)
    ]
    return Listed(shown, "failures")


def _sayings(told: Sequence[Told]) -> Listed:
    shown = [
        {"of": n, "said": one.said, "had done": "\n".join(one.acts) or None, "had said": one.before or None}
        for n, one in enumerate(told, start=1)
    ]
    return Listed(shown, "sayings")


def _part(item: Mapping[str, Any], name: str) -> str:
    told = item.get(name)
    return cut(reading.tidy(told), SENTENCE) if isinstance(told, str) else ""


def _done(deed: Deed, task: Task) -> str:
    """Return a line on a deed, without words of a page: a sub-agent's report may have them."""
    is_page = deed.what == "fetched" or (deed.what == "reported" and task.is_outside)
    detail = "" if is_page else deed.detail
    outcome = "" if deed.failed is None or deed.what != "ran" else " failed" if deed.failed else " went well"
    undone = ", and took it back later" if deed.undone else ""
    times = f", {deed.times} times" if deed.times > 1 else ""
    return cut(f"{deed.what} {deed.target}{outcome}{f': {detail}' if detail else ''}{undone}{times}", TASK_TEXT)


def _judged(what: Knowledge, found: Found) -> dict[str, object]:
    """Return the score under its name for this kind of knowledge."""
    if what == "semantic":
        return {"confidence": found.score}
    if what == "procedural":
        return {"return": "N/A" if found.score is None else f"{found.score:.2f}"}
    return {}


# --- values of replies


def _filled(step: str, text: str) -> str:
    if filled := reading.tidy(text):
        return filled
    raise PromptError(step, prompt(step).nothing)


def _concepts(fact: Mapping[str, Any], step: str = "get_semantic") -> tuple[str, ...]:
    named = fact.get("concepts")
    return tuple(reading.bounded(step, reading.tidied(named if isinstance(named, list) else ()), CONCEPTS))


def _judgement(item: Mapping[str, Any]) -> Judgement:
    state, subgoal, reward = item.get("state"), item.get("subgoal"), item.get("reward")
    return Judgement(
        (reading.tidy(state) or None) if isinstance(state, str) else None,
        (reading.tidy(subgoal) or None) if isinstance(subgoal, str) else None,
        reading.share(reward),
    )


def _confidence(item: Mapping[str, Any]) -> float:
    return reading.confidence(item.get("confidence"))


def _grades(reply: Mapping[str, Any], count: int) -> dict[int, float]:
    """Return the grades by place, from 0."""
    found = reading.by_number(reply["scores"], "index", count)
    return {place: reading.graded(score["return_score"]) for place, score in found.items()}


def _time(told: object, whole: str) -> str | None:
    text = reading.tidy(told) if isinstance(told, str) else ""
    return text if text and reading.spelt_in(text) in whole else None


def _spelt(step: str, text: str, made: Iterable[T], names: Callable[[T], tuple[str, ...]]) -> list[T]:
    """Return the items whose names occur in the text; a model may invent others."""
    whole = reading.spelt_in(text)
    all_made = list(made)
    kept = [one for one in all_made if all((name := reading.spelt_in(part)) and name in whole for part in names(one))]
    if len(kept) < len(all_made):
        log.warning("%s: %d items name what the text does not; they were left out", step, len(all_made) - len(kept))
    return kept
