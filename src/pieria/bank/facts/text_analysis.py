"""What a text says of itself before it is kept: what it names, how strong it is, whether it asks to be kept or found.

Nothing here reads the bank or writes it, and no language model is asked: rules answer, and what spots names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pieria.bank.core import Core
from pieria.bank.facts.extraction import TIMES
from pieria.record import check
from pieria.record.privacy import cut_private, find_secrets

if TYPE_CHECKING:
    from pieria.models.mind import Named
    from pieria.record.intent import Recalling, Saving


@dataclass(frozen=True, slots=True)
class Analysis:
    """Whether a message says what is worth keeping, and whether it asks for what was kept."""

    saving: Saving
    recalling: Recalling

    def as_dict(self) -> dict[str, Any]:
        return {"saving": self.saving.as_dict(), "recalling": self.recalling.as_dict()}


@dataclass(frozen=True, slots=True)
class Enriched:
    """What a text is to be kept with, and whether anything of it was read from the text."""

    entities: tuple[str, ...]
    strength: float
    is_enriched: bool


class Analyzing(Core):
    def named(self, text: str) -> list[Named]:
        """What a text names, each thing once and in its order: by the pipeline that is set, or by rules."""
        check.text(text, "text")
        if self._namer is not None:
            return self._namer(text)
        from pieria.models.minds.rules.names import named

        return named(text)

    def analyze(self, message: str) -> Analysis:
        """Whether a message should be kept, looked up, or neither, each with its reasons."""
        from pieria.record.intent import judge_recalling, judge_saving

        check.text(message, "message")
        kept = _may_be_kept(message)
        kinds = self._kinds(kept)
        return Analysis(judge_saving(kept, kinds), judge_recalling(kept, kinds))

    def enriched(self, text: str, *, entities: Iterable[str] | None = None, strength: float | None = None) -> Enriched:
        """Entities and strength for a text: as given, or else read from it, if the setting `enrich` allows."""
        check.text(text, "text")
        names = None if entities is None else check.names(entities, "entities")
        told = None if strength is None else check.number(strength, "strength", 0.0, 2.0)
        reads = self.habits.enrich and (names is None or told is None)
        if not reads:
            return Enriched(names or (), 1.0 if told is None else told, False)
        from pieria.record.intent import judge_strength, keyterms

        kept = _may_be_kept(text)
        found = keyterms(kept, self._kinds(kept)) if names is None else names
        return Enriched(found, judge_strength(kept, found) if told is None else told, True)

    def _kinds(self, text: str) -> dict[str, str]:
        """The names of a text with their kinds, without times."""
        found = self.named(text) if text.strip() else []
        return {named.name: named.kind for named in found if named.kind not in TIMES}


def _may_be_kept(text: str) -> str:
    """Without what is private, and without secrets: neither may become a name that is kept beside the text."""
    kept, _ = cut_private(text)
    for secret in reversed(find_secrets(kept)):
        kept = f"{kept[: secret.start]} {kept[secret.end :]}"
    return kept
