"""What a reader prefers on every page: how it looks, and which keys it hears. Their browser keeps each for a year."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preference:
    """`name` is the field of its forms and what templates know it by. The first of its values holds for whoever has
    said nothing."""

    name: str
    values: tuple[str, ...]

    @property
    def cookie(self) -> str:
        return f"pieria-{self.name}"

    def of(self, told: str | None) -> str:
        return told if told in self.values else self.values[0]


LOOK = Preference("look", ("auto", "light", "dark"))
KEYS = Preference("keys", ("on", "off"))
"""Whether single characters are keys: to whoever dictates, or reads by letters, they would happen unmeant."""
PREFERENCES = (LOOK, KEYS)


def preferred(cookies: Mapping[str, str]) -> Mapping[str, str]:
    """Each by its name."""
    return {each.name: each.of(cookies.get(each.cookie)) for each in PREFERENCES}
