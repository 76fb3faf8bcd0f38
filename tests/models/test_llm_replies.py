"""For any JSON from a model, a step returns the promised value or fails with the promised error."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.prompt_cases import CASES
from tests.models.scripted import Scripted

from pieria.errors import PromptError
from pieria.language.grammar import Named, Triple
from pieria.models.mind import NOTICED, TITLE, Judgement, Lesson, Mode, Noticed, Procedure, Proposition
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


MAY_BE_BLANK = {"intent", "condition", "expected_outcome", "expected", "quote"}
PROMISED: dict[str, type] = dict.fromkeys(CASES, str) | {
    **{"get_reward": float, "get_return": float, "entities": Named, "triples": Triple},
    **{"get_semantic": Proposition, "get_procedural": Procedure, "notice": Noticed, "lessons": Lesson},
    "judge_steps": Judgement,
}
"""The type of the value, or of each entry of the list."""


def is_sound(given: Any) -> bool:
    """Return whether all texts are clean and filled, and all numbers are shares or places."""
    if isinstance(given, str):
        return given == given.strip() != "" and given.encode() is not None
    if isinstance(given, float):
        return math.isfinite(given) and 0 <= given <= 1
    if isinstance(given, list | tuple):
        return all(map(is_sound, given))
    if is_dataclass(given):
        values = {field.name: getattr(given, field.name) for field in fields(given)}
        return all((value == "" and name in MAY_BE_BLANK) or is_sound(value) for name, value in values.items())
    return given is None or (type(given) is int and given >= 0)


def check(step: str, given: Any) -> None:
    assert isinstance(given, list) == isinstance(CASES[step].means, list)
    entries = given if isinstance(given, list) else [given]
    assert all(type(entry) is PROMISED[step] and is_sound(entry) for entry in entries)
    if step == "get_return":
        assert len(given) == 2
    elif step == "judge_steps":
        assert len(given) == 3
    elif step == "get_mode":
        assert given in get_args(Mode)
    elif step == "get_plan":
        assert given
    elif step == "notice":
        assert all(one.type in NOTICED and len(one.title) <= TITLE and one.task in (0, 1) for one in given)
    elif step == "lessons":
        assert all(one.type in ("procedure", "rule") and one.of == 0 for one in given)


@given(data=st.data())
@settings(max_examples=6 * settings().max_examples)
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
        check(step, given)
