"""The error for an unknown name, with the nearest known one as a hint."""

from __future__ import annotations

from difflib import get_close_matches

from pieria.errors import InputError


def unknown(parameter: str, name: object, known: tuple[str, ...]) -> InputError:
    near = get_close_matches(str(name), known, 1)
    return InputError(parameter, f"one of {', '.join(known)}", name, hint=f"Did you mean {near[0]}?" if near else None)
