"""Models by step, parsed from one line such as `structuring=gpt-5, get_reward=gpt-5-nano`."""

from __future__ import annotations

from difflib import get_close_matches

from pieria.errors import InputError
from pieria.models.minds.llm.prompt import GROUPS, STEPS
from pieria.models.minds.llm.request import Override

EXPECTED = "steps and models, such as structuring=gpt-5, get_reward=gpt-5-nano"
KNOWN = (*GROUPS, *STEPS)


def chosen(line: str, parameter: str = "llm_steps") -> dict[str, str]:
    """Return the model of each step or group. All models are of the same server."""
    found: dict[str, str] = {}
    for entry in line.split(","):
        step, equals, model = (part.strip() for part in entry.partition("="))
        if not entry.strip():
            continue
        if not (equals and model):
            raise InputError(parameter, EXPECTED, line)
        if step not in KNOWN:
            near = get_close_matches(step, KNOWN, 1)
            hint = f"Did you mean {near[0]}?" if near else None
            raise InputError(parameter, f"steps of {', '.join(KNOWN)}", step, hint=hint)
        if step in found:
            raise InputError(parameter, "each step once", step)
        found[step] = model
    return found


def overrides_of(line: str) -> dict[str, Override]:
    return {step: Override(opts={"model": model}) for step, model in chosen(line).items()}
