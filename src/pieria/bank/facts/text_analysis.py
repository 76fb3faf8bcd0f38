"""Analyze a text before it is kept: its entities, its strength, and whether it asks to be kept or to recall something.

This module neither reads nor writes the bank, and asks no language model: rules and the configured namer answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pieria.bank.core import Core
from pieria.bank.facts.extracted import TIMES
from pieria.record import check
from pieria.record.privacy import cut_private, find_secrets
from pieria.record.reply import Reply

if TYPE_CHECKING:
    from pieria.language.grammar import Named
    from pieria.language.intent import Recalling, Saving


@dataclass(frozen=True, slots=True)
class Analysis(Reply):
    """Whether a message is worth keeping, and whether it asks for memories."""

    saving: Saving
    recalling: Recalling


@dataclass(frozen=True, slots=True)
class Enriched:
    """The entities and strength for a text, and whether any of these were read from it."""

    entities: tuple[str, ...]
    strength: float
    is_enriched: bool


class BankText:
    """What the bank's rules and models read in a text, without keeping it."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def names(self, text: str) -> list[Named]:
        """Return what a text names, each once and in order, by the configured namer or by rules."""
        check.text(text, "text")
        if self._core.namer is not None:
            return self._core.namer(text)
        from pieria.language.grammar.names import named

        return named(text)

    def analyze(self, message: str) -> Analysis:
        """Judge whether a message should be kept, looked up, or neither, with reasons."""
        from pieria.language.intent import judge_recalling, judge_saving

        check.text(message, "message")
        kept = _may_be_kept(message)
        kinds = self._kinds(kept)
        return Analysis(judge_saving(kept, kinds), judge_recalling(kept, kinds))

    def enrich(self, text: str, *, entities: Iterable[str] | None = None, strength: float | None = None) -> Enriched:
        """Return entities and strength for a text: the given ones, or read from it if the setting `enrich` allows."""
        check.text(text, "text")
        names = None if entities is None else check.names(entities, "entities")
        told = None if strength is None else check.number(strength, "strength", 0.0, 2.0)
        reads = self._core.habits.enrich and (names is None or told is None)
        if not reads:
            return Enriched(names or (), 1.0 if told is None else told, False)
        from pieria.language.intent import judge_strength, keyterms

        kept = _may_be_kept(text)
        found = keyterms(kept, self._kinds(kept)) if names is None else names
        return Enriched(found, judge_strength(kept, found) if told is None else told, True)

    def _kinds(self, text: str) -> dict[str, str]:
        """Return the names in a text with their kinds, without times."""
        found = self.names(text) if text.strip() else []
        return {named.name: named.kind for named in found if named.kind not in TIMES}


def _may_be_kept(text: str) -> str:
    """Return the text without private parts and secrets, so that these do not become names."""
    kept, _ = cut_private(text)
    for secret in reversed(find_secrets(kept)):
        kept = f"{kept[: secret.start]} {kept[secret.end :]}"
    return kept
