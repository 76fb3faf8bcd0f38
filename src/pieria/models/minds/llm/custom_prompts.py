"""Prompts of the user's own: an object in place of what we ask in a step, and of how its reply is read.

What it is told, and the shape of what it must return, is that of the step; what is done with it belongs to `asking`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pieria.errors import InputError, PieriaError, PromptError
from pieria.models.llm import Message, checked_messages
from pieria.models.minds.llm.prompt import STEPS, Prompt
from pieria.models.minds.llm.reply_schema import replied
from pieria.models.minds.llm.truncation import Listed
from pieria.models.minds.llm.unknown import unknown

METHODS = ("build_messages", "parse_response")


class OwnPrompt(Protocol):
    """Where it has a `schema` as well, a mapping or a method that returns one, the model is held to that.

    Errors of its own are told as those of the step.
    """

    def build_messages(self, variables: Mapping[str, Any]) -> Sequence[Message]:
        """The messages that are sent. `variables` are the data of the step by name; what is not known is None."""

    def parse_response(self, response: Any) -> Any:
        """What the reply means, as the step's own reply would say it: a text, or with a schema what JSON can hold."""


def checked_prompts(prompts: object) -> dict[str, OwnPrompt]:
    """By step; anything else is refused."""
    if not isinstance(prompts, Mapping):
        raise InputError("prompts", "a mapping of steps to prompts", prompts)
    for step, own in prompts.items():
        if step not in STEPS:
            raise unknown("prompts", step, STEPS)
        if not all(callable(getattr(own, name, None)) for name in METHODS):
            raise InputError(f"prompts.{step}", "an object with the methods " + " and ".join(METHODS), own)
        schema_of(step, own)
    return dict(prompts)


def schema_of(step: str, own: OwnPrompt) -> Mapping[str, Any] | None:
    told = getattr(own, "schema", None)
    schema = _ran(step, "schema", told) if callable(told) else told
    if schema is not None and (not isinstance(schema, Mapping) or not schema):
        raise InputError(f"prompts.{step}.schema", "a JSON Schema, as a mapping, or None", schema)
    return schema


def messages_of(step: str, own: OwnPrompt, data: Mapping[str, Any], added: str) -> list[Message]:
    """What it sends, with what is added to every prompt of the step behind its first system message."""
    variables = {name: list(value.entries) if isinstance(value, Listed) else value for name, value in data.items()}
    built = _ran(step, "build_messages", own.build_messages, variables)
    try:
        messages = checked_messages(built)
    except InputError as problem:
        raise problem.renamed(f"prompts.{step}.build_messages") from problem
    if not added:
        return list(messages)
    system = next((place for place, message in enumerate(messages) if message["role"] == "system"), None)
    if system is None:
        return [{"role": "system", "content": added.strip()}, *messages]
    told = {"role": "system", "content": messages[system]["content"] + added}
    return [*messages[:system], told, *messages[system + 1 :]]


def text_in(asked: Prompt, own: OwnPrompt, content: object) -> str:
    """Of a step that replies in text: a text, a number, or texts as lines."""
    value = _ran(asked.step, "parse_response", own.parse_response, content)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise PromptError(asked.step, asked.malformed)
    return value


def object_in(asked: Prompt, own: OwnPrompt, content: object) -> Mapping[str, Any]:
    """Of a step that replies in JSON: the object, or what stands in it under the step's key."""
    value = _ran(asked.step, "parse_response", own.parse_response, content)
    reply = replied(asked, value if isinstance(value, dict) else {asked.key: value})
    if reply.problems:
        raise PromptError(asked.step, reply.reason)
    return reply.value


def _ran(step: str, name: str, method: Any, *given: Any) -> Any:
    try:
        return method(*given)
    except PieriaError:
        raise
    # What a user's own prompt raises is not known here; as the cause it is kept.
    except Exception as problem:
        raise PromptError(step, f"{name} of its prompt failed with {type(problem).__name__}") from problem
