"""The agent's tools as Hermes lists them, and the replies to their calls."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from pieria.errors import NotFoundError, PieriaError
from pieria.toolsets import Host, called, registry

TOOLSET = "mnemosyne"
CHOSEN = registry().only(TOOLSET)
NAMES = tuple(CHOSEN.names)
_SENTENCE = re.compile(r"(?<=\.)\s+")


def instructions(names: Collection[str]) -> str:
    """Return the toolset's instructions, without sentences about tools that are not in `names`."""
    kept = []
    for sentence in _SENTENCE.split(CHOSEN.toolsets[TOOLSET].instructions):
        if all(name in names for name in NAMES if re.search(rf"\b{name}\b", sentence)):
            kept.append(sentence)
    return " ".join(kept)


def schemas(names: Collection[str]) -> list[dict[str, Any]]:
    return [
        {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)}
        for _, tool in CHOSEN
        if tool.name in names
    ]


def answer(name: str, arguments: object, host: Host, names: Collection[str]) -> str:
    """Return the reply as JSON, also for an error."""
    try:
        _, tool = CHOSEN.found(name)
        if tool.name not in names:
            raise NotFoundError("tool", name, hint=f"The option tools of pieria.json allows {', '.join(names)}.")
        return called(CHOSEN, name, {} if arguments is None else arguments, host).text
    except PieriaError as problem:
        return refusal(problem)


def refusal(problem: PieriaError) -> str:
    """Return an error reply as JSON."""
    told: Mapping[str, Any] = {"status": "error", "error": problem.as_dict()}
    return json.dumps(told, ensure_ascii=False)
