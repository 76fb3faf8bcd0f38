"""What a host states in a call of its own tools: the user's choices, approved plans, reports and to-do lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pieria.models.mind import Deed
from pieria.record.clip import clipped, plain
from pieria.record.event import AgentEvent

QUESTION, PLAN = 200, 4_000
_DONE = frozenset({"completed", "complete", "done", "cancelled", "canceled"})
_ANSWERED = re.compile(r'"((?:\\.|[^"\\])*)"\s*=\s*"((?:\\.|[^"\\])*)"')
_REFUSED = re.compile(r"\b(?:reject|refus|declin|denied|doesn't want|does not want|stay in plan)", re.IGNORECASE)


def stated_deeds(kind: str, event: AgentEvent) -> list[Deed]:
    """Return the deeds of a call of the kind `ask`, `plan` or `report`."""
    if kind == "ask":
        return list(_choices(event))
    if kind == "plan":
        given = _first(event.input, ("plan", "text"))
        # Without a plan among the arguments, the text is the plan that a person approved.
        refused = event.failed or (given and _REFUSED.search(event.text))
        plan = plain(given or event.text)[:PLAN].strip()
        return [Deed("planned", "a plan", plan)] if plan and not refused else []
    target = clipped(_first(event.input, ("description", "prompt")), QUESTION) or "a task"
    return [Deed("reported", target, plain(event.text), event.failed)] if event.text.strip() else []


def to_dos(event: AgentEvent) -> list[tuple[str, bool]]:
    """Return the items of a to-do list and whether each is done."""
    held = next((value for name in ("todos", "plan", "items") if isinstance(value := event.input.get(name), list)), [])
    found = []
    for item in held:
        said = item if isinstance(item, Mapping) else {"content": item}
        text = _first(said, ("content", "step", "description", "text"))
        if text.strip():
            found.append((clipped(plain(text), QUESTION), str(said.get("status")) in _DONE))
    return found


def _choices(event: AgentEvent) -> Iterator[Deed]:
    """Yield each question with the user's choice, its description, and what the user typed."""
    answers = {_unquoted(question): _unquoted(answer) for question, answer in _ANSWERED.findall(event.text)}
    for question in _questions(event.input):
        said = _first(question, ("question", "header"))
        # Only the hook says whether the person typed the answer: else it may be one of the agent's arguments.
        answer = (_first(question, ("answer",)) if "typed" in question else "") or answers.get(said, "")
        if not said or not answer.strip():
            continue
        options = dict(_options(question.get("options")))
        taken = [label for label in options if label in (answer, *answer.split(", "))]
        chosen = "; ".join(f"{label}: {options[label]}" if options[label] else label for label in taken) or answer
        note = _first(question, ("note",))
        left = tuple(plain(label) for label in options if label not in taken) if taken else ()
        detail = plain(f"{chosen}. {note}" if note else chosen)
        yield Deed("chosen", clipped(plain(said), QUESTION), detail, others=left)


def _options(held: object) -> Iterator[tuple[str, str]]:
    """Yield the labels of the options with their descriptions."""
    for option in held if isinstance(held, list) else ():
        if isinstance(option, str):
            yield option, ""
        elif isinstance(option, Mapping) and _first(option, ("label",)):
            yield _first(option, ("label",)), _first(option, ("description",))


def _questions(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    held = given.get("questions")
    asked = [each for each in held if isinstance(each, Mapping)] if isinstance(held, list) else []
    return asked or [given]


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str)), "")


def _unquoted(text: str) -> str:
    return text.replace('\\"', '"')
