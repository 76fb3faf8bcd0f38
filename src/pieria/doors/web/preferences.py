"""A reader's preferences for all pages: the look and the keys. Cookies keep them for a year."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preference:
    """`name` is the name in forms and templates. The first of `values` is the default."""

    name: str
    values: tuple[str, ...]

    @property
    def cookie(self) -> str:
        return f"pieria-{self.name}"

    def of(self, told: str | None) -> str:
        return told if told in self.values else self.values[0]


LOOK = Preference("look", ("auto", "light", "dark"))
KEYS = Preference("keys", ("on", "off"))
"""Whether single characters are shortcuts: with dictation or a screen reader they could fire by accident."""
PREFERENCES = (LOOK, KEYS)


def preferred(cookies: Mapping[str, str]) -> Mapping[str, str]:
    """Return each preference by its name."""
    return {each.name: each.of(cookies.get(each.cookie)) for each in PREFERENCES}
