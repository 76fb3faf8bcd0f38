"""Names of models, `provider:model`, and the errors for unknown names and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from pieria.errors import InputError

NONE = "none"
"""The name for no model."""


def spelt(name: object, parameter: str, plain: Sequence[str], examples: Mapping[str, str]) -> str:
    """Return the name in its stored spelling: one of the plain names, or a provider with or without a model.

    `examples` has a model for each provider. Raises `InputError` for any other name.
    """
    if not isinstance(name, str):
        raise InputError(parameter, f"a name such as {next(iter(examples))}", name)
    kind, colon, model = (part.strip() for part in name.partition(":"))
    kind = kind.lower()
    if kind in plain and not colon:
        return kind
    if kind not in examples:
        expected = f"{', '.join(plain)}, or provider:model with a provider of {', '.join(examples)}"
        near = get_close_matches(kind, [name for name in (*plain, *examples) if name != NONE], 1)
        meant = near[0] if near else ""
        hint = f"{meant}:{model or examples[meant]}" if meant in examples else meant
        raise InputError(parameter, expected, name, hint=f"Did you mean {hint}?" if hint else None)
    return f"{kind}:{model}" if model else kind


def refuse_further(options: Mapping[str, object], allowed: Sequence[str], what: str) -> None:
    """Raise `InputError` for an option that would have no effect."""
    for name in options:
        if name not in allowed:
            raise InputError(f"{what} options", "one of " + ", ".join(allowed), str(name))
