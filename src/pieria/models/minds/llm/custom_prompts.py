"""Custom prompts: a user's object that replaces the prompt of a step and the parser of its reply.

It gets the data of the step and must return the step's result. `request` uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pieria.errors import InputError, PieriaError, PromptError
from pieria.models.llm import Message, checked_messages
from pieria.models.minds.llm.prompt import STEPS, Prompt, unknown
from pieria.models.minds.llm.replies import replied
from pieria.models.minds.llm.truncation import Listed

METHODS = ("build_messages", "parse_response")


class OwnPrompt(Protocol):
    """A custom prompt. It may have a `schema`, a mapping or a method that returns one, for the model's reply.

    Its exceptions are reported as errors of the step.
    """

    def build_messages(self, variables: Mapping[str, Any]) -> Sequence[Message]:
        """Return the messages to send. `variables` has the data of the step by name; unknown data is None."""

    def parse_response(self, response: Any) -> Any:
        """Return the reply in the form of the step's own reply: a text, or a JSON value if there is a schema."""


def checked_prompts(prompts: object) -> dict[str, OwnPrompt]:
    """Return the prompts by step. Raises `InputError` for an unknown step or an unsuitable object."""
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
    """Return the prompt's messages, with the text `added` behind the first system message."""
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
    """Return the result of a text step: a text, a number as text, or a list of lines."""
    value = _ran(asked.step, "parse_response", own.parse_response, content)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise PromptError(asked.step, asked.malformed)
    return value


def object_in(asked: Prompt, own: OwnPrompt, content: object) -> Mapping[str, Any]:
    """Return the result of a JSON step: the object, or an object with the value under the step's key."""
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
    # A user's prompt may raise any exception; it is kept as the cause.
    except Exception as problem:
        raise PromptError(step, f"{name} of its prompt failed with {type(problem).__name__}") from problem
