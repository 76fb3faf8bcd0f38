"""Whether a reply in JSON fits its schema, and what is wrong with it, in words that quote nothing of it.

What a fitting reply says belongs to `reading`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pieria.models.minds.llm.prompt import Prompt
from pieria.models.minds.llm.truncation import cut
from pieria.record.json_text import parsed

if TYPE_CHECKING:
    from jsonschema import ValidationError  # type: ignore[import-untyped]

PROBLEMS = 10
"""Named in a turn that asks for a better reply; the rest come to light when these are gone."""
QUOTED = 4_000
"""Characters of a reply that are shown to the model again."""


@dataclass(frozen=True, slots=True)
class Reply:
    """`value` counts where there are no `problems`; `reason` is that of the error otherwise."""

    value: Mapping[str, Any]
    problems: tuple[str, ...]
    reason: str


def replied(prompt: Prompt, content: object) -> Reply:
    """A model's reply to a structured step: an object, or the JSON of one."""
    try:
        value = parsed(content) if isinstance(content, str) else content
        problems = tuple(dict.fromkeys(_problems(prompt, value)))
    # Nested too deeply, a number of thousands of digits, or no JSON at all.
    except ValueError:
        value, problems = None, ("$: expected a JSON object that keeps to the schema",)
    is_empty = not value if not isinstance(content, str) else not content.strip()
    is_missing = isinstance(value, dict) and value.get(prompt.key) in (None, [])
    reason = prompt.nothing if is_empty or is_missing else prompt.malformed
    return Reply(value if isinstance(value, dict) else {}, problems, reason)


def quoted(content: object) -> str:
    """A reply as the model is shown it again."""
    if isinstance(content, str):
        text = content
    else:
        try:
            text = json.dumps(content, ensure_ascii=False)
        except (RecursionError, TypeError, ValueError):
            text = ""
    return cut(text.strip(), QUOTED) or "(no reply that could be read)"


def _problems(prompt: Prompt, value: object) -> Iterator[str]:
    import jsonschema

    validator = jsonschema.Draft202012Validator(prompt.accepted)
    return map(_worded, islice(validator.iter_errors(value), PROBLEMS))


def _worded(error: ValidationError) -> str:
    """Of our own words and the schema's alone: the reply may say what somebody else wants the model to read."""
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{error.json_path}: lacks {', '.join(missing)}"
    wanted = error.validator_value
    return f"{error.json_path}: expected {' or '.join(wanted) if isinstance(wanted, list) else wanted}"
