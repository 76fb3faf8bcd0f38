"""Checks a JSON reply against its schema, and describes problems without quoting the reply.

`reply_values` converts valid replies.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pieria.models.mind import Mode
from pieria.models.minds.llm.prompt import Prompt
from pieria.models.minds.llm.truncation import cut
from pieria.record.json_text import parsed

if TYPE_CHECKING:
    from jsonschema import ValidationError  # type: ignore[import-untyped]

PROBLEMS = 10
"""Problems listed in a repair message. Further ones show up in the next check."""
QUOTED = 4_000
"""Characters of a reply that a repair message shows."""
NAMED = 500
"""Characters of a repair message about missing numbers."""

log = logging.getLogger(__name__)
T = TypeVar("T")

MODES: dict[str, Mode] = {mode: mode for mode in get_args(Mode)}
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_LOWEST, _HIGHEST = 1, 10
"""The range of a grade."""


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


def leading_number(text: str) -> float | None:
    """Return the number at the beginning of the text, limited to 0..1, or None."""
    found = _NUMBER.match(text)
    return min(max(float(found[0]), 0.0), 1.0) if found else None


def lines(text: str) -> list[str]:
    return [line for written in text.splitlines() if (line := written.strip())]


def tidy(text: str) -> str:
    """Return the text without outer whitespace, lone surrogates and NUL, which cannot be stored."""
    return text.encode("utf-8", "replace").decode().replace("\0", "").strip()


def tidied(texts: Iterable[object]) -> list[str]:
    """Return the distinct texts that are not blank. Drops items that are not texts."""
    return list(dict.fromkeys(text for item in texts if isinstance(item, str) and (text := tidy(item))))


def share(number: object) -> float | None:
    """Return the number limited to 0..1, or None for anything else."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return None if isinstance(number, float) and math.isnan(number) else float(min(max(number, 0), 1))


def confidence(number: object) -> float:
    """Return the number limited to 0..1; anything else counts as 1, because the statement was made."""
    told = share(number)
    return 1.0 if told is None else told


def by_number(items: Iterable[Mapping[str, Any]], key: str, count: int) -> dict[int, Mapping[str, Any]]:
    """Return the items by place, from 0; they are numbered from 1.

    An item with a number out of range is left out. The first of two with one number counts.
    """
    found: dict[int, Mapping[str, Any]] = {}
    for item in items:
        if 1 <= item[key] <= count:
            found.setdefault(int(item[key]) - 1, item)
    return found


def numbering_problems(reply: Mapping[str, Any], name: str, key: str, count: int) -> list[str]:
    """Describe the numbers of a list in a reply that are out of range, and those that it lacks."""
    said = [item[key] for item in reply[name]]
    wrong = [f"$.{name}[{n}].{key}: expected 1 to {count}" for n, number in enumerate(said) if not 1 <= number <= count]
    lacking = [str(number) for number in range(1, count + 1) if number not in said]
    if lacking:
        wrong.append(cut(f"$.{name}: lacks the {key} {', '.join(lacking)}", NAMED))
    return wrong[:PROBLEMS]


def places(numbers: object, count: int) -> tuple[int, ...]:
    """Return step numbers, counted from 1, as indices from 0. Drops numbers out of range."""
    listed = numbers if isinstance(numbers, list) else ()
    known = {number - 1 for number in listed if type(number) is int and 1 <= number <= count}
    return tuple(sorted(known))


def graded(grade: int | float) -> float:
    """Return a grade from 1 to 10 as a number from 0 to 1, with four decimals."""
    return round((min(max(grade, _LOWEST), _HIGHEST) - _LOWEST) / (_HIGHEST - _LOWEST), 4)


def bounded(step: str, items: Sequence[T], most: int) -> list[T]:
    """Return the first `most` items, and log if there were more."""
    if len(items) > most:
        log.warning("%s: the reply lists %d items; the first %d were taken", step, len(items), most)
    return list(items[:most])


def within_words(text: str, most: int) -> str:
    """Return at most this many words, with an ellipsis if the text was cut."""
    words = list(re.finditer(r"\S+", text))
    return text if len(words) <= most else f"{text[: words[most - 1].end()]} …"


def spelt_in(text: str) -> str:
    """Return the text in the form for finding names: case-folded, with single spaces."""
    return " ".join(text.casefold().split())
