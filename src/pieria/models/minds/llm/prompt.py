"""The prompts as data: one file per step in `prompts/`, and `shared.toml` for all steps.

A file has the instructions, the data slots and the reply format of a step. `request` handles invalid replies.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from pieria.errors import InputError

_SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for data in the user message. Without data it shows `absent`, or is left out.

    Data is fenced, unless it is `ours`: a number or a word of a fixed list.
    """

    name: str
    label: str
    absent: str | None = None
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one step. `key` is the main field of the reply; `nothing` and `malformed` are reasons of errors.

    The model is held to `schema`. `accepted` is a looser schema to check replies: it allows further members, and leaves
    out members that code repairs. Both are None for a text step.
    """

    step: str
    group: str
    version: str
    system: str
    closing: str
    slots: tuple[Slot, ...]
    nothing: str
    malformed: str
    key: str
    schema: Mapping[str, Any] | None
    accepted: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Shared:
    """`rule` ends every system message; `repair` begins the message that asks for a better reply."""

    version: int
    rule: str
    domain: str
    repair: str


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "prompts" / f"{name}.toml").read_text("utf-8"))


@cache
def shared() -> Shared:
    read = _read(_SHARED)
    return Shared(read["version"], read["rule"].strip(), read["domain"].strip(), read["repair"].strip())


@cache
def prompt(step: str) -> Prompt:
    """Return the prompt of one of `STEPS`."""
    read = _read(step)
    reply = read["reply"]
    schema = read.get("schema")
    return Prompt(
        step=step,
        group=_GROUP_OF[step],
        version=f"{shared().version}.{read['version']}",
        system=f"{read['system'].strip()}\n\n{shared().rule}",
        closing=read["closing"].strip(),
        slots=tuple(Slot(**slot) for slot in read["slots"]),
        nothing=reply["nothing"],
        malformed=reply.get("malformed", reply["nothing"]),
        key=reply.get("key", ""),
        schema=schema,
        accepted=None if schema is None else _accepting(schema, frozenset(reply.get("mended", ()))),
    )


def _accepting(schema: Mapping[str, Any], mended: frozenset[str]) -> dict[str, Any]:
    accepted = {name: value for name, value in schema.items() if name != "additionalProperties"}
    if "required" in schema:
        accepted["required"] = [name for name in schema["required"] if name not in mended]
        accepted["properties"] = {
            name: _accepting(inner, mended) for name, inner in schema["properties"].items() if name not in mended
        }
    if "items" in schema:
        accepted["items"] = _accepting(schema["items"], mended)
    return accepted


GROUPS: Mapping[str, tuple[str, ...]] = {
    "episode": ("get_state", "get_subgoal", "get_reward", "judge_steps"),
    "structuring": ("get_semantic", "get_procedural", "get_return"),
    "retrieval": ("get_mode", "get_plan", "get_refined_query"),
    "reasoning": ("reason_episodic", "reason_semantic", "reason_procedural"),
    "intent_merger": ("merge_intent",),
    "keeping": ("merge_statements", "summarize"),
    "texts": ("entities", "triples"),
    "work": ("notice", "lessons"),
}
"""Groups of steps that can share an override."""
TOGETHER: Mapping[str, str] = {"get_state": "state", "get_subgoal": "subgoal", "get_reward": "reward"}
"""The steps that `judge_steps` does for several steps of an episode at once, and the words for them in its prompt."""
_GROUP_OF = {step: group for group, steps in GROUPS.items() for step in steps}
STEPS: tuple[str, ...] = tuple(_GROUP_OF)


def unknown(parameter: str, name: object, known: tuple[str, ...]) -> InputError:
    near = get_close_matches(str(name), known, 1)
    return InputError(parameter, f"one of {', '.join(known)}", name, hint=f"Did you mean {near[0]}?" if near else None)
