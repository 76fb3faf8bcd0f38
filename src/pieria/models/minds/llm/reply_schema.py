"""Checks a JSON reply against its schema, and describes problems without quoting the reply.

`reply_values` converts valid replies.
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
"""Problems listed in a repair message. Further ones show up in the next check."""
QUOTED = 4_000
"""Characters of a reply that a repair message shows."""


@dataclass(frozen=True, slots=True)
class Reply:
    """`value` is valid if there are no `problems`; else `reason` is the reason of the error."""

    value: Mapping[str, Any]
    problems: tuple[str, ...]
    reason: str


def replied(prompt: Prompt, content: object) -> Reply:
    """Check a reply to a JSON step: an object, or the JSON text of one."""
    try:
        value = parsed(content) if isinstance(content, str) else content
        problems = tuple(dict.fromkeys(_problems(prompt, value)))
    # Not JSON, nested too deeply, or a number with thousands of digits.
    except ValueError:
        value, problems = None, ("$: expected a JSON object that keeps to the schema",)
    is_empty = not value if not isinstance(content, str) else not content.strip()
    is_missing = isinstance(value, dict) and value.get(prompt.key) in (None, [])
    reason = prompt.nothing if is_empty or is_missing else prompt.malformed
    return Reply(value if isinstance(value, dict) else {}, problems, reason)


def quoted(content: object) -> str:
    """Return the reply as a repair message shows it."""
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
    """Describe a problem in words of ours and the schema's: a reply may contain injected instructions."""
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{error.json_path}: lacks {', '.join(missing)}"
    wanted = error.validator_value
    return f"{error.json_path}: expected {' or '.join(wanted) if isinstance(wanted, list) else wanted}"
