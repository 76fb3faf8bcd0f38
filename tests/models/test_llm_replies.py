"""For any JSON from a model, a step returns the promised value or fails with the promised error."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.prompt_cases import CASES
from tests.models.scripted import Scripted

from pieria.errors import PromptError
from pieria.language.grammar import Named, Triple
from pieria.models.mind import NOTICED, TITLE, Lesson, Mode, Noticed, Procedure, Proposition
from pieria.models.minds.llm import LLMMind

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["Ada Lovelace", "Acme", "2021", "mixed", "0.5", 10**400])
)
names = st.text(max_size=4) | st.sampled_from(["facts", "proposition", "scores", "index", "statement", "steps"])
anything = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4))


def like(value: Any) -> st.SearchStrategy[Any]:
    """Return replies near the given one, with other or missing values in some places."""
    if isinstance(value, dict):
        near: st.SearchStrategy[Any] = st.fixed_dictionaries(
            {}, optional={key: like(held) for key, held in value.items()}
        )
    elif isinstance(value, list):
        near = st.lists(like(value[0]), max_size=4)
    else:
        near = st.just(value)
    return near | near | near | near | anything


def is_text(given: Any) -> bool:
    return isinstance(given, str) and given == given.strip() != "" and given.encode() is not None


def is_share(given: Any) -> bool:
    return type(given) is float and math.isfinite(given) and 0 <= given <= 1


def all_of(check: Callable[[Any], bool], least: int = 0) -> Callable[[Any], bool]:
    return lambda given: isinstance(given, list) and len(given) >= least and all(map(check, given))


def is_proposition(given: Any) -> bool:
    return (
        isinstance(given, Proposition)
        and is_text(given.text)
        and isinstance(given.concepts, tuple)
        and all(map(is_text, given.concepts))
        and is_share(given.confidence)
    )


def is_procedure(given: Any) -> bool:
    parts = (given.intent, given.condition, given.expected_outcome)
    return isinstance(given, Procedure) and is_text(given.instruction) and all(isinstance(part, str) for part in parts)


def is_triple(given: Any) -> bool:
    times = (given.since, given.until)
    return (
        isinstance(given, Triple)
        and all(map(is_text, (given.subject, given.predicate, given.object)))
        and is_share(given.confidence)
        and all(time is None or is_text(time) for time in times)
    )


def is_noticed(given: Any) -> bool:
    return (
        isinstance(given, Noticed)
        and given.type in NOTICED
        and is_text(given.title)
        and len(given.title) <= TITLE
        and is_text(given.text)
        and given.task in (0, 1)
        and all(map(is_text, given.concepts))
    )


def is_lesson(given: Any) -> bool:
    return (
        isinstance(given, Lesson)
        and given.type in ("procedure", "rule")
        and given.of == 0
        and is_text(given.text)
        and is_share(given.confidence)
        and all(isinstance(part, str) for part in (given.condition, given.expected, given.quote))
    )


PROMISED: dict[str, Callable[[Any], bool]] = {
    "get_state": is_text,
    "get_subgoal": is_text,
    "get_reward": is_share,
    "get_semantic": all_of(is_proposition),
    "get_procedural": all_of(is_procedure),
    "get_return": lambda given: all_of(is_share)(given) and len(given) == 2,
    "get_mode": lambda given: given in get_args(Mode),
    "get_plan": all_of(is_text, 1),
    "get_refined_query": all_of(is_text),
    "reason_episodic": is_text,
    "reason_semantic": is_text,
    "reason_procedural": is_text,
    "merge_intent": is_text,
    "merge_statements": is_text,
    "summarize": is_text,
    "notice": all_of(is_noticed),
    "lessons": all_of(is_lesson),
    "entities": all_of(lambda given: isinstance(given, Named) and is_text(given.name) and is_text(given.kind)),
    "triples": all_of(is_triple),
}


def test_every_step_promises_something() -> None:
    assert set(PROMISED) == set(CASES)


@given(data=st.data())
@settings(max_examples=settings.default.max_examples * 6)
def test_any_reply_gives_a_promised_value_or_a_prompt_error(data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(sorted(CASES)))
    replies = [data.draw(like(CASES[step].reply)) for _ in range(2)]
    if data.draw(st.booleans()):
        replies = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    try:
        given = CASES[step].ask(LLMMind(Scripted(*replies)))
    except PromptError as failure:
        assert failure.prompt == step
        assert failure.reason in PromptError.reasons
    else:
        assert PROMISED[step](given), given
